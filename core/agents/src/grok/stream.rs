//! What Grok's stream of JSON lines says of its work: the lines of Claude Code, but for how an error is told.

use crate::agent_output::{by_words, deny, short, text};
use crate::claude_code;
use model::run::AgentOutput;
use serde_json::Value;

/// Takes one line in. A line that is no object says nothing.
pub fn hear(line: &str, heard: &mut AgentOutput) {
    let Ok(value) = serde_json::from_str::<Value>(line) else { return };
    cancelled(&value, heard);
    (claude_code::DIALECT.launch.hear)(line, heard);
    if !heard.failed {
        return;
    }
    // The client's own words on the end of its run; what a tool printed never stands here.
    let errors = value.get("errors").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let words = errors.collect::<Vec<_>>().join("\n");
    if !words.is_empty() {
        heard.trouble = by_words(&words);
        heard.said = Some(short(&words));
    }
}

/// A call that would have to be asked for ends the whole run where nobody can be asked.
fn cancelled(value: &Value, heard: &mut AgentOutput) {
    const WORDS: &str = "User cancelled the execution for tool";
    let blocks = value.pointer("/message/content").and_then(Value::as_array).into_iter().flatten();
    for block in blocks.filter(|block| block.get("is_error").and_then(Value::as_bool) == Some(true)) {
        let call = heard.memory.calls.iter().find(|call| call.id == text(block, "tool_use_id"));
        if let Some(call) = call.filter(|_| text(block, "content").contains(WORDS)) {
            let said = call.described.clone();
            deny(heard, said);
        }
    }
}
