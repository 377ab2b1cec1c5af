//! Transcripts of one JSON value a line, read from their end. What cannot be read is passed over.

use model::agent::{FoundUsage, SpentRequest};
use model::fact::TranscriptTail;
use serde_json::Value;

/// Lines that are looked through for the agent's last words.
const MOST_LINES: usize = 200;

/// What the last line says of the context that says anything of it. `floor` is a place in the file before which
/// everything is of a context that is no more.
pub fn last_usage(tail: &TranscriptTail, floor: u64, read: fn(&[u8]) -> Option<FoundUsage>) -> FoundUsage {
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
        if whole && let Some(found) = bytes.get(start..).and_then(read) {
            return found;
        }
        let Some(newline) = newline else { break };
        end = newline;
    }
    if begin == 0 { FoundUsage::Nothing } else { FoundUsage::Earlier }
}

/// What the last line says in which `find` finds something. The first line of a part is left out: it may have lost its
/// beginning.
pub fn last<T>(tail: &TranscriptTail, find: fn(&Value) -> Option<T>) -> Option<T> {
    let whole = tail.bytes.len() as u64 >= tail.size;
    let text = String::from_utf8_lossy(&tail.bytes);
    let from = if whole { 0 } else { text.find('\n').map_or(text.len(), |at| at + 1) };
    let lines = text.get(from..).unwrap_or_default().lines().rev().take(MOST_LINES);
    lines.filter_map(|line| serde_json::from_str::<Value>(line).ok()).find_map(|line| find(&line))
}

/// A line with this mark in it: most are the results of tools, and are not parsed.
pub fn spent_line(line: &[u8], mark: &str) -> Option<Value> {
    let text = std::str::from_utf8(line).ok().filter(|text| text.contains(mark))?;
    serde_json::from_str(text).ok()
}

/// When the request of a line was made.
pub fn request(line: &Value) -> SpentRequest {
    let at = line.get("timestamp").and_then(Value::as_str).map(str::to_string);
    SpentRequest { at, ..SpentRequest::default() }
}
