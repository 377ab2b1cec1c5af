//! What the model will say: a script of turns, built in Rust or read from JSON.

use std::time::Duration;

use serde_json::{Map, Value, json};

/// Turns by the kind of request that asks for them. `main` and `sub` are used up in order; the others repeat.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    pub(super) main: Vec<Turn>,
    pub(super) sub: Vec<Turn>,
    pub(super) compact: Option<Turn>,
    pub(super) side: Option<Turn>,
    pub(super) otherwise: Option<Turn>,
    pub(super) count_tokens: Option<u64>,
}

impl Script {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The next answer to the main conversation.
    #[must_use]
    pub fn main(mut self, turn: Turn) -> Self {
        self.main.push(turn);
        self
    }

    /// The next answer to a sub-agent, whichever asks first.
    #[must_use]
    pub fn sub_agent(mut self, turn: Turn) -> Self {
        self.sub.push(turn);
        self
    }

    /// The answer to every request for a summary of the conversation.
    #[must_use]
    pub fn compact(mut self, turn: Turn) -> Self {
        self.compact = Some(turn);
        self
    }

    /// The answer to everything the client asks on the side: titles, topics, classifiers.
    #[must_use]
    pub fn side(mut self, turn: Turn) -> Self {
        self.side = Some(turn);
        self
    }

    /// The answer when `main` or `sub` is used up.
    #[must_use]
    pub fn otherwise(mut self, turn: Turn) -> Self {
        self.otherwise = Some(turn);
        self
    }

    /// What `count_tokens` reports.
    #[must_use]
    pub fn counting(mut self, tokens: u64) -> Self {
        self.count_tokens = Some(tokens);
        self
    }

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

/// One answer of the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Turn {
    pub(super) text: Option<String>,
    pub(super) tools: Vec<ToolCall>,
    pub(super) usage: Map<String, Value>,
    pub(super) stop_reason: Option<String>,
    pub(super) failure: Option<Failure>,
    pub(super) delay: Duration,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    pub name: String,
    pub input: Value,
}

/// An HTTP error in the API's own shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub http: u16,
    pub error_type: String,
    pub message: String,
}

impl Turn {
    #[must_use]
    pub fn say(text: &str) -> Self {
        Self {
            text: Some(text.to_owned()),
            ..Self::default()
        }
    }

    #[must_use]
    pub fn call(tool: &str, input: Value) -> Self {
        Self::default().and_call(tool, input)
    }

    #[must_use]
    pub fn bash(command: &str) -> Self {
        Self::default().and_bash(command)
    }

    #[must_use]
    pub fn fail(http: u16, error_type: &str, message: &str) -> Self {
        Self {
            failure: Some(Failure {
                http,
                error_type: error_type.to_owned(),
                message: message.to_owned(),
            }),
            ..Self::default()
        }
    }

    /// One more tool call in the same answer: several run in parallel.
    #[must_use]
    pub fn and_call(mut self, tool: &str, input: Value) -> Self {
        self.tools.push(ToolCall {
            name: tool.to_owned(),
            input,
        });
        self
    }

    #[must_use]
    pub fn and_bash(self, command: &str) -> Self {
        self.and_call("Bash", json!({"command": command, "description": "a step"}))
    }

    /// Reports that many input tokens; 970 000 makes a client on a one-million window compact.
    #[must_use]
    pub fn using(mut self, input_tokens: u64) -> Self {
        self.usage
            .insert("input_tokens".into(), input_tokens.into());
        self
    }

    #[must_use]
    pub fn stopping_with(mut self, reason: &str) -> Self {
        self.stop_reason = Some(reason.to_owned());
        self
    }

    /// Answers only after `delay`; stopping the model ends the wait.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

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
                "tools" => {
                    turn.tools = list(value, key)?
                        .map(ToolCall::from_json)
                        .collect::<Result<_, _>>()?
                }
                "usage" => turn.usage = object(value, key)?.clone(),
                "stop_reason" => turn.stop_reason = Some(text(value, key)?),
                "http" => {
                    http = Some(u16::try_from(number(value, key)?).map_err(|e| e.to_string())?)
                }
                "error_type" => error_type = text(value, key)?,
                "message" => message = text(value, key)?,
                "sleep" => turn.delay = seconds(value, key)?,
                _ => return Err(format!("unknown key in turn: {key}")),
            }
        }
        turn.failure = http.map(|http| Failure {
            http,
            error_type,
            message,
        });
        Ok(turn)
    }
}

impl ToolCall {
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
    value
        .as_object()
        .ok_or_else(|| format!("{what} is not an object"))
}

fn list<'a>(value: &'a Value, what: &str) -> Result<std::slice::Iter<'a, Value>, String> {
    Ok(value
        .as_array()
        .ok_or_else(|| format!("{what} is not a list"))?
        .iter())
}

fn text(value: &Value, what: &str) -> Result<String, String> {
    Ok(value
        .as_str()
        .ok_or_else(|| format!("{what} is not a text"))?
        .to_owned())
}

fn number(value: &Value, what: &str) -> Result<u64, String> {
    value
        .as_u64()
        .ok_or_else(|| format!("{what} is not a whole number"))
}

fn seconds(value: &Value, what: &str) -> Result<Duration, String> {
    let seconds = value
        .as_f64()
        .ok_or_else(|| format!("{what} is not a number"))?;
    Duration::try_from_secs_f64(seconds).map_err(|cause| format!("{what}: {cause}"))
}
