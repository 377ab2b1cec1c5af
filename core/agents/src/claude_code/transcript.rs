//! How many tokens a context holds and what was last said in it, from the end of its transcript. Each line
//! is looked at by itself, from the last to the first: what cannot be read,
//! belongs to a sub-agent or is of no use is passed over.

mod calls;

use crate::agent_output::usage;
use crate::transcript_lines::{self, spent_line};
use model::agent::{FoundUsage, SpentRequest, TranscriptReader, Usage};
use model::fact::TranscriptTail;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::fmt;
use std::marker::PhantomData;

pub const TRANSCRIPT: TranscriptReader = TranscriptReader { usage: last, last_words, spent, calls: Some(calls::CALLS) };

/// The answer of the last line that has one. `floor` is a place in the file
/// before which everything is of a context that is no more.
pub fn last(tail: &TranscriptTail, floor: u64) -> FoundUsage {
    transcript_lines::last_usage(tail, floor, read)
}

/// The agent's last words of its own.
fn last_words(tail: &TranscriptTail) -> Option<String> {
    transcript_lines::last(tail, words)
}

/// The text of an assistant's line that is not a sub-agent's.
fn words(line: &Value) -> Option<String> {
    let own = line.get("type")? == "assistant" && line.get("isSidechain").and_then(Value::as_bool) != Some(true);
    let blocks = line.get("message").filter(|_| own)?.get("content")?.as_array()?;
    let texts: Vec<&str> = blocks.iter().filter_map(|block| block.get("text")?.as_str()).collect();
    let text = texts.join("\n").trim().to_string();
    (!text.is_empty()).then_some(text)
}

/// Each block of an answer stands in a line of its own, which tells of the whole request.
fn spent(line: &[u8]) -> Option<SpentRequest> {
    let line = spent_line(line, "\"usage\"")?;
    let message = line.get("message").filter(|_| line.get("type").is_some_and(|kind| kind == "assistant"))?;
    let text = |name: &str| message.get(name).and_then(Value::as_str).map(str::to_string);
    Some(SpentRequest {
        id: text("id")?,
        model: text("model").filter(|model| model != "<synthetic>"),
        used: usage(message.get("usage")?),
        ..transcript_lines::request(&line)
    })
}

/// The lines of use are told apart by these marks before anything is parsed:
/// a transcript is mostly the results of tools.
fn read(line: &[u8]) -> Option<FoundUsage> {
    let text = std::str::from_utf8(line).ok()?;
    if !text.contains("\"usage\"") && !text.contains("compact_boundary") {
        return None;
    }
    let Object(line): Object<Line> = serde_json::from_str(text).ok()?;
    if line.sidechain {
        return None;
    }
    match line.kind.as_deref() {
        Some("assistant") => {
            let Object(message) = line.message?;
            // The client's own notices carry this name and no tokens.
            let model = message.model.filter(|model| model != "<synthetic>");
            let tokens = message.usage?.0.total();
            (tokens > 0).then_some(FoundUsage::Usage(Usage { tokens, model }))
        }
        Some("system") if line.subtype.as_deref() == Some("compact_boundary") => {
            let after = line.compact.and_then(|Object(compact)| compact.post_tokens);
            Some(after.map_or(FoundUsage::Reset, |tokens| FoundUsage::Usage(Usage { tokens, model: None })))
        }
        _ => None,
    }
}

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type", default)]
    kind: Option<String>,
    #[serde(default)]
    subtype: Option<String>,
    #[serde(rename = "isSidechain", default)]
    sidechain: bool,
    #[serde(default)]
    message: Option<Object<Message>>,
    #[serde(rename = "compactMetadata", default)]
    compact: Option<Object<Compact>>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    usage: Option<Object<Tokens>>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Tokens {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Compact {
    #[serde(rename = "postTokens", default)]
    post_tokens: Option<u64>,
}

/// A list in the place of an object is not taken for its fields in their order.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields(PhantomData)).map(Self)
    }
}

struct Fields<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }
}

impl Tokens {
    /// What the next request holds: everything that was read, and the answer to it.
    fn total(self) -> u64 {
        let parts =
            [self.input_tokens, self.output_tokens, self.cache_creation_input_tokens, self.cache_read_input_tokens];
        parts.into_iter().flatten().fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests;
