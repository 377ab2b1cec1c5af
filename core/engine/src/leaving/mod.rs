//! What leaves this machine, to a server or to a collector, made fit: without secrets, without what a terminal obeys, bounded;
//! and which parts of an event do at the full level.

mod fields;

pub use fields::{detail, tool};

use crate::redact::text_without_secrets;
use model::row::Event;
use model::{Level, text};

/// Names and other short words.
pub const SHORT: usize = 100;
/// A line of what somebody does or asks.
pub const LINE: usize = 200;

/// One line of something that leaves.
pub fn line(words: &str, most: usize) -> String {
    // Twice: what is cleaned away may have hidden a secret by standing in its middle.
    text_without_secrets(&text::line(&text_without_secrets(words), most))
}

/// The same with its lines kept.
pub fn lines(words: &str, most: usize) -> String {
    text_without_secrets(&text::lines(&text_without_secrets(words), most))
}

/// Why a rule stopped it, as it is stored. What a person answered is their own words, and has no rule.
pub fn reason(event: &Event) -> Option<&str> {
    event.reason.as_deref().filter(|_| event.verdict > Level::Pass && !event.rules.is_empty())
}
