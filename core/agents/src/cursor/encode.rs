//! What Cursor's documentation says it honours: fields of its own, all at the top.

use crate::answer_form::{AnswerForm, FieldValue, field};
use crate::answers::object;
use model::Answer;
use model::event::{Envelope, EventKind};
use model::reply::{ByFamily, GateStop, Reply};
use serde_json::{Map, Value, json};

const CONTEXT: &[EventKind] = &[EventKind::SessionStart, EventKind::PostToolUse];

pub const FORMS: &[AnswerForm] = &[
    field(&[EventKind::PreToolUse], "permission", FieldValue::OneOf(&["deny"])),
    field(&[EventKind::PreToolUse], "user_message", FieldValue::AnyText),
    field(&[EventKind::PreToolUse], "agent_message", FieldValue::AnyText),
    field(CONTEXT, "additional_context", FieldValue::AnyText),
    field(&[EventKind::Stop], "followup_message", FieldValue::AnyText),
];

pub fn encode(envelope: &Envelope, reply: &Reply) -> Answer {
    let one = |name: &str, text: Option<&String>| {
        object(Map::from_iter(text.map(|text| (name.to_string(), Value::from(text.as_str())))))
    };
    match (&reply.answer, envelope.kind) {
        (ByFamily::Gate(gate), _) => gate.stop.clone().map(stop_unread).unwrap_or_default(),
        (ByFamily::Context(told), EventKind::SessionStart) => one("additional_context", told.text.as_ref()),
        (ByFamily::Feedback(feedback), EventKind::PostToolUse) => one("additional_context", feedback.context.as_ref()),
        (ByFamily::Feedback(feedback), EventKind::Stop) => one("followup_message", feedback.block.as_ref()),
        _ => Answer::default(),
    }
}

/// Both are told why: a person reads one of the texts, the model the other.
pub fn stop_unread(stop: GateStop) -> Answer {
    let (GateStop::Ask { reason } | GateStop::Deny { reason, .. }) = stop;
    let fields = [("permission", json!("deny")), ("user_message", json!(reason)), ("agent_message", json!(reason))];
    object(fields.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
}

pub const UNJUDGED: &str = concat!(
    r#"{"permission":"deny","user_message":"Taut could not judge this call; `taut doctor` says more.","#,
    r#""agent_message":"Taut could not judge this call: it crashed, or there was no time or room left."}"#,
    "\n"
);
