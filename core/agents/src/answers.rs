//! Parts of answers that several agents read alike.

use model::Answer;
use model::reply::{Gate, GateStop, Halt};
use serde_json::{Map, Value, json};

/// So begins what a refused stop is told where it comes back as a prompt: it is known by this.
pub const BEFORE_STOP: &str = "Before you stop, Taut asks: ";

/// What is said where nothing could be judged. Written out, because there may be no memory to make it of.
macro_rules! unjudged {
    () => {
        "Taut could not judge this call: it crashed, or there was no time or room left; `taut doctor` says more."
    };
}

/// That, as a question and as a denial within `hookSpecificOutput`, and as a denial at the top.
pub const ASK_UNJUDGED: &str = concat!(
    r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":""#,
    unjudged!(),
    "\"}}\n"
);
pub const DENY_UNJUDGED: &str = concat!(
    r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":""#,
    unjudged!(),
    "\"}}\n"
);
pub const FLAT_DENY_UNJUDGED: &str = concat!(r#"{"decision":"deny","reason":""#, unjudged!(), "\"}\n");

/// A stop as it is told to an agent that cannot put a question: a denial with the same words.
pub fn denied(stop: GateStop) -> GateStop {
    match stop {
        GateStop::Ask { reason } => GateStop::Deny { reason, halt: None },
        stop => stop,
    }
}

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
    denial_in(answer.get("hookSpecificOutput")?, "permissionDecision", "permissionDecisionReason")
}

/// The same at the top, in these fields.
pub fn flat_denial(stdout: &str, decision: &str, reason: &str) -> Option<String> {
    denial_in(&serde_json::from_str(stdout.trim()).ok()?, decision, reason)
}

fn denial_in(answer: &Value, decision: &str, reason: &str) -> Option<String> {
    let denied = answer.get(decision)?.as_str()? == "deny";
    denied.then(|| answer.get(reason)?.as_str().map(str::to_owned)).flatten()
}
