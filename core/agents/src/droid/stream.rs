//! What Droid's stream of JSON lines says of its work. It tells neither cost nor how full the context is.

use model::run::{AgentOutput, AgentTrouble};
use serde_json::Value;

/// Takes one line in. A line that is no object says nothing.
pub fn hear(line: &str, heard: &mut AgentOutput) {
    if !line.trim_start().starts_with('{') {
        return;
    }
    let Ok(value) = serde_json::from_str::<Value>(line) else { return };
    let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
    match text("type") {
        "system" => heard.session = value.get("session_id").and_then(Value::as_str).map(str::to_string),
        "tool_call" => heard.tool = Some(text("toolName").to_string()),
        "tool_result" => heard.tool = None,
        "completion" => {
            heard.tool = None;
            heard.turns = value.get("numTurns").and_then(Value::as_u64).unwrap_or(heard.turns);
            heard.said = Some(text("finalText").chars().take(400).collect());
            (heard.failed, heard.trouble) = (false, None);
        }
        // The client's own word on the end of its run; what a tool printed never stands here.
        "error" => {
            heard.tool = None;
            heard.failed = true;
            if text("source") == "agent_loop" {
                heard.said = Some(text("message").chars().take(400).collect());
                heard.trouble = trouble(text("message"));
            }
        }
        _ => {}
    }
}

/// The answer of a model's server begins with its status.
fn trouble(message: &str) -> Option<AgentTrouble> {
    let status: u64 = message.split_whitespace().next()?.parse().ok()?;
    match status {
        429 => Some(AgentTrouble::Limited { until: None }),
        408 | 500..=599 => Some(AgentTrouble::Transient { what: format!("status {status}") }),
        401..=403 => Some(AgentTrouble::Refused { what: message.chars().take(400).collect() }),
        _ => None,
    }
}
