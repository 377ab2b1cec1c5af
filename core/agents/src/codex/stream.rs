//! What Codex's stream of JSON lines (`codex exec --json`) says of its work.

use crate::agent_output::{add, by_words, deny, described, number, short, text};
use crate::prices::{UsedTokens, estimate};
use model::run::AgentOutput;
use serde_json::Value;

/// It names no model: the family it is made for stands in its place.
pub const MODEL: &str = "gpt-5";

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
                heard.said = Some(short(text(item, "text")));
            }
            if text(item, "status") == "declined" {
                deny(heard, described(&tool(item), item));
            }
        }
        "turn.completed" => {
            heard.turns += 1;
            (heard.failed, heard.trouble) = (false, None);
            let used = used(value.get("usage").unwrap_or(&Value::Null));
            add(heard, used, estimate(MODEL, used));
        }
        "turn.failed" => {
            let why = value.get("error").map(|error| text(error, "message")).unwrap_or_default();
            heard.failed = true;
            // Codex gives its failures words and no fields. They are its own: no tool's output gets there.
            heard.trouble = by_words(why);
            heard.said = Some(short(why));
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

/// What is read from a cache stands in the sum of what is read.
pub fn used(usage: &Value) -> UsedTokens {
    let cached = number(usage, "/cached_input_tokens");
    UsedTokens {
        input: number(usage, "/input_tokens").saturating_sub(cached),
        cache_read: cached,
        cache_write: 0,
        output: number(usage, "/output_tokens"),
    }
}
