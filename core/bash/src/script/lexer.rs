//! Tokens of the scripting languages, as much as is needed to tell code from text.

use crate::reading::{Word, WordPiece};
use crate::words::cursor::Cursor;
use crate::words::{push_text, quoting};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// A name, with its sigil in Perl and PHP (`$x`, `@a`).
    Name(String),
    /// A string; what is put into it by the run is unknown.
    Text(Word),
    /// A string that a shell runs: backquotes, `qx()`, `%x()`.
    Shell(Word),
    Number(String),
    Mark(char),
    /// The end of a statement: a line end or `;`.
    End,
}

/// What differs between the languages for the lexer.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Style {
    pub(super) hash_comments: bool,
    pub(super) slash_comments: bool,
    /// Line ends end statements.
    pub(super) lines: bool,
    /// Backquotes hold a command, not a template.
    pub(super) backquote_runs: bool,
    /// Names carry `$`, `@`, `%`.
    pub(super) sigils: bool,
    /// `q()`, `qq()`, `qx()`, `qw()` and `%x()` quote.
    pub(super) q_quotes: bool,
    /// Single quotes put values in as well (never, but in templates): `f'…'`, `r'…'` prefixes.
    pub(super) prefixes: bool,
    /// `"#{x}"`, `"$x"`: double quotes put values in.
    pub(super) interpolates: bool,
    /// `/…/` may be a pattern.
    pub(super) patterns: bool,
}

/// The tokens of a text, and the line that each begins on.
pub(super) fn tokens(code: &str, style: Style) -> (Vec<Token>, Vec<usize>) {
    let mut lexer = Lexer { cursor: Cursor::new(code), style, out: Vec::new(), nest: 0, bare: 0 };
    let (mut lines, mut line) = (Vec::new(), 1);
    while let Some(c) = lexer.cursor.peek() {
        let start = lexer.cursor.at();
        lexer.step(c);
        lines.resize(lexer.out.len(), line);
        line += lexer.cursor.since(start).bytes().filter(|byte| *byte == b'\n').count();
    }
    (lexer.out, lines)
}

struct Lexer<'t> {
    cursor: Cursor<'t>,
    style: Style,
    out: Vec<Token>,
    /// Brackets open: line ends inside them end nothing.
    nest: usize,
    /// Up to here no pattern is closed on its line: it is not looked for again for every slash.
    bare: usize,
}

impl<'t> Lexer<'t> {
    fn step(&mut self, c: char) {
        let rest = self.cursor.rest();
        let style = self.style;
        match c {
            '\n' => {
                self.cursor.bump();
                if style.lines && self.nest == 0 {
                    self.out.push(Token::End);
                }
            }
            ';' => {
                self.cursor.bump();
                self.out.push(Token::End);
            }
            c if c.is_whitespace() => {
                self.cursor.bump();
            }
            '#' if style.hash_comments => {
                self.cursor.take_while(|c| c != '\n');
            }
            '/' if style.slash_comments && rest.starts_with("//") => {
                self.cursor.take_while(|c| c != '\n');
            }
            '/' if style.slash_comments && rest.starts_with("/*") => {
                let end = rest.find("*/").map_or(rest.len(), |end| end + 2);
                self.cursor.take(end);
            }
            '/' if style.patterns && self.pattern_may_start() => self.pattern(),
            '"' | '\'' => self.string(c, ""),
            '`' => self.backquoted(),
            '\\' => {
                self.cursor.bump();
                self.cursor.bump();
            }
            c if c.is_ascii_digit() => {
                let number = self.cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '.');
                self.out.push(Token::Number(number.to_string()));
            }
            '%' if style.q_quotes
                && (rest.starts_with("%x") || rest.starts_with("%w") || rest.starts_with("%q"))
                && self.prefixed_quote(2) => {}
            '$' | '@' | '%'
                if style.sigils && rest.chars().nth(1).is_some_and(|c| c == '_' || c.is_alphabetic() || c == '{') =>
            {
                self.cursor.bump();
                let name = self.cursor.take_while(|c| c == '_' || c.is_alphanumeric() || c == ':');
                self.out.push(Token::Name(format!("{c}{name}")));
            }
            c if c == '_' || c.is_alphabetic() => self.name(),
            _ => self.mark(c),
        }
    }

    fn mark(&mut self, c: char) {
        self.cursor.bump();
        match c {
            '(' | '[' => self.nest += 1,
            ')' | ']' => self.nest = self.nest.saturating_sub(1),
            _ => {}
        }
        self.out.push(Token::Mark(c));
    }

    fn name(&mut self) {
        let start = self.cursor.clone();
        let name = self.cursor.take_while(|c| c == '_' || c.is_alphanumeric());
        let next = self.cursor.peek();
        if self.style.prefixes
            && name.len() <= 2
            && matches!(next, Some('"' | '\''))
            && name.chars().all(|c| "rRbBfFuU".contains(c))
        {
            let prefix = name.to_ascii_lowercase();
            self.string(next.unwrap_or('"'), &prefix);
            return;
        }
        if self.style.q_quotes && matches!(name, "q" | "qq" | "qx" | "qw") {
            self.cursor = start;
            if self.prefixed_quote(name.len()) {
                return;
            }
            self.cursor.take(name.len());
        }
        self.out.push(Token::Name(name.to_string()));
    }

    /// A string with its opening quote here. Python's triple quotes and prefixes included.
    fn string(&mut self, quote: char, prefix: &str) {
        let triple: String = std::iter::repeat_n(quote, 3).collect();
        let close = if self.style.prefixes && self.cursor.eat(&triple) {
            triple
        } else {
            self.cursor.bump();
            quote.to_string()
        };
        let body = self.body(&close, prefix.contains('r'));
        let puts_in = prefix.contains('f') || (quote == '"' && self.style.interpolates);
        let plain = quote == '\'' && !self.style.prefixes && self.style.interpolates;
        self.out.push(Token::Text(written(body, puts_in, plain || prefix.contains('r'))));
    }

    /// The source up to `close`, which is stepped over.
    fn body(&mut self, close: &str, raw: bool) -> &'t str {
        let start = self.cursor.at();
        while !self.cursor.done() && !self.cursor.rest().starts_with(close) {
            let escape = self.cursor.bump() == Some('\\');
            if escape && (!raw || self.cursor.rest().starts_with(close)) {
                self.cursor.bump();
            }
        }
        let text = self.cursor.since(start);
        self.cursor.eat(close);
        text
    }

    fn backquoted(&mut self) {
        self.cursor.bump();
        let runs = self.style.backquote_runs;
        let body = self.body("`", false);
        let word = written(body, true, false);
        self.out.push(if runs { Token::Shell(word) } else { Token::Text(word) });
    }

    /// `q(…)`, `qx{…}`, `%x(…)`: `false` when no bracket follows the prefix.
    fn prefixed_quote(&mut self, width: usize) -> bool {
        let mut ahead = self.cursor.clone();
        let prefix = ahead.take(width).to_string();
        let close = match ahead.peek() {
            Some('(') => ")",
            Some('{') => "}",
            Some('[') => "]",
            Some('<') => ">",
            Some('/') => "/",
            Some('|') => "|",
            Some('!') => "!",
            _ => return false,
        };
        ahead.bump();
        self.cursor = ahead;
        let word = written(self.body(close, false), prefix != "q" && prefix != "%q", false);
        match prefix.as_str() {
            "qx" | "%x" => self.out.push(Token::Shell(word)),
            "qw" | "%w" => {
                self.out.push(Token::Mark('['));
                for item in word.shown().split_whitespace() {
                    self.out.push(Token::Text(Word::text(item)));
                    self.out.push(Token::Mark(','));
                }
                self.out.push(Token::Mark(']'));
            }
            _ => self.out.push(Token::Text(word)),
        }
        true
    }

    /// A `/` begins a pattern where a value is expected.
    fn pattern_may_start(&self) -> bool {
        match self.out.last() {
            None | Some(Token::End) => true,
            Some(Token::Mark(c)) => !matches!(c, ')' | ']' | '}'),
            Some(Token::Name(name)) => {
                matches!(name.as_str(), "return" | "if" | "unless" | "and" | "or" | "split" | "grep")
            }
            Some(_) => false,
        }
    }

    fn pattern(&mut self) {
        let behind = self.cursor.rest().get(1..).unwrap_or_default();
        let stop = (self.cursor.at() >= self.bare).then(|| behind.find(['/', '\n'])).flatten();
        let closes = stop.is_some_and(|at| behind.get(at..).is_some_and(|rest| rest.starts_with('/')));
        if !closes {
            self.bare = self.bare.max(self.cursor.at() + 1 + stop.unwrap_or(behind.len()));
        }
        self.cursor.bump();
        if closes {
            self.body("/", false);
            self.out.push(Token::Text(Word { pieces: vec![WordPiece::Unknown("/…/".to_string())], quoted: true }));
        } else {
            self.out.push(Token::Mark('/'));
        }
    }
}

/// A string's source as a word: escapes decoded, what the run puts in unknown.
fn written(body: &str, puts_in: bool, raw: bool) -> Word {
    let mut word = Word { pieces: Vec::new(), quoted: true };
    let mut rest = body;
    // Behind the last closing bracket nothing is put in by one.
    let last = body.rfind('}').map_or(0, |at| body.len() - at);
    while let Some(at) = rest.find(['{', '$', '#']).filter(|_| puts_in) {
        let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        let (opening, width) = opening(from, last > 0 && from.len() >= last);
        push_text(&mut word, &decoded(before, raw));
        let (inside, after) = from.split_at_checked(width).unwrap_or((from, ""));
        if opening {
            // `$ENV{HOME}`, `#{ENV['HOME']}`, `${process.env.HOME}`: a shell that is given the text knows it by this name.
            let home = inside.contains("HOME") && (inside.contains("ENV") || inside.contains("env"));
            word.pieces.push(WordPiece::Unknown(if home { "$HOME" } else { inside }.to_string()));
        } else {
            push_text(&mut word, inside);
        }
        rest = after;
    }
    push_text(&mut word, &decoded(rest, raw));
    word
}

/// Whether something is put in here, and how long its source is; `closed` when a closing bracket follows at all.
fn opening(from: &str, closed: bool) -> (bool, usize) {
    let first = from.chars().next().map_or(0, char::len_utf8);
    let braced = |start: usize| closed.then(|| from.find('}')).flatten().map(|end| end + 1).filter(|end| *end > start);
    if from.starts_with("${") || from.starts_with("#{") {
        return braced(2).map_or((false, first), |width| (true, width));
    }
    if from.starts_with("{{") {
        return (false, 2);
    }
    if from.starts_with('{') {
        return braced(1).map_or((false, first), |width| (true, width));
    }
    if let Some(name) = from.strip_prefix('$') {
        let width = name.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(name.len());
        // `$ENV{NAME}`
        if name.get(width..).is_some_and(|rest| rest.starts_with('{')) && width > 0 {
            return braced(width + 1).map_or((true, width + 1), |end| (true, end));
        }
        return if width > 0 { (true, width + 1) } else { (false, 1) };
    }
    (false, first)
}

fn decoded(text: &str, raw: bool) -> String {
    if raw || !text.contains('\\') {
        return text.to_string();
    }
    String::from_utf8_lossy(&quoting::printf_escapes(&text.replace("\\\n", ""))).into_owned()
}
