//! What Copilot's stream of JSON lines (`--output-format json`) says of its work.

use crate::agent_output::{add, by_status, by_words, call_begins, call_ends, deny, number, short, text};
use crate::prices::{UsedTokens, estimate};
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
        "tool.execution_start" => {
            let arguments = data.get("arguments").unwrap_or(&Value::Null);
            call_begins(heard, text(data, "toolCallId"), text(data, "toolName"), arguments);
        }
        "tool.execution_complete" => tool_ended(data, heard),
        "assistant.usage" => {
            let used = UsedTokens {
                input: number(data, "/inputTokens").saturating_sub(number(data, "/cacheReadTokens")),
                cache_read: number(data, "/cacheReadTokens"),
                cache_write: number(data, "/cacheWriteTokens"),
                output: number(data, "/outputTokens"),
            };
            add(heard, used, estimate(text(data, "model"), used));
        }
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
    match text(data, "errorType") {
        "rate_limit" | "quota" => return Some(AgentTrouble::Limited { until: None }),
        "authentication" | "authorization" => return Some(AgentTrouble::Refused { what: what() }),
        _ => {}
    }
    let status = data.get("statusCode").and_then(Value::as_u64);
    status.and_then(|status| by_status(status, text(data, "message"))).or_else(|| by_words(text(data, "message")))
}

/// A call that nobody was there to permit; a hook that says no says so.
fn tool_ended(data: &Value, heard: &mut AgentOutput) {
    let ended = call_ends(heard, text(data, "toolCallId"));
    let error = data.get("error").unwrap_or(&Value::Null);
    if text(error, "code") == "denied" && !text(error, "message").to_ascii_lowercase().contains("hook") {
        deny(heard, ended.map(|call| call.described).unwrap_or_default());
    }
}
