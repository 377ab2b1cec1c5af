//! What Gemini CLI's stream of JSON lines says of its work. It tells neither costs nor how full the context is, and what
//! it used at the end alone.

use crate::agent_output::{add, by_status, by_words, call_begins, call_ends, deny, number};
use crate::prices::{UsedTokens, estimate};
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
        "init" => heard.session = text("session_id").map(str::to_string).or(heard.session.take()),
        "message" if text("role") == Some("assistant") => {
            heard.tool = None;
            say(text("content").unwrap_or_default(), heard);
        }
        "tool_use" => {
            let input = value.get("parameters").unwrap_or(&Value::Null);
            call_begins(heard, text("tool_id").unwrap_or_default(), text("tool_name").unwrap_or_default(), input);
            heard.said = None;
        }
        "tool_result" => {
            heard.turns += 1;
            let ended = call_ends(heard, text("tool_id").unwrap_or_default());
            if value.pointer("/error/type").is_some_and(|kind| kind == "policy_violation") {
                deny(heard, ended.map(|call| call.described).unwrap_or_default());
            }
        }
        "result" => result(&value, heard),
        _ => {}
    }
}

/// Words come in pieces, until a tool is called.
fn say(piece: &str, heard: &mut AgentOutput) {
    let said = heard.said.get_or_insert_default();
    let room = LONGEST_WORD.saturating_sub(said.chars().count());
    said.extend(piece.chars().take(room));
}

fn result(value: &Value, heard: &mut AgentOutput) {
    heard.tool = None;
    for (model, told) in value.pointer("/stats/models").and_then(Value::as_object).into_iter().flatten() {
        let (cached, output) = (number(told, "/cached"), number(told, "/output_tokens"));
        // Thoughts are paid as words are, and stand in the sum alone.
        let thoughts =
            number(told, "/total_tokens").saturating_sub(number(told, "/input_tokens").saturating_add(output));
        let input = number(told, "/input_tokens").saturating_sub(cached);
        let used = UsedTokens { input, cache_read: cached, cache_write: 0, output: output.saturating_add(thoughts) };
        add(heard, used, estimate(model, used));
    }
    heard.failed = value.get("status").and_then(Value::as_str) != Some("success");
    let message = value.get("error").and_then(|error| error.get("message")).and_then(Value::as_str);
    heard.trouble = message.filter(|_| heard.failed).and_then(trouble);
    if let (Some(message), true) = (message, heard.failed) {
        heard.said = Some(message.chars().take(LONGEST_WORD).collect());
    }
}

/// What the client adds to the server's words at a limit; of these it keeps no number.
const WAIT: &str = "]\nPlease wait and try again later.";

/// The answer of the model's server stands in the message as it came.
fn trouble(message: &str) -> Option<AgentTrouble> {
    if message.contains(WAIT) {
        return Some(AgentTrouble::Limited { until: None });
    }
    server_answer(message).or_else(|| by_words(message))
}

fn server_answer(message: &str) -> Option<AgentTrouble> {
    let (start, end) = (message.find('{')?, message.rfind('}')?);
    let answer = serde_json::from_str::<Value>(message.get(start..=end)?).ok()?;
    let error = answer.get("error")?;
    by_status(
        error.get("code").and_then(Value::as_u64)?,
        error.get("message").and_then(Value::as_str).unwrap_or_default(),
    )
}
