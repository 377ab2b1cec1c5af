//! A command's words told apart: options with their values, and operands.

use bash::Word;
use std::borrow::Cow;

/// What a program's options take, as far as telling operands from values needs it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Grammar {
    /// Short options that take a value.
    pub short: &'static str,
    /// Long options that take a value in the next word when there is no `=`.
    pub long: &'static [&'static str],
    /// Words with one dash are long options (`terraform -destroy`, `find -delete`).
    pub single_dash_long: bool,
}

/// The words after a program, told apart.
#[derive(Debug, Clone, Default)]
pub(crate) struct Args<'a> {
    pub flags: Vec<Flag<'a>>,
    pub operands: Vec<&'a Word>,
    /// How many operands stood before `--`; `None` when there was none.
    pub dashes: Option<usize>,
}

#[derive(Debug, Clone)]
pub(crate) struct Flag<'a> {
    /// One character for short options, the name without dashes for long ones.
    pub name: Cow<'a, str>,
    pub long: bool,
    pub value: Option<Cow<'a, str>>,
}

/// The word's text, unknown and glob pieces as written.
pub(crate) fn text(word: &Word) -> Cow<'_, str> {
    match word.pieces.as_slice() {
        [bash::WordPiece::Text(text)] => Cow::Borrowed(text),
        _ => Cow::Owned(word.shown()),
    }
}

impl<'a> Args<'a> {
    pub(crate) fn parse(words: &'a [Word], grammar: Grammar) -> Self {
        let mut args = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let shown = text(word);
            if args.dashes.is_some() || shown == "-" || !shown.starts_with('-') {
                args.operands.push(word);
            } else if shown == "--" {
                args.dashes = Some(args.operands.len());
            } else if shown.starts_with("--") || grammar.single_dash_long {
                args.long(shown, &mut words, grammar);
            } else {
                args.cluster(&shown, &mut words, grammar);
            }
        }
        args
    }

    fn long(&mut self, shown: Cow<'a, str>, words: &mut std::slice::Iter<'a, Word>, grammar: Grammar) {
        let body = shown.trim_start_matches('-');
        let (name, value) = match body.split_once('=') {
            Some((name, value)) => (name, Some(Cow::Owned(value.to_string()))),
            None if grammar.long.contains(&body) => (body, words.next().map(text)),
            None => (body, None),
        };
        self.flags.push(Flag { name: Cow::Owned(name.to_string()), long: true, value });
    }

    fn cluster(&mut self, shown: &str, words: &mut std::slice::Iter<'a, Word>, grammar: Grammar) {
        let mut rest = shown.trim_start_matches('-').chars();
        while let Some(letter) = rest.next() {
            let name = Cow::Owned(letter.to_string());
            if !grammar.short.contains(letter) {
                self.flags.push(Flag { name, long: false, value: None });
                continue;
            }
            let glued = rest.as_str();
            let value = if glued.is_empty() { words.next().map(text) } else { Some(Cow::Owned(glued.to_string())) };
            self.flags.push(Flag { name, long: false, value });
            break;
        }
    }

    /// Whether a short option was given.
    pub(crate) fn short(&self, letter: char) -> bool {
        self.flags.iter().any(|flag| !flag.long && flag.name.starts_with(letter))
    }

    /// Whether any of the short options was given.
    pub(crate) fn any_short(&self, letters: &str) -> bool {
        letters.chars().any(|letter| self.short(letter))
    }

    /// Whether a long option was given, in full.
    pub(crate) fn long_flag(&self, name: &str) -> bool {
        self.flags.iter().any(|flag| flag.long && flag.name == name)
    }

    /// Whether a long option was given in full or abbreviated to at least `least` letters.
    pub(crate) fn abbreviated(&self, name: &str, least: usize) -> bool {
        self.flags.iter().any(|flag| flag.long && flag.name.len() >= least && name.starts_with(flag.name.as_ref()))
    }

    /// The value of the last such option, short or long.
    pub(crate) fn value<'s>(&'s self, name: &'s str) -> Option<&'s str> {
        self.values(name).last()
    }

    /// The values of all such options, short or long.
    pub(crate) fn values<'s>(&'s self, name: &'s str) -> impl Iterator<Item = &'s str> {
        self.flags.iter().filter(move |flag| flag.name == name).filter_map(|flag| flag.value.as_deref())
    }

    /// The operand at a place, as text.
    pub(crate) fn operand(&self, at: usize) -> Option<Cow<'a, str>> {
        self.operands.get(at).map(|word| text(word))
    }

    /// The operands that stood behind `--`.
    pub(crate) fn behind_dashes(&self) -> &[&'a Word] {
        self.dashes.and_then(|at| self.operands.get(at..)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<Word> {
        line.split_whitespace().map(Word::text).collect()
    }

    #[test]
    fn clusters_values_and_dashes_are_told_apart() {
        let words = words("-fu origin --repo x --delete=y -o opt main -- -f");
        let args = Args::parse(&words, Grammar { short: "o", long: &["repo"], ..Grammar::default() });
        assert!(args.short('f') && args.short('u') && !args.short('p'));
        assert_eq!(args.value("repo"), Some("x"));
        assert_eq!(args.value("o"), Some("opt"));
        assert_eq!(args.value("delete"), Some("y"));
        let operands: Vec<_> = args.operands.iter().map(|word| word.shown()).collect();
        assert_eq!(operands, ["origin", "main", "-f"]);
        assert_eq!(args.dashes, Some(2));
    }

    #[test]
    fn abbreviations_need_their_least_letters() {
        let words = words("--forc");
        let args = Args::parse(&words, Grammar::default());
        assert!(args.abbreviated("force", 3));
        assert!(!args.abbreviated("force", 5));
        assert!(!args.abbreviated("follow-tags", 3));
    }
}
