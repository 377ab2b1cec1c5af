//! Values in a script: constants, lists, joined strings; the rest is unknown.

use std::cell::Cell;
use std::collections::HashMap;

use super::foreign;
use super::lexer::Token;
use crate::limits;
use crate::output::codes;
use crate::reading::{Word, WordPiece};
use crate::words::{push_piece, push_text, push_word};

/// An argument of a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Argument {
    One(Word),
    List(Vec<Word>),
}

impl Argument {
    /// What a copy of it costs, in steps.
    pub(super) fn weight(&self) -> usize {
        match self {
            Self::One(word) => limits::weight(std::slice::from_ref(word)),
            Self::List(words) => limits::weight(words),
        }
    }
}

/// What names stand for.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) constants: HashMap<String, Argument>,
    /// `import subprocess as sp`: `sp` is `subprocess`; `from os import remove`: `remove` is `os.remove`.
    pub(super) modules: HashMap<String, String>,
    home: Option<String>,
    /// How deep values stand in each other just now.
    level: Cell<usize>,
}

/// Values inside values that are looked into.
const LEVELS: usize = 8;
/// Tokens looked through for the end of an argument list.
const REACH: usize = 600;

/// Under which name the module is kept that all names were taken from; no name of a script has a space.
pub(super) const STAR: &str = "all names";

/// Under which name the file of the one database a script has opened is kept; no name of a script has a space.
pub(super) const DATABASE: &str = "the database";

impl Names {
    /// The file of the database that statements go to, as far as it is known.
    pub(super) fn database(&self) -> Option<Word> {
        match self.constants.get(DATABASE)? {
            Argument::One(word) => Some(word.clone()),
            Argument::List(_) => None,
        }
    }

    pub(super) fn new(home: Option<String>) -> Self {
        Self { home, ..Self::default() }
    }

    /// A dotted name with its first part resolved through the imports.
    pub(super) fn resolved(&self, path: &str) -> String {
        let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
        let first = self.modules.get(first).map_or(first, String::as_str);
        match rest {
            Some(rest) => format!("{first}.{rest}"),
            None => first.to_string(),
        }
    }

    /// The argument these tokens are.
    pub(super) fn argument(&self, tokens: &[Token]) -> Argument {
        match tokens {
            [Token::Mark('['), inside @ .., Token::Mark(']')] | [Token::Mark('('), inside @ .., Token::Mark(')')]
                if comma(inside) || matches!(tokens.first(), Some(Token::Mark('['))) =>
            {
                Argument::List(split(inside).into_iter().map(|part| self.word(part)).collect())
            }
            [Token::Name(name)] => match self.constants.get(name) {
                Some(value) => value.clone(),
                None => Argument::One(unknown(name)),
            },
            [Token::Name(name), Token::Mark('.'), Token::Name(split_call), Token::Mark('('), ..]
                if split_call == "split" && self.constants.contains_key(name) =>
            {
                let text = self.word(&[Token::Name(name.clone())]).shown();
                Argument::List(text.split_whitespace().map(Word::text).collect())
            }
            [Token::Text(text), Token::Mark('.'), Token::Name(name), ..] if name == "split" => {
                Argument::List(text.shown().split_whitespace().map(Word::text).collect())
            }
            _ => Argument::One(self.word(tokens)),
        }
    }

    /// The text these tokens come to: strings and constants joined by `+`, `.`, `/` or nothing.
    pub(super) fn word(&self, tokens: &[Token]) -> Word {
        if self.level.get() >= LEVELS {
            return unknown("…");
        }
        self.level.set(self.level.get() + 1);
        let word = self.joined(tokens);
        self.level.set(self.level.get() - 1);
        word
    }

    fn joined(&self, tokens: &[Token]) -> Word {
        let mut out = Word { pieces: Vec::new(), quoted: true };
        let mut rest = tokens;
        while let [first, tail @ ..] = rest {
            let used = match first {
                Token::Text(text) => {
                    self.fill(&mut out, text);
                    1
                }
                Token::Number(number) => {
                    push_text(&mut out, number);
                    1
                }
                Token::Name(_) => self.named(rest, &mut out),
                Token::Mark('/') if !out.pieces.is_empty() => {
                    push_text(&mut out, "/");
                    1
                }
                Token::Mark('+' | '.' | '(' | ')') => 1,
                Token::Mark('-') if out.pieces.is_empty() => {
                    push_text(&mut out, "-");
                    1
                }
                _ => {
                    out.pieces.push(WordPiece::Unknown("…".to_string()));
                    tail.len() + 1
                }
            };
            rest = rest.get(used.max(1)..).unwrap_or_default();
            if out.size() > limits::TEXT {
                return unknown("…");
            }
        }
        if out.pieces.is_empty() && !tokens.is_empty() && !matches!(tokens, [Token::Text(_)]) {
            return unknown("…");
        }
        out
    }

    /// A name at the start of `tokens`: how many tokens it takes.
    fn named(&self, tokens: &[Token], out: &mut Word) -> usize {
        let (path, width) = dotted(tokens);
        let called = matches!(tokens.get(width), Some(Token::Mark('(')));
        let inside = if called { arguments(tokens.get(width..).unwrap_or_default()) } else { (Vec::new(), 0) };
        let whole = width + inside.1;
        if called && matches!(path.as_str(), "require" | "__import__") && tokens.get(whole) == Some(&Token::Mark('.')) {
            let module = inside.0.first().map(|part| self.word(part).shown()).unwrap_or_default();
            let rest = tokens.get(whole..).unwrap_or_default().iter().take(REACH).cloned();
            let named: Vec<Token> = std::iter::once(Token::Name(module)).chain(rest).collect();
            return whole + self.named(&named, out).saturating_sub(1);
        }
        let resolved = self.resolved(&path);
        if let Some(used) = self.listing(&resolved, tokens.get(width..).unwrap_or_default(), out) {
            return width + used;
        }
        match (resolved.as_str(), called) {
            (name, true) if joins(name) => {
                self.push_joined(out, &inside.0);
                whole
            }
            // Methods that leave a text what it is.
            ("decode" | "encode" | "strip" | "trim" | "toString" | "chomp", true) if !out.pieces.is_empty() => whole,
            (name, true) if foreign::temporary(name) => {
                out.pieces.push(WordPiece::Unknown("$(mktemp -d)".to_string()));
                whole
            }
            (name, true) if foreign::base64(name) => {
                let code = inside.0.first().and_then(|part| self.word(part).known());
                match code.and_then(|code| codes::base64(&code)).and_then(|bytes| String::from_utf8(bytes).ok()) {
                    Some(text) => push_text(out, &text),
                    None => out.pieces.push(WordPiece::Unknown(path)),
                }
                whole
            }
            (name, true) if wraps(name) => {
                let inner = inside.0.first().map(|part| self.word(part)).unwrap_or_default();
                let text = inner.shown();
                match (text.strip_prefix('~'), &self.home) {
                    (Some(rest), Some(home)) if inner.known().is_some() => push_text(out, &format!("{home}{rest}")),
                    _ => inner.pieces.into_iter().for_each(|piece| push_piece(out, piece)),
                }
                whole
            }
            ("os.homedir" | "Path.home" | "pathlib.Path.home" | "Dir.home", _) => {
                self.push_home(out);
                whole
            }
            ("process.env.HOME", _) => {
                self.push_home(out);
                width
            }
            ("os.environ" | "ENV" | "$ENV", false) if matches!(tokens.get(width + 1), Some(Token::Text(name)) if name.shown() == "HOME") =>
            {
                self.push_home(out);
                width + 3
            }
            ("os.getenv" | "os.environ.get", true)
                if inside.0.first().is_some_and(|part| self.word(part).shown() == "HOME") =>
            {
                self.push_home(out);
                whole
            }
            _ => {
                let entry = path.strip_suffix(".path").unwrap_or(&path);
                match self.constants.get(&path).or_else(|| self.constants.get(entry)) {
                    Some(Argument::One(word)) if !called => push_word(out, word),
                    _ => out.pieces.push(WordPiece::Unknown(path)),
                }
                whole
            }
        }
    }

    /// The parts of a path, each below the one before.
    fn push_joined(&self, out: &mut Word, parts: &[&[Token]]) {
        for (index, part) in parts.iter().enumerate() {
            if index > 0 && !out.shown().ends_with('/') {
                push_text(out, "/");
            }
            self.word(part).pieces.into_iter().for_each(|piece| push_piece(out, piece));
        }
    }

    fn push_home(&self, out: &mut Word) {
        match &self.home {
            Some(home) => push_text(out, home),
            None => out.pieces.push(WordPiece::Unknown("~".to_string())),
        }
    }

    /// A string whose `{x}` may be a constant.
    fn fill(&self, out: &mut Word, text: &Word) {
        for piece in &text.pieces {
            let WordPiece::Unknown(source) = piece else {
                push_piece(out, piece.clone());
                continue;
            };
            let bare = source.trim_start_matches(['$', '#']).trim_start_matches('{').trim_end_matches('}');
            let value = self.constants.get(bare).or_else(|| self.constants.get(&format!("${bare}")));
            match value {
                Some(Argument::One(word)) => push_word(out, word),
                _ => out.pieces.push(piece.clone()),
            }
        }
    }
}

fn joins(name: &str) -> bool {
    matches!(name, "os.path.join" | "path.join" | "path.resolve" | "File.join" | "pathlib.Path.joinpath")
}

/// Calls that give back their argument, as far as paths are concerned.
fn wraps(name: &str) -> bool {
    matches!(
        name,
        "os.path.expanduser"
            | "os.path.abspath"
            | "os.path.realpath"
            | "os.path.normpath"
            | "Path"
            | "pathlib.Path"
            | "PurePath"
            | "str"
            | "list"
            | "sorted"
            | "reversed"
            | "tuple"
            | "String"
            | "Pathname.new"
            | "File.expand_path"
            | "shlex.split"
            | "shlex.quote"
    )
}

/// A dotted (or `::`, `->`) name at the start, and how many tokens it takes.
pub(super) fn dotted(tokens: &[Token]) -> (String, usize) {
    let Some(Token::Name(first)) = tokens.first() else { return (String::new(), 0) };
    let mut path = first.clone();
    let mut width = 1;
    while let (Some(Token::Mark('.')), Some(Token::Name(next))) = (tokens.get(width), tokens.get(width + 1)) {
        path.push('.');
        path.push_str(next);
        width += 2;
    }
    (path, width)
}

/// The arguments between the parentheses that open at the start, and the tokens they take.
pub(super) fn arguments(tokens: &[Token]) -> (Vec<&[Token]>, usize) {
    let mut depth = 0usize;
    let tokens = tokens.get(..REACH).unwrap_or(tokens);
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Mark('(' | '[' | '{') => depth += 1,
            Token::Mark(')' | ']' | '}') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return (split(tokens.get(1..at).unwrap_or_default()), at + 1);
                }
            }
            _ => {}
        }
    }
    (split(tokens.get(1..).unwrap_or_default()), tokens.len())
}

/// Splits at the commas that stand in no bracket.
pub(super) fn split(tokens: &[Token]) -> Vec<&[Token]> {
    let mut parts = Vec::new();
    let (mut depth, mut from) = (0usize, 0);
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Mark('(' | '[' | '{') => depth += 1,
            Token::Mark(')' | ']' | '}') => depth = depth.saturating_sub(1),
            Token::Mark(',') if depth == 0 => {
                parts.push(tokens.get(from..at).unwrap_or_default());
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(tokens.get(from..).unwrap_or_default());
    parts.retain(|part| !part.is_empty());
    parts
}

fn comma(tokens: &[Token]) -> bool {
    tokens.contains(&Token::Mark(','))
}

pub(super) fn unknown(source: &str) -> Word {
    Word { pieces: vec![WordPiece::Unknown(source.to_string())], quoted: true }
}
