//! What follows a `$`: variables, `${…}`, `$(…)`, `$((…))`, `$'…'`, `$"…"`.

use super::cursor::Cursor;
use super::{Atom, Mode, matching, quoting};
use crate::limits;
use crate::reading::{Via, Word, WordPiece};
use crate::scope::Value;
use crate::walk::{Place, Walker};

impl Walker {
    pub(super) fn dollar(&mut self, cursor: &mut Cursor<'_>, mode: Mode, place: &Place, out: &mut Vec<Atom>) {
        let start = cursor.at();
        cursor.bump();
        match cursor.peek() {
            Some('(') if cursor.rest().starts_with("((") && arithmetic_end(cursor.rest()).is_some() => {
                let end = arithmetic_end(cursor.rest()).unwrap_or_default();
                let body = cursor.take(end);
                // Substitutions inside arithmetic run as well; its value is left to the run.
                let inner = body.get(2..).unwrap_or_default().to_string();
                let _ = self.atoms(&inner, Mode::Double, place);
                out.push(held(mode, WordPiece::Unknown(cursor.since(start).to_string())));
            }
            Some('(') => {
                cursor.bump();
                let body = cursor.take(matching::paren_body(cursor.rest()));
                cursor.bump();
                let source = cursor.since(start).to_string();
                self.substitution(body, &source, mode, place, out);
            }
            Some('{') => {
                cursor.bump();
                let body = cursor.take(matching::brace_body(cursor.rest()));
                cursor.bump();
                let source = cursor.since(start).to_string();
                self.parameter(body, &source, mode, place, out);
            }
            Some('\'') if mode == Mode::Word => {
                cursor.bump();
                out.push(Atom::Quoted(quoting::ansi_c(cursor)));
            }
            Some('"') if mode == Mode::Word => {}
            Some(c) if c == '_' || c.is_ascii_alphabetic() => {
                let name = cursor.take_while(|c| c == '_' || c.is_ascii_alphanumeric());
                self.variable(name, cursor.since(start), mode, out);
            }
            Some(c) if c.is_ascii_digit() || "@*#?$!-".contains(c) => {
                cursor.bump();
                let name = c.to_string();
                self.variable(&name, cursor.since(start), mode, out);
            }
            _ if mode == Mode::Word => out.push(Atom::Plain("$".to_string())),
            _ => out.push(Atom::Quoted("$".to_string())),
        }
    }

    /// Pushes the value of a plain `$name`.
    pub(super) fn variable(&mut self, name: &str, source: &str, mode: Mode, out: &mut Vec<Atom>) {
        match self.lookup(name) {
            Some(value) if self.allowance.spend(value.weight()) => push_value(&value, name == "@", mode, out),
            _ => out.push(held(mode, WordPiece::Unknown(source.to_string()))),
        }
    }

    /// Walks the body of a substitution; its output stands in its place when it is certain.
    pub(super) fn substitution(&mut self, body: &str, source: &str, mode: Mode, place: &Place, out: &mut Vec<Atom>) {
        let inner = place.under(Via::Substitution);
        let kept = self.scope.clone();
        let output = self.read_text(body, &inner);
        self.scope = kept;
        match output.certain() {
            Some(text) if text.len() <= limits::TEXT => {
                let text = text.trim_end_matches('\n').to_string();
                out.push(held(mode, WordPiece::Text(text)));
            }
            _ => out.push(held(mode, WordPiece::Unknown(source.to_string()))),
        }
    }
}

/// An expansion's result as an atom: kept whole between quotes, loose outside.
pub(super) fn held(mode: Mode, piece: WordPiece) -> Atom {
    if mode == Mode::Word { Atom::Loose(piece) } else { Atom::Kept(piece) }
}

/// Pushes a value; `each` when every element stays a word of its own between quotes.
pub(super) fn push_value(value: &Value, each: bool, mode: Mode, out: &mut Vec<Atom>) {
    let quoted = mode != Mode::Word;
    let words: &[Word] = match value {
        Value::One(word) => std::slice::from_ref(word),
        Value::Many(words) => words,
    };
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            let gap = if each || !quoted { Atom::Cut } else { Atom::Quoted(" ".to_string()) };
            out.push(gap);
        }
        out.extend(Atom::of_word(word, quoted));
    }
}

/// Where `((…))` ends, when it is arithmetic and not a subshell inside a substitution.
fn arithmetic_end(rest: &str) -> Option<usize> {
    let body = rest.get(1..)?;
    let inner = matching::paren_body(body.get(1..)?) + 2;
    let after = rest.get(inner..)?;
    after.starts_with("))").then_some(inner + 2)
}
