//! One agent's timeline: the events of its session, the newest at the bottom.

use super::cursor::{Cursor, Move, Span};
use super::ended::EndedRow;
use super::entry::{self, LineMark, TimelineLine};
use crate::view_model::AgentRow;
use model::row::Event;
use std::collections::HashMap;
use std::sync::Arc;

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Timeline {
    pub agent: String,
    /// What the agent is called.
    pub name: String,
    pub session: String,
    /// The session ended: its agent may be in another by now, and this one does not follow it.
    pub over: Option<EndedRow>,
    pub entries: Vec<TimelineLine>,
    pub cursor: Cursor,
    /// Whether the newest stays in sight.
    pub follows: Follows,
    /// Whether anything was read yet.
    pub reading: Reading,
    /// Where a call stands, counted from the first entry there ever was.
    calls: HashMap<String, usize>,
    dropped: usize,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Follows {
    #[default]
    Newest,
    Stays,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Reading {
    #[default]
    Awaited,
    Begun,
}

/// So many are kept: a session of days must not fill the memory.
const MOST: usize = 4000;
const DROP: usize = 1000;

impl Timeline {
    pub fn of(row: &AgentRow, session: &str) -> Self {
        Self { agent: row.id.clone(), name: row.name.clone(), session: session.to_string(), ..Self::default() }
    }

    /// Of a session that ended.
    pub fn over(row: EndedRow) -> Self {
        let (agent, name, session) = (row.agent.clone(), row.name.clone(), row.session.clone());
        Self { agent, name, session, over: Some(row), ..Self::default() }
    }

    /// The agent went on in another session: what was stays above.
    pub fn goes_on(&mut self, session: &str) {
        session.clone_into(&mut self.session);
    }

    pub fn add(&mut self, events: Vec<Event>, height: usize) {
        self.reading = Reading::Begun;
        for event in events {
            let event = Arc::new(event);
            if !self.comes_back(&event) {
                self.append(entry::of(&event));
            } else {
                // The call has its line; only what was said to its return is new.
                let said = entry::of(&event)
                    .into_iter()
                    .filter(|one| matches!(one.mark, LineMark::Verdict(_) | LineMark::Shown));
                self.append(said.collect());
            }
        }
        if self.entries.len() > MOST {
            // One look may bring several thousand entries: what is over the most goes, and some more.
            let gone = self.entries.len() - MOST + DROP;
            self.entries.drain(..gone);
            self.dropped += gone;
            self.cursor.at = self.cursor.at.saturating_sub(gone);
            self.cursor.top = self.cursor.top.saturating_sub(gone);
            let dropped = self.dropped;
            self.calls.retain(|_, at| *at >= dropped);
        }
        self.settle(height);
    }

    pub fn go(&mut self, by: Move, height: usize) {
        self.cursor.go(by, self.span(height));
        let newest = self.cursor.at + 1 >= self.entries.len();
        self.follows = if newest { Follows::Newest } else { Follows::Stays };
    }

    /// Somebody looks at one line of it: what is new does not move it away.
    pub fn stays(&mut self) {
        self.follows = Follows::Stays;
    }

    pub fn settle(&mut self, height: usize) {
        if self.follows == Follows::Newest {
            self.cursor.at = usize::MAX;
        }
        self.cursor.settle(self.span(height));
    }

    pub fn chosen(&self) -> Option<&TimelineLine> {
        self.entries.get(self.cursor.at)
    }

    fn span(&self, height: usize) -> Span {
        Span { len: self.entries.len(), height }
    }

    fn append(&mut self, entries: Vec<TimelineLine>) {
        for one in entries {
            match (one.mark, &one.call) {
                (LineMark::Running, Some(call)) => {
                    self.calls.insert(call.clone(), self.dropped + self.entries.len());
                }
                (LineMark::Prompt, _) => self.give_up(),
                (LineMark::Turn, _) if matches!(one.event.event.as_str(), "Stop" | "SessionEnd") => self.give_up(),
                _ => {}
            }
            self.entries.push(one);
        }
    }

    /// A turn that is over waits for nothing: what has not come back was interrupted.
    fn give_up(&mut self) {
        for (_, at) in self.calls.drain() {
            if let Some(entry) = at.checked_sub(self.dropped).and_then(|at| self.entries.get_mut(at)) {
                entry.mark = LineMark::Lost;
            }
        }
    }

    /// Whether the event is the return of a call that has its line already.
    fn comes_back(&mut self, event: &Arc<Event>) -> bool {
        let mark = match event.event.as_str() {
            "PostToolUse" => LineMark::Returned,
            "PostToolUseFailure" => LineMark::Failed,
            _ => return false,
        };
        let at = entry::call(event).and_then(|call| self.calls.remove(&call));
        let Some(begun) = at.and_then(|at| self.entries.get_mut(at.checked_sub(self.dropped)?)) else { return false };
        begun.mark = mark;
        let told = event.detail.get("duration_ms").and_then(serde_json::Value::as_i64);
        begun.took = Some(told.unwrap_or_else(|| event.at.since(begun.at)));
        begun.event = Arc::clone(event);
        true
    }
}
