//! The beginning of a session: it takes over the agent's effort, and is told
//! once what the session before it wrote down. And the moment before a
//! compaction, when something is written down for one that has not.

use super::execute::stored_hand_over;
use super::{Memory, Sight, begin, carries, hand_over, path, settings};
use crate::context::{Rank, ShownFile};
use crate::queue;
use model::effort::{Effort, EffortLineage, MemoryWrite, StoredHandOver};
use model::event::{Body, StartSource};
use model::fact::TextFact;
use model::session::Session;

pub fn step(sight: &Sight<'_>, current: Option<&Effort>, memory: &mut Memory) {
    let Some(session) = sight.session.filter(|_| sight.opened && sight.envelope.sub_agent.is_none()) else { return };
    if let Some(effort) = current {
        memory.report.effort = Some(Effort { session: Some(session.id.clone()), ..effort.clone() });
        memory.keeps.extend(memory.report.effort.clone().map(|effort| MemoryWrite::Effort(Box::new(effort))));
    }
    let waiting = waiting(sight, session);
    match waiting {
        Some(waiting) => recover(sight, session, waiting, memory),
        None => rehydrate(sight, current, memory),
    }
    if let Some(effort) = current {
        memory.texts.push((Rank::Effort, introduction(sight, effort)));
        begin::preload(sight, &sight.skill(effort), memory);
    }
}

/// The account that is for this session: its agent's, and not a child's or a parent's.
pub fn waiting<'a>(sight: &Sight<'a>, session: &Session) -> Option<&'a StoredHandOver> {
    let ours = |stored: &&StoredHandOver| match stored.line {
        EffortLineage::Agent => session.parent.is_none(),
        EffortLineage::Child => Some(&stored.session) == session.prev.as_ref(),
    };
    sight
        .known()
        .account
        .as_ref()
        .filter(|stored| stored.agent == session.agent && stored.session != session.id)
        .filter(ours)
}

fn recover(sight: &Sight<'_>, session: &Session, waiting: &StoredHandOver, memory: &mut Memory) {
    let effort = sight
        .known()
        .efforts
        .iter()
        .find(|effort| waiting.effort.as_ref() == Some(&effort.id) && carries(session, effort));
    memory.texts.push((Rank::Recovery, hand_over::recovery(&waiting.hand_over, effort, sight.policy)));
    for file in &waiting.hand_over.required_files {
        let path = path::normal(file, sight.ground.tree, sight.ground.home);
        memory.show(sight, Rank::Recovery, &path, file);
    }
    memory.report.account = serde_json::to_value(&waiting.hand_over).ok();
    memory.keeps.push(MemoryWrite::Recovered { agent: session.agent.clone(), session: session.id.clone() });
}

/// Only where the context really is new: a resumed one still knows.
fn rehydrate(sight: &Sight<'_>, current: Option<&Effort>, memory: &mut Memory) {
    let fresh = matches!(&sight.envelope.body, Body::SessionStart(start) if !matches!(start.source, StartSource::Resume | StartSource::Fork));
    let Some(effort) = current.filter(|effort| fresh && effort.session.is_some()) else { return };
    let found = sight.facts.matches(&effort.folder, &pattern(effort)).unwrap_or_default();
    memory.texts.push((Rank::Recovery, hand_over::rehydration(effort, found, sight.policy)));
    let log = effort.artifact("LOG");
    memory.show(sight, Rank::Recovery, &log, &log);
}

/// The artifacts of an effort are those with its number.
pub fn pattern(effort: &Effort) -> String {
    format!("{}_*.md", effort.ordinal)
}

fn introduction(sight: &Sight<'_>, effort: &Effort) -> String {
    let skill = sight.skill(effort);
    let mut out = format!(
        "{} Effort: {} (effort {} of {}) | Phase: {} | Folder: {}",
        settings::label(sight.policy, "INFO"),
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
    out
}

/// Writes an account from what is stored, unless the agent has written its own.
pub fn before_compaction(sight: &Sight<'_>, current: Option<&Effort>, memory: &mut Memory) {
    let Some(session) = sight.session.filter(|_| sight.envelope.sub_agent.is_none()) else { return };
    let written = sight.known().account.as_ref().is_some_and(|stored| stored.session == session.id);
    let holds = !queue::held(&sight.loaded.held, session).is_empty();
    let used = current.is_some() || holds || sight.policy.sections.compaction.auto.is_some();
    if written || !used {
        return;
    }
    if sight.policy.sections.compaction.auto == Some(settings::Compaction::Restart) {
        memory.say_for_the_record(sight, "restart_request", "the context is full".to_string());
    }
    let scene = begin::scene(sight, current, None);
    let done = stored_hand_over(hand_over::mini(current, session.status_text.as_deref()), session, &scene);
    memory.take(done);
}

impl Memory {
    /// A file as it was found: shown, named as too long, or left to the text that names it.
    pub(super) fn show(&mut self, sight: &Sight<'_>, rank: Rank, path: &str, title: &str) {
        let text = match sight.facts.text(path) {
            Some(TextFact::Text(text)) => Some(text.trim_end().to_string()),
            Some(TextFact::Long) => None,
            _ => return,
        };
        self.files.push((rank, ShownFile { path: path.to_string(), title: title.to_string(), text }));
    }
}
