//! Replies in the JSON Gemini CLI honours. Its `decision` stands in no frame that names the event: what is meant for one
//! event is honoured on any, so each event gets only what is its own.
//!
//! Nothing goes to stderr: where stdout is empty, the client takes that for the answer.

use super::forms;
use crate::answers::{BEFORE_STOP, add_halt, decision, object, specific, stop_words};
use model::Answer;
use model::event::{Envelope, EventKind};
use model::reply::{ByFamily, Feedback, GateStop, Reply};
use serde_json::{Map, Value, json};

pub fn encode(envelope: &Envelope, reply: &Reply) -> Answer {
    let mut fields = match &reply.answer {
        ByFamily::Gate(gate) => gate.stop.as_ref().map(stopped).unwrap_or_default(),
        ByFamily::Feedback(feedback) => feedback_fields(envelope, feedback),
        ByFamily::Context(told) => context(envelope, told.text.as_ref()),
        ByFamily::Permission(_) | ByFamily::Veto(_) | ByFamily::Silent => Map::new(),
    };
    if let Some(line) = reply.user_line.as_ref().filter(|_| forms::SHOWN.contains(&envelope.kind)) {
        fields.insert("systemMessage".into(), json!(line));
    }
    object(fields)
}

/// A question would hang where nobody sits, and whether somebody does is not told: it is a denial.
pub fn stop_unread(stop: GateStop) -> Answer {
    object(stopped(&stop))
}

fn stopped(stop: &GateStop) -> Map<String, Value> {
    let mut fields = stop_words(Some(stop)).map(|(_, reason)| decision("deny", reason)).unwrap_or_default();
    if let GateStop::Deny { halt, .. } = stop {
        add_halt(&mut fields, halt.as_ref());
    }
    fields
}

/// After a tool, a `decision` would take the place of its result.
fn feedback_fields(envelope: &Envelope, feedback: &Feedback) -> Map<String, Value> {
    let mut fields = match (envelope.kind, &feedback.block) {
        (EventKind::Stop, Some(reason)) => decision("deny", &format!("{BEFORE_STOP}{reason}")),
        _ => context(envelope, feedback.context.as_ref()),
    };
    if forms::HALTED.contains(&envelope.kind) {
        add_halt(&mut fields, feedback.halt.as_ref());
    }
    fields
}

fn context(envelope: &Envelope, text: Option<&String>) -> Map<String, Value> {
    match text.filter(|_| forms::WITH_CONTEXT.contains(&envelope.kind)) {
        Some(text) => specific(&envelope.name, [("additionalContext", json!(text))]),
        None => Map::new(),
    }
}
