//! What Gemini CLI's stream of JSON lines says of its work. It tells neither costs nor how full the context is.

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
            heard.tool = text("tool_name").map(str::to_string);
            heard.said = None;
        }
        "tool_result" => {
            heard.tool = None;
            heard.turns += 1;
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
    let (start, end) = (message.find('{')?, message.rfind('}')?);
    let answer = serde_json::from_str::<Value>(message.get(start..=end)?).ok()?;
    let error = answer.get("error")?;
    let what = error.get("message").and_then(Value::as_str).unwrap_or_default().chars().take(LONGEST_WORD).collect();
    match error.get("code").and_then(Value::as_u64)? {
        429 => Some(AgentTrouble::Limited { until: None }),
        401..=403 => Some(AgentTrouble::Refused { what }),
        408 | 500..=599 => Some(AgentTrouble::Transient { what }),
        _ => None,
    }
}
