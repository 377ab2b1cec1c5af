//! Reads the source of a word into atoms: quotes, escapes, and where expansions stand.

use std::rc::Rc;

use super::cursor::Cursor;
use super::{Atom, matching, quoting};
use crate::reading::WordPiece;
use crate::walk::{Place, Walker};

/// Which characters are special where the text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// A word of a command.
    Word,
    /// Between double quotes.
    Double,
    /// The body of a here-document with an unquoted delimiter.
    Here,
}

impl Walker {
    /// The atoms of `raw`. Substitutions in it are walked, once each.
    pub(crate) fn atoms(&mut self, raw: &str, mode: Mode, place: &Place) -> Vec<Atom> {
        if !self.allowance.sink() {
            return vec![Atom::Kept(WordPiece::Unknown(raw.to_string()))];
        }
        let mut out = Vec::new();
        let mut cursor = Cursor::new(raw);
        while let Some(c) = cursor.peek() {
            match c {
                '\\' => escaped(&mut cursor, mode, &mut out),
                '\'' if mode == Mode::Word => {
                    cursor.bump();
                    out.push(Atom::Quoted(quoting::single(&mut cursor)));
                }
                '"' if mode == Mode::Word => self.double_quoted(&mut cursor, place, &mut out),
                '$' => self.dollar(&mut cursor, mode, place, &mut out),
                '`' => self.backquoted(&mut cursor, mode, place, &mut out),
                '<' | '>' if mode == Mode::Word && process_substitution(cursor.rest()) => {
                    self.process_substitution(&mut cursor, place, &mut out);
                }
                _ => plain(&mut cursor, mode, &mut out),
            }
        }
        self.allowance.rise();
        out
    }

    fn double_quoted(&mut self, cursor: &mut Cursor<'_>, place: &Place, out: &mut Vec<Atom>) {
        cursor.bump();
        let body = cursor.take(matching::double_body(cursor.rest()));
        cursor.bump();
        // Even `""` is a word of its own.
        out.push(Atom::Quoted(String::new()));
        if body.contains(['$', '`', '\\']) {
            out.extend(self.atoms(body, Mode::Double, place));
        } else {
            out.push(Atom::Quoted(body.to_string()));
        }
    }

    fn backquoted(&mut self, cursor: &mut Cursor<'_>, mode: Mode, place: &Place, out: &mut Vec<Atom>) {
        let start = cursor.at();
        cursor.bump();
        let body = cursor.take(matching::backquote_body(cursor.rest()));
        cursor.bump();
        let text = unescape_backquoted(body);
        let source = cursor.since(start).to_string();
        self.substitution(&text, &source, mode, place, out);
    }

    fn process_substitution(&mut self, cursor: &mut Cursor<'_>, place: &Place, out: &mut Vec<Atom>) {
        let start = cursor.at();
        cursor.take(2);
        let body = cursor.take(matching::paren_body(cursor.rest()));
        cursor.bump();
        let source = cursor.since(start).to_string();
        let output = self.walk_process_substitution(body, place);
        if let Some(text) = output.draft() {
            self.printed.insert(source.clone(), Rc::new(text.to_string()));
            self.changes += 1;
        }
        out.push(Atom::Kept(WordPiece::Unknown(source)));
    }
}

fn process_substitution(rest: &str) -> bool {
    rest.starts_with("<(") || rest.starts_with(">(")
}

fn escaped(cursor: &mut Cursor<'_>, mode: Mode, out: &mut Vec<Atom>) {
    cursor.bump();
    let Some(next) = cursor.peek() else {
        out.push(Atom::Quoted("\\".to_string()));
        return;
    };
    let special = match mode {
        Mode::Word => true,
        Mode::Double => matches!(next, '$' | '`' | '"' | '\\' | '\n'),
        Mode::Here => matches!(next, '$' | '`' | '\\' | '\n'),
    };
    if special {
        cursor.bump();
        // A backslash before a line end joins the lines.
        if next != '\n' {
            out.push(Atom::Quoted(next.to_string()));
        }
    } else {
        out.push(Atom::Quoted("\\".to_string()));
    }
}

fn plain(cursor: &mut Cursor<'_>, mode: Mode, out: &mut Vec<Atom>) {
    let start = cursor.at();
    // The first character is taken whatever it is, so that every call moves on.
    cursor.bump();
    if mode == Mode::Word {
        cursor.take_while(|c| !matches!(c, '\\' | '\'' | '"' | '$' | '`' | '<' | '>'));
        out.push(Atom::Plain(cursor.since(start).to_string()));
    } else {
        cursor.take_while(|c| !matches!(c, '\\' | '$' | '`'));
        out.push(Atom::Quoted(cursor.since(start).to_string()));
    }
}

/// Inside backquotes a backslash only escapes `$`, a backquote and itself.
fn unescape_backquoted(body: &str) -> String {
    let mut out = String::with_capacity(body.len());
    let mut chars = body.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some(&next @ ('$' | '`' | '\\'))) => {
                out.push(next);
                chars.next();
            }
            _ => out.push(c),
        }
    }
    out
}
