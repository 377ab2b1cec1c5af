//! What Copilot's stream of JSON lines (`--output-format json`) says of its work.

use model::run::{AgentOutput, AgentTrouble};
use serde_json::Value;

/// Takes one line in. A line that is no object says nothing; neither costs in money nor the context are told.
pub fn hear(line: &str, heard: &mut AgentOutput) {
    if !line.trim_start().starts_with('{') {
        return;
    }
    let Ok(value) = serde_json::from_str::<Value>(line) else { return };
    // A helper's own lines name it.
    if value.get("agentId").is_some_and(Value::is_string) {
        return;
    }
    let data = value.get("data").unwrap_or(&Value::Null);
    match text(&value, "type") {
        "tool.execution_start" => heard.tool = Some(text(data, "toolName").to_string()),
        "tool.execution_complete" => heard.tool = None,
        "assistant.turn_end" => heard.turns += 1,
        "assistant.message" => {
            heard.trouble = None;
            if !text(data, "content").is_empty() {
                heard.said = Some(short(text(data, "content")));
            }
        }
        "session.error" => {
            heard.said = Some(short(text(data, "message")));
            heard.trouble = trouble(data);
        }
        "result" => {
            heard.tool = None;
            heard.session = value.get("sessionId").and_then(Value::as_str).map(str::to_string);
            heard.failed = value.get("exitCode").and_then(Value::as_i64) != Some(0);
        }
        _ => {}
    }
}

/// By the status that the service answered with, or by Copilot's own word.
fn trouble(data: &Value) -> Option<AgentTrouble> {
    let what = || short(text(data, "message"));
    match (data.get("statusCode").and_then(Value::as_u64), text(data, "errorType")) {
        (Some(429), _) | (_, "rate_limit" | "quota") => Some(AgentTrouble::Limited { until: None }),
        (Some(401..=403), _) | (_, "authentication" | "authorization") => Some(AgentTrouble::Refused { what: what() }),
        (Some(408 | 500..=599), _) => Some(AgentTrouble::Transient { what: what() }),
        _ => None,
    }
}

fn short(text: &str) -> String {
    text.chars().take(400).collect()
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
