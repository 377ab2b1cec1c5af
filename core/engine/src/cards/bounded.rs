//! A value with a bound: what an agent asks may be megabytes, a card is stored and sent to every view.

use serde_json::{Map, Value};

/// So many bytes of texts and names, and so many values, are shown of one input.
const MOST_BYTES: usize = 96 * 1024;
const MOST_VALUES: usize = 2_000;
const DEEPEST: usize = 32;

/// What is left to be shown.
struct Room {
    bytes: usize,
    values: usize,
    cut: bool,
}

/// As much of the value as is shown, and whether that is all of it.
pub fn bounded(value: &Value) -> (Value, bool) {
    at_most(value, MOST_BYTES)
}

/// The same with so many bytes of texts and names.
pub fn at_most(value: &Value, bytes: usize) -> (Value, bool) {
    let mut room = Room { bytes, values: MOST_VALUES, cut: false };
    let shown = room.take(value, 0);
    (shown, !room.cut)
}

impl Room {
    fn take(&mut self, value: &Value, depth: usize) -> Value {
        if depth > DEEPEST {
            self.cut = true;
            return Value::Null;
        }
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => {
                let kept = items.iter().map_while(|item| self.has_room().then(|| self.take(item, depth + 1)));
                Value::Array(kept.collect())
            }
            Value::Object(fields) => {
                let mut kept = Map::new();
                for (name, value) in fields {
                    if !self.has_room() {
                        break;
                    }
                    kept.insert(self.text(name), self.take(value, depth + 1));
                }
                Value::Object(kept)
            }
            plain => plain.clone(),
        }
    }

    fn has_room(&mut self) -> bool {
        self.values = self.values.saturating_sub(1);
        self.cut |= self.values == 0;
        self.values > 0
    }

    fn text(&mut self, text: &str) -> String {
        let kept = self.bytes.min(text.len());
        let end = (0..=kept).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
        self.bytes -= end;
        self.cut |= end < text.len();
        text.get(..end).unwrap_or_default().to_string()
    }
}
