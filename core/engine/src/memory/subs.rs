//! Sub-agents: their own session under the parent's effort. Nothing they do
//! ends the parent's, and starts and stops may come in any order.

use super::hand_over::{EffortPlace, shown_path};
use super::{Memory, settings};
use crate::context::Rank;
use crate::event_context::EventContext;
use model::agent::HelperSessions;
use model::effort::{Effort, MemoryWrite, SubSession};

/// More files than this are not merged: they could not be told anyway.
const MOST_FILES: usize = 64;

pub fn started(event: &EventContext<'_>, current: Option<&Effort>, memory: &mut Memory) {
    let Some(sub) = fresh(event, current) else { return };
    // A stop that came first has already said more than this start can.
    if event.rows().sub_session.is_none() {
        memory.keeps.push(MemoryWrite::SubSession(sub));
    }
    let Some(effort) = current else { return };
    let skill = event.skill(effort);
    let place = EffortPlace::of(effort);
    let mut text = format!(
        "{} You work for the effort {} (effort {} of {}), phase {}.",
        settings::label(event.policy, "INFO"),
        place.skill,
        effort.ordinal,
        place.task,
        place.phase.as_deref().unwrap_or("loading"),
    );
    if skill.log {
        text.push_str(&format!(
            " Log what you find with `taut log \"…\"` (it goes to {}).",
            shown_path(&effort.artifact("LOG"))
        ));
    }
    if let Some(template) = &skill.template {
        text.push_str(&format!(" Log template: {template}."));
    }
    let unread: Vec<&str> =
        event.rows().directives.iter().filter(|one| one.effort == effort.id).map(|one| one.path.as_str()).collect();
    if !unread.is_empty() {
        text.push_str(&format!(" Directives: {}.", unread.join(", ")));
    }
    if effort.metadata.is_object() {
        text.push_str(&format!(" Effort metadata: {}", effort.metadata));
    }
    memory.texts.push((Rank::Effort, text));
}

pub fn stopped(event: &EventContext<'_>, current: Option<&Effort>, memory: &mut Memory) {
    let Some(fresh) = fresh(event, current) else { return };
    let known = event.rows().sub_session.clone().unwrap_or(fresh);
    if let Some(effort) = current {
        let mut after = effort.clone();
        for file in known.files.iter().filter(|file| !effort.files.contains(file)) {
            after.files.push(file.clone());
        }
        after.files.truncate(MOST_FILES);
        if after != *effort {
            memory.keeps.push(MemoryWrite::Effort(Box::new(after.clone())));
        }
        memory.report.effort = Some(after);
    }
    memory.keeps.push(MemoryWrite::SubSession(SubSession {
        ended_at: Some(event.now),
        last_seen_at: event.now,
        ..known
    }));
}

/// A compaction's own fork has no kind, and is nobody's helper. Where helpers have sessions of their own, none is one.
fn fresh(event: &EventContext<'_>, current: Option<&Effort>) -> Option<SubSession> {
    let own = event.envelope.agent.helpers == HelperSessions::Own;
    let sub = event.envelope.sub_agent.as_ref().filter(|sub| own || !sub.kind.is_empty())?;
    Some(SubSession {
        session: event.session()?.id.clone(),
        sub_agent: sub.id.clone(),
        kind: sub.kind.clone(),
        effort: current.map(|effort| effort.id.clone()),
        started_at: event.now,
        last_seen_at: event.now,
        ended_at: None,
        files: Vec::new(),
    })
}

/// A file a sub-agent or the session itself has read for the effort.
pub fn loaded(event: &EventContext<'_>, current: Option<&Effort>, path: &str, memory: &mut Memory) {
    let Some(effort) = current else { return };
    match (&event.rows().sub_session, event.envelope.sub_agent.is_some()) {
        (Some(sub), true) if !sub.files.iter().any(|known| known == path) && sub.files.len() < MOST_FILES => {
            let mut sub = SubSession { last_seen_at: event.now, ..sub.clone() };
            sub.files.push(path.to_string());
            memory.keeps.push(MemoryWrite::SubSession(sub));
        }
        (_, false) if !effort.files.iter().any(|known| known == path) && effort.files.len() < MOST_FILES => {
            let mut after = effort.clone();
            after.files.push(path.to_string());
            memory.keeps.push(MemoryWrite::Effort(Box::new(after)));
        }
        _ => {}
    }
}
