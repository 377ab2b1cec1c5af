//! The beginning of a session: it takes over the agent's effort, and is told
//! once what the session before it wrote down. And the moment before a
//! compaction, when something is written down for one that has not.

use super::execute::stored_hand_over;
use super::{Memory, begin, hand_over, path, settings};
use crate::context::{Rank, ShownFile};
use crate::event_context::{EventContext, carries};
use crate::queue;
use model::effort::{Effort, EffortLineage, MemoryWrite, StoredHandOver};
use model::event::{Body, StartSource};
use model::fact::TextFact;
use model::session::Session;

pub fn step(event: &EventContext<'_>, current: Option<&Effort>, memory: &mut Memory) {
    let Some(session) = event.session().filter(|_| event.placed.opened && event.envelope.sub_agent.is_none()) else {
        return;
    };
    if let Some(effort) = current {
        let (agent, carrier) = (session.agent.clone(), Some(session.id.clone()));
        memory.report.effort = Some(Effort { agent, session: carrier, ..effort.clone() });
        memory.keeps.extend(memory.report.effort.clone().map(|effort| MemoryWrite::Effort(Box::new(effort))));
    }
    let waiting = waiting(event, session);
    match waiting {
        Some(waiting) => recover(event, session, waiting, memory),
        None => rehydrate(event, current, memory),
    }
    if let Some(effort) = current {
        memory.texts.push((Rank::Effort, introduction(event, effort)));
        begin::preload(event, &event.skill(effort), memory);
    }
}

/// The account that is for this session: its agent's, and not a child's or a parent's.
pub fn waiting<'a>(event: &EventContext<'a>, session: &Session) -> Option<&'a StoredHandOver> {
    let ours = |stored: &&StoredHandOver| match stored.line {
        EffortLineage::Agent => session.parent.is_none(),
        EffortLineage::Child => Some(&stored.session) == session.prev.as_ref(),
    };
    event
        .rows()
        .account
        .as_ref()
        .filter(|stored| stored.agent == session.agent || Some(&stored.session) == session.prev.as_ref())
        .filter(|stored| stored.session != session.id)
        .filter(ours)
}

fn recover(event: &EventContext<'_>, session: &Session, waiting: &StoredHandOver, memory: &mut Memory) {
    let effort = event
        .rows()
        .efforts
        .iter()
        .find(|effort| waiting.effort.as_ref() == Some(&effort.id) && carries(session, effort));
    memory.texts.push((Rank::Recovery, hand_over::recovery(&waiting.hand_over, effort, event.policy)));
    for file in &waiting.hand_over.required_files {
        let path = path::normal(file, &event.places.tree, &event.places.home);
        memory.show(event, Rank::Recovery, &path, file);
    }
    memory.report.account = serde_json::to_value(&waiting.hand_over).ok();
    memory.keeps.push(MemoryWrite::Recovered { agent: session.agent.clone(), session: session.id.clone() });
}

/// Only where the context really is new: a resumed one still knows.
fn rehydrate(event: &EventContext<'_>, current: Option<&Effort>, memory: &mut Memory) {
    let fresh = matches!(&event.envelope.body, Body::SessionStart(start) if !matches!(start.source, StartSource::Resume | StartSource::Fork));
    let Some(effort) = current.filter(|effort| fresh && effort.session.is_some()) else { return };
    let found = event.facts.matches(&effort.folder, &pattern(effort)).unwrap_or_default();
    memory.texts.push((Rank::Recovery, hand_over::rehydration(effort, found, event.policy)));
    let log = effort.artifact("LOG");
    memory.show(event, Rank::Recovery, &log, &log);
}

/// The artifacts of an effort are those with its number.
pub fn pattern(effort: &Effort) -> String {
    format!("{}_*.md", effort.ordinal)
}

fn introduction(event: &EventContext<'_>, effort: &Effort) -> String {
    let skill = event.skill(effort);
    let mut out = format!(
        "{} Effort: {} (effort {} of {}) | Phase: {} | Folder: {}",
        settings::label(event.policy, "INFO"),
        effort.skill,
        effort.ordinal,
        effort.task,
        effort.phase.as_deref().unwrap_or("loading"),
        effort.folder
    );
    if !skill.phases.is_empty() {
        out.push_str(&format!(" | Phases: {}", skill.phases.join(", ")));
    }
    if skill.log {
        out.push_str(&format!(" | Log: `taut log \"…\"` → {}", effort.artifact("LOG")));
    }
    out.push_str(" | When it is done, or no more wanted: `taut effort finish`");
    out
}

/// Writes an account from what is stored, unless the agent has written its own.
pub fn before_compaction(event: &EventContext<'_>, current: Option<&Effort>, memory: &mut Memory) {
    let Some(session) = event.session().filter(|_| event.envelope.sub_agent.is_none()) else { return };
    let written = event.rows().account.as_ref().is_some_and(|stored| stored.session == session.id);
    let holds = !queue::held(&event.loaded.held, session).is_empty();
    let used = current.is_some() || holds || event.policy.sections.compaction.auto.is_some();
    if written || !used {
        return;
    }
    if event.policy.sections.compaction.auto == Some(settings::Compaction::Restart) {
        memory.say_for_the_record(event, "restart_request", "the context is full".to_string());
    }
    let done = stored_hand_over(hand_over::mini(current, session.status_text.as_deref()), session, event);
    memory.take(done);
}

impl Memory {
    /// A file as it was found: shown, named as too long, or left to the text that names it.
    pub(super) fn show(&mut self, event: &EventContext<'_>, rank: Rank, path: &str, title: &str) {
        let text = match event.facts.text(path) {
            Some(TextFact::Text(text)) => Some(text.trim_end().to_string()),
            Some(TextFact::Long) => None,
            _ => return,
        };
        self.files.push((rank, ShownFile { path: path.to_string(), title: title.to_string(), text }));
    }
}
