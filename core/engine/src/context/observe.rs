//! What an event teaches about how full its session's context is.

use super::{ContextSettings, Evidence, room};
use model::AgentProfile;
use model::agent::FoundUsage;
use model::event::{Body, Envelope, EventKind};
use model::fact::{Facts, Probe, TranscriptTail};
use model::session::Session;

/// What is read of a transcript at first, and what when that held no answer.
const FIRST: u64 = 64 << 10;
const AGAIN: u64 = 1 << 20;

/// What must be read of the transcript. After a tool call it is read only when
/// something is switched on that needs it: once a turn is enough for a list.
pub fn wanted(envelope: &Envelope, settings: impl FnOnce() -> ContextSettings, facts: &Facts) -> Option<Probe> {
    let path = envelope.transcript.as_ref().filter(|_| envelope.sub_agent.is_none())?;
    let wanted = match envelope.kind {
        EventKind::UserPromptSubmit | EventKind::Stop | EventKind::PreCompact => FIRST,
        EventKind::PostToolUse if settings().follows_usage => FIRST,
        // Only its size: the boundary is not written yet.
        EventKind::PostCompact => 0,
        _ => return None,
    };
    let last = match facts.transcript(path) {
        None => wanted,
        Some(tail) => more(envelope.agent, tail, wanted)?,
    };
    Some(Probe::Transcript { path: path.clone(), last })
}

fn more(agent: &AgentProfile, tail: &TranscriptTail, wanted: u64) -> Option<u64> {
    let read = tail.bytes.len() as u64;
    (wanted > 0 && read < AGAIN && (agent.transcript.usage)(tail, 0) == FoundUsage::Earlier).then_some(AGAIN)
}

/// The session with what the event says of its context.
pub fn observe(mut session: Session, envelope: &Envelope, facts: &Facts, settings: &ContextSettings) -> Session {
    let tail = envelope.transcript.as_deref().and_then(|path| facts.transcript(path));
    match &envelope.body {
        Body::Compact { .. } if envelope.kind == EventKind::PostCompact => {
            session.context_tokens = None;
            session.memo.warned = 0;
            session.memo.floor = tail.map_or(0, |tail| tail.size);
        }
        Body::SessionStart(start) => {
            session.memo.model = start.model.clone().or(session.memo.model);
            session.context_tokens = start.context_tokens;
        }
        Body::ModelSwitch { to, context_tokens } => {
            if *to != session.memo.model {
                session.memo.told_window = None;
            }
            session.memo.model = to.clone().or(session.memo.model);
            session.context_tokens = context_tokens.or(session.context_tokens);
        }
        _ => {
            if let Some(tail) = tail {
                session = measured(envelope.agent, session, tail);
            }
        }
    }
    session.memo.dialect = Some(envelope.agent.id.to_string());
    sized(envelope.agent, session, settings)
}

/// The session with what the end of its transcript says.
pub fn measured(agent: &AgentProfile, mut session: Session, tail: &TranscriptTail) -> Session {
    if tail.size < session.memo.floor {
        // Another file: it never was that short.
        session.memo.floor = 0;
    }
    match (agent.transcript.usage)(tail, session.memo.floor) {
        FoundUsage::Usage(usage) => {
            session.context_tokens = Some(usage.tokens);
            if let Some(model) = usage.model.filter(|model| session.memo.model.as_ref() != Some(model)) {
                session.memo.model = Some(model);
                session.memo.told_window = None;
            }
        }
        FoundUsage::Reset => session.context_tokens = None,
        FoundUsage::Earlier | FoundUsage::Nothing => {}
    }
    session.memo.read_to = tail.size;
    session
}

/// The session with its window, as far as it can be known.
pub fn sized(agent: &AgentProfile, mut session: Session, settings: &ContextSettings) -> Session {
    let evidence = Evidence {
        told: session.memo.told_window,
        model: session.memo.model.as_deref(),
        tokens: session.context_tokens.unwrap_or_default(),
        known: agent.windows,
    };
    let found = room(settings, evidence);
    session.context_window = found.map(|room| room.window);
    session.context_limit = found.map(|room| room.limit);
    session
}
