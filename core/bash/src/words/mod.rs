//! Words: from the source of a word to the words it becomes after quoting and expansion.

mod atoms;
mod braces;
pub(crate) mod cursor;
mod dollar;
mod fields;
pub(crate) mod matching;
mod parameter;
mod pattern;
pub(crate) mod quoting;

pub(crate) use atoms::Mode;
pub(crate) use fields::{globbed, push_piece, push_text, push_word};

use crate::reading::{Word, WordPiece};

/// A stretch of a word whose quoting is settled.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Atom {
    /// Unquoted source text: braces, globs and `~` count in it.
    Plain(String),
    /// Text that was quoted or escaped.
    Quoted(String),
    /// What an unquoted expansion gave: it is split into words and its globs count.
    Loose(WordPiece),
    /// What a quoted expansion gave.
    Kept(WordPiece),
    /// The end of a word inside `"$@"` and its kind.
    Cut,
}

impl Atom {
    /// The atoms of a known value, quoted or not.
    pub(crate) fn of_word(word: &Word, quoted: bool) -> Vec<Self> {
        word.pieces
            .iter()
            .map(|piece| match piece {
                // A pattern in a value stands for what it matched: quotes do not turn it back.
                other if quoted => Self::Kept(other.clone()),
                other => Self::Loose(other.clone()),
            })
            .collect()
    }
}
