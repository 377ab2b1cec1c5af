//! What the model will say: a script of turns.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::requests::ModelRequest;

/// Turns by the kind of request that asks for them. `main` and `sub` are used up in order; the others repeat. What is
/// asked by several clients at once, in no known order, is answered by what was asked: see [`Script::answered_by`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    pub(super) main: Vec<Turn>,
    pub(super) sub: Vec<Turn>,
    pub(super) compact: Option<Turn>,
    pub(super) side: Option<Turn>,
    pub(super) otherwise: Option<Turn>,
    pub(super) count_tokens: Option<u64>,
    pub(super) answers: Option<Answers>,
}

type AnswerTo = dyn Fn(&ModelRequest) -> Option<Turn> + Send + Sync;

/// A function from what was asked to the answer.
#[derive(Clone)]
pub(super) struct Answers(Arc<AnswerTo>);

impl fmt::Debug for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Answers(..)")
    }
}

impl PartialEq for Answers {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
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

    /// Answers by what was asked, whoever asks and however often; `None` leaves it to the turns.
    #[must_use]
    pub fn answered_by(mut self, answer: impl Fn(&ModelRequest) -> Option<Turn> + Send + Sync + 'static) -> Self {
        self.answers = Some(Answers(Arc::new(answer)));
        self
    }

    pub(super) fn answer(&self, request: &ModelRequest) -> Option<Turn> {
        self.answers.as_ref().and_then(|answers| (answers.0)(request))
    }

    /// What `count_tokens` reports.
    #[must_use]
    pub fn counting(mut self, tokens: u64) -> Self {
        self.count_tokens = Some(tokens);
        self
    }
}

/// One answer of the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Turn {
    pub(super) text: Option<String>,
    pub(super) tools: Vec<ScriptedCall>,
    pub(super) usage: Map<String, Value>,
    pub(super) stop_reason: Option<String>,
    pub(super) failure: Option<ApiFailure>,
    pub(super) delay: Duration,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ScriptedCall {
    pub name: String,
    pub input: Value,
}

/// An HTTP error in the API's own shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiFailure {
    pub http: u16,
    pub error_type: String,
    pub message: String,
    /// When the limit of the account is over that this is about, in seconds since 1970.
    pub resets_at: Option<u64>,
}

impl Turn {
    #[must_use]
    pub fn say(text: &str) -> Self {
        Self { text: Some(text.to_owned()), ..Self::default() }
    }

    #[must_use]
    pub fn call(tool: &str, input: Value) -> Self {
        Self::default().and_call(tool, input)
    }

    #[must_use]
    pub fn bash(command: &str) -> Self {
        Self::default().and_bash(command)
    }

    /// An error of the API. The client asks again after a 400 (up to six times, with less in its request), so to make
    /// it give up the failure must be the script's [`otherwise`](Script::otherwise).
    #[must_use]
    pub fn fail(http: u16, error_type: &str, message: &str) -> Self {
        Self {
            failure: Some(ApiFailure {
                http,
                error_type: error_type.to_owned(),
                message: message.to_owned(),
                resets_at: None,
            }),
            ..Self::default()
        }
    }

    /// The account's limit is reached, until so many seconds since 1970.
    #[must_use]
    pub fn limited_until(resets_at: u64) -> Self {
        let mut turn = Self::fail(429, "rate_limit_error", "This request would exceed your account's rate limit.");
        if let Some(failure) = &mut turn.failure {
            failure.resets_at = Some(resets_at);
        }
        turn
    }

    /// One more tool call in the same answer: several run in parallel.
    #[must_use]
    pub fn and_call(mut self, tool: &str, input: Value) -> Self {
        self.tools.push(ScriptedCall { name: tool.to_owned(), input });
        self
    }

    #[must_use]
    pub fn and_bash(self, command: &str) -> Self {
        self.and_call("Bash", json!({"command": command, "description": "a step"}))
    }

    /// Reports that many input tokens; 970 000 makes a client on a one-million window compact.
    #[must_use]
    pub fn using(mut self, input_tokens: u64) -> Self {
        self.usage.insert("input_tokens".into(), input_tokens.into());
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
}
