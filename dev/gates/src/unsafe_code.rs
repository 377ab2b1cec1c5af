//! Code that the compiler cannot vouch for stands in few rooms, where somebody has looked at it.

use crate::source::{Keep, line_of, production, words};
use crate::{SourceFile, Violation};

/// Where it may stand, and why.
const ROOMS: &[(&str, &str)] = &[
    ("world/sys/", "the operating system, as far as no library makes it safe"),
    ("world/fast_client/", "answers before the C library has started"),
    ("dev/testkit/", "makes calls to the system fail"),
];

pub(crate) fn check(files: &[SourceFile]) -> Vec<Violation> {
    let elsewhere = |file: &&SourceFile| !ROOMS.iter().any(|(room, _)| file.path.starts_with(room));
    files.iter().filter(|file| file.is_rust() && !file.is_test()).filter(elsewhere).flat_map(unsafe_code).collect()
}

fn unsafe_code(file: &SourceFile) -> Vec<Violation> {
    let code = production(&file.text, Keep::Code);
    let found = words(&code).filter(|(_, word)| *word == "unsafe");
    let what = "unsafe code stands in world/sys, world/fast_client and dev/testkit only: give it a safe name there";
    found.map(|(at, _)| file.breaks(line_of(&code, at), what)).collect()
}
