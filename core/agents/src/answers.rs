//! Parts of answers that several agents read alike.

use model::Answer;
use model::reply::{Gate, GateStop, Halt};
use serde_json::{Map, Value, json};

/// Nothing at all where there is no field: silence is safe everywhere.
pub fn object(fields: Map<String, Value>) -> Answer {
    if fields.is_empty() {
        return Answer::default();
    }
    Answer { stdout: format!("{}\n", Value::Object(fields)), ..Answer::default() }
}

/// `hookSpecificOutput`, which names the event it answers.
pub fn specific<'a>(event: &str, inner: impl IntoIterator<Item = (&'a str, Value)>) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("hookEventName".into(), json!(event));
    object.extend(inner.into_iter().map(|(key, value)| (key.to_string(), value)));
    Map::from_iter([("hookSpecificOutput".to_string(), Value::Object(object))])
}

/// What stops a call or tells more of it, within `hookSpecificOutput`. Nothing where nothing is decided.
pub fn nested_gate(event: &str, gate: &Gate) -> Map<String, Value> {
    let mut inner = Vec::new();
    if let Some((word, reason)) = stop_words(gate.stop.as_ref()) {
        inner.push(("permissionDecision", json!(word)));
        inner.push(("permissionDecisionReason", json!(reason)));
    }
    if let Some(context) = &gate.context {
        inner.push(("additionalContext", json!(context)));
    }
    if inner.is_empty() { Map::new() } else { specific(event, inner) }
}

/// `ask` or `deny`, and why.
pub fn stop_words(stop: Option<&GateStop>) -> Option<(&'static str, &str)> {
    match stop? {
        GateStop::Ask { reason } => Some(("ask", reason)),
        GateStop::Deny { reason, .. } => Some(("deny", reason)),
    }
}

/// `{"decision": word, "reason": …}`.
pub fn decision(word: &str, reason: &str) -> Map<String, Value> {
    Map::from_iter([("decision".to_string(), json!(word)), ("reason".to_string(), json!(reason))])
}

/// `{"continue": false, "stopReason": …}` beside other fields.
pub fn add_halt(fields: &mut Map<String, Value>, halt: Option<&Halt>) {
    if let Some(halt) = halt {
        fields.insert("continue".into(), json!(false));
        fields.insert("stopReason".into(), json!(halt.stop_reason));
    }
}

/// The reason on stderr, where an exit status says no.
pub fn exit_with(status: u8, reason: &str) -> Answer {
    Answer { stdout: String::new(), stderr: format!("{reason}\n"), exit: status }
}

/// The reason of a denial within `hookSpecificOutput`; `None` where the answer is none.
pub fn nested_denial(stdout: &str) -> Option<String> {
    let answer: Value = serde_json::from_str(stdout.trim()).ok()?;
    let specific = answer.get("hookSpecificOutput")?;
    let denied = specific.get("permissionDecision")?.as_str()? == "deny";
    denied.then(|| specific.get("permissionDecisionReason")?.as_str().map(str::to_owned)).flatten()
}
