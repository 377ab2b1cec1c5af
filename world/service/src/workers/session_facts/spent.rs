//! What a session has spent, from its transcript as it grows. After a start all of it is read once; nothing is told
//! before that is done.

use super::agent_of;
use agents::TranscriptTail;
use agents::spending::Spending;
use model::Ms;
use model::agent::SpentRequest;
use model::session::Session;
use model::session_facts::SessionFacts;
use std::path::PathBuf;

/// Read in one step.
const STEP_BYTES: u64 = 4 << 20;
/// A longer line is passed over.
const LONGEST_LINE: usize = 8 << 20;

pub struct TranscriptFollower {
    path: Option<PathBuf>,
    spent: fn(&[u8]) -> Option<SpentRequest>,
    /// Requests of before are not this session's: a client goes on with the file of an earlier one.
    since: String,
    read_to: u64,
    /// A line that is not whole yet.
    begun: Vec<u8>,
    /// It is too long: the rest of it is passed over.
    passing: bool,
    spending: Spending,
}

impl TranscriptFollower {
    pub fn of(session: &Session, since: Ms) -> Self {
        Self {
            path: session.transcript.as_ref().map(PathBuf::from),
            spent: agent_of(session).transcript.spent,
            since: since.rfc3339(),
            read_to: 0,
            begun: Vec::new(),
            passing: false,
            spending: Spending::default(),
        }
    }

    /// Reads on, as far as one step goes. Whether there is more.
    pub fn follow(&mut self) -> bool {
        let Some(path) = &self.path else { return false };
        let Some(TranscriptTail { size, bytes }) = host::probe::read_on(path, self.read_to, STEP_BYTES) else {
            return false;
        };
        if size < self.read_to {
            // It was written anew.
            (self.read_to, self.passing, self.spending) = (0, false, Spending::default());
            self.begun.clear();
            return size > 0;
        }
        self.read_to += bytes.len() as u64;
        self.take(&bytes);
        self.read_to < size
    }

    fn take(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let whole = part.ends_with(b"\n");
            if !self.passing {
                self.begun.extend_from_slice(part);
            }
            if whole {
                let line = std::mem::take(&mut self.begun);
                if !std::mem::take(&mut self.passing) {
                    self.line(&line);
                }
            } else if self.begun.len() > LONGEST_LINE {
                self.begun.clear();
                self.passing = true;
            }
        }
    }

    fn line(&mut self, line: &[u8]) {
        let Some(request) = (self.spent)(line.trim_ascii()) else { return };
        // Both are moments in UTC of one form, which compare as they read; one of another form counts.
        let is_earlier = |at: &String| at.len() == self.since.len() && at.ends_with('Z') && *at < self.since;
        if !request.at.as_ref().is_some_and(is_earlier) {
            self.spending.add(request);
        }
    }

    /// What the client told of the cost itself is better than what is reckoned here.
    pub fn tell(&self, facts: &mut SessionFacts) {
        let used = self.spending.used;
        if used.all() == 0 {
            return;
        }
        facts.tokens_in = Some(used.input.saturating_add(used.cache_write));
        facts.tokens_out = Some(used.output);
        facts.tokens_cached = Some(used.cache_read);
        facts.model = self.spending.model.clone().or(facts.model.take());
        if facts.cost_usd.is_none() || facts.cost_estimated {
            facts.cost_usd = Some(self.spending.cost_micros as f64 / 1e6);
            facts.cost_estimated = self.spending.estimated;
        }
    }
}
