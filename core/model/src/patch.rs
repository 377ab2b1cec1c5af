//! A patch as several agents write it: `*** Begin Patch`, then files with `*** Update File: path` and their lines.

/// What a patch does to one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchVerb {
    Write,
    Remove,
}

const HEADS: &[(&str, PatchVerb)] = &[
    ("*** Add File:", PatchVerb::Write),
    ("*** Update File:", PatchVerb::Write),
    ("*** Move to:", PatchVerb::Write),
    ("*** Delete File:", PatchVerb::Remove),
];

/// The file that a line of a patch names, and what becomes of it.
pub fn patched_file(line: &str) -> Option<(PatchVerb, &str)> {
    let line = line.trim();
    let (path, verb) = HEADS.iter().find_map(|(head, verb)| Some((line.strip_prefix(head)?.trim(), *verb)))?;
    (!path.is_empty()).then_some((verb, path))
}
