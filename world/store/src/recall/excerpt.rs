//! The part of a text that shows why it was found, with what matched marked.

use super::query::QueryWords;
use std::fmt;

/// An excerpt is about so long.
const CHARS: usize = 160;
/// So much of it stands before the first match.
const BEFORE: usize = 40;

/// One line, in pieces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Excerpt(pub Vec<ExcerptPiece>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExcerptPiece {
    pub text: String,
    pub is_match: bool,
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|piece| f.write_str(&piece.text))
    }
}

impl Excerpt {
    pub(super) fn of(text: &str, words: &QueryWords) -> Self {
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let pieces = pieces(&line, words);
        let first: usize =
            pieces.iter().take_while(|piece| !piece.is_match).map(|piece| piece.text.chars().count()).sum();
        let length = line.chars().count();
        // Nothing matched as a word: the beginning says what it is.
        let from = if first >= length || length <= CHARS { 0 } else { first.saturating_sub(BEFORE) };
        cut(pieces, from, length)
    }
}

fn cut(pieces: Vec<ExcerptPiece>, from: usize, length: usize) -> Excerpt {
    let plain = |text: &str| ExcerptPiece { text: text.to_string(), is_match: false };
    let mut shown = Vec::new();
    if from > 0 {
        shown.push(plain("…"));
    }
    let mut at = 0;
    for piece in pieces {
        let chars = piece.text.chars().count();
        let skip = from.saturating_sub(at);
        let most = (from + CHARS).saturating_sub(at).saturating_sub(skip);
        let text: String = piece.text.chars().skip(skip).take(most).collect();
        if !text.is_empty() {
            shown.push(ExcerptPiece { text, ..piece });
        }
        at += chars;
    }
    if from + CHARS < length {
        shown.push(plain("…"));
    }
    Excerpt(shown)
}

/// The line, where each match is a piece of its own.
fn pieces(line: &str, words: &QueryWords) -> Vec<ExcerptPiece> {
    let stems: Vec<&str> = words.0.iter().flat_map(|word| &word.parts).map(|part| stem(part)).collect();
    let mut pieces: Vec<ExcerptPiece> = Vec::new();
    for word in runs(line) {
        let lower = word.to_lowercase();
        let is_match = word.starts_with(char::is_alphanumeric) && stems.iter().any(|stem| is_found(&lower, stem));
        match pieces.last_mut() {
            Some(last) if !is_match && !last.is_match => last.text.push_str(word),
            _ => pieces.push(ExcerptPiece { text: word.to_string(), is_match }),
        }
    }
    pieces
}

/// Runs of letters and digits, and what stands between them.
fn runs(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let is_word = rest.chars().next()?.is_alphanumeric();
        let end = rest.find(|c: char| c.is_alphanumeric() != is_word).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        rest = after;
        Some(run)
    })
}

/// A short stem must begin the word; a longer one may stand within it.
fn is_found(word: &str, stem: &str) -> bool {
    word.starts_with(stem) && (stem.len() > 2 || word.len() == stem.len()) || stem.len() > 3 && word.contains(stem)
}

/// About what the index's own stemmer makes of it; it decides only what is marked.
fn stem(word: &str) -> &str {
    const ENDINGS: &[&str] = &["ations", "ation", "ings", "ing", "ions", "ion", "ies", "ed", "es", "s", "e", "y"];
    let cut = ENDINGS.iter().find_map(|end| word.strip_suffix(end).filter(|left| left.chars().count() >= 3));
    cut.unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str, words: &str) -> String {
        let excerpt = Excerpt::of(text, &QueryWords::read(words));
        excerpt
            .0
            .iter()
            .map(|piece| if piece.is_match { format!("[{}]", piece.text) } else { piece.text.clone() })
            .collect()
    }

    #[test]
    fn m3_an_excerpt_shows_the_match_and_what_stands_around_it() {
        assert_eq!(marked("fix the\n login  of users", "logins"), "fix the [login] of users");
        assert_eq!(marked("edited src/loginForm.rs", "login_form"), "edited src/[loginForm].rs");
        let long = format!("{} migrations {}", "before ".repeat(60), "after ".repeat(60));
        let shown = marked(&long, "migrating");
        assert!(shown.starts_with("…") && shown.contains("[migrations]") && shown.ends_with("…"), "{shown}");
        assert!(shown.chars().count() <= CHARS + 4, "{shown}");
        assert_eq!(marked("nothing here", "elsewhere"), "nothing here");
    }
}
