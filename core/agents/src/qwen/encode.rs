//! Replies in the JSON Qwen Code honours: Claude Code's, without what it drops. Lines for the user and for the log are left
//! out: it shows the one at a stop alone, and nobody reads the other.

use super::forms::{BLOCKED, WITH_CONTEXT};
use crate::answers::{self, object, specific};
use model::Answer;
use model::event::{Envelope, EventKind};
use model::reply::{ByFamily, Feedback, Gate, GateStop, Reply};
use serde_json::{Map, Value, json};

pub fn encode(envelope: &Envelope, reply: &Reply) -> Answer {
    object(match &reply.answer {
        ByFamily::Gate(gate) => gate_fields(gate.stop.clone()),
        ByFamily::Permission(permission) => match &permission.deny {
            Some(why) => specific(envelope.kind.name(), [("decision", json!({"behavior": "deny", "message": why}))]),
            None => Map::new(),
        },
        ByFamily::Feedback(feedback) => feedback_fields(envelope.kind, feedback),
        ByFamily::Context(told) => context(envelope.kind, told.text.as_ref()),
        ByFamily::Veto(_) | ByFamily::Silent => Map::new(),
    })
}

pub fn stop_unread(stop: GateStop) -> Answer {
    object(gate_fields(Some(stop)))
}

fn gate_fields(stop: Option<GateStop>) -> Map<String, Value> {
    answers::nested_gate(EventKind::PreToolUse.name(), &Gate { stop, context: None })
}

fn feedback_fields(kind: EventKind, feedback: &Feedback) -> Map<String, Value> {
    match &feedback.block {
        Some(reason) if BLOCKED.contains(&kind) => answers::decision("block", reason),
        _ => context(kind, feedback.context.as_ref()),
    }
}

fn context(kind: EventKind, text: Option<&String>) -> Map<String, Value> {
    match text.filter(|_| WITH_CONTEXT.contains(&kind)) {
        Some(text) => specific(kind.name(), [("additionalContext", json!(text))]),
        None => Map::new(),
    }
}
