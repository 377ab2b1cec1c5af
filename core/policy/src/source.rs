//! Sources: what the substitutions in a command's words would run.

use bash::{Command, Reading, Word, WordPiece};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

/// Readings of the substitutions in a line. Each is read once, however often its value is used and however many rules
/// ask for it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Substitutions(RefCell<HashMap<String, Arc<Reading>>>);

impl Substitutions {
    /// What a word's substitutions would run: `$(curl …)`, `<(curl …)`, backquotes.
    pub(crate) fn of(&self, word: &Word) -> Vec<Arc<Reading>> {
        let unknown = word.pieces.iter().filter_map(|piece| match piece {
            WordPiece::Unknown(source) => Some(source.as_str()),
            _ => None,
        });
        unknown.filter_map(inside).map(|text| self.read(text)).collect()
    }

    fn read(&self, text: &str) -> Arc<Reading> {
        let known = self.0.borrow().get(text).cloned();
        known.unwrap_or_else(|| {
            let reading = Arc::new(bash::read(text, &bash::Surroundings::default()));
            self.0.borrow_mut().insert(text.to_string(), reading.clone());
            reading
        })
    }
}

/// The text inside a substitution.
fn inside(source: &str) -> Option<&str> {
    let source = source.trim().trim_matches('"');
    let open = ["$(", "<(", ">("].iter().find_map(|open| source.strip_prefix(open));
    match open {
        Some(text) => text.strip_suffix(')').filter(|text| !text.starts_with('(')),
        None => source.strip_prefix('`')?.strip_suffix('`'),
    }
}

/// The plain program names of a reading's commands.
pub(crate) fn programs(reading: &Reading) -> impl Iterator<Item = String> {
    reading.commands.iter().filter_map(Command::program)
}
