//! `SHA256SUMS`, as `sha256sum -c` reads it.

use std::fmt::Write;

use sha2::{Digest, Sha256};

pub(crate) const FILE: &str = "SHA256SUMS";

pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

pub(crate) fn write<'a>(files: impl Iterator<Item = (&'a str, &'a [u8])>) -> String {
    let mut lines: Vec<_> = files.map(|(name, bytes)| format!("{}  {name}\n", sha256(bytes))).collect();
    lines.sort_by(|one, other| one[66..].cmp(&other[66..]));
    lines.concat()
}

/// Name and sum of each line.
pub(crate) fn read(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(|line| line.split_once("  ")).map(|(sum, name)| (name, sum))
}
