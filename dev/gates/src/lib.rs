//! Architecture tests: what the tree must keep to, as pure functions over its files.
//!
//! Each gate takes the files and returns what breaks it. `tests/gates` runs every gate over the real tree, and proves
//! with seeded bad examples that every gate can fail.

mod agent_names;
mod claims;
mod deps;
mod docs;
mod events;
mod fence;
mod levels;
mod lock;
mod markdown;
mod named_tests;
mod names;
mod output;
mod purity;
mod reads;
mod requirements;
mod rooms;
mod size;
mod source;
mod std_paths;
mod tree;
mod types;
mod unsafe_code;
mod words;

use std::fmt;

pub use requirements::requirements_page;
pub use size::{EXCEPTIONS, Exception, check as size_with};
pub use tree::{load, root};

/// One file of the tree. A file that is not text has an empty one: other files may still link to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
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
pub struct TreeGate {
    pub name: &'static str,
    pub check: fn(&[SourceFile]) -> Vec<Violation>,
}

pub const ALL: &[TreeGate] = &[
    TreeGate { name: "purity", check: purity::check },
    TreeGate { name: "fence", check: fence::check },
    TreeGate { name: "levels", check: levels::check },
    TreeGate { name: "rooms", check: rooms::check },
    TreeGate { name: "names", check: names::check },
    TreeGate { name: "types", check: types::check },
    TreeGate { name: "size", check: size::check_tree },
    TreeGate { name: "docs", check: docs::check },
    TreeGate { name: "claims", check: claims::check },
    TreeGate { name: "named_tests", check: named_tests::check },
    TreeGate { name: "words", check: words::check },
    TreeGate { name: "events", check: events::check },
    TreeGate { name: "agent_names", check: agent_names::check },
    TreeGate { name: "output", check: output::check },
    TreeGate { name: "reads", check: reads::check },
    TreeGate { name: "unsafe", check: unsafe_code::check },
];

impl SourceFile {
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
