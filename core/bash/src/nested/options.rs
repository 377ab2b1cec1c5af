//! Takes options apart the way `getopt` does, with only the knowledge of which take a value.

use crate::reading::Word;

/// One step through the words of a command.
#[derive(Debug, PartialEq)]
pub(crate) enum Step<'w> {
    /// An option by its name (`-u`, `--user`), with its value if it takes one.
    Option(String, Option<Word>),
    /// The first operand: it and everything after.
    Operands(&'w [Word]),
}

/// Options up to the first operand. `valued` names those that take a value: `-u`, `--user`.
pub(crate) struct Options<'w> {
    rest: &'w [Word],
    valued: &'static [&'static str],
    /// Letters of a cluster such as `-xvf` that are still to come.
    cluster: Vec<char>,
    ended: bool,
}

impl<'w> Options<'w> {
    pub(crate) fn new(words: &'w [Word], valued: &'static [&'static str]) -> Self {
        Self { rest: words, valued, cluster: Vec::new(), ended: false }
    }

    fn take_value(&mut self) -> Option<Word> {
        let (value, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(value.clone())
    }

    fn takes_value(&self, option: &str) -> bool {
        self.valued.iter().any(|valued| {
            *valued == option || (option.len() > 3 && option.starts_with("--") && valued.starts_with(option))
        })
    }

    fn letter(&mut self, letter: char) -> Step<'w> {
        let name = format!("-{letter}");
        if !self.takes_value(&name) {
            return Step::Option(name, None);
        }
        let attached: String = std::mem::take(&mut self.cluster).into_iter().rev().collect();
        let value = if attached.is_empty() { self.take_value() } else { Some(Word::text(attached)) };
        Step::Option(name, value)
    }
}

impl<'w> Iterator for Options<'w> {
    type Item = Step<'w>;

    fn next(&mut self) -> Option<Step<'w>> {
        if self.ended {
            return None;
        }
        if let Some(letter) = self.cluster.pop() {
            return Some(self.letter(letter));
        }
        let first = self.rest.first()?;
        let text = first.shown();
        let option =
            text.len() > 1 && text.starts_with('-') && matches!(first.pieces.first(), Some(crate::WordPiece::Text(_)));
        if !option || text == "--" {
            self.ended = true;
            let skip = usize::from(text == "--");
            return Some(Step::Operands(self.rest.get(skip..).unwrap_or_default()));
        }
        self.rest = self.rest.get(1..).unwrap_or_default();
        if text.starts_with("--") {
            return Some(match text.split_once('=') {
                Some((name, value)) => Step::Option(name.to_string(), Some(Word::text(value))),
                None if self.takes_value(&text) => Step::Option(text, self.take_value()),
                None => Step::Option(text, None),
            });
        }
        // `-name` with a single dash is one option when it is listed so (`-exec`, `-conn`).
        if text.len() > 2 && self.takes_value(&text) {
            return Some(Step::Option(text, self.take_value()));
        }
        self.cluster = text.chars().skip(1).collect();
        self.cluster.reverse();
        self.next()
    }
}

/// The operands after the options, and the options met on the way.
pub(crate) fn split<'w>(
    words: &'w [Word],
    valued: &'static [&'static str],
) -> (Vec<(String, Option<Word>)>, &'w [Word]) {
    let mut options = Vec::new();
    let mut operands: &[Word] = &[];
    for step in Options::new(words, valued) {
        match step {
            Step::Option(name, value) => options.push((name, value)),
            Step::Operands(rest) => operands = rest,
        }
    }
    (options, operands)
}

/// Options and operands of a program that takes them in any order, up to `--`; what stands behind that are operands.
pub(crate) fn scattered(words: &[Word], valued: &'static [&'static str]) -> (Vec<(String, Option<Word>)>, Vec<Word>) {
    let mut options = Vec::new();
    let mut operands = Vec::new();
    let mut rest = words;
    while !rest.is_empty() {
        let (found, after) = split(rest, valued);
        options.extend(found);
        let Some((first, behind)) = after.split_first() else { break };
        let before = (rest.len() - after.len()).checked_sub(1).and_then(|at| rest.get(at));
        operands.push(first.clone());
        if before.is_some_and(|word| word.shown() == "--") {
            operands.extend(behind.iter().cloned());
            break;
        }
        rest = behind;
    }
    (options, operands)
}

/// The value of the first of `names` that was given.
pub(crate) fn value<'o>(options: &'o [(String, Option<Word>)], names: &[&str]) -> Option<&'o Word> {
    options.iter().find(|(name, _)| names.contains(&name.as_str())).and_then(|(_, value)| value.as_ref())
}

pub(crate) fn given(options: &[(String, Option<Word>)], names: &[&str]) -> bool {
    options.iter().any(|(name, _)| names.contains(&name.as_str()))
}
