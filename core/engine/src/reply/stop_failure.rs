//! StopFailure: a turn that ended in an error is kept as a message, so that
//! whoever looks after the agent finds it. Rate limits come this way too.

use super::ReplyDraft;
use crate::event_context::EventContext;
use model::effect::Write;
use model::effort::{MemoryWrite, Message};
use model::event::Body;

pub fn say(event: &EventContext<'_>) -> ReplyDraft {
    let Body::Failure { error } = &event.envelope.body else { return ReplyDraft::default() };
    let session = event.session();
    let message = Message {
        id: event.ids.event.to_string(),
        at: event.now,
        kind: "stop_failure".to_string(),
        from_agent: Some(session.map_or(&event.who.agent, |session| &session.agent).clone()),
        to: None,
        session: session.map(|session| session.id.clone()),
        body: if error.is_empty() { "unknown".to_string() } else { error.clone() },
    };
    ReplyDraft { writes: vec![Write::Memory(MemoryWrite::Message(message))], ..ReplyDraft::default() }
}
