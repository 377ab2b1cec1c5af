//! What the fuzzer beside this crate reaches of its private readers.

use crate::frontmatter;

/// What stands at the head of a Markdown file.
pub fn frontmatter(text: &str) -> serde_json::Value {
    frontmatter::part(text).0
}
