//! What the fuzzer beside this crate reaches of its private readers.

use crate::{context, memory};

/// The two readers of what stands at the head of a Markdown file.
pub fn frontmatter(text: &str) -> serde_json::Value {
    let _ = context::frontmatter::part(text);
    memory::yaml::frontmatter(text)
}
