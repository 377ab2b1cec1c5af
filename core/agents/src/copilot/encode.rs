//! Replies in the JSON Copilot honours. It takes flat fields in both of its spellings, and nested ones in one alone; see
//! `docs/agents/copilot.md`.

use crate::answers::{BEFORE_STOP, object, stop_words};
use model::Answer;
use model::event::{Envelope, EventKind};
use model::reply::{ByFamily, Feedback, Gate, GateStop, Reply};
use serde_json::{Map, Value, json};

pub fn encode(envelope: &Envelope, reply: &Reply) -> Answer {
    let kind = envelope.kind;
    let fields = match &reply.answer {
        ByFamily::Gate(gate) => gate_fields(gate),
        ByFamily::Permission(permission) => match &permission.deny {
            Some(why) => flat([("behavior", json!("deny")), ("message", json!(why))]),
            None => Map::new(),
        },
        ByFamily::Feedback(feedback) => feedback_fields(kind, feedback),
        ByFamily::Context(told) if super::WITH_CONTEXT.contains(&kind) => context(told.text.as_ref()),
        _ => Map::new(),
    };
    let mut answer = object(fields);
    if let Some(warning) = &reply.warning {
        answer.stderr = format!("{warning}\n");
    }
    answer
}

/// A payload that could not be read is stopped as the event a guard stands on; any other ignores what is not its own.
pub fn stop_unread(stop: GateStop) -> Answer {
    object(gate_fields(&Gate { stop: Some(stop), context: None }))
}

pub const UNJUDGED: &str = concat!(
    r#"{"permissionDecision":"ask","permissionDecisionReason":"Taut could not judge this call: it crashed, or there was no "#,
    r#"time or room left; `taut doctor` says more."}"#,
    "\n"
);

fn gate_fields(gate: &Gate) -> Map<String, Value> {
    let mut fields = context(gate.context.as_ref());
    if let Some((word, reason)) = stop_words(gate.stop.as_ref()) {
        fields.extend(flat([("permissionDecision", json!(word)), ("permissionDecisionReason", json!(reason))]));
    }
    fields
}

/// After a tool a block would take the place of the tool's result, so what it says is said beside it.
fn feedback_fields(kind: EventKind, feedback: &Feedback) -> Map<String, Value> {
    match kind {
        EventKind::Stop | EventKind::SubagentStop => match &feedback.block {
            Some(why) => flat([("decision", json!("block")), ("reason", json!(format!("{BEFORE_STOP}{why}")))]),
            None => Map::new(),
        },
        EventKind::PostToolUse | EventKind::PostToolUseFailure => {
            let parts: Vec<&str> = feedback.block.iter().chain(&feedback.context).map(String::as_str).collect();
            context(Some(&parts.join("\n\n")).filter(|_| !parts.is_empty()))
        }
        _ => Map::new(),
    }
}

fn context(text: Option<&String>) -> Map<String, Value> {
    text.map(|text| flat([("additionalContext", json!(text))])).unwrap_or_default()
}

fn flat<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    fields.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}
