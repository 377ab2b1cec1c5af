//! Replies in the JSON Grok honours.

use super::decode::CANCELLED;
use crate::answers::{decision, denied, nested_gate, object, specific};
use model::Answer;
use model::event::{Envelope, EventKind};
use model::reply::{ByFamily, Feedback, Gate, GateStop, Reply};
use serde_json::{Map, Value, json};

pub fn encode(envelope: &Envelope, reply: &Reply) -> Answer {
    let fields = match (envelope.kind, &reply.answer) {
        (EventKind::PreToolUse, ByFamily::Gate(gate)) => gate_fields(gate),
        (EventKind::PostToolUse, ByFamily::Feedback(feedback)) => {
            let mut fields = feedback.block.as_ref().map(|reason| decision("block", reason)).unwrap_or_default();
            fields.extend(feedback.context.as_ref().map(|text| context(&envelope.name, text)).unwrap_or_default());
            fields
        }
        (EventKind::PostToolUseFailure, ByFamily::Feedback(feedback)) => after_failure(&envelope.name, feedback),
        // Context there would keep it working as well, so none is told; and whoever broke off wants nothing to go on.
        (EventKind::Stop | EventKind::SubagentStop, ByFamily::Feedback(Feedback { block: Some(reason), .. }))
            if envelope.name != CANCELLED =>
        {
            decision("block", reason)
        }
        _ => Map::new(),
    };
    object(fields)
}

pub fn stop_unread(stop: GateStop) -> Answer {
    object(gate_fields(&Gate { stop: Some(stop), context: None }))
}

/// What cannot be asked is denied; what is told beside a denial is dropped.
fn gate_fields(gate: &Gate) -> Map<String, Value> {
    let stop = gate.stop.clone().map(denied);
    let context = gate.context.clone().filter(|_| stop.is_none());
    nested_gate(EventKind::PreToolUse.name(), &Gate { stop, context })
}

/// It takes no block there, so what is wrong is told as context. A command that failed came under the other name.
fn after_failure(event: &str, feedback: &Feedback) -> Map<String, Value> {
    let told: Vec<&str> = [&feedback.block, &feedback.context].into_iter().flatten().map(String::as_str).collect();
    if told.is_empty() { Map::new() } else { context(event, &told.join("\n\n")) }
}

fn context(event: &str, text: &str) -> Map<String, Value> {
    specific(event, [("additionalContext", json!(text))])
}
