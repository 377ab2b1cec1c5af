//! Replies in the JSON Droid honours. Nothing goes to stderr: beside a failing exit status it would be put before what
//! the tool gave back.

use crate::answers::{add_halt, decision, denied, nested_gate, object, specific};
use model::Answer;
use model::event::{Envelope, EventKind};
use model::reply::{ByFamily, Context, Feedback, Gate, GateStop, Reply};
use serde_json::{Map, Value, json};

pub fn encode(envelope: &Envelope, reply: &Reply) -> Answer {
    let fields = match (envelope.kind, &reply.answer) {
        (EventKind::PreToolUse, ByFamily::Gate(gate)) => gate_fields(gate.stop.as_ref()),
        (EventKind::PostToolUse, ByFamily::Feedback(feedback)) => after_tool(&envelope.name, feedback),
        (EventKind::Stop, ByFamily::Feedback(Feedback { block: Some(reason), .. })) => decision("block", reason),
        // A helper's start is told as a session's, and is answered under that name.
        (
            EventKind::SessionStart | EventKind::SubagentStart | EventKind::UserPromptSubmit,
            ByFamily::Context(Context { text: Some(text) }),
        ) => context(&envelope.name, text),
        _ => Map::new(),
    };
    object(fields)
}

pub fn stop_unread(stop: GateStop) -> Answer {
    object(gate_fields(Some(&stop)))
}

/// What cannot be asked is denied, and what would be told beside a call is not read.
fn gate_fields(stop: Option<&GateStop>) -> Map<String, Value> {
    let stop = stop.cloned().map(denied);
    let mut fields = nested_gate(EventKind::PreToolUse.name(), &Gate { stop: stop.clone(), context: None });
    if let Some(GateStop::Deny { halt, .. }) = &stop {
        add_halt(&mut fields, halt.as_ref());
    }
    fields
}

/// It takes no block there, so what is wrong is told as context.
fn after_tool(event: &str, feedback: &Feedback) -> Map<String, Value> {
    let told: Vec<&str> = [&feedback.block, &feedback.context].into_iter().flatten().map(String::as_str).collect();
    let mut fields = if told.is_empty() { Map::new() } else { context(event, &told.join("\n\n")) };
    add_halt(&mut fields, feedback.halt.as_ref());
    fields
}

fn context(event: &str, text: &str) -> Map<String, Value> {
    specific(event, [("additionalContext", json!(text))])
}
