//! The hand-over note that writes itself: what a session did, read from its stored
//! events, and what goes on from the note before it.

mod compose;
mod render;
mod test_runs;
mod todo;
mod write;

pub use compose::compose;
pub use render::{NoteView, fitted};
pub use write::{
    at_the_limit, at_the_start, before_it_ends, compacted, dehydrated, follows, history, is_on, restarted,
};

#[cfg(test)]
mod tests;

use model::text;

/// What is kept of a note's lists and texts.
const PROMPTS: usize = 5;
const PROMPT: usize = 2_000;
const LIST_ITEMS: usize = 30;
const LAST_WORDS: usize = 2_000;
const QUESTIONS: usize = 5;
const ANSWERS: usize = 8;
const FAILURES: usize = 5;
const FILES: usize = 30;
const SUMMARY: usize = 6_000;
const SHORT: usize = 400;

/// Cleaned of what hides, with its lines, and no longer than this.
fn kept(said: &str, most: usize) -> String {
    text::lines(said.trim(), most)
}

/// The same on one line.
fn short(said: &str) -> String {
    text::line(said.trim(), SHORT)
}
