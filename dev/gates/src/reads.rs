//! Files that others control are read in one place: a plain open waits for a pipe for ever.

use crate::source::{Keep, line_of, production, words};
use crate::{SourceFile, Violation};

const READER: &str = "world/sys/src/outside.rs";

/// Who opens files by itself, and why nobody else can stand there. The list may only shrink.
const EXCEPTIONS: &[(&str, &str)] = &[
    (READER, "it is the reader"),
    ("world/daemon/src/folder.rs", "locks in our own folder"),
    ("world/daemon/src/log.rs", "the log in our own folder"),
    ("world/dash/src/web/token.rs", "/dev/urandom"),
    ("world/host/src/install/intent.rs", "our own folder"),
    ("world/host/src/origin/tree.rs", "/proc"),
    ("world/host/src/overrides.rs", "our own folder"),
    ("world/host/src/paths.rs", "/etc/passwd"),
    ("world/host/src/settings_file/backup.rs", "our own folder"),
    ("world/host/src/settings_file/replace.rs", "a folder, to flush it"),
    ("world/host/src/trust.rs", "our own folder"),
    ("world/pipeline/src/queue/workers.rs", "/proc"),
    ("world/store/src/ingest.rs", "our own folder"),
    ("world/store/src/reserve.rs", "our own folder"),
    ("world/sys/src/clock.rs", "/proc"),
    ("world/sys/src/process_stat.rs", "/proc"),
];

pub(crate) fn check(files: &[SourceFile]) -> Vec<Violation> {
    let mut found: Vec<Violation> = Vec::new();
    for file in files.iter().filter(|file| is_world_source(file)) {
        let reads = reads(file);
        match EXCEPTIONS.iter().any(|(path, _)| *path == file.path) {
            true if reads.is_empty() && file.path != READER => {
                found.push(file.breaks(0, "opens nothing by itself any more: take it off the list in this gate"));
            }
            true => {}
            false => found.extend(reads),
        }
    }
    found
}

fn is_world_source(file: &SourceFile) -> bool {
    let mut parts = file.path.split('/');
    parts.next() == Some("world") && parts.nth(1) == Some("src") && file.is_rust() && !file.is_test()
}

fn reads(file: &SourceFile) -> Vec<Violation> {
    let code = production(&file.text, Keep::Code);
    let found = words(&code).filter(|(at, word)| {
        let (before, after) = (code[..*at].trim_end(), code[at + word.len()..].trim_start());
        let called = after.starts_with('(');
        let plain = before.ends_with("fs::") && matches!(*word, "read" | "read_to_string");
        let opened = before.ends_with("File::") && *word == "open";
        called && (plain || opened)
    });
    let what = |word| format!("reads with {word}: a file that others control is read through {READER}");
    found.map(|(at, word)| file.breaks(line_of(&code, at), what(word))).collect()
}
