//! What Codex's stream of JSON lines (`codex exec --json`) says of its work.

use model::run::{AgentOutput, AgentTrouble};
use serde_json::Value;

/// Takes one line in. A line that is no object says nothing. What a turn has used is a sum over its requests, which says
/// nothing of how full the context is; costs are not told.
pub fn hear(line: &str, heard: &mut AgentOutput) {
    if !line.trim_start().starts_with('{') {
        return;
    }
    let Ok(value) = serde_json::from_str::<Value>(line) else { return };
    let item = value.get("item").unwrap_or(&Value::Null);
    match text(&value, "type") {
        "thread.started" => heard.session = Some(text(&value, "thread_id").to_string()),
        "item.started" => heard.tool = Some(tool(item)),
        "item.completed" => {
            heard.tool = None;
            if text(item, "type") == "agent_message" {
                heard.said = Some(text(item, "text").chars().take(400).collect());
            }
        }
        "turn.completed" => {
            heard.turns += 1;
            (heard.failed, heard.trouble) = (false, None);
        }
        "turn.failed" => {
            let why = value.get("error").map(|error| text(error, "message")).unwrap_or_default();
            heard.failed = true;
            heard.trouble = trouble(why);
            heard.said = Some(why.chars().take(400).collect());
        }
        _ => {}
    }
}

/// What runs: its own name where a server's tool does.
fn tool(item: &Value) -> String {
    match text(item, "type") {
        "mcp_tool_call" => format!("mcp__{}__{}", text(item, "server"), text(item, "tool")),
        "command_execution" => "Bash".to_string(),
        "file_change" => "apply_patch".to_string(),
        kind => kind.to_string(),
    }
}

/// Codex gives its failures words and no fields. They are its own: no tool's output gets there.
fn trouble(why: &str) -> Option<AgentTrouble> {
    let has = |parts: &[&str]| parts.iter().any(|part| why.contains(part));
    if has(&["status: 429", "status 429", "usage limit", "rate limit", "Rate limit"]) {
        Some(AgentTrouble::Limited { until: None })
    } else if has(&["status 401", "status 402", "status 403", "status: 401", "not logged in", "log in again", "quota"])
    {
        Some(AgentTrouble::Refused { what: why.chars().take(400).collect() })
    } else if has(&[
        "high demand", "status 5", "status: 5", "status 408", "stream disconnected", "error sending request",
    ]) {
        Some(AgentTrouble::Transient { what: why.chars().take(400).collect() })
    } else {
        None
    }
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
