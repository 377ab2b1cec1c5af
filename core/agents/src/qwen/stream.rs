//! What Qwen Code's stream of JSON lines says of its work. It tells no costs.

use crate::agent_output::{by_status, by_words, call_begins, call_ends, count_request, deny, usage};
use crate::prices::UsedTokens;
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
        "assistant" => assistant(&value, heard),
        "user" => user(&value, heard),
        "result" => result(&value, heard),
        _ => {}
    }
}

fn assistant(value: &Value, heard: &mut AgentOutput) {
    let message = value.get("message").unwrap_or(&Value::Null);
    let word = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_string();
    let told = message.get("usage").map(usage).unwrap_or_default();
    if told.all() > 0 {
        // What is read from a cache stands in the sum of what is read.
        let used = UsedTokens { input: told.input.saturating_sub(told.cache_read), ..told };
        count_request(heard, &word(message, "id"), &word(message, "model"), used);
    }
    // A sub-agent's words carry the tool that started it; its context is its own.
    if value.get("parent_tool_use_id").is_some_and(|parent| !parent.is_null()) {
        return;
    }
    heard.context_tokens = Some(told.input).filter(|tokens| *tokens > 0).or(heard.context_tokens);
    let blocks = message.get("content").and_then(Value::as_array).into_iter().flatten();
    for call in blocks.filter(|block| block.get("type").and_then(Value::as_str) == Some("tool_use")) {
        call_begins(heard, &word(call, "id"), &word(call, "name"), call.get("input").unwrap_or(&Value::Null));
    }
}

/// How the client says that nobody was there to permit a call.
const REFUSED_CALL: &str = "Qwen Code requires permission to use ";

fn user(value: &Value, heard: &mut AgentOutput) {
    let blocks = value.pointer("/message/content").and_then(Value::as_array).into_iter().flatten();
    for block in blocks {
        let word = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default();
        let ended = call_ends(heard, word("tool_use_id"));
        let is_error = block.get("is_error").and_then(Value::as_bool).unwrap_or_default();
        if is_error && word("content").starts_with(REFUSED_CALL) {
            deny(heard, ended.map(|call| call.described).unwrap_or_default());
        }
    }
}

fn result(value: &Value, heard: &mut AgentOutput) {
    heard.tool = None;
    heard.memory.calls.clear();
    heard.turns = value.get("num_turns").and_then(Value::as_u64).unwrap_or(heard.turns);
    heard.failed = value.get("is_error").and_then(Value::as_bool).unwrap_or_default();
    let error = value.get("error").and_then(|error| error.get("message")).filter(|_| heard.failed);
    let said = error.or_else(|| value.get("result")).and_then(Value::as_str);
    heard.said = said.map(|words| words.chars().take(LONGEST_WORD).collect());
    heard.trouble = error.and_then(Value::as_str).and_then(trouble);
}

/// `[API Error: 401 …]`: the status of the model's server, and its words.
fn trouble(message: &str) -> Option<AgentTrouble> {
    let own = message.strip_prefix("[API Error: ")?.trim_end_matches(']');
    let told = own.split_once(' ').and_then(|(status, what)| by_status(status.parse().ok()?, what));
    told.or_else(|| by_words(own))
}
