//! `${…}`: the value of a parameter with its operator applied, as far as it is certain.

use std::rc::Rc;

use super::cursor::Cursor;
use super::dollar::{held, push_value};
use super::pattern::Pattern;
use super::{Atom, Mode};
use crate::limits;
use crate::reading::{Word, WordPiece};
use crate::scope::Value;
use crate::walk::{Place, Walker};

/// How often an operator may go through a value that it changes.
const CHANGES: usize = 4;

/// How many parts of a pattern a character is compared with in one step.
const PARTS: usize = 16;

/// `${` taken apart.
struct Parameter<'t> {
    name: &'t str,
    subscript: Option<&'t str>,
    operator: &'t str,
}

impl Walker {
    /// Pushes what `${body}` gives.
    pub(super) fn parameter(&mut self, body: &str, source: &str, mode: Mode, place: &Place, out: &mut Vec<Atom>) {
        let unknown = held(mode, WordPiece::Unknown(source.to_string()));
        if let Some(counted) = body.strip_prefix('#').filter(|rest| !rest.is_empty()) {
            out.push(self.length(counted, mode).unwrap_or(unknown));
            return;
        }
        if let Some(pointer) = body.strip_prefix('!') {
            match self.indirect(pointer) {
                Some(value) => push_value(&value, true, mode, out),
                None => out.push(unknown),
            }
            return;
        }
        let Some(parameter) = take_apart(body) else {
            out.push(unknown);
            return;
        };
        // `${x[$(cmd)]}`: the subscript is expanded before anything is looked up.
        if let Some(subscript) = parameter.subscript.filter(|subscript| subscript.contains(['$', '`'])) {
            self.text(subscript, Mode::Double, place);
        }
        let value = self.element(&parameter).filter(|value| value.size() <= limits::TEXT);
        if !self.allowance.spend(value.as_ref().map_or(0, |value| value.weight() * CHANGES)) {
            out.push(unknown);
            return;
        }
        let each = matches!(parameter.subscript, Some("@")) || parameter.name == "@";
        if parameter.operator.is_empty() {
            match value {
                Some(value) => push_value(&value, each, mode, out),
                None => out.push(unknown),
            }
            return;
        }
        match self.operate(&parameter, value, mode, place) {
            Some(atoms) => out.extend(atoms),
            None => out.push(unknown),
        }
    }

    fn element(&self, parameter: &Parameter<'_>) -> Option<Rc<Value>> {
        let value = self.lookup(parameter.name)?;
        let one = |word: &Word| Rc::new(Value::One(word.clone()));
        match (parameter.subscript, &*value) {
            (None, Value::Many(words)) if parameter.name != "@" && parameter.name != "*" => words.first().map(one),
            (None | Some("@" | "*"), _) => Some(value),
            (Some(index), Value::Many(words)) => {
                let index: usize = index.trim_matches(['"', '\'']).parse().ok()?;
                words.get(index).map(one)
            }
            (Some("0"), Value::One(_)) => Some(value),
            (Some(_), Value::One(_)) => None,
        }
    }

    fn length(&mut self, name: &str, mode: Mode) -> Option<Atom> {
        let parameter = take_apart(name)?;
        let size = match (&*self.lookup(parameter.name)?, parameter.subscript) {
            (Value::Many(words), Some("@" | "*")) => words.len(),
            (Value::One(word), _) if self.allowance.spend(limits::weight(std::slice::from_ref(word))) => {
                word.known()?.chars().count()
            }
            _ => return None,
        };
        Some(held(mode, WordPiece::Text(size.to_string())))
    }

    fn indirect(&mut self, pointer: &str) -> Option<Rc<Value>> {
        let value = self.lookup(pointer)?;
        let Value::One(word) = &*value else { return None };
        let value = self.lookup(&word.known().filter(|name| name.len() <= limits::SPREAD)?)?;
        self.allowance.spend(value.weight()).then_some(value)
    }

    /// The atoms of a value with its operator; `None` when the run alone would tell.
    fn operate(
        &mut self,
        parameter: &Parameter<'_>,
        value: Option<Rc<Value>>,
        mode: Mode,
        place: &Place,
    ) -> Option<Vec<Atom>> {
        let operator = parameter.operator;
        let (colon, bare) = match operator.strip_prefix(':') {
            Some(rest) => (true, rest),
            None => (false, operator),
        };
        let operand = bare.get(1..).unwrap_or_default();
        match bare.chars().next()? {
            '-' | '=' | '?' => self.default_value(parameter, value, operand, (colon, mode), place),
            '+' => {
                let atoms = self.atoms(operand, mode, place);
                match value.as_deref() {
                    // Set or not, the replacement is the only text this can give.
                    Some(Value::One(word)) if colon && word.known().is_some_and(|text| text.is_empty()) => {
                        Some(Vec::new())
                    }
                    _ => Some(atoms),
                }
            }
            _ if colon => one(value.as_deref())
                .and_then(|text| cut(&text, bare))
                .map(|text| vec![held(mode, WordPiece::Text(text))]),
            _ => {
                let text = one(value.as_deref())?;
                let changed = self.change(&text, operator, place)?;
                (changed.len() <= limits::TEXT).then(|| vec![held(mode, WordPiece::Text(changed))])
            }
        }
    }

    fn default_value(
        &mut self,
        parameter: &Parameter<'_>,
        value: Option<Rc<Value>>,
        operand: &str,
        (colon, mode): (bool, Mode),
        place: &Place,
    ) -> Option<Vec<Atom>> {
        let mut default = self.atoms(operand, mode, place);
        self.tilde(&mut default);
        let empty =
            matches!(value.as_deref(), Some(Value::One(word)) if word.known().is_some_and(|text| text.is_empty()));
        match value {
            Some(value) if !(colon && empty) => {
                let mut atoms = Vec::new();
                push_value(&value, false, mode, &mut atoms);
                Some(atoms)
            }
            // A variable the line does not set and the surroundings do not name: the default is
            // what the writer expects, and the dangerous reading.
            _ if parameter.operator.contains('?') => None,
            _ => {
                if parameter.operator.contains('=') {
                    let word = self.joined(default.clone());
                    self.set(parameter.name, Value::One(word));
                }
                Some(default)
            }
        }
    }

    /// `#`, `##`, `%`, `%%`, `/`, `//`, `^`, `^^`, `,`, `,,` on certain text.
    fn change(&mut self, text: &str, operator: &str, place: &Place) -> Option<String> {
        let first = operator.chars().next()?;
        let double = operator.chars().nth(1) == Some(first);
        let rest = operator.get(if double { 2 } else { 1 }..).unwrap_or_default();
        match first {
            '^' if rest.is_empty() => Some(if double { text.to_uppercase() } else { capital(text, str::to_uppercase) }),
            ',' if rest.is_empty() => Some(if double { text.to_lowercase() } else { capital(text, str::to_lowercase) }),
            '#' | '%' => {
                let pattern = self.pattern_text(rest, place)?;
                self.trim(text, &pattern, first == '#', double)
            }
            '/' => {
                let (from, to) = rest.split_once('/').unwrap_or((rest, ""));
                let from = self.pattern_text(from, place)?;
                let to = self.pattern_text(to, place)?;
                if from.is_empty() || from.contains(['*', '?', '[', '\\']) {
                    return None;
                }
                Some(if double { text.replace(&from, &to) } else { text.replacen(&from, &to, 1) })
            }
            _ => None,
        }
    }

    /// `text` without the shortest or longest start (or end) that matches.
    fn trim(&mut self, text: &str, pattern: &str, front: bool, longest: bool) -> Option<String> {
        let pattern = Pattern::new(pattern);
        if !self.allowance.spend(text.len() * pattern.len().div_ceil(PARTS)) {
            return None;
        }
        let size = text.chars().count();
        let pattern = if front { pattern } else { pattern.reversed() };
        let cut = if front { pattern.start(text.chars(), longest) } else { pattern.start(text.chars().rev(), longest) };
        let (skip, take) = match cut {
            Some(cut) if front => (cut, size),
            Some(cut) => (0, size - cut),
            None => (0, size),
        };
        Some(text.chars().skip(skip).take(take).collect())
    }

    /// A pattern or replacement whose own expansions are certain.
    pub(crate) fn pattern_text(&mut self, raw: &str, place: &Place) -> Option<String> {
        let atoms = self.atoms(raw, Mode::Word, place);
        let word = self.joined(atoms);
        (!word.has_unknown()).then(|| word.shown())
    }
}

fn take_apart(body: &str) -> Option<Parameter<'_>> {
    let mut cursor = Cursor::new(body);
    let name = match cursor.peek()? {
        c if c == '_' || c.is_ascii_alphabetic() => cursor.take_while(|c| c == '_' || c.is_ascii_alphanumeric()),
        c if c.is_ascii_digit() => cursor.take_while(|c| c.is_ascii_digit()),
        c if "@*#?$!-".contains(c) => cursor.take(1),
        _ => return None,
    };
    let mut subscript = None;
    if cursor.eat("[") {
        subscript = Some(cursor.take_while(|c| c != ']'));
        cursor.bump();
    }
    Some(Parameter { name, subscript, operator: cursor.rest() })
}

fn one(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::One(word) => Word::known(word),
        Value::Many(_) => None,
    }
}

/// `${x:offset:length}` with plain numbers.
fn cut(text: &str, range: &str) -> Option<String> {
    let (offset, length) = range.split_once(':').map_or((range, None), |(offset, length)| (offset, Some(length)));
    let size = text.chars().count();
    let offset: i64 = offset.trim().parse().ok()?;
    let start = if offset < 0 { size.saturating_sub(offset.unsigned_abs() as usize) } else { offset as usize };
    let wanted = match length {
        None => size,
        Some(length) => length.trim().parse().ok()?,
    };
    Some(text.chars().skip(start).take(wanted).collect())
}

fn capital(text: &str, change: impl Fn(&str) -> String) -> String {
    let width = text.chars().next().map_or(0, char::len_utf8);
    let (head, tail) = text.split_at_checked(width).unwrap_or((text, ""));
    change(head) + tail
}
