//! StopFailure: a turn that ended in an error is kept as a message, with its reason and
//! the agent's last words, so that whoever looks after the agent finds them. Rate
//! limits come this way too.

use super::ReplyDraft;
use crate::event_context::EventContext;
use crate::redact::text_without_secrets;
use model::effect::Write;
use model::effort::{MemoryWrite, Message};
use model::event::Body;
use model::text;

/// What is kept of the reason, and of the last words.
const MOST: usize = 2_000;

pub fn say(event: &EventContext<'_>) -> ReplyDraft {
    let Body::Failure { error, details, last_message } = &event.envelope.body else { return ReplyDraft::default() };
    let session = event.session();
    let message = Message {
        id: event.ids.event.to_string(),
        at: event.now,
        kind: "stop_failure".to_string(),
        from_agent: Some(session.map_or(&event.who.agent, |session| &session.agent).clone()),
        to: None,
        session: session.map(|session| session.id.clone()),
        body: body(error, details.as_deref(), last_message.as_deref()),
    };
    ReplyDraft { writes: vec![Write::Memory(MemoryWrite::Message(message))], ..ReplyDraft::default() }
}

/// Cut only after secrets were taken out: half a secret is not recognised as one.
fn body(error: &str, details: Option<&str>, last_message: Option<&str>) -> String {
    let clean = |said: &str| text::lines(&text_without_secrets(said), MOST);
    let mut out = if error.is_empty() { "unknown".to_string() } else { clean(error) };
    if let Some(details) = details.filter(|details| !details.trim().is_empty()) {
        out.push_str(&format!(": {}", clean(details)));
    }
    if let Some(said) = last_message.filter(|said| !said.trim().is_empty()) {
        out.push_str(&format!("\nLast words: {}", clean(said)));
    }
    out
}
