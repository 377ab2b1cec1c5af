//! How full Qwen Code's context is and what it last said, from the lines of its chat.

use crate::agent_output::number;
use crate::transcript_lines::{self, spent_line};
use model::agent::{FoundUsage, SpentRequest, TranscriptReader, Usage, UsedTokens};
use serde_json::Value;

pub const TRANSCRIPT: TranscriptReader = TranscriptReader {
    usage: |tail, floor| transcript_lines::last_usage(tail, floor, usage),
    last_words: |tail| transcript_lines::last(tail, words),
    spent,
    calls: None,
};

/// Most lines are the results of tools, and are not parsed.
fn usage(line: &[u8]) -> Option<FoundUsage> {
    let text = std::str::from_utf8(line).ok().filter(|text| text.contains("\"usageMetadata\""))?;
    let line = serde_json::from_str::<Value>(text).ok().filter(is_own)?;
    let tokens = line.get("usageMetadata")?.get("totalTokenCount")?.as_u64().filter(|tokens| *tokens > 0)?;
    let model = line.get("model").and_then(Value::as_str).map(str::to_string);
    Some(FoundUsage::Usage(Usage { tokens, model }))
}

fn spent(line: &[u8]) -> Option<SpentRequest> {
    let line = spent_line(line, "\"usageMetadata\"").filter(is_own)?;
    let told = line.get("usageMetadata")?;
    let cached = number(told, "/cachedContentTokenCount");
    Some(SpentRequest {
        id: line.get("uuid")?.as_str()?.to_string(),
        model: line.get("model").and_then(Value::as_str).map(str::to_string),
        used: UsedTokens {
            input: number(told, "/promptTokenCount").saturating_sub(cached),
            cache_read: cached,
            cache_write: 0,
            output: number(told, "/candidatesTokenCount").saturating_add(number(told, "/thoughtsTokenCount")),
        },
        ..transcript_lines::request(&line)
    })
}

fn words(line: &Value) -> Option<String> {
    let parts = line.get("message").filter(|_| is_own(line))?.get("parts")?.as_array()?;
    let is_said = |part: &&Value| part.get("thought").and_then(Value::as_bool) != Some(true);
    let texts: Vec<&str> = parts.iter().filter(is_said).filter_map(|part| part.get("text")?.as_str()).collect();
    let text = texts.join("\n").trim().to_string();
    (!text.is_empty()).then_some(text)
}

fn is_own(line: &Value) -> bool {
    line.get("type").and_then(Value::as_str) == Some("assistant")
}
