//! The statements of the queue by name, with the parts that they share filled in.

use std::collections::BTreeMap;
use std::sync::LazyLock;

const PARTS: &str = include_str!("../../sql/queue/parts.sql");
const FILES: [&str; 5] = [
    include_str!("../../sql/queue/claim.sql"),
    include_str!("../../sql/queue/turn.sql"),
    include_str!("../../sql/queue/lease.sql"),
    include_str!("../../sql/queue/read.sql"),
    include_str!("../../sql/queue/plan.sql"),
];

static STATEMENTS: LazyLock<BTreeMap<&'static str, String>> = LazyLock::new(|| {
    let parts: Vec<(&str, String)> = blocks(PARTS).collect();
    let filled = |text: String| {
        // Twice, because a part may name another.
        (0..2).fold(text, |text, _| {
            parts.iter().fold(text, |text, (name, part)| text.replace(&format!("{{{name}}}"), part))
        })
    };
    FILES.into_iter().flat_map(blocks).map(|(name, text)| (name, filled(text))).collect()
});

/// A statement of the queue as it is sent, but for `{s}`, which stands for the schema. Empty where there is none of this
/// name. For the queue itself, and for proofs of what a server makes of it.
pub fn queue_statement(name: &str) -> &'static str {
    STATEMENTS.get(name).map_or("", String::as_str)
}

/// Each with its name, without comments and the semicolon at its end.
fn blocks(file: &'static str) -> impl Iterator<Item = (&'static str, String)> {
    file.split("-- name: ").skip(1).filter_map(|block| {
        let (name, body) = block.split_once('\n')?;
        let lines: Vec<&str> = body.lines().filter(|line| !line.trim_start().starts_with("--")).collect();
        Some((name.trim(), lines.join("\n").trim().trim_end_matches(';').to_string()))
    })
}

#[cfg(test)]
mod tests {
    use super::{FILES, blocks, queue_statement};

    #[test]
    fn every_statement_is_filled_in_but_for_the_schema() {
        for (name, _) in FILES.into_iter().flat_map(blocks) {
            let sql = queue_statement(name);
            assert!(!sql.is_empty(), "{name}");
            assert!(!sql.replace("{s}", "").contains('{'), "{name}: {sql}");
            assert!(!sql.contains(';'), "{name} is several statements: {sql}");
        }
    }
}
