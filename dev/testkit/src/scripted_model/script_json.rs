//! A script in its JSON form, read strictly.

use std::time::Duration;

use serde_json::{Map, Value};

use super::script::{ApiFailure, Script, ScriptedCall, Turn};

impl Script {
    /// Reads `{"main": [TURN…], "sub": [TURN…], "compact": TURN, "side": TURN, "default": TURN, "count_tokens": N}`.
    ///
    /// # Errors
    /// Says which key is unknown or of the wrong type: a misspelt script must not play something else.
    pub fn from_json(value: &Value) -> Result<Self, String> {
        let mut script = Self::new();
        for (key, value) in object(value, "script")? {
            match key.as_str() {
                "main" => script.main = turns(value)?,
                "sub" => script.sub = turns(value)?,
                "compact" => script.compact = Some(Turn::from_json(value)?),
                "side" => script.side = Some(Turn::from_json(value)?),
                "default" => script.otherwise = Some(Turn::from_json(value)?),
                "count_tokens" => script.count_tokens = Some(number(value, key)?),
                _ => return Err(format!("unknown key in script: {key}")),
            }
        }
        Ok(script)
    }
}

impl Turn {
    /// Reads `{"text", "tools": [{"name", "input"}], "usage", "stop_reason", "http", "error_type", "message", "sleep"}`.
    ///
    /// # Errors
    /// Says which key is unknown or of the wrong type.
    pub fn from_json(value: &Value) -> Result<Self, String> {
        let mut turn = Self::default();
        let (mut error_type, mut message) = ("api_error".to_owned(), "scripted error".to_owned());
        let mut http = None;
        for (key, value) in object(value, "turn")? {
            match key.as_str() {
                "text" => turn.text = Some(text(value, key)?),
                "tools" => turn.tools = list(value, key)?.map(ScriptedCall::from_json).collect::<Result<_, _>>()?,
                "usage" => turn.usage = object(value, key)?.clone(),
                "stop_reason" => turn.stop_reason = Some(text(value, key)?),
                "http" => http = Some(u16::try_from(number(value, key)?).map_err(|e| e.to_string())?),
                "error_type" => error_type = text(value, key)?,
                "message" => message = text(value, key)?,
                "sleep" => turn.delay = seconds(value, key)?,
                _ => return Err(format!("unknown key in turn: {key}")),
            }
        }
        turn.failure = http.map(|http| ApiFailure { http, error_type, message, resets_at: None });
        Ok(turn)
    }
}

impl ScriptedCall {
    fn from_json(value: &Value) -> Result<Self, String> {
        Ok(Self {
            name: text(&value["name"], "tools[].name")?,
            input: Value::Object(object(&value["input"], "tools[].input")?.clone()),
        })
    }
}

fn turns(value: &Value) -> Result<Vec<Turn>, String> {
    list(value, "turns")?.map(Turn::from_json).collect()
}

fn object<'a>(value: &'a Value, what: &str) -> Result<&'a Map<String, Value>, String> {
    value.as_object().ok_or_else(|| format!("{what} is not an object"))
}

fn list<'a>(value: &'a Value, what: &str) -> Result<std::slice::Iter<'a, Value>, String> {
    Ok(value.as_array().ok_or_else(|| format!("{what} is not a list"))?.iter())
}

fn text(value: &Value, what: &str) -> Result<String, String> {
    Ok(value.as_str().ok_or_else(|| format!("{what} is not a text"))?.to_owned())
}

fn number(value: &Value, what: &str) -> Result<u64, String> {
    value.as_u64().ok_or_else(|| format!("{what} is not a whole number"))
}

fn seconds(value: &Value, what: &str) -> Result<Duration, String> {
    let seconds = value.as_f64().ok_or_else(|| format!("{what} is not a number"))?;
    Duration::try_from_secs_f64(seconds).map_err(|cause| format!("{what}: {cause}"))
}
