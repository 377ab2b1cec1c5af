//! Whatever reaches a terminal goes through the printer, which cleans it: no other production code writes to stdout or
//! stderr by itself.

use crate::source::{Keep, line_of, production, words};
use crate::{SourceFile, Violation};

const PRINTER: &str = "world/cli/src/printer.rs";

const TEXT: &str = "world/cli/src/printer/text.rs";

/// Who writes by itself, and why. The list may only shrink.
const EXCEPTIONS: &[(&str, &str)] = &[
    (PRINTER, "it is the printer"),
    ("world/cli/src/hook/mod.rs", "a hook's answer goes to its agent, byte for byte"),
    ("world/daemon/src/run.rs", "one fixed word tells who started the daemon that it is ready"),
    ("world/mcp/src/frames.rs", "messages of the protocol go to the client that started the server, byte for byte"),
    ("world/dash/src/tui/terminal.rs", "the live view owns the whole screen and draws cells of cleaned text"),
];

const MACROS: &[&str] = &["println", "eprintln", "print", "eprint", "dbg"];
const STREAMS: &[&str] = &["stdout", "stderr", "Stdout", "Stderr"];

pub(crate) fn check(files: &[SourceFile]) -> Vec<Violation> {
    let mut found: Vec<Violation> = Vec::new();
    for file in files.iter().filter(|file| is_world_source(file)) {
        let writes = writes(file);
        match EXCEPTIONS.iter().any(|(path, _)| *path == file.path) {
            true if writes.is_empty() => {
                found.push(file.breaks(0, "writes nothing by itself any more: take it off the list in this gate"));
            }
            true => {}
            false => found.extend(writes),
        }
    }
    found
}

fn is_world_source(file: &SourceFile) -> bool {
    let mut parts = file.path.split('/');
    parts.next() == Some("world") && parts.nth(1) == Some("src") && file.is_rust() && !file.is_test()
}

fn writes(file: &SourceFile) -> Vec<Violation> {
    let code = production(&file.text, Keep::Code);
    let found = words(&code).filter(|(at, word)| {
        let (before, after) = (code[..*at].trim_end(), code[at + word.len()..].trim_start());
        let called = after.starts_with('!') && !after.starts_with("!=") && MACROS.contains(word);
        // `.stdout(Stdio::null())` is about the stream of a child.
        let dense: String = after.chars().filter(|letter| !letter.is_whitespace()).take(2).collect();
        let own = dense == "()" && !before.ends_with('.') || before.ends_with("io::") || imported(before);
        // `text!` is the only one who may: it has cleaned every piece.
        let made = *word == "of" && before.ends_with("Text::") && file.path != TEXT;
        called || made || STREAMS.contains(word) && own
    });
    let what = |word| format!("writes with {word}: everything that is printed goes through {PRINTER}");
    found.map(|(at, word)| file.breaks(line_of(&code, at), what(word))).collect()
}

/// Whether a name stands in the braces of `use std::io::{…}`.
fn imported(before: &str) -> bool {
    let statement = before.rsplit(';').next().unwrap_or_default().trim_start();
    statement.starts_with("use ") && statement.contains("io::{") && !statement.contains('}')
}
