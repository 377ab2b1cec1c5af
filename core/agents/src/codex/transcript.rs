//! How full a context is and what was last said in it, from the end of Codex's record of a session.

use crate::codex::stream;
use crate::transcript_lines::{self, spent_line};
use model::agent::{FoundUsage, SpentRequest, TranscriptReader, Usage};
use model::fact::TranscriptTail;
use serde_json::Value;

/// Lines that are looked through.
const MOST_LINES: usize = 200;

pub const TRANSCRIPT: TranscriptReader = TranscriptReader { usage, last_words, spent, calls: None };

/// Codex notes down what each answer of the model has used, and what a compaction has left.
fn usage(tail: &TranscriptTail, floor: u64) -> FoundUsage {
    let begin = tail.size.saturating_sub(tail.bytes.len() as u64);
    let mut end = tail.bytes.len();
    while let Some(bytes) = tail.bytes.get(..end).filter(|bytes| !bytes.is_empty()) {
        let newline = bytes.iter().rposition(|byte| *byte == b'\n');
        let start = newline.map_or(0, |at| at + 1);
        if begin + (start as u64) < floor {
            return FoundUsage::Nothing;
        }
        // The first line of a part may have lost its beginning.
        let whole = newline.is_some() || begin == 0;
        if let Some(found) = bytes.get(start..).filter(|_| whole).and_then(used) {
            return found;
        }
        let Some(newline) = newline else { break };
        end = newline;
    }
    if begin == 0 { FoundUsage::Nothing } else { FoundUsage::Earlier }
}

/// The lines of use are told apart by these marks before anything is parsed.
fn used(line: &[u8]) -> Option<FoundUsage> {
    let text = std::str::from_utf8(line).ok()?;
    if !text.contains("\"token_count\"") && !text.contains("\"compacted\"") {
        return None;
    }
    let line: Value = serde_json::from_str(text).ok()?;
    if line.get("type")? == "compacted" {
        return Some(FoundUsage::Reset);
    }
    let said = line.get("payload").filter(|said| said.get("type").is_some_and(|kind| kind == "token_count"))?;
    let tokens = said.get("info")?.get("last_token_usage")?.get("total_tokens")?.as_u64()?;
    (tokens > 0).then_some(FoundUsage::Usage(Usage { tokens, model: None }))
}

/// The same count is told more than once; the sum of all of them tells one request from the next.
fn spent(line: &[u8]) -> Option<SpentRequest> {
    let line = spent_line(line, "\"token_count\"")?;
    let told = line.get("payload")?.get("info")?;
    let sum = told.get("total_token_usage")?.get("total_tokens")?.as_u64()?;
    Some(SpentRequest {
        id: sum.to_string(),
        family: stream::MODEL,
        used: stream::used(told.get("last_token_usage")?),
        ..transcript_lines::request(&line)
    })
}

fn last_words(tail: &TranscriptTail) -> Option<String> {
    let whole = tail.bytes.len() as u64 >= tail.size;
    let text = String::from_utf8_lossy(&tail.bytes);
    let from = if whole { 0 } else { text.find('\n').map_or(text.len(), |at| at + 1) };
    let lines = text.get(from..).unwrap_or_default().lines().rev().take(MOST_LINES);
    lines.filter_map(|line| serde_json::from_str::<Value>(line).ok()).find_map(|line| words(&line))
}

/// The text of a message of the agent's own; what it wrote down for a compaction is none.
fn words(line: &Value) -> Option<String> {
    let said = line.get("payload").filter(|_| line.get("type").is_some_and(|kind| kind == "response_item"))?;
    let summary = line.get("metadata").and_then(|about| about.get("compaction_output")) == Some(&Value::Bool(true));
    if said.get("role")? != "assistant" || summary {
        return None;
    }
    let texts: Vec<&str> =
        said.get("content")?.as_array()?.iter().filter_map(|part| part.get("text")?.as_str()).collect();
    let text = texts.join("\n").trim().to_string();
    (!text.is_empty()).then_some(text)
}
