//! What was last said, from the end of Copilot's record of a session. How full its context is does not stand there.

use model::agent::TranscriptReader;
use model::fact::TranscriptTail;
use serde_json::Value;

/// Lines that are looked through.
const MOST_LINES: usize = 200;

pub const TRANSCRIPT: TranscriptReader = TranscriptReader { last_words, ..TranscriptReader::NONE };

fn last_words(tail: &TranscriptTail) -> Option<String> {
    let whole = tail.bytes.len() as u64 >= tail.size;
    let text = String::from_utf8_lossy(&tail.bytes);
    let from = if whole { 0 } else { text.find('\n').map_or(text.len(), |at| at + 1) };
    let lines = text.get(from..).unwrap_or_default().lines().rev().take(MOST_LINES);
    lines.filter_map(|line| serde_json::from_str::<Value>(line).ok()).find_map(|line| words(&line))
}

/// A helper's own lines name it.
fn words(line: &Value) -> Option<String> {
    let own = line.get("type")? == "assistant.message" && !line.get("agentId").is_some_and(Value::is_string);
    let text = line.get("data").filter(|_| own)?.get("content")?.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_string())
}
