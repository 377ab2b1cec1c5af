//! The conservative scan, for text the parser refuses: splits on operators outside quotes and
//! reports what stands between them, so that a broken line is judged and not passed.

use crate::reading::{Redirect, RedirectKind, Word, WordPiece};
use crate::walk::{Place, Walker};
use crate::words::cursor::Cursor;
use crate::words::{matching, push_text};

/// Words that stand before a command without being one.
pub(crate) const KEYWORDS: &[&str] =
    &["if", "then", "else", "elif", "fi", "do", "done", "while", "until", "{", "}", "!", "time", "esac", "[["];

/// Runs every command found in `text`.
pub(crate) fn commands(walker: &mut Walker, text: &str, place: &Place) {
    let mut tokens = Tokens::new(text);
    let mut raws: Vec<Token> = Vec::new();
    loop {
        match tokens.next() {
            Some(Token::End) => run(walker, std::mem::take(&mut raws), place),
            Some(token) => raws.push(token),
            None => break,
        }
        if !walker.tick() {
            return;
        }
    }
    run(walker, raws, place);
}

fn run(walker: &mut Walker, tokens: Vec<Token>, place: &Place) {
    let mut words: Vec<Word> = Vec::new();
    let mut redirects = Vec::new();
    let mut target: Option<RedirectKind> = None;
    for token in tokens {
        match token {
            Token::Redirect(kind) => target = Some(kind),
            Token::Word(raw) => {
                let mut fields = walker.fields(&raw, place);
                match target.take() {
                    Some(kind) => {
                        let target = fields.drain(..).next();
                        redirects.extend(target.map(|target| Redirect { kind, target, errors: false }));
                    }
                    None if words.is_empty() && KEYWORDS.contains(&raw.as_str()) => {}
                    None => words.extend(fields),
                }
            }
            Token::End => {}
        }
    }
    let assignments: Vec<_> = words.iter().map_while(assignment).collect();
    words.drain(..assignments.len());
    if words.is_empty() && redirects.is_empty() && assignments.is_empty() {
        return;
    }
    let mut command = walker.command(words, place);
    command.redirects = redirects;
    command.assignments = assignments;
    walker.run(command, place);
}

/// `NAME=value` taken apart.
pub(crate) fn assignment(word: &Word) -> Option<(String, Word)> {
    let Some(WordPiece::Text(first)) = word.pieces.first() else { return None };
    let (name, value) = first.split_once('=')?;
    let letters = name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
    if !letters || name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let mut rest = Word { pieces: Vec::new(), quoted: word.quoted };
    push_text(&mut rest, value);
    rest.pieces.extend(word.pieces.iter().skip(1).cloned());
    Some((name.to_string(), rest))
}

enum Token {
    Word(String),
    Redirect(RedirectKind),
    End,
}

struct Tokens<'t> {
    cursor: Cursor<'t>,
    /// Opening characters whose other half was looked for up to the end of the text in vain.
    /// They are not looked for again: that would cost the square of the length.
    unclosed: Vec<char>,
}

impl<'t> Tokens<'t> {
    fn new(text: &'t str) -> Self {
        Self { cursor: Cursor::new(text), unclosed: Vec::new() }
    }

    fn next(&mut self) -> Option<Token> {
        self.cursor.take_while(|c| c == ' ' || c == '\t' || c == '\r');
        match self.cursor.peek()? {
            '#' => {
                self.cursor.take_while(|c| c != '\n');
                Some(Token::End)
            }
            '\n' | ';' | '&' | '|' | '(' | ')' => {
                self.cursor.take_while(|c| matches!(c, '\n' | ';' | '&' | '|' | '(' | ')'));
                // `&>` writes a file as `>` does.
                Some(Token::End)
            }
            '<' | '>' if !self.cursor.rest().starts_with("<(") && !self.cursor.rest().starts_with(">(") => {
                let operator = self.cursor.take_while(|c| matches!(c, '<' | '>' | '&' | '|'));
                Some(Token::Redirect(if operator.starts_with('<') {
                    RedirectKind::Read
                } else if operator.starts_with(">>") {
                    RedirectKind::Append
                } else {
                    RedirectKind::Write
                }))
            }
            _ => Some(Token::Word(self.word())),
        }
    }

    fn word(&mut self) -> String {
        let mut out = String::new();
        while let Some(c) = self.cursor.peek() {
            if c.is_whitespace() || matches!(c, ';' | '&' | '|' | ')') {
                break;
            }
            let rest = self.cursor.rest();
            let width = match c {
                '<' | '>' if rest.get(1..).is_some_and(|next| next.starts_with('(')) => self.stretch('(', rest, 2),
                '<' | '>' | '(' => break,
                '\\' => Some(1 + rest.chars().nth(1).map_or(0, char::len_utf8)),
                '\'' | '"' | '`' => self.stretch(c, rest, 1),
                '$' if rest.starts_with("$(") => self.stretch('(', rest, 2),
                '$' if rest.starts_with("${") => self.stretch('{', rest, 2),
                other => Some(other.len_utf8()),
            };
            match width {
                Some(width) => out.push_str(self.cursor.take(width)),
                // A quote that never closes is taken for nothing: what follows is still looked at.
                None => {
                    self.cursor.bump();
                }
            }
        }
        out
    }

    /// The bytes of a bracketed stretch with its ends; `None` when it does not close.
    fn stretch(&mut self, kind: char, rest: &str, opening: usize) -> Option<usize> {
        if self.unclosed.contains(&kind) {
            return None;
        }
        let inside = rest.get(opening..)?;
        let end = match kind {
            '(' => matching::paren_body(inside),
            '{' => matching::brace_body(inside),
            '"' => matching::double_body(inside),
            '`' => matching::backquote_body(inside),
            _ => inside.find(kind).unwrap_or(inside.len()),
        };
        if end < inside.len() {
            return Some(opening + end + 1);
        }
        self.unclosed.push(kind);
        None
    }
}
