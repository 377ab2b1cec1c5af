//! Cards: what of a call that waits for a person is shown away from the agent's own terminal, which answers fit it, and
//! which of them may be given from there.

mod bounded;
mod confirm;
mod diff;
mod elsewhere;
mod fits;
mod lines;
mod shown;
#[cfg(test)]
mod tests;

pub(crate) use confirm::steps;
pub use confirm::{digest_texts, tells_of_cards};
pub use elsewhere::{address, answer_text, known, seen_text, told};
pub use fits::{allowed_from_here, fits};
pub use shown::{CardSources, OldContent, file_before, shown};

use model::card::CardKind;
use model::question::questions;
use model::{Envelope, EventKind, ToolKind};
use serde_json::{Value, json};

/// What the call asks of a person; `None` where it asks nothing that could be answered from elsewhere. A payload that
/// was not read whole is never answered: nobody knows what would be allowed.
pub fn kind(envelope: &Envelope) -> Option<CardKind> {
    if envelope.kind != EventKind::PermissionRequest || envelope.cut || !envelope.notes.is_empty() {
        return None;
    }
    let call = envelope.tool().filter(|call| !call.name.is_empty() && call.input.is_object())?;
    match call.kind {
        ToolKind::Ask => questions(&call.input).map(|_| CardKind::Question),
        ToolKind::Plan => call.plan().map(|_| CardKind::Plan),
        _ => Some(CardKind::Permission),
    }
}

/// The call in one spelling, however the fields of its input are ordered: whose it is, which tool, and the exact input.
/// What has another text is another call, and an answer is for one call.
pub fn digest_text(envelope: &Envelope) -> String {
    let call = envelope.tool();
    let sub_agent = envelope.sub_agent.as_ref().map(|sub| sub.id.as_str());
    let input = call.map(|call| sorted(&call.input)).unwrap_or_default();
    let name = call.map(|call| call.name.as_str());
    json!([envelope.agent.id, envelope.host_session, sub_agent, name, input]).to_string()
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().map(|(name, value)| (name.clone(), sorted(value))).collect();
            fields.sort_by(|left, right| left.0.cmp(&right.0));
            Value::Object(fields.into_iter().collect())
        }
        plain => plain.clone(),
    }
}
