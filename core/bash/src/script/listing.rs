//! Calls that list files: what a script goes through when it removes one after the other.

use super::lexer::Token;
use super::values::{Argument, Names, arguments};
use crate::reading::{Word, WordPiece};
use crate::words::{globbed, push_piece, push_text, push_word};

impl Names {
    /// What the name lists, put to the end of `out`, when it is a call that does; the tokens it takes behind the name.
    pub(super) fn listing(&self, name: &str, after: &[Token], out: &mut Word) -> Option<usize> {
        match after {
            [Token::Mark('('), ..] if lists(name) => {
                let (given, width) = arguments(after);
                self.push_listing(name, out, given.first().copied().unwrap_or_default());
                Some(width)
            }
            // Perl's `glob "…"` and Ruby's `Dir["…"]`.
            [Token::Text(_), ..] if name == "glob" => {
                self.push_pattern(out, after.get(..1)?);
                Some(1)
            }
            [Token::Mark('['), Token::Text(_), ..] if name == "Dir" => {
                self.push_pattern(out, after.get(1..2)?);
                Some(3)
            }
            _ => None,
        }
    }

    fn push_listing(&self, name: &str, out: &mut Word, given: &[Token]) {
        let call = last(name);
        // `p.rglob(…)`: the folder is the receiver.
        if let Some(owner) = name.strip_suffix(call).and_then(|owner| owner.strip_suffix('.'))
            && let Some(Argument::One(folder)) = self.constants.get(owner)
        {
            push_word(out, folder);
        }
        let method = !out.pieces.is_empty();
        if method && !out.shown().ends_with('/') {
            push_text(out, "/");
        }
        match call {
            "rglob" if method => {
                out.pieces.push(WordPiece::Glob("**".to_string()));
                push_text(out, "/");
                self.push_pattern(out, given);
            }
            "scandir" => {
                self.word(given).pieces.into_iter().for_each(|piece| push_piece(out, piece));
                push_text(out, "/");
                out.pieces.push(WordPiece::Glob("*".to_string()));
            }
            // Bare names, which the script joins to their folder or not.
            "iterdir" | "listdir" | "readdirSync" | "children" | "entries" | "each_child" => {
                out.pieces.push(WordPiece::Glob("*".to_string()));
            }
            _ => self.push_pattern(out, given),
        }
    }

    fn push_pattern(&self, out: &mut Word, pattern: &[Token]) {
        for piece in self.word(pattern).pieces {
            match piece {
                WordPiece::Text(text) => globbed(out, &text),
                other => push_piece(out, other),
            }
        }
    }
}

/// Calls that list files.
fn lists(name: &str) -> bool {
    matches!(
        last(name),
        "glob" | "iglob" | "rglob" | "iterdir" | "listdir" | "scandir" | "globSync" | "readdirSync" | "each_child"
    ) || matches!(name, "Dir.children" | "Dir.entries")
}

fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}
