//! The core decides over data: no production code of it names a file, a clock, a process or the terminal.
//!
//! `core/clippy.toml` is the first fence and knows types; this second one needs no list of every function.

use crate::source::{Keep, line_of, production, words};
use crate::{SourceFile, Violation, std_paths};

const BANNED_PATHS: &[&str] = &[
    "std::env", "std::fs", "std::io", "std::net", "std::os", "std::process", "std::thread", "std::time::Instant",
    "std::time::SystemTime",
];

const BANNED_MACROS: &[&str] = &["println", "eprintln", "print", "eprint", "dbg"];

pub(crate) fn check(files: &[SourceFile]) -> Vec<Violation> {
    files.iter().filter(|file| is_core_source(file)).flat_map(of_file).collect()
}

fn is_core_source(file: &SourceFile) -> bool {
    let mut parts = file.path.split('/');
    parts.next() == Some("core") && parts.nth(1) == Some("src") && file.is_rust() && !file.is_test()
}

fn of_file(file: &SourceFile) -> Vec<Violation> {
    let code = production(&file.text, Keep::Code);
    let paths = std_paths::find(&code).into_iter().filter_map(|(at, path)| {
        let banned = BANNED_PATHS.iter().find(|banned| is_under(&path, banned))?;
        Some((at, format!("core names {banned}: ask for a Probe, return a Write, or take it as data")))
    });
    let macros = words(&code).filter_map(|(at, word)| {
        let called = code[at + word.len()..].trim_start().starts_with('!');
        (called && BANNED_MACROS.contains(&word)).then(|| (at, format!("core prints with {word}!: return the text")))
    });
    paths.chain(macros).map(|(at, what)| file.breaks(line_of(&code, at), what)).collect()
}

/// `std::time::*` counts as naming what is banned in `std::time`.
fn is_under(path: &str, banned: &str) -> bool {
    let rest = path.strip_prefix(banned);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        || path.strip_suffix('*').is_some_and(|module| banned.starts_with(module))
}
