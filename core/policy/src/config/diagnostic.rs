//! Diagnostics: what is wrong in a configuration file, where, and what was probably meant.

use std::fmt;
use std::ops::Range;

/// Something wrong in a configuration file, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    pub file: String,
    /// From one.
    pub line: usize,
    /// From one, in characters.
    pub column: usize,
    /// The section it stands in; `None` is the file as a whole.
    pub section: Option<String>,
    pub effect: Effect,
    pub message: String,
    /// The nearest valid key or what helps.
    pub hint: Option<String>,
}

/// What becomes of what is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing is wrong with it, and it does not hold here.
    Ignored,
    Mistake,
    /// It may be a limit, which then holds as strictly as it does by default.
    Limit,
}

impl Diagnostic {
    /// About a file as a whole.
    pub fn of_file(file: String, effect: Effect, message: String, hint: &str) -> Self {
        Self { file, line: 1, column: 1, section: None, effect, message, hint: Some(hint.to_string()) }
    }

    /// Whether something may be less strict than its author meant: a limit, or the guard.
    pub fn weakens(&self) -> bool {
        self.effect == Effect::Limit || (self.is_mistake() && self.section.as_deref() == Some("guard"))
    }

    /// Whether a file has to be mended.
    pub fn is_mistake(&self) -> bool {
        self.effect != Effect::Ignored
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

/// A file under examination, and what was found in it.
pub(super) struct FileReport<'a> {
    pub file: &'a str,
    pub text: &'a str,
    /// The section that is looked at.
    pub section: Option<String>,
    pub found: Vec<Diagnostic>,
    /// How many there are, also beyond those that are kept.
    pub count: usize,
}

/// A file with more mistakes is wrong as a whole. To find the place of each would cost a hook its time.
const MOST_FOUND: usize = 200;

impl<'a> FileReport<'a> {
    pub(super) fn of(file: &'a str, text: &'a str) -> Self {
        Self { file, text, section: None, found: Vec::new(), count: 0 }
    }

    pub(super) fn add(&mut self, span: Range<usize>, message: impl Into<String>) {
        self.push(span, message.into(), None, Effect::Mistake);
    }

    /// A word that is none of those that are known.
    pub(super) fn unknown(&mut self, span: Range<usize>, what: &str, word: &str, known: &[&str], effect: Effect) {
        if self.found.len() >= MOST_FOUND {
            return self.push(span, String::new(), None, effect);
        }
        let hint = match nearest(word, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known: {}", known.join(", ")),
        };
        self.push(span, format!("unknown {what} `{word}`"), Some(hint), effect);
    }

    pub(super) fn push(&mut self, span: Range<usize>, message: String, hint: Option<String>, effect: Effect) {
        self.count += 1;
        let kept = self.found.len();
        if kept >= MOST_FOUND {
            // What may be a limit must not be drowned by what is none.
            if let Some(last) = self.found.last_mut().filter(|_| effect == Effect::Limit) {
                last.effect = effect;
            }
            return;
        }
        let (line, column) = position(self.text, span.start);
        let section = self.section.clone();
        self.found.push(Diagnostic { file: self.file.to_string(), line, column, section, effect, message, hint });
    }
}

pub(super) fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}

/// A longer word is no misspelling of one that is known.
const LONGEST_WORD: usize = 64;

/// The known word that is nearest, if one is near.
pub fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    if word.len() > LONGEST_WORD {
        return None;
    }
    let best = known.iter().map(|candidate| (strsim::levenshtein(word, candidate), *candidate)).min()?;
    (best.0 <= (word.chars().count() / 3).max(2)).then_some(best.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_found_and_far_ones_are_not() {
        assert_eq!(nearest("on_failur", &["mode", "on_failure"]), Some("on_failure"));
        assert_eq!(nearest("xyz", &["mode", "packs"]), None);
    }

    #[test]
    fn positions_count_from_one() {
        assert_eq!(position("a\nbc", 3), (2, 2));
        assert_eq!(position("", 0), (1, 1));
    }
}
