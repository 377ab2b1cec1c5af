//! The reader: from a command line to everything that would run.
//!
//! `read` opens pipelines, substitutions, wrappers, inline scripts and fed
//! interpreters, and reports each simple command it finds with its words as far
//! as they can be known. It never fails: what it cannot know it says so.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod entries;
mod files;
mod flat;
mod limits;
mod map;
mod nested;
mod outline;
mod output;
mod placeholder;
mod plain;
mod reading;
mod scan;
mod scope;
mod script;
mod syntax;
mod walk;
mod words;

pub use files::{KnownContent, KnownFile, KnownFiles, WantedFile};
pub use plain::{PlainCommand, plain};
pub use reading::{
    Command, Reading, Redirect, RedirectKind, StdinSource, Surroundings, TOP_LEVEL, UnreadPart, Via, Word, WordPiece,
};

/// Everything `line` would run, in the order it would.
pub fn read(line: &str, around: &Surroundings) -> Reading {
    let mut walker = walk::Walker::new(around, line.len());
    let unix;
    let text = if line.contains('\r') {
        unix = line.replace("\r\n", "\n");
        &unix
    } else {
        line
    };
    let place = walk::Place::default();
    if !walker.read_foreign(text, &place) {
        walker.read_text(&placeholder::quoted(text), &place);
    }
    walker.finish(line)
}
