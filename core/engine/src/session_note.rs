//! What an event tells of its session besides what the session's row holds: its agent's last words, and where the work
//! tree stands as it begins.

use crate::event_context::EventContext;
use model::effect::Write;
use model::event::{Body, Envelope, EventKind, StartSource};
use model::fact::Probe;
use model::session::Session;
use model::session_facts::SessionNote;

/// Asked once a session: a work tree is told from small files.
pub fn probe(envelope: &Envelope, folder: &str) -> Option<Probe> {
    (envelope.kind == EventKind::SessionStart).then(|| Probe::Head { folder: folder.to_string() })
}

/// A sub-agent's words are its parent's to tell.
pub fn of_event(session: &Session, event: &EventContext<'_>) -> Option<Write> {
    let envelope = event.envelope;
    if envelope.sub_agent.is_some() {
        return None;
    }
    let note = match (envelope.kind, &envelope.body) {
        (EventKind::Stop, Body::Stop { last_message, .. }) | (_, Body::Failure { last_message, .. }) => {
            let words = last_message.as_deref().map(str::trim).filter(|words| !words.is_empty())?;
            SessionNote::LastWords(words.to_string())
        }
        (_, Body::SessionStart(start)) if start.source == StartSource::Compact && session.prev.is_some() => {
            SessionNote::GoesOn { prev: session.prev.clone()? }
        }
        // One is asked about.
        (EventKind::SessionStart, _) => SessionNote::Began(event.facts.heads.first()?.1.clone()),
        _ => return None,
    };
    Some(Write::Fact { session: session.id.clone(), note, at: event.now })
}
