//! What VS Code's documentation says it honours.

use crate::answer_form::{AnswerForm, FieldValue, FormPart};
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
    on(TOLD, "hookSpecificOutput.hookEventName", FieldValue::AnyText),
    on(&[EventKind::PreToolUse], "hookSpecificOutput.permissionDecision", FieldValue::OneOf(&["deny", "ask"])),
    on(&[EventKind::PreToolUse], "hookSpecificOutput.permissionDecisionReason", FieldValue::AnyText),
    on(CONTEXT, "hookSpecificOutput.additionalContext", FieldValue::AnyText),
    on(&[EventKind::Stop], "hookSpecificOutput.decision", FieldValue::OneOf(&["block"])),
    on(&[EventKind::Stop], "hookSpecificOutput.reason", FieldValue::AnyText),
];

const fn on(on: &'static [EventKind], path: &'static str, value: FieldValue) -> AnswerForm {
    AnswerForm { on, what: FormPart::Field(path, value) }
}

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

/// A person sits there: they are asked.
pub const UNJUDGED: &str = crate::claude_code::UNJUDGED;
