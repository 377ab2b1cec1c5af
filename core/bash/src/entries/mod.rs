//! Entries: what a task runner would run, read from the file that lists it.
//!
//! Each file here knows one format: the text of the file and what was asked for go in, pieces of shell come out, in the
//! order they would run. A shape that is not known gives nothing, and nothing here is read twice.

mod compose;
mod git_config;
mod json;
mod justfile;
mod makefile;
mod package;
mod procfile;
mod quoted;
mod taskfile;
mod tasks;
mod tree;
mod yaml;

pub(crate) use compose::compose;
pub(crate) use git_config::git_config;
pub(crate) use justfile::{JustCall, just};
pub(crate) use makefile::{Make, make};
pub(crate) use package::{ON_INSTALL, ON_PACK, ON_PUBLISH, ON_VERSION, Package};
pub(crate) use procfile::{procfile, rakefile};
pub(crate) use taskfile::{TaskCall, taskfile};
pub(crate) use tasks::{TaskTable, cargo_alias, task};

/// How far one entry may call others of its file.
const DEPTH: usize = 32;
/// Pieces one file may give.
const PIECES: usize = 4096;
/// Bytes that values may grow to while one file is read.
const GROWTH: usize = 1 << 19;

/// A piece of shell that an entry would run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct EntryPiece {
    pub(crate) text: String,
    /// The line of the file it begins on, from one.
    pub(crate) line: usize,
    /// The file it stands in, when that is not the one asked about, as it was named there.
    pub(crate) file: Option<String>,
    /// The folder it runs in, when that is not the usual one of the tool, as it is named there.
    pub(crate) folder: Option<String>,
}

impl EntryPiece {
    fn new(text: impl Into<String>, line: usize) -> Self {
        Self { text: text.into(), line, ..Self::default() }
    }
}

/// A text as one word of shell.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Something that has a value, but which only the run would tell. Not written as a plain variable: it is not empty.
fn unknown(name: &str) -> String {
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(64).collect();
    let first = if name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() { "_" } else { "" };
    format!("${{{first}{name}:?}}")
}

/// Code for another interpreter than the shell, as the line that would hand it over.
fn interpreted(interpreter: &str, code: &str) -> String {
    let program = interpreter.split_whitespace().last().unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or_default();
    let shell = program.ends_with("sh") && !matches!(program, "pwsh" | "nush");
    let flag = match program {
        _ if shell => return code.to_string(),
        "node" | "nodejs" | "bun" | "ruby" | "perl" | "Rscript" | "julia" | "osascript" | "elixir" => "-e",
        "deno" => "eval",
        "php" => "-r",
        _ => "-c",
    };
    format!("{interpreter} {flag} {}", quoted(code))
}
