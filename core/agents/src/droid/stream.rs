//! What Droid's stream of JSON lines says of its work. It tells neither cost nor how full the context is.

use crate::agent_output::{add, by_words, call_begins, call_ends, deny, short, usage};
use crate::prices::estimate;
use model::run::AgentOutput;
use serde_json::Value;

/// Takes one line in. A line that is no object says nothing.
pub fn hear(line: &str, heard: &mut AgentOutput) {
    if !line.trim_start().starts_with('{') {
        return;
    }
    let Ok(value) = serde_json::from_str::<Value>(line) else { return };
    let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
    match text("type") {
        "system" => {
            heard.session = value.get("session_id").and_then(Value::as_str).map(str::to_string);
            heard.model = value.get("model").and_then(Value::as_str).map(str::to_string);
        }
        "tool_call" => {
            call_begins(heard, text("id"), text("toolName"), value.get("parameters").unwrap_or(&Value::Null));
        }
        "tool_result" => {
            let ended = call_ends(heard, text("id"));
            if value.pointer("/error/type").is_some_and(|kind| kind == "permission_denied") {
                deny(heard, ended.map(|call| call.described).unwrap_or_default());
            }
        }
        "completion" => {
            heard.tool = None;
            heard.turns = value.get("numTurns").and_then(Value::as_u64).unwrap_or(heard.turns);
            heard.said = Some(text("finalText").chars().take(400).collect());
            (heard.failed, heard.trouble) = (false, None);
            let used = value.get("usage").map(usage).unwrap_or_default();
            add(heard, used, estimate(heard.model.clone().unwrap_or_default().as_str(), used));
        }
        // The client's own word on the end of its run; what a tool printed never stands here.
        "error" => {
            heard.tool = None;
            heard.failed = true;
            if text("source") == "agent_loop" {
                heard.said = Some(short(text("message")));
                heard.trouble = by_words(text("message"));
            }
        }
        _ => {}
    }
}
