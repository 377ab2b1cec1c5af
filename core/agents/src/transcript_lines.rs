//! Transcripts that are lines of JSON, read from the last to the first.

use model::fact::TranscriptTail;
use serde_json::Value;

/// Lines that are looked through.
const MOST_LINES: usize = 200;

/// What the last line says in which `find` finds something. The first line of a part is left out: it may have lost its
/// beginning.
pub fn last<T>(tail: &TranscriptTail, find: fn(&Value) -> Option<T>) -> Option<T> {
    let whole = tail.bytes.len() as u64 >= tail.size;
    let text = String::from_utf8_lossy(&tail.bytes);
    let from = if whole { 0 } else { text.find('\n').map_or(text.len(), |at| at + 1) };
    let lines = text.get(from..).unwrap_or_default().lines().rev().take(MOST_LINES);
    lines.filter_map(|line| serde_json::from_str::<Value>(line).ok()).find_map(|line| find(&line))
}
