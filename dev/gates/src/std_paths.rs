//! Paths into `std` as code names them, with `use std::{a, b::{c}}` written out.

use crate::source::{closing, is_ident, words};

/// Every `std::…` path with where it is named.
pub(crate) fn find(code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, word) in words(code) {
        if word == "std" && code[at + 3..].trim_start().starts_with("::") {
            branch(&code[at..], at, "", &mut found);
        }
    }
    found
}

/// One branch of a path: segments up to the end, or up to a group whose branches are followed each.
fn branch(code: &str, place: usize, prefix: &str, found: &mut Vec<(usize, String)>) {
    let mut path = prefix.to_owned();
    let mut rest = code.trim_start();
    loop {
        let segment: String = rest.chars().take_while(|letter| is_ident(*letter) || *letter == '*').collect();
        path.push_str(&segment);
        rest = rest[segment.len()..].trim_start();
        let Some(after) = rest.strip_prefix("::") else { break };
        path.push_str("::");
        rest = after.trim_start();
        if rest.starts_with('{') {
            let group = &rest[..closing(rest, 0)];
            for inner in top_level(group) {
                branch(inner, place, &path, found);
            }
            return;
        }
    }
    found.push((place, path));
}

/// The comma-separated parts of a braced group.
fn top_level(group: &str) -> Vec<&str> {
    let inside = group.strip_prefix('{').unwrap_or(group);
    let inside = inside.strip_suffix('}').unwrap_or(inside);
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (at, byte) in inside.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                parts.push(&inside[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inside[start..]);
    parts.retain(|part| !part.trim().is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn groups_are_written_out() {
        let paths: Vec<_> = find("use std::{fmt, time::{Duration, Instant}};\nlet a = std :: fs::read(b);")
            .into_iter()
            .map(|(_, path)| path)
            .collect();
        assert_eq!(paths, ["std::fmt", "std::time::Duration", "std::time::Instant", "std::fs::read"]);
    }
}
