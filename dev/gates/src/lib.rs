//! Architecture tests: what the tree must keep to, as pure functions over its files.
//!
//! Each gate takes the files and returns what breaks it. `tests/gates` runs every gate over the real tree, and proves
//! with seeded bad examples that every gate can fail.

mod claims;
mod deps;
mod docs;
mod events;
mod fence;
mod levels;
mod lock;
mod markdown;
mod names;
mod output;
mod purity;
mod reads;
mod rooms;
mod size;
mod source;
mod std_paths;
mod tree;
mod words;

use std::fmt;

pub use size::{EXCEPTIONS, Exception, check as size_with};
pub use tree::{load, root};

/// One file of the tree. A file that is not text has an empty one: other files may still link to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// From the root of the tree, with `/` between folders.
    pub path: String,
    pub text: String,
}

/// One place that breaks a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    pub path: String,
    /// Counted from 1; 0 when the file as a whole is meant.
    pub line: usize,
    pub what: String,
}

/// A rule about the tree.
#[derive(Debug, Clone, Copy)]
pub struct Gate {
    pub name: &'static str,
    pub check: fn(&[File]) -> Vec<Violation>,
}

pub const ALL: &[Gate] = &[
    Gate { name: "purity", check: purity::check },
    Gate { name: "fence", check: fence::check },
    Gate { name: "levels", check: levels::check },
    Gate { name: "rooms", check: rooms::check },
    Gate { name: "names", check: names::check },
    Gate { name: "size", check: size::check_tree },
    Gate { name: "docs", check: docs::check },
    Gate { name: "claims", check: claims::check },
    Gate { name: "words", check: words::check },
    Gate { name: "events", check: events::check },
    Gate { name: "output", check: output::check },
    Gate { name: "reads", check: reads::check },
];

impl File {
    pub fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    pub(crate) fn is_rust(&self) -> bool {
        has_extension(&self.path, "rs")
    }

    pub(crate) fn is_markdown(&self) -> bool {
        has_extension(&self.path, "md")
    }

    /// Tests live in a folder or file called `tests`; code under any other name counts as production.
    pub(crate) fn is_test(&self) -> bool {
        self.path.split('/').any(|part| matches!(part, "tests" | "tests.rs" | "benches" | "fuzz"))
    }

    pub(crate) fn stem(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or(&self.path);
        name.rsplit_once('.').map_or(name, |(stem, _)| stem)
    }

    pub(crate) fn breaks(&self, line: usize, what: impl Into<String>) -> Violation {
        Violation { path: self.path.clone(), line, what: what.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}: {}", self.path, self.line, self.what)
    }
}

fn has_extension(path: &str, extension: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, end)| end == extension)
}
