//! Replies in the JSON Codex honours. One key too many, or one that it does not honour on that event, and it throws the
//! whole answer away: the call runs. So nothing is said but what it was seen to take; see `docs/agents/codex.md`.

use super::decode::INTERRUPT;
use crate::answers::{decision, nested_gate, object, specific};
use model::Answer;
use model::event::{Envelope, EventKind};
use model::reply::{ByFamily, Feedback, Gate, GateStop, Reply};
use serde_json::{Map, Value, json};

pub fn encode(envelope: &Envelope, reply: &Reply) -> Answer {
    let kind = envelope.kind;
    let fields = match &reply.answer {
        _ if envelope.name == INTERRUPT => Map::new(),
        ByFamily::Gate(gate) => gate_fields(gate),
        ByFamily::Permission(permission) => match &permission.deny {
            Some(why) => specific(kind.name(), [("decision", json!({"behavior": "deny", "message": worded(why)}))]),
            None => Map::new(),
        },
        ByFamily::Feedback(feedback) => feedback_fields(kind, feedback),
        ByFamily::Context(told) if super::WITH_CONTEXT.contains(&kind) => context(kind, told.text.as_ref()),
        // A compaction is stopped together with its turn, or not at all.
        ByFamily::Veto(veto) if kind == EventKind::PreCompact => match &veto.block {
            Some(why) => Map::from_iter([("continue".into(), json!(false)), ("stopReason".into(), json!(worded(why)))]),
            None => Map::new(),
        },
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

/// `ask` and `continue` would let the call run.
fn gate_fields(gate: &Gate) -> Map<String, Value> {
    let stop = gate.stop.as_ref().map(|(GateStop::Ask { reason } | GateStop::Deny { reason, .. })| GateStop::Deny {
        reason: worded(reason),
        halt: None,
    });
    nested_gate(EventKind::PreToolUse.name(), &Gate { stop, context: gate.context.clone() })
}

/// After a tool a block would take the place of the tool's result, so what it says is said beside it.
fn feedback_fields(kind: EventKind, feedback: &Feedback) -> Map<String, Value> {
    match kind {
        EventKind::Stop | EventKind::SubagentStop => {
            feedback.block.as_ref().map(|why| decision("block", &worded(why))).unwrap_or_default()
        }
        EventKind::PostToolUse => {
            let parts: Vec<&str> = feedback.block.iter().chain(&feedback.context).map(String::as_str).collect();
            context(kind, Some(&parts.join("\n\n")).filter(|_| !parts.is_empty()))
        }
        _ => Map::new(),
    }
}

fn context(kind: EventKind, text: Option<&String>) -> Map<String, Value> {
    text.map(|text| specific(kind.name(), [("additionalContext", json!(text))])).unwrap_or_default()
}

/// A reason of blanks alone is none to Codex, and a denial without a reason none either.
fn worded(reason: &str) -> String {
    if reason.trim().is_empty() { format!("{reason}Taut says no.") } else { reason.to_string() }
}
