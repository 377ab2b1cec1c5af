//! Measuring contexts off the way of an event: what a client's status line
//! says, and what the transcripts of sessions that emit nothing say.

use crate::Pipeline;
use engine::context::{self, ContextSettings};
use model::effect::Write;
use model::fact::TranscriptTail;
use model::session::Session;
use model::{AgentProfile, Environment, Ms};
use std::path::Path;
use store::{Durability, Error, SessionFilter};

/// What a client says of its own context.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextReading {
    /// The client's own session id.
    pub host_session: String,
    pub agent: &'static AgentProfile,
    pub cwd: String,
    pub model: Option<String>,
    pub window: Option<u64>,
    /// `None` where it is not known: before the first answer, and after `/clear`.
    pub tokens: Option<u64>,
    /// What it says that it has cost so far.
    pub cost_usd: Option<f64>,
}

/// What is read of a transcript when nobody waits for it.
const LAST_BYTES: u64 = 256 << 10;

/// Sessions that were not heard of for longer are left alone.
const FORGOTTEN_MS: i64 = 2 * 60 * 60 * 1000;

const MOST_SESSIONS: usize = 256;

impl Pipeline {
    /// Stores what a client said of its context, and gives its session as it is then.
    pub fn note(&mut self, reading: &ContextReading, env: &Environment) -> Result<Option<Session>, Error> {
        let settings = self.settings_in(&reading.cwd);
        let logical = engine::session_name(reading.agent, env).unwrap_or(&reading.host_session);
        let ours = |session: &Session| session.host_session.as_deref() == Some(&reading.host_session);
        let Some(known) = self.store()?.session(logical)?.filter(|session| session.open() && ours(session)) else {
            return Ok(None);
        };
        self.note_cost(&known.id, reading)?;
        if with_reading(known.clone(), reading, &settings) == known {
            return Ok(Some(known));
        }
        self.store()?.transact(Durability::Normal, |tx| {
            let open = tx.open_sessions(logical)?;
            let Some(session) = open.into_iter().find(|session| session.id == known.id) else { return Ok(None) };
            let session = with_reading(session, reading, &settings);
            tx.apply(&[Write::Session(Box::new(session.clone()))])?;
            Ok(Some(session))
        })
    }

    /// What the client says counts more than what is reckoned from its transcript.
    fn note_cost(&mut self, session: &str, reading: &ContextReading) -> Result<(), Error> {
        let Some(cost) = reading.cost_usd.filter(|cost| cost.is_finite() && *cost > 0.0) else { return Ok(()) };
        let known = self.store()?.session_facts(session)?;
        if known.cost_usd == Some(cost) && !known.cost_estimated {
            return Ok(());
        }
        let at = host::clock::now();
        self.store()?.note_session(session, |facts| {
            (facts.cost_usd, facts.cost_estimated, facts.updated_at) = (Some(cost), false, at);
            facts.model = reading.model.clone().or(facts.model.take());
        })
    }

    /// Measures the sessions whose transcripts have grown since they were last
    /// read, so that their next event, and whoever looks, knows. How many were.
    pub fn watch(&mut self, now: Ms) -> Result<usize, Error> {
        let filter = SessionFilter { only_open: true, limit: MOST_SESSIONS, ..SessionFilter::default() };
        let open = self.store()?.sessions(&filter)?;
        let mut measured = 0;
        for session in open.iter().filter(|session| now.since(session.last_seen_at) < FORGOTTEN_MS) {
            let Some(tail) = grown(session) else { continue };
            let settings = self.settings_in(session.cwd.as_deref().unwrap_or(&session.project));
            self.store()?.transact(Durability::Normal, |tx| {
                let now_open = tx.open_sessions(&session.logical_id)?;
                let current = now_open.into_iter().find(|current| current.id == session.id);
                // An event that came meanwhile has read more than we have.
                let Some(current) = current.filter(|current| current.memo.read_to < tail.size) else { return Ok(()) };
                let agent = agent_of(&current);
                let current = context::sized(agent, context::measured(agent, current, &tail), &settings);
                measured += 1;
                tx.apply(&[Write::Session(Box::new(current))])
            })?;
        }
        Ok(measured)
    }

    fn settings_in(&mut self, folder: &str) -> ContextSettings {
        let home = self.setting.home.clone();
        ContextSettings::of(&self.caches.policies.of(folder, &home).policy)
    }
}

/// The end of a transcript that is longer than when it was last read.
fn grown(session: &Session) -> Option<TranscriptTail> {
    let path = Path::new(session.transcript.as_deref()?);
    let size = host::probe::tail(path, 0)?.size;
    if size == session.memo.read_to { None } else { host::probe::tail(path, LAST_BYTES) }
}

fn with_reading(mut session: Session, reading: &ContextReading, settings: &ContextSettings) -> Session {
    session.memo.model = reading.model.clone().or(session.memo.model);
    session.memo.told_window = reading.window.or(session.memo.told_window);
    session.context_tokens = reading.tokens.or(session.context_tokens);
    context::sized(reading.agent, session, settings)
}

/// The agent whose session it is; those of before it was noted are of the first there was.
fn agent_of(session: &Session) -> &'static AgentProfile {
    session.memo.dialect.as_deref().and_then(|id| agents::ALL.find(id)).unwrap_or(agents::DEFAULT).profile
}
