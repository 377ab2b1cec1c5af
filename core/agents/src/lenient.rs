//! Reading fields without ever refusing a whole event: what is absent or
//! wrongly typed is `None`, and the same field may come in snake or camel case.

use serde_json::{Map, Value};

/// A JSON object seen leniently.
#[derive(Debug, Clone, Copy)]
pub struct Fields<'a>(pub &'a Map<String, Value>);

impl<'a> Fields<'a> {
    pub fn value(self, name: &str) -> Option<&'a Value> {
        self.0.get(name).or_else(|| self.0.get(&camel(name))).filter(|value| !value.is_null())
    }

    pub fn text(self, name: &str) -> Option<&'a str> {
        self.value(name).and_then(Value::as_str)
    }

    pub fn string(self, name: &str) -> Option<String> {
        self.text(name).map(str::to_string)
    }

    /// Text that may be empty; absent counts as empty.
    pub fn plain(self, name: &str) -> String {
        self.text(name).unwrap_or_default().to_string()
    }

    pub fn flag(self, name: &str) -> bool {
        self.value(name).and_then(Value::as_bool).unwrap_or_default()
    }

    pub fn number(self, name: &str) -> Option<u64> {
        self.value(name).and_then(Value::as_u64)
    }

    pub fn list(self, name: &str) -> &'a [Value] {
        self.value(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }
}

fn camel(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut raise = false;
    for c in name.chars() {
        if c == '_' {
            raise = true;
        } else if raise {
            out.extend(c.to_uppercase());
            raise = false;
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn d8_snake_and_camel_case_mean_the_same() {
        let value = json!({"sessionId": "a", "tool_name": "Bash"});
        let fields = Fields(value.as_object().unwrap());
        assert_eq!(fields.text("session_id"), Some("a"));
        assert_eq!(fields.text("tool_name"), Some("Bash"));
    }

    #[test]
    fn d2_a_wrongly_typed_field_is_absent() {
        let value = json!({"source": 42, "stop_hook_active": "yes", "tool_calls": {}});
        let fields = Fields(value.as_object().unwrap());
        assert_eq!(fields.text("source"), None);
        assert!(!fields.flag("stop_hook_active"));
        assert!(fields.list("tool_calls").is_empty());
    }
}
