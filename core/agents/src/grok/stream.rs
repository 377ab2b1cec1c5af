//! What Grok's stream of JSON lines says of its work: the lines of Claude Code, but for how an error is told.

use crate::claude_code;
use model::run::{AgentOutput, AgentTrouble};
use serde_json::Value;

/// Takes one line in. A line that is no object says nothing.
pub fn hear(line: &str, heard: &mut AgentOutput) {
    (claude_code::DIALECT.launch.hear)(line, heard);
    if !heard.failed {
        return;
    }
    let Ok(value) = serde_json::from_str::<Value>(line) else { return };
    // The client's own words on the end of its run; what a tool printed never stands here.
    let errors = value.get("errors").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let text = errors.collect::<Vec<_>>().join("\n");
    if !text.is_empty() {
        heard.trouble = trouble(&text);
        heard.said = Some(text.chars().take(400).collect());
    }
}

/// The status that the model's server answered with, as it is written into the error.
fn trouble(text: &str) -> Option<AgentTrouble> {
    let status = ["status ", "http_status\": ", "("].iter().find_map(|before| {
        let digits = text.split_once(before)?.1.get(..3)?;
        digits.parse::<u64>().ok()
    });
    match status? {
        429 => Some(AgentTrouble::Limited { until: None }),
        status @ (408 | 500..=599) => Some(AgentTrouble::Transient { what: format!("status {status}") }),
        401..=403 => Some(AgentTrouble::Refused { what: text.chars().take(400).collect() }),
        _ => None,
    }
}
