//! Finds where a bracketed stretch of shell ends: `$(…)`, `${…}`, backquotes, double quotes.

use super::cursor::Cursor;

/// The bytes up to the `)` that closes a substitution; the whole text when none does.
pub(crate) fn paren_body(text: &str) -> usize {
    let mut cursor = Cursor::new(text);
    let mut nest = Nest { fresh: true, ..Nest::default() };
    while let Some(c) = cursor.peek() {
        let start = cursor.at();
        match c {
            ')' if nest.closes() => return start,
            '#' if nest.fresh => {
                cursor.take_while(|c| c != '\n');
            }
            '<' if cursor.rest().starts_with("<<<") => {
                cursor.take(3);
                nest.fresh = true;
            }
            '<' if cursor.rest().starts_with("<<") && !nest.counting() => nest.here(&mut cursor),
            '\n' => {
                cursor.bump();
                nest.skip_bodies(&mut cursor);
                nest.fresh = true;
            }
            c if c.is_ascii_alphabetic() => nest.word(&mut cursor),
            _ => nest.step(&mut cursor, c),
        }
    }
    text.len()
}

/// What stands open while looking for the closing parenthesis.
#[derive(Default)]
struct Nest {
    open: Vec<Open>,
    /// Delimiters of here-documents whose bodies begin at the next line.
    pending: Vec<(String, bool)>,
    /// Whether a word may begin here: comments and keywords only count then.
    fresh: bool,
}

#[derive(PartialEq)]
enum Open {
    Paren,
    Arithmetic,
    Case,
}

impl Nest {
    /// Whether this `)` is the one looked for; otherwise it closes something inner.
    fn closes(&mut self) -> bool {
        self.open.is_empty()
    }

    fn counting(&self) -> bool {
        self.open.contains(&Open::Arithmetic)
    }

    fn step(&mut self, cursor: &mut Cursor<'_>, c: char) {
        self.fresh = c.is_whitespace() || matches!(c, ';' | '&' | '|' | '(');
        match c {
            '(' => {
                let kind = if cursor.rest().starts_with("((") { Open::Arithmetic } else { Open::Paren };
                self.open.push(kind);
                cursor.bump();
            }
            ')' => {
                // A `)` right inside `case` ends a pattern and closes nothing.
                if self.open.last() != Some(&Open::Case) {
                    self.open.pop();
                }
                cursor.bump();
                self.fresh = true;
            }
            _ => skip_one(cursor),
        }
    }

    fn word(&mut self, cursor: &mut Cursor<'_>) {
        let word = cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        if self.fresh && word == "case" {
            self.open.push(Open::Case);
        } else if self.fresh && word == "esac" && self.open.last() == Some(&Open::Case) {
            self.open.pop();
        }
        self.fresh = matches!(word, "then" | "do" | "else" | "in");
    }

    fn here(&mut self, cursor: &mut Cursor<'_>) {
        cursor.take(2);
        let tabs = cursor.eat("-");
        cursor.take_while(|c| c == ' ' || c == '\t');
        let raw = cursor.take_while(|c| !c.is_whitespace() && !matches!(c, ';' | '&' | '|' | '<' | '>' | ')' | '('));
        let delimiter: String = raw.chars().filter(|c| !matches!(c, '"' | '\'' | '\\')).collect();
        if !delimiter.is_empty() {
            self.pending.push((delimiter, tabs));
        }
    }

    fn skip_bodies(&mut self, cursor: &mut Cursor<'_>) {
        for (delimiter, tabs) in std::mem::take(&mut self.pending) {
            while !cursor.done() {
                let line = cursor.take_while(|c| c != '\n');
                let bare = if tabs { line.trim_start_matches('\t') } else { line };
                if bare == delimiter {
                    break;
                }
                cursor.bump();
            }
        }
    }
}

/// The bytes up to the `}` that closes `${`; the whole text when none does.
pub(crate) fn brace_body(text: &str) -> usize {
    let mut cursor = Cursor::new(text);
    while let Some(c) = cursor.peek() {
        if c == '}' {
            return cursor.at();
        }
        skip_one(&mut cursor);
    }
    text.len()
}

/// The bytes up to the closing backquote.
pub(crate) fn backquote_body(text: &str) -> usize {
    let mut cursor = Cursor::new(text);
    while let Some(c) = cursor.peek() {
        match c {
            '`' => return cursor.at(),
            '\\' => {
                cursor.bump();
                cursor.bump();
            }
            _ => {
                cursor.bump();
            }
        }
    }
    text.len()
}

/// The bytes up to the closing double quote.
pub(crate) fn double_body(text: &str) -> usize {
    let mut cursor = Cursor::new(text);
    while let Some(c) = cursor.peek() {
        match c {
            '"' => return cursor.at(),
            '\'' => {
                cursor.bump();
            }
            _ => skip_one(&mut cursor),
        }
    }
    text.len()
}

/// Steps over one character, or over the whole quoted or bracketed stretch that begins here.
///
/// It does not call itself through unlimited levels: a stretch inside a stretch is found by
/// the plain counting of `skip_nested`.
fn skip_one(cursor: &mut Cursor<'_>) {
    match cursor.peek() {
        Some('\\') => {
            cursor.bump();
            cursor.bump();
        }
        Some('\'') => {
            cursor.bump();
            cursor.take_while(|c| c != '\'');
            cursor.bump();
        }
        Some('"' | '`') => skip_nested(cursor),
        Some('$') if cursor.rest().starts_with("$(") || cursor.rest().starts_with("${") => skip_nested(cursor),
        Some('$') if cursor.rest().starts_with("$'") => {
            cursor.take(2);
            while let Some(c) = cursor.bump() {
                match c {
                    '\\' => {
                        cursor.bump();
                    }
                    '\'' => break,
                    _ => {}
                }
            }
        }
        _ => {
            cursor.bump();
        }
    }
}

/// Steps over a stretch that may hold others, keeping what is open on a list instead of the stack.
fn skip_nested(cursor: &mut Cursor<'_>) {
    let mut open: Vec<char> = Vec::new();
    while let Some(c) = cursor.peek() {
        let inside = open.last().copied();
        if inside == Some(c) && c != '(' && c != '{' {
            open.pop();
            cursor.bump();
        } else if c == '\\' {
            cursor.bump();
            cursor.bump();
        } else if c == '\'' && inside != Some('"') {
            cursor.bump();
            cursor.take_while(|c| c != '\'');
            cursor.bump();
        } else if cursor.eat("$(") {
            open.push(')');
        } else if cursor.eat("${") {
            open.push('}');
        } else if c == '(' && inside == Some(')') {
            open.push(')');
            cursor.bump();
        } else {
            if matches!(c, '"' | '`') {
                open.push(c);
            }
            cursor.bump();
        }
        if open.is_empty() {
            return;
        }
    }
}
