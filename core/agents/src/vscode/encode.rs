//! What VS Code's documentation says it honours.

use crate::answer_form::{AnswerForm, FieldValue, field};
use crate::answers::{self, object, specific};
use model::Answer;
use model::event::{Envelope, EventKind};
use model::reply::{ByFamily, Gate, GateStop, Reply};
use serde_json::json;

const TOLD: &[EventKind] = &[
    EventKind::SessionStart,
    EventKind::PreToolUse,
    EventKind::PostToolUse,
    EventKind::SubagentStart,
    EventKind::Stop,
];
const CONTEXT: &[EventKind] = &[EventKind::SessionStart, EventKind::PostToolUse, EventKind::SubagentStart];

pub const FORMS: &[AnswerForm] = &[
    field(TOLD, "hookSpecificOutput.hookEventName", FieldValue::AnyText),
    field(&[EventKind::PreToolUse], "hookSpecificOutput.permissionDecision", FieldValue::OneOf(&["deny", "ask"])),
    field(&[EventKind::PreToolUse], "hookSpecificOutput.permissionDecisionReason", FieldValue::AnyText),
    field(CONTEXT, "hookSpecificOutput.additionalContext", FieldValue::AnyText),
    field(&[EventKind::Stop], "hookSpecificOutput.decision", FieldValue::OneOf(&["block"])),
    field(&[EventKind::Stop], "hookSpecificOutput.reason", FieldValue::AnyText),
];

pub fn encode(envelope: &Envelope, reply: &Reply) -> Answer {
    let kind = envelope.kind;
    let context = |text: &Option<String>| match text {
        Some(text) if CONTEXT.contains(&kind) => object(specific(kind.name(), [("additionalContext", json!(text))])),
        _ => Answer::default(),
    };
    match (&reply.answer, kind) {
        (ByFamily::Gate(gate), _) => gate.stop.clone().map(stop_unread).unwrap_or_default(),
        (ByFamily::Context(told), _) => context(&told.text),
        (ByFamily::Feedback(feedback), EventKind::Stop) => match &feedback.block {
            Some(reason) => object(specific(kind.name(), [("decision", json!("block")), ("reason", json!(reason))])),
            None => Answer::default(),
        },
        (ByFamily::Feedback(feedback), _) => context(&feedback.context),
        _ => Answer::default(),
    }
}

pub fn stop_unread(stop: GateStop) -> Answer {
    object(answers::nested_gate(EventKind::PreToolUse.name(), &Gate { stop: Some(stop), context: None }))
}
