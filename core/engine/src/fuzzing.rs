//! What the fuzzer beside this crate reaches of its private readers.

use crate::context::FoundUsage;
use crate::{context, frontmatter};
use model::fact::TranscriptTail;

/// What the end of a transcript says, of a file that is larger by `before`.
pub fn transcript(bytes: &[u8], before: u64, floor: u64) -> FoundUsage {
    let size = before.saturating_add(bytes.len() as u64);
    context::usage::last(&TranscriptTail { bytes: bytes.to_vec(), size }, floor)
}

/// What stands at the head of a Markdown file.
pub fn frontmatter(text: &str) -> serde_json::Value {
    frontmatter::part(text).0
}
