//! Keeps what is known of sessions up: their branch, how much they have changed, what they have spent and, where no
//! event told them, their last words. All of it is read off the way of an event, in bounded steps.

mod change;
mod spent;
#[cfg(test)]
mod tests;

use super::WorkerStore;
use agents::TranscriptTail;
use change::Change;
use daemon::{Next, PeriodicTask, Wake};
use model::event::StartSource;
use model::session::{Session, SessionState};
use model::session_facts::{SessionFacts, SessionNote};
use model::{AgentProfile, Ms};
use pipeline::PipelineSetup;
use spent::TranscriptFollower;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};
use store::{Error, SessionFilter, Store};

/// Many events are one look.
const EVERY: Duration = Duration::from_secs(2);
/// Files grow and branches change without an event.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// One step of a long way, and the rest between two of them: whoever works on this machine comes first.
const STEP: Duration = Duration::from_secs(1);
const REST: Duration = Duration::from_millis(200);

/// Sessions that were not heard of for longer are left alone.
const FORGOTTEN_MS: i64 = 2 * 3_600_000;
/// Ended ones are looked at once more.
const JUST_ENDED_MS: i64 = 60_000;
const MOST_SESSIONS: usize = 512;

/// What is read of a transcript for the last words in it.
const WORDS_BYTES: u64 = 256 << 10;

pub fn task(setting: &PipelineSetup) -> PeriodicTask {
    let mut store = WorkerStore::new("sessions", &setting.state);
    let mut worker = SessionFactsWorker::new(setting);
    PeriodicTask {
        name: "sessions",
        every: EVERY,
        run: Box::new(move || {
            let more = store.with(|store| worker.round(store, host::clock::now()));
            if matches!(more, Ok(true)) { Next::In(REST) } else { Next::AsUsual }
        }),
        wake: Wake::default(),
    }
}

struct SessionFactsWorker {
    setting: PipelineSetup,
    /// The store's version at the last look, and when that was.
    seen: Option<(i64, Instant)>,
    /// By session.
    known: BTreeMap<String, Known>,
}

/// What is remembered of a session from one look to the next.
struct Known {
    spent: TranscriptFollower,
    change: Change,
    /// The transcript's size when its last words were read.
    words_at: u64,
}

impl SessionFactsWorker {
    fn new(setting: &PipelineSetup) -> Self {
        Self { setting: setting.clone(), seen: None, known: BTreeMap::new() }
    }

    /// One step. Whether there is more to do.
    fn round(&mut self, store: &mut Store, now: Ms) -> Result<bool, Error> {
        let version = store.data_version()?;
        if self.seen.is_some_and(|(seen, at)| seen == version && at.elapsed() < LOOK_EVERY) {
            return Ok(false);
        }
        let filter = SessionFilter { limit: MOST_SESSIONS, ..SessionFilter::default() };
        let is_wanted = |session: &Session| match session.ended_at {
            Some(at) => now.since(at) < JUST_ENDED_MS,
            None => now.since(session.last_seen_at) < FORGOTTEN_MS,
        };
        let sessions: Vec<Session> = store.sessions(&filter)?.into_iter().filter(is_wanted).collect();
        self.known.retain(|id, _| sessions.iter().any(|session| session.id == *id));
        let (begun, mut more) = (Instant::now(), false);
        for session in &sessions {
            if !self.known.contains_key(&session.id) {
                let spent = TranscriptFollower::of(session, began(session, store)?);
                self.known.insert(session.id.clone(), Known { spent, change: Change::default(), words_at: 0 });
            }
            let Some(known) = self.known.get_mut(&session.id) else { continue };
            more |= known.look(session, store, &self.setting, now)?;
            // The others have their turn in the next step.
            if begun.elapsed() > STEP {
                return Ok(true);
            }
        }
        // Writing our own is no news.
        self.seen = (!more).then_some((store.data_version()?, Instant::now()));
        Ok(more)
    }
}

impl Known {
    fn look(&mut self, session: &Session, store: &mut Store, setting: &PipelineSetup, now: Ms) -> Result<bool, Error> {
        let before = store.session_facts(&session.id)?;
        let mut facts = before.clone();
        stand(&mut facts, session, setting);
        let more = self.spent.follow();
        if !more {
            self.spent.tell(&mut facts);
        }
        self.words(&mut facts, session);
        self.change.look(&mut facts, session, store, setting)?;
        if facts == before {
            return Ok(more);
        }
        store.note_session(&session.id, |stored| {
            merge(stored, facts);
            stored.updated_at = now;
        })?;
        Ok(more)
    }

    /// Of an agent whose events do not tell them, once it is at rest.
    fn words(&mut self, facts: &mut SessionFacts, session: &Session) {
        let at_rest = matches!(session.state, SessionState::Idle | SessionState::Ended);
        let Some(path) = session.transcript.as_deref().filter(|_| at_rest && !facts.words_told) else { return };
        let size = host::probe::tail(Path::new(path), 0).map(|tail| tail.size).unwrap_or_default();
        if size == self.words_at {
            return;
        }
        self.words_at = size;
        let said = host::probe::tail(Path::new(path), WORDS_BYTES).and_then(|tail| last_words(session, &tail));
        facts.last_words = said.or(facts.last_words.take());
    }
}

/// What was found out here. What an event or the client told meanwhile stays.
fn merge(stored: &mut SessionFacts, found: SessionFacts) {
    let is_told = stored.cost_usd.is_some() && !stored.cost_estimated;
    let own = stored.clone();
    *stored = SessionFacts { failed_tool: own.failed_tool, words_told: own.words_told, ..found };
    if own.words_told {
        stored.last_words = own.last_words;
    }
    if is_told {
        (stored.cost_usd, stored.cost_estimated) = (own.cost_usd, false);
    }
    if own.tree.is_some() {
        (stored.tree, stored.base_commit) = (own.tree, own.base_commit);
    }
}

/// When the session began that compactions have made several of.
fn began(session: &Session, store: &Store) -> Result<Ms, Error> {
    const MOST: usize = 200;
    let mut first = session.clone();
    for _ in 0..MOST {
        let prev = first.prev.as_deref().filter(|_| first.source == StartSource::Compact.name());
        let Some(prev) = prev.map(|id| store.session(id)).transpose()?.flatten() else { break };
        first = prev;
    }
    Ok(first.started_at)
}

/// Where the work tree stands. A session that no event told the beginning of begins where it is first seen.
fn stand(facts: &mut SessionFacts, session: &Session, setting: &PipelineSetup) {
    let Some(tree) = facts.tree.as_deref() else {
        let folder = session.cwd.as_deref().unwrap_or(&session.project);
        if let Some(head) = host::probe::head(Path::new(folder), &setting.home) {
            facts.add(&SessionNote::Began(head), facts.updated_at);
        }
        return;
    };
    if let Some(head) = host::probe::head_of(Path::new(tree)) {
        facts.branch = head.name().or(facts.branch.take());
    }
}

fn last_words(session: &Session, tail: &TranscriptTail) -> Option<String> {
    let said = (agent_of(session).transcript.last_words)(tail)?;
    Some(engine::redact::last_words(&said)).filter(|said| !said.is_empty())
}

/// The agent whose session it is; those of before it was noted are of the first there was.
fn agent_of(session: &Session) -> &'static AgentProfile {
    session.memo.dialect.as_deref().and_then(|id| agents::ALL.find(id)).unwrap_or(agents::DEFAULT).profile
}
