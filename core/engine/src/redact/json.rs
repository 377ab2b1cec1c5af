//! JSON, and JSON written out in a text: what belongs together is known here
//! and need not be guessed.

use super::names::{Telling, telling};
use super::values::{ValueForm, is_secret};
use super::{GONE, kept, without_secrets};
use serde_json::{Map, Value};

/// So deep a text in a text in a text is read.
const DEEPEST: usize = 4;

/// How a value is read: so deep in texts already, and this is kept of a plain one.
#[derive(Clone, Copy)]
struct Reading {
    depth: usize,
    keep: fn(&str) -> String,
}

/// The value without its secrets and the bulk of its long texts.
pub fn cut(value: &Value) -> Value {
    redacted(value, Reading { depth: 0, keep: kept })
}

/// All of the value, but for its secrets.
pub fn whole(value: &Value) -> Value {
    redacted(value, Reading { depth: 0, keep: without_secrets })
}

/// A text that is JSON, without its secrets; `None` where it is not or has none.
pub fn text(text: &str) -> Option<String> {
    written(text, Reading { depth: 0, keep: without_secrets })
}

fn redacted(value: &Value, reading: Reading) -> Value {
    match value {
        Value::String(text) => Value::String(written(text, reading).unwrap_or_else(|| (reading.keep)(text))),
        Value::Array(items) => Value::Array(list(items, reading)),
        Value::Object(fields) => {
            let listed = listed(fields);
            Value::Object(
                fields.iter().map(|(name, value)| (kept_name(name), field(name, value, listed, reading))).collect(),
            )
        }
        other => other.clone(),
    }
}

fn written(text: &str, reading: Reading) -> Option<String> {
    let opens = text.trim_start().starts_with(['{', '[']);
    if !opens || reading.depth >= DEEPEST || text.len() > super::LONGEST {
        return None;
    }
    let value: Value = serde_json::from_str(text).ok()?;
    let clean = redacted(&value, Reading { depth: reading.depth + 1, ..reading });
    (clean != value).then(|| clean.to_string())
}

fn field(name: &str, value: &Value, listed: Option<Telling>, reading: Reading) -> Value {
    let pair = listed.filter(|_| matches!(name, "value" | "Value" | "val" | "ParameterValue" | "content" | "default"));
    match telling(name).or(pair) {
        Some(said) => hide(value, said, reading),
        None => redacted(value, reading),
    }
}

/// What a telling name holds: a text, a number, or a list of them.
fn hide(value: &Value, said: Telling, reading: Reading) -> Value {
    match value {
        Value::String(text) if is_secret(text, said, ValueForm::Quoted) => Value::String(GONE.into()),
        Value::Number(number) if said == Telling::Password && number.to_string().len() >= 4 => {
            Value::String(GONE.into())
        }
        Value::Array(items) if items.iter().all(Value::is_string) => {
            Value::Array(items.iter().map(|item| hide(item, said, reading)).collect())
        }
        other => redacted(other, reading),
    }
}

/// `{"name": "DB_PASSWORD", "value": …}` says by one field what the other is.
fn listed(fields: &Map<String, Value>) -> Option<Telling> {
    const NAMES: &[&str] = &["name", "Name", "key", "Key", "ParameterKey", "header", "variable", "field"];
    let named = NAMES.iter().find_map(|name| fields.get(*name)).and_then(Value::as_str);
    named.and_then(telling).filter(|said| *said != Telling::Hint)
}

/// A list may be a command line: an item is read with those that say what it is.
fn list(items: &[Value], reading: Reading) -> Vec<Value> {
    let text = |at: Option<usize>| at.and_then(|at| items.get(at)).and_then(Value::as_str).unwrap_or_default();
    let one = |(at, item): (usize, &Value)| {
        let before = text(at.checked_sub(1));
        let Some(word) = item.as_str().filter(|_| before.starts_with('-') || text(Some(at)).starts_with('-')) else {
            return redacted(item, reading);
        };
        if before.starts_with('-')
            && !before.contains('=')
            && !word.starts_with('-')
            && let Some(said) = telling(before)
        {
            return hide(item, said, reading);
        }
        let line = [text(Some(0)), text(Some(1)), before].map(short).join(" ");
        let read = without_secrets(&format!("{line} {word}"));
        match read.strip_prefix(&line).and_then(|read| read.strip_prefix(' ')) {
            Some(clean) if clean != word => Value::String(clean.to_string()),
            _ => redacted(item, reading),
        }
    };
    items.iter().enumerate().map(one).collect()
}

/// Words that say something of others are short.
fn short(word: &str) -> &str {
    if word.len() > 64 { "" } else { word }
}

/// Names are short and plain; one that is not may be a token itself.
fn kept_name(name: &str) -> String {
    if name.len() < 16 { name.to_string() } else { kept(name) }
}
