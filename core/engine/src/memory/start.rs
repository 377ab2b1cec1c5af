//! The beginning of a session: it takes over the agent's effort, and is told
//! what the session before it left, until a newer note takes its place.

use super::hand_over::{EffortPlace, shown_path, shown_phases};
use super::note::{self, NoteView};
use super::{Memory, begin, hand_over, offer, path, settings};
use crate::context::{Rank, ShownFile, size};
use crate::event_context::{EventContext, carries};
use model::effort::{Effort, MemoryWrite, StoredHandOver};
use model::event::{Body, StartSource};
use model::fact::TextFact;
use model::session::Session;
use model::text;

/// A note is told in no less than this, whatever else a start has to say.
const LEAST_ROOM: usize = 400;

pub fn step(event: &EventContext<'_>, current: Option<&Effort>, memory: &mut Memory) {
    let Some(session) = event.session().filter(|_| event.placed.opened && event.envelope.sub_agent.is_none()) else {
        return;
    };
    if let Some(effort) = current {
        let (agent, carrier) = (session.agent.clone(), Some(session.id.clone()));
        memory.report.effort = Some(Effort { agent, session: carrier, ..effort.clone() });
        memory.keeps.extend(memory.report.effort.clone().map(|effort| MemoryWrite::Effort(Box::new(effort))));
        memory.texts.push((Rank::Effort, introduction(event, effort)));
    }
    let composed = note::at_the_start(event, session, current, memory);
    let note = composed.as_ref().or_else(|| waiting(event, session));
    match note.filter(|note| is_told(event, current, note)) {
        Some(note) => recover(event, session, note, memory),
        None if note.is_none() => rehydrate(event, current, memory),
        None => {}
    }
    if let Some(effort) = current {
        begin::preload(event, &event.skill(effort), memory);
    }
}

/// A context that is new is told; one that goes on knows all but what its agent wrote down for the next.
fn is_told(event: &EventContext<'_>, current: Option<&Effort>, note: &StoredHandOver) -> bool {
    let own = !note.hand_over.mini;
    match event.policy.sections.memory.enabled {
        Some(false) => return false,
        _ if !own && !note::is_on(event, current) => return false,
        _ => {}
    }
    match &event.envelope.body {
        Body::SessionStart(start) if matches!(start.source, StartSource::Resume | StartSource::Fork) => {
            own && !note.told
        }
        _ => own || note::follows(event),
    }
}

/// The note that this session was told, or has written: what it goes on with where there is no effort.
pub fn told<'a>(event: &EventContext<'a>, session: &Session) -> Option<&'a StoredHandOver> {
    let own = || event.account().filter(|stored| stored.session == session.id);
    waiting(event, session).or_else(own).filter(|_| !event.memory_off())
}

/// The account that is for this session: its agent's, and not a child's or a parent's.
pub fn waiting<'a>(event: &EventContext<'a>, session: &Session) -> Option<&'a StoredHandOver> {
    let is_over = |effort: &Effort, note: &StoredHandOver| {
        note.effort.as_ref() == Some(&effort.id) && offer::is_over(event, effort)
    };
    event
        .account()
        .filter(|stored| stored.agent == session.agent || Some(&stored.session) == session.prev.as_ref())
        .filter(|stored| stored.session != session.id)
        .filter(|stored| !event.rows().efforts.iter().any(|effort| is_over(effort, stored)))
        // What was written of one project's work is of no use in another, whatever the agent is called.
        .filter(|stored| stored.project.is_empty() || stored.project == session.project)
}

fn recover(event: &EventContext<'_>, session: &Session, waiting: &StoredHandOver, memory: &mut Memory) {
    let effort = event
        .rows()
        .efforts
        .iter()
        .find(|effort| waiting.effort.as_ref() == Some(&effort.id) && carries(session, effort));
    let note = &waiting.hand_over;
    let full = |file: &str| path::normal(file, &event.places.tree, &event.places.home);
    // What is known not to be there is not worth a call.
    let there = |file: &&str| !matches!(event.facts.text(&full(file)), Some(TextFact::Missing | TextFact::NotAFile));
    let files: Vec<&str> = note.required_files.iter().map(String::as_str).filter(there).collect();
    let compacted = matches!(&event.envelope.body, Body::SessionStart(start) if start.source == StartSource::Compact);
    let room = memory.room(event).max(LEAST_ROOM);
    let view = NoteView { at: waiting.at, now: event.now, room, with_compact_summary: !compacted };
    memory.texts.push((Rank::Recovery, hand_over::recovery(note, effort, &files, event.policy, view)));
    for file in files.iter().filter(|_| !note.mini) {
        memory.show(event, Rank::Recovery, &full(file), file);
    }
    if let Some(effort) = effort.filter(|_| note.mini) {
        memory.show_end(event, &effort.artifact("LOG"));
    }
    memory.report.account = serde_json::to_value(note).ok();
    memory.keeps.push(MemoryWrite::Recovered { session: Box::new(session.clone()), line: waiting.line });
}

/// Only where the context really is new: a resumed one still knows.
fn rehydrate(event: &EventContext<'_>, current: Option<&Effort>, memory: &mut Memory) {
    let fresh = matches!(&event.envelope.body, Body::SessionStart(start) if !matches!(start.source, StartSource::Resume | StartSource::Fork));
    let Some(effort) = current.filter(|effort| fresh && effort.session.is_some()) else { return };
    let found = event.facts.matches(&effort.folder, &pattern(effort)).unwrap_or_default();
    memory.texts.push((Rank::Recovery, hand_over::rehydration(effort, found, event.policy)));
    memory.show_end(event, &effort.artifact("LOG"));
}

/// The artifacts of an effort are those with its number.
pub fn pattern(effort: &Effort) -> String {
    format!("{}_*.md", effort.ordinal)
}

fn introduction(event: &EventContext<'_>, effort: &Effort) -> String {
    let skill = event.skill(effort);
    let EffortPlace { skill: name, phase, task, folder } = EffortPlace::of(effort);
    let mut out = format!(
        "{} Effort: {name} (effort {} of {task}) | Phase: {} | Folder: {folder}",
        settings::label(event.policy, "INFO"),
        effort.ordinal,
        phase.as_deref().unwrap_or("loading"),
    );
    if !skill.phases.is_empty() {
        out.push_str(&format!(" | Phases: {}", shown_phases(&skill.phases)));
    }
    if skill.log {
        out.push_str(&format!(" | Log: `taut log \"…\"` → {}", shown_path(&effort.artifact("LOG"))));
    }
    out.push_str(" | When it is done, or no more wanted: `taut effort finish`");
    out
}

impl Memory {
    /// The end of a file, where what was last written is what matters, in what room is left.
    fn show_end(&mut self, event: &EventContext<'_>, path: &str) {
        let (Some(TextFact::Text(text)) | Some(TextFact::Long(text))) = event.facts.text(path) else { return };
        let head = format!("The end of {}:\n", shown_path(path));
        let room = self.room(event).saturating_sub(size(&head) + 2);
        let end = last_lines(text.trim(), room);
        if !end.is_empty() {
            self.texts.push((Rank::Recovery, head + &end));
        }
    }

    /// A file as it was found: shown, named as too long, or left to the text that names it.
    pub(super) fn show(&mut self, event: &EventContext<'_>, rank: Rank, path: &str, title: &str) {
        let text = match event.facts.text(path) {
            Some(TextFact::Text(text)) => Some(text.trim_end().to_string()),
            Some(TextFact::Long(_)) => None,
            _ => return,
        };
        self.files.push((rank, ShownFile { path: path.to_string(), title: title.to_string(), text }));
    }
}

/// As many whole lines from the end as fit; of a single long one its end.
fn last_lines(text: &str, room: usize) -> String {
    let clean = text::lines(text, usize::MAX);
    let mut kept: Vec<&str> = Vec::new();
    let mut used = 0;
    for line in clean.lines().rev() {
        used += size(line) + 1;
        if used > room {
            break;
        }
        kept.push(line);
    }
    kept.reverse();
    kept.join("\n").trim().to_string()
}
