//! What the model was asked: every request with its kind, and the questions a test has about them.

use serde_json::Value;

use super::SUBAGENT_MARK;

/// The words by which the client asks for a summary (observed on Claude Code 2.1.325).
const SUMMARY_ORDER: &str = "create a detailed summary";

/// Strings under these keys steer the API and are not read by the model.
const NOT_FOR_THE_MODEL: [&str; 5] = ["type", "role", "id", "tool_use_id", "cache_control"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// The main conversation.
    Main,
    /// A sub-agent's conversation, marked by [`SUBAGENT_MARK`].
    Sub,
    /// A summary is asked for.
    Compact,
    /// Anything else the client asks the model: titles, topics, classifiers.
    Side,
    /// `count_tokens`.
    Count,
    /// Not a message at all: `HEAD`, `GET`, an unknown path.
    Other,
}

#[derive(Clone, Debug)]
pub struct ModelRequest {
    pub kind: RequestKind,
    pub method: String,
    pub path: String,
    /// `Null` when there was none or it was not JSON.
    pub body: Value,
}

impl ModelRequest {
    /// System prompt and messages as text. Tool descriptions are left out: they are the client's own
    /// fixed prose and mention so many commands that every search would hit.
    #[must_use]
    pub fn text_sent(&self) -> String {
        let mut text = String::new();
        flatten(&self.body["system"], &mut text);
        flatten(&self.body["messages"], &mut text);
        text
    }

    /// The text of every tool result in the request.
    #[must_use]
    pub fn tool_results(&self) -> Vec<String> {
        let blocks = messages(&self.body).iter().filter_map(|message| message["content"].as_array());
        blocks.flatten().filter(|block| block["type"] == "tool_result").map(|block| flat(&block["content"])).collect()
    }
}

/// The requests of one model, in the order of arrival.
#[derive(Clone, Debug, Default)]
pub struct Requests(pub Vec<ModelRequest>);

impl Requests {
    pub fn of(&self, kind: RequestKind) -> impl DoubleEndedIterator<Item = &ModelRequest> {
        self.0.iter().filter(move |request| request.kind == kind)
    }

    /// Everything the model was sent in any request, flattened, for "did it ever see this?".
    #[must_use]
    pub fn all_text_sent(&self) -> String {
        self.0.iter().map(ModelRequest::text_sent).collect::<Vec<_>>().join("\n")
    }

    /// Tool results of the main conversation as its last request showed them.
    #[must_use]
    pub fn tool_results(&self) -> Vec<String> {
        self.of(RequestKind::Main).next_back().map(ModelRequest::tool_results).unwrap_or_default()
    }
}

/// Which part of the script answers this body.
pub(super) fn classify(body: &Value) -> RequestKind {
    let users: Vec<_> = messages(body)
        .iter()
        .filter(|message| message["role"] == "user")
        .map(|message| flat(&message["content"]))
        .collect();
    let has_bash = body["tools"].as_array().is_some_and(|tools| tools.iter().any(|tool| tool["name"] == "Bash"));
    if users.last().is_some_and(|last| last.contains(SUMMARY_ORDER)) {
        RequestKind::Compact
    } else if users.first().is_some_and(|first| first.contains(SUBAGENT_MARK)) {
        RequestKind::Sub
    } else if has_bash {
        RequestKind::Main
    } else {
        RequestKind::Side
    }
}

fn messages(body: &Value) -> &[Value] {
    body["messages"].as_array().map_or(&[], Vec::as_slice)
}

fn flat(value: &Value) -> String {
    let mut text = String::new();
    flatten(value, &mut text);
    text
}

fn flatten(value: &Value, into: &mut String) {
    match value {
        Value::String(text) => {
            into.push_str(text);
            into.push('\n');
        }
        Value::Array(values) => values.iter().for_each(|value| flatten(value, into)),
        Value::Object(fields) => fields
            .iter()
            .filter(|(key, _)| !NOT_FOR_THE_MODEL.contains(&key.as_str()))
            .for_each(|(_, value)| flatten(value, into)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
