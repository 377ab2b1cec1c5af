//! The stretches of a text that are not kept.

use super::GONE;
use model::text::is_hidden;

#[derive(Default)]
pub struct Hidden {
    stretches: Vec<(usize, usize)>,
    /// Where the piece that is read begins.
    base: usize,
}

impl Hidden {
    /// What is added from now on is told as places in the piece that begins here.
    pub fn stand_at(&mut self, base: usize) {
        self.base = base;
    }

    pub fn add(&mut self, from: usize, to: usize) {
        if from < to {
            self.stretches.push((self.base + from, self.base + to));
        }
    }

    /// Adds what was found in the text as it is seen.
    pub fn add_seen(&mut self, found: Self, seen: &SeenText) {
        let place = |at: usize| seen.places.get(at).copied();
        for (from, to) in found.stretches {
            if let (Some(from), Some(last)) = (place(from), to.checked_sub(1).and_then(place)) {
                self.stretches.push((from, last + 1));
            }
        }
    }

    /// The text without them; `None` where there is nothing to hide.
    pub fn taken_out_of(mut self, text: &str) -> Option<String> {
        self.stretches.retain(|(from, to)| text.get(*from..*to).is_some_and(|part| !is_gone(part)));
        self.stretches.sort_unstable();
        let mut out = String::new();
        let mut at = 0;
        for (from, to) in &self.stretches {
            if out.is_empty() || *from > at {
                out.push_str(text.get(at..*from).unwrap_or_default());
                out.push_str(GONE);
            }
            at = at.max(*to);
        }
        out.push_str(text.get(at..).unwrap_or_default());
        (!self.stretches.is_empty()).then_some(out)
    }
}

/// A text without the characters that nobody sees, which may stand in the middle of a key.
pub struct SeenText {
    pub text: String,
    /// Where each of its bytes stands in the whole text.
    places: Vec<usize>,
}

impl SeenText {
    /// `None` where all of the text is seen.
    pub fn of(whole: &str) -> Option<Self> {
        let plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t');
        if whole.bytes().all(plain) || !whole.chars().any(is_unseen) {
            return None;
        }
        let mut seen = Self { text: String::new(), places: Vec::new() };
        for (at, c) in whole.char_indices().filter(|(_, c)| !is_unseen(*c)) {
            seen.text.push(c);
            seen.places.extend(at..at + c.len_utf8());
        }
        Some(seen)
    }
}

fn is_unseen(c: char) -> bool {
    is_hidden(c) || c.is_control() && !matches!(c, '\n' | '\r' | '\t')
}

/// Nothing is left of it but marks of what was hidden before.
fn is_gone(part: &str) -> bool {
    part.contains(GONE) && part.split(GONE).all(str::is_empty)
}
