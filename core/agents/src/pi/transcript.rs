//! Pi's session file: one entry a line.

use super::launch;
use crate::agent_output::micros;
use crate::transcript_lines::{self, spent_line};
use model::agent::{FoundUsage, SpentRequest, TranscriptReader, Usage};
use serde_json::Value;

pub const TRANSCRIPT: TranscriptReader = TranscriptReader {
    usage: |tail, floor| transcript_lines::last_usage(tail, floor, usage),
    last_words: |tail| transcript_lines::last(tail, words),
    spent,
    calls: None,
};

/// A compaction does not say what is left. A message of the agent says what it was made from, and its own size.
fn usage(line: &[u8]) -> Option<FoundUsage> {
    let entry: Value = serde_json::from_slice(line).ok()?;
    if entry.get("type")? == "compaction" {
        return Some(FoundUsage::Reset);
    }
    let message = entry.get("message").filter(|message| message.get("role").is_some_and(|role| role == "assistant"))?;
    let tokens = message.pointer("/usage/totalTokens")?.as_u64().filter(|tokens| *tokens > 0)?;
    let model = message.get("model").and_then(Value::as_str).map(str::to_string);
    Some(FoundUsage::Usage(Usage { tokens, model }))
}

fn spent(line: &[u8]) -> Option<SpentRequest> {
    let entry = spent_line(line, "\"usage\"")?;
    let message = entry.get("message").filter(|message| message.get("role").is_some_and(|role| role == "assistant"))?;
    let cost = message.pointer("/usage/cost/total").and_then(Value::as_f64).filter(|cost| *cost > 0.0);
    Some(SpentRequest {
        id: entry.get("id")?.as_str()?.to_string(),
        model: message.get("model").and_then(Value::as_str).map(str::to_string),
        used: launch::used(message),
        cost_micros: cost.map(micros),
        ..transcript_lines::request(&entry)
    })
}

fn words(entry: &Value) -> Option<String> {
    let message = entry.get("message").filter(|message| message.get("role").is_some_and(|role| role == "assistant"))?;
    said(message)
}

/// The text of a message.
pub fn said(message: &Value) -> Option<String> {
    let parts = message.get("content")?.as_array()?;
    let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
    Some(texts.collect::<Vec<_>>().join("\n")).filter(|text| !text.is_empty())
}
