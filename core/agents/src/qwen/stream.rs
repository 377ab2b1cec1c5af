//! What Qwen Code's stream of JSON lines says of its work. It tells no costs.

use model::run::{AgentOutput, AgentTrouble};
use serde_json::Value;

/// Of its last word so much is kept.
const LONGEST_WORD: usize = 400;

/// Takes one line in. A line that is no object says nothing.
pub fn hear(line: &str, heard: &mut AgentOutput) {
    if !line.trim_start().starts_with('{') {
        return;
    }
    let Ok(value) = serde_json::from_str::<Value>(line) else { return };
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    match text("type").unwrap_or_default() {
        "system" => heard.session = text("session_id").map(str::to_string).or(heard.session.take()),
        // A sub-agent's words carry the tool that started it; its context is its own.
        "assistant" if value.get("parent_tool_use_id").is_none_or(Value::is_null) => assistant(&value, heard),
        "user" => heard.tool = None,
        "result" => result(&value, heard),
        _ => {}
    }
}

fn assistant(value: &Value, heard: &mut AgentOutput) {
    let message = value.get("message").unwrap_or(&Value::Null);
    let tokens = message.get("usage").and_then(|usage| usage.get("input_tokens")).and_then(Value::as_u64);
    heard.context_tokens = tokens.filter(|tokens| *tokens > 0).or(heard.context_tokens);
    let blocks = message.get("content").and_then(Value::as_array).into_iter().flatten();
    let calls = blocks.filter(|block| block.get("type").and_then(Value::as_str) == Some("tool_use"));
    if let Some(name) = calls.filter_map(|block| block.get("name")?.as_str()).next_back() {
        heard.tool = Some(name.to_string());
    }
}

fn result(value: &Value, heard: &mut AgentOutput) {
    heard.tool = None;
    heard.turns = value.get("num_turns").and_then(Value::as_u64).unwrap_or(heard.turns);
    heard.failed = value.get("is_error").and_then(Value::as_bool).unwrap_or_default();
    let error = value.get("error").and_then(|error| error.get("message")).filter(|_| heard.failed);
    let said = error.or_else(|| value.get("result")).and_then(Value::as_str);
    heard.said = said.map(|words| words.chars().take(LONGEST_WORD).collect());
    heard.trouble = error.and_then(Value::as_str).and_then(trouble);
}

/// `[API Error: 401 …]`: the status of the model's server, and its words.
fn trouble(message: &str) -> Option<AgentTrouble> {
    let (status, what) = message.strip_prefix("[API Error: ")?.split_once(' ')?;
    let what = what.trim_end_matches(']').chars().take(LONGEST_WORD).collect();
    match status.parse().ok()? {
        429_u16 => Some(AgentTrouble::Limited { until: None }),
        401..=403 => Some(AgentTrouble::Refused { what }),
        408 | 500..=599 => Some(AgentTrouble::Transient { what }),
        _ => None,
    }
}
