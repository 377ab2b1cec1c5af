//! How full Gemini CLI's context is and what it last said, from the lines of its chat. A line that is written again holds
//! the same, and more.

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
    let text = std::str::from_utf8(line).ok().filter(|text| text.contains("\"tokens\""))?;
    let line = serde_json::from_str::<Value>(text).ok().filter(is_own)?;
    let tokens = line.get("tokens")?.get("total")?.as_u64().filter(|tokens| *tokens > 0)?;
    let model = line.get("model").and_then(Value::as_str).map(str::to_string);
    Some(FoundUsage::Usage(Usage { tokens, model }))
}

/// A line that is written again tells the same.
fn spent(line: &[u8]) -> Option<SpentRequest> {
    let line = spent_line(line, "\"tokens\"").filter(is_own)?;
    let told = line.get("tokens")?;
    let cached = number(told, "/cached");
    Some(SpentRequest {
        id: line.get("id")?.as_str()?.to_string(),
        model: line.get("model").and_then(Value::as_str).map(str::to_string),
        used: UsedTokens {
            input: number(told, "/input").saturating_sub(cached).saturating_add(number(told, "/tool")),
            cache_read: cached,
            cache_write: 0,
            output: number(told, "/output").saturating_add(number(told, "/thoughts")),
        },
        ..transcript_lines::request(&line)
    })
}

fn words(line: &Value) -> Option<String> {
    let text = line.get("content").filter(|_| is_own(line))?.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_string())
}

fn is_own(line: &Value) -> bool {
    line.get("type").and_then(Value::as_str) == Some("gemini")
}
