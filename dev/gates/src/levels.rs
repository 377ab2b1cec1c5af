//! Lints are silenced only by `#[expect(…, reason = "…")]`, which speaks up when it is no longer needed.

use crate::source::{Keep, blank, closing, line_of};
use crate::{SourceFile, Violation};

pub(crate) fn check(files: &[SourceFile]) -> Vec<Violation> {
    files.iter().filter(|file| file.is_rust()).flat_map(of_file).collect()
}

fn of_file(file: &SourceFile) -> Vec<Violation> {
    let code = blank(&file.text, Keep::Code);
    attributes(&code)
        .filter_map(|(at, attribute)| {
            let dense: String = attribute.chars().filter(|letter| !letter.is_whitespace()).collect();
            let what = if takes(&dense, "allow(") {
                "silences a lint with allow: use #[expect(…, reason = \"…\")]"
            } else if takes(&dense, "expect(") && !dense.contains("reason=") {
                "expects a lint without a reason"
            } else {
                return None;
            };
            Some(file.breaks(line_of(&code, at), what))
        })
        .collect()
}

/// Every `#[…]` and `#![…]` of blanked code, from the bracket on.
fn attributes(code: &str) -> impl Iterator<Item = (usize, &str)> {
    code.match_indices('#').filter_map(|(at, _)| {
        let rest = code[at + 1..].trim_start_matches('!');
        rest.starts_with('[').then(|| (at, &rest[..closing(rest, 0)]))
    })
}

/// Whether the attribute is `level`, or gives it under a `cfg_attr`.
fn takes(attribute: &str, level: &str) -> bool {
    attribute.starts_with(&format!("[{level}"))
        || attribute.starts_with("[cfg_attr(") && attribute.contains(&format!(",{level}"))
}
