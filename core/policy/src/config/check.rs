//! The check of a file against what is declared: what can be used of it, and a diagnostic with its place for all the rest.

use super::declare::{KeyDecl, ValueKind, WhenUnreadable};
use super::diagnostic::{Effect, FileReport};
use toml::de::{DeString, DeTable, DeValue};
use toml::{Spanned, Table, Value};

/// A limit that could not be read, and stands in the table as its default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadLimit {
    /// From the section down to the key.
    pub path: Vec<String>,
    pub unreadable: WhenUnreadable,
}

type Entry<'t, 'i> = (&'t Spanned<DeString<'i>>, &'t Spanned<DeValue<'i>>);

/// A file under the check.
pub(super) struct Checker<'r, 'a> {
    pub report: &'r mut FileReport<'a>,
    pub limits: Vec<UnreadLimit>,
    /// Where the check is, for what is noted of limits.
    pub path: Vec<String>,
}

impl Checker<'_, '_> {
    /// What can be used of a whole file; the sections that are read elsewhere are left out.
    pub(super) fn sections(&mut self, file: &DeTable<'_>, keys: &'static [KeyDecl], but: &[&str]) -> Table {
        let mut kept = Table::new();
        for (key, value) in file.iter().filter(|(key, _)| !but.contains(&key.get_ref().as_ref())) {
            let name = key.get_ref().as_ref();
            let declared = keys.iter().find(|declared| declared.name == name);
            self.report.section = declared.map(|declared| declared.name.to_string());
            let found = self.key((key, value), keys);
            kept.extend(found.map(|value| (name.to_string(), value)));
        }
        self.report.section = None;
        kept
    }

    /// What can be used of a table.
    fn table(&mut self, table: &DeTable<'_>, keys: &'static [KeyDecl]) -> Table {
        let found = table.iter().filter_map(|entry| Some((entry.0.get_ref().to_string(), self.key(entry, keys)?)));
        found.collect()
    }

    fn key(&mut self, (key, value): Entry<'_, '_>, keys: &'static [KeyDecl]) -> Option<Value> {
        let name = key.get_ref().as_ref();
        let Some(declared) = keys.iter().find(|declared| declared.name == name) else {
            let known: Vec<&str> = keys.iter().map(|declared| declared.name).collect();
            let effect = effect(has_limit(keys));
            self.report.unknown(key.span(), "key", name, &known, effect);
            return None;
        };
        self.path.push(name.to_string());
        let read = self.value(value, &declared.kind, declared);
        let kept = read.or_else(|| self.stand_in(declared));
        self.path.pop();
        kept
    }

    /// A limit that cannot be read is never no limit.
    fn stand_in(&mut self, declared: &KeyDecl) -> Option<Value> {
        if declared.unreadable.is_limit() {
            self.limits.push(UnreadLimit { path: self.path.clone(), unreadable: declared.unreadable });
        }
        match declared.unreadable {
            WhenUnreadable::Absent | WhenUnreadable::Needed | WhenUnreadable::Lost => None,
            WhenUnreadable::Lower | WhenUnreadable::Higher => (declared.default)(),
            WhenUnreadable::Word(word) => Some(Value::String(word.to_string())),
            WhenUnreadable::On if matches!(declared.kind, ValueKind::Table(_)) => Some(Value::Table(Table::new())),
            WhenUnreadable::On => Some(Value::Boolean(true)),
        }
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>, kind: &ValueKind, key: &KeyDecl) -> Option<Value> {
        match (kind, value.get_ref()) {
            (ValueKind::Either(kinds), found) => match kinds.iter().find(|kind| has_shape(kind, found)) {
                Some(kind) => self.value(value, kind, key),
                None => self.wrong(value, kind, key),
            },
            (ValueKind::Checked { of, hint, check, .. }, found) if has_shape(of, found) => {
                let read = self.value(value, of, key)?;
                match check(&read) {
                    Ok(()) => Some(read),
                    Err(why) => {
                        let message = format!("`{}` {why}", key.name);
                        self.report.push(
                            value.span(),
                            message,
                            hint.map(str::to_string),
                            effect(key.unreadable.is_limit()),
                        );
                        None
                    }
                }
            }
            (ValueKind::Table(keys), DeValue::Table(table)) => self.entry(value, table, keys),
            (ValueKind::Named(kind), DeValue::Table(table)) => Some(Value::Table(self.named(table, kind, key))),
            (ValueKind::List(kind), DeValue::Array(items)) => {
                let items = items.iter().filter_map(|item| self.item(item, kind, key));
                Some(Value::Array(items.collect()))
            }
            (ValueKind::Word { noun, words }, DeValue::String(word)) => {
                if words.contains(&word.as_ref()) {
                    return Some(Value::String(word.to_string()));
                }
                self.report.unknown(value.span(), noun, word, words, effect(key.unreadable.is_limit()));
                None
            }
            (kind, found) => plain(kind, found).or_else(|| self.wrong(value, kind, key)),
        }
    }

    fn named(&mut self, table: &DeTable<'_>, kind: &ValueKind, key: &KeyDecl) -> Table {
        let mut kept = Table::new();
        for (name, value) in table.iter() {
            self.path.push(name.get_ref().to_string());
            let inner = KeyDecl { name: key.name, unreadable: WhenUnreadable::Absent, ..*key };
            if let Some(value) = self.value(value, kind, &inner) {
                kept.insert(name.get_ref().to_string(), value);
            }
            self.path.pop();
        }
        kept
    }

    fn item(&mut self, item: &Spanned<DeValue<'_>>, kind: &ValueKind, key: &KeyDecl) -> Option<Value> {
        match (kind, item.get_ref()) {
            (ValueKind::Text, DeValue::String(text)) => Some(Value::String(text.to_string())),
            (ValueKind::Text | ValueKind::Word { .. }, found) if !matches!(found, DeValue::String(_)) => {
                let message = format!("`{}` holds texts, not {}", key.name, found.type_str());
                self.report.push(item.span(), message, None, effect(key.unreadable.is_limit()));
                None
            }
            _ => self.value(item, kind, key),
        }
    }

    /// An entry without what it needs is none.
    fn entry(&mut self, value: &Spanned<DeValue<'_>>, table: &DeTable<'_>, keys: &'static [KeyDecl]) -> Option<Value> {
        let kept = self.table(table, keys);
        let mut whole = true;
        for needed in keys.iter().filter(|key| key.unreadable == WhenUnreadable::Needed) {
            if !table.iter().any(|(name, _)| name.get_ref() == needed.name) {
                let effect = effect(has_limit(keys));
                self.report.push(value.span(), format!("`{}` is missing", needed.name), None, effect);
            }
            whole &= kept.contains_key(needed.name);
        }
        whole.then_some(Value::Table(kept))
    }

    fn wrong(&mut self, value: &Spanned<DeValue<'_>>, kind: &ValueKind, key: &KeyDecl) -> Option<Value> {
        let found = value.get_ref().type_str();
        let (message, hint) = match kind {
            ValueKind::Text => (format!("`{}` is text, not {found}", key.name), None),
            ValueKind::Table(_) | ValueKind::Named(_) => (format!("`{}` is a table, not {found}", key.name), None),
            ValueKind::Checked { hint, .. } => (format!("`{}` is {}", key.name, kind.describe()), *hint),
            other => (format!("`{}` is {}", key.name, other.describe()), None),
        };
        self.report.push(value.span(), message, hint.map(str::to_string), effect(key.unreadable.is_limit()));
        None
    }
}

fn effect(is_limit: bool) -> Effect {
    if is_limit { Effect::Limit } else { Effect::Mistake }
}

/// What is misspelled in a table with limits may be one of them.
fn has_limit(keys: &[KeyDecl]) -> bool {
    keys.iter().any(|declared| declared.unreadable.is_limit())
}

/// Whether a value could be meant as one of this kind.
fn has_shape(kind: &ValueKind, found: &DeValue<'_>) -> bool {
    match kind {
        ValueKind::Truth => matches!(found, DeValue::Boolean(_)),
        ValueKind::Whole { .. } => matches!(found, DeValue::Integer(_)),
        ValueKind::Number { .. } => matches!(found, DeValue::Integer(_) | DeValue::Float(_)),
        ValueKind::Text | ValueKind::Word { .. } | ValueKind::Spelled { .. } => matches!(found, DeValue::String(_)),
        ValueKind::Moment => matches!(found, DeValue::Datetime(_) | DeValue::String(_)),
        ValueKind::List(_) => matches!(found, DeValue::Array(_)),
        ValueKind::Table(_) | ValueKind::Named(_) => matches!(found, DeValue::Table(_)),
        ValueKind::Either(kinds) => kinds.iter().any(|kind| has_shape(kind, found)),
        ValueKind::Checked { of, .. } => has_shape(of, found),
    }
}

/// A value without parts.
fn plain(kind: &ValueKind, found: &DeValue<'_>) -> Option<Value> {
    match (kind, found) {
        (ValueKind::Truth, DeValue::Boolean(truth)) => Some(Value::Boolean(*truth)),
        (ValueKind::Text, DeValue::String(text)) => Some(Value::String(text.to_string())),
        (ValueKind::Whole { least, most }, DeValue::Integer(number)) => {
            let number = i64::from_str_radix(number.as_str(), number.radix()).ok()?;
            (*least..=*most).contains(&number).then_some(Value::Integer(number))
        }
        (ValueKind::Number { least, most }, found) => {
            let (number, value) = match found {
                DeValue::Integer(number) => {
                    let number = i64::from_str_radix(number.as_str(), number.radix()).ok()?;
                    (number as f64, Value::Integer(number))
                }
                DeValue::Float(number) => {
                    let number = number.as_str().parse().ok()?;
                    (number, Value::Float(number))
                }
                _ => return None,
            };
            (*least..=*most).contains(&number).then_some(value)
        }
        (ValueKind::Spelled { accepts, .. }, DeValue::String(text)) => {
            accepts(text).then(|| Value::String(text.to_string()))
        }
        _ => None,
    }
}

impl ValueKind {
    /// For people: what stands behind "is".
    pub fn describe(&self) -> String {
        let quoted = |words: &[&str]| words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ");
        match self {
            Self::Truth => "true or false".to_string(),
            Self::Whole { least: i64::MIN, .. } => "a whole number".to_string(),
            Self::Whole { least, most: i64::MAX } => format!("a whole number from {least}"),
            Self::Whole { least, most } => format!("a whole number from {least} to {most}"),
            Self::Number { least, .. } if *least == f64::MIN => "a number".to_string(),
            Self::Number { least, most } => format!("a number from {least} to {most}"),
            Self::Text => "text".to_string(),
            Self::Word { words, .. } => format!("one of {}", quoted(words)),
            Self::Spelled { what, .. } | Self::Checked { what, .. } => (*what).to_string(),
            Self::Moment => "a day such as 2026-12-31 or a moment in UTC".to_string(),
            Self::List(Self::Text) => "a list of texts".to_string(),
            Self::List(Self::Word { words, .. }) => format!("a list such as [{}]", quoted(words)),
            Self::List(Self::Spelled { what, .. }) => (*what).to_string(),
            Self::List(Self::Table(_)) => "a list of tables".to_string(),
            Self::List(kind) => format!("a list, each {}", kind.describe()),
            Self::Table(_) => "a table".to_string(),
            Self::Named(kind) => format!("a table of names, each {}", kind.describe()),
            Self::Either(kinds) => {
                let mut said: Vec<String> = kinds.iter().map(Self::describe).collect();
                said.dedup();
                said.join(" or ")
            }
        }
    }
}
