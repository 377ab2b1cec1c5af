//! Secrets are taken out of what is stored: first by structure, where a text
//! says what is a name and what a value, then by the shape of what is left.
//! Better a harmless word lost than a token kept: the stored text is for people
//! to recognise a call by, not to run it.

mod arguments;
mod blocks;
mod entropy;
mod fields;
mod headers;
mod hidden;
mod json;
mod names;
mod options;
mod pairs;
mod passage;
mod prefixes;
mod scan;
mod stored;
mod tokens;
mod tools;
mod urls;
mod values;

pub use passage::Passage;
pub use stored::{after, change, keep, last_words, plan, reply, turn, write};

pub use json::whole;

use hidden::{Hidden, SeenText};
use model::Finding;
use serde_json::Value;

const GONE: &str = "[redacted]";

/// The longest text that is stored of any one field.
const LONGEST: usize = 8 * 1024;

/// What is hidden may lay bare what stood beside it, so a text is read again
/// until nothing more is found, but not for ever.
const ROUNDS: usize = 4;

/// Longer texts are read in pieces, so that the time they take grows as they do.
const PIECE: usize = 16 * 1024;

/// The value without its secrets and without the bulk of its long texts.
pub fn redact(value: &Value) -> Value {
    json::cut(value)
}

/// The finding as it may be told and stored: the words it quotes may hold a secret.
pub fn finding(finding: Finding) -> Finding {
    let mut clean = Finding {
        reason: kept(&finding.reason),
        subject: kept(&finding.subject),
        instead: finding.instead.as_deref().map(kept),
        ..finding
    };
    if let Some(intent) = &mut clean.intent {
        intent.target = kept(&intent.target);
    }
    if let Some(file) = &mut clean.file {
        file.path = kept(&file.path);
    }
    clean
}

/// What is kept of a text. Only that is looked at, so that five megabytes cost
/// what eight kilobytes do, and a word that the cut goes through is left out:
/// half a secret is not recognised as one.
fn kept(text: &str) -> String {
    kept_up_to(text, LONGEST)
}

/// The same of a text of which more is kept.
fn kept_up_to(text: &str, longest: usize) -> String {
    if text.len() <= longest {
        return without_secrets(text);
    }
    let head = text.get(..floor(text, longest)).unwrap_or_default();
    let words_end = head.rfind(char::is_whitespace).filter(|end| *end > longest / 2);
    // Without a word's end the cut is where a value ends at least.
    let value_end = || head.rfind(['"', ',', ';', '&', '\'', '<', '|']).filter(|end| *end > longest / 2);
    let whole = words_end.or_else(value_end).and_then(|end| head.get(..end)).unwrap_or(head);
    format!("{}… [{} bytes in all]", without_secrets(whole), text.len())
}

/// All of the text, however long, but for its secrets.
pub fn text_without_secrets(text: &str) -> String {
    json::text(text).unwrap_or_else(|| without_secrets(text))
}

fn without_secrets(text: &str) -> String {
    let mut kept = None;
    for _ in 0..ROUNDS {
        match read(kept.as_deref().unwrap_or(text)) {
            Some(clean) => kept = Some(clean),
            None => break,
        }
    }
    kept.unwrap_or_else(|| text.to_string())
}

/// The text without what one reading finds; `None` where that is nothing.
fn read(text: &str) -> Option<String> {
    let mut hidden = found(text);
    if let Some(seen) = SeenText::of(text) {
        hidden.add_seen(found(&seen.text), &seen);
    }
    hidden.taken_out_of(text)
}

fn found(text: &str) -> Hidden {
    let mut hidden = Hidden::default();
    blocks::find(text, &mut hidden);
    let mut from = 0;
    while from < text.len() {
        let end = piece_end(text, from);
        let piece = text.get(from..end).unwrap_or_default();
        hidden.stand_at(from);
        fields::find(piece, &mut hidden);
        tokens::find(piece, &mut hidden);
        urls::find(piece, &mut hidden);
        options::find(piece, &mut hidden);
        from = end;
    }
    hidden
}

/// A piece ends with a line, or else with a word.
fn piece_end(text: &str, from: usize) -> usize {
    if text.len() - from <= PIECE {
        return text.len();
    }
    let longest = floor(text, from + PIECE);
    let piece = text.get(from..longest).unwrap_or_default();
    let end = piece.rfind('\n').or_else(|| piece.rfind(' ')).filter(|end| *end > 0);
    end.map_or(longest, |end| from + end)
}

/// The last boundary between characters up to a place.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
}

#[cfg(test)]
mod tests;
