//! How many tokens a context holds, from the end of its transcript. Each line
//! is looked at by itself, from the last to the first: what cannot be read,
//! belongs to a sub-agent or is of no use is passed over.

use model::fact::TranscriptTail;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::marker::PhantomData;

/// What the transcript says of the context, as it was at the end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Usage {
    pub tokens: u64,
    pub model: Option<String>,
}

/// What stands in the part of the transcript that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundUsage {
    Usage(Usage),
    /// A compaction that does not say what is left: unknown.
    Reset,
    /// Nothing in this part; an earlier one may have it.
    Earlier,
    /// Nothing at all: there is no more to read.
    Nothing,
}

/// The answer of the last line that has one. `floor` is a place in the file
/// before which everything is of a context that is no more.
pub fn last(tail: &TranscriptTail, floor: u64) -> FoundUsage {
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

/// Also what the status line says of the last response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Tokens {
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
    pub cache_creation_input_tokens: Option<u64>,
    pub cache_read_input_tokens: Option<u64>,
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
    pub fn total(self) -> u64 {
        let parts =
            [self.input_tokens, self.output_tokens, self.cache_creation_input_tokens, self.cache_read_input_tokens];
        parts.into_iter().flatten().fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
#[path = "usage_tests.rs"]
mod tests;
