//! What the model was asked: every request with its kind, and the questions a test has about them.

use serde_json::Value;

use super::SUBAGENT_MARK;
use super::wire::Wire;

/// The words by which the client asks for a summary (observed on Claude Code 2.1.325).
const SUMMARY_ORDER: &str = "create a detailed summary";

/// Strings under these keys steer the API and are not read by the model, or describe its tools.
const NOT_FOR_THE_MODEL: [&str; 8] =
    ["type", "role", "id", "tool_use_id", "tool_call_id", "call_id", "cache_control", "tools"];

/// Where the APIs put what the model reads before the conversation, and the conversation itself.
const INSTRUCTIONS: [&str; 3] = ["system", "instructions", "systemInstruction"];
const CONVERSATION: [&str; 3] = ["messages", "input", "contents"];

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
        for key in INSTRUCTIONS.iter().chain(&CONVERSATION) {
            flatten(&self.body[*key], &mut text);
        }
        text
    }

    /// How many entries the conversation has by now.
    #[must_use]
    pub fn entries(&self) -> usize {
        conversation(&self.body).len()
    }

    /// The text of every tool result in the request.
    #[must_use]
    pub fn tool_results(&self) -> Vec<String> {
        conversation(&self.body).iter().flat_map(results_in).map(flat).collect()
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
pub(super) fn classify(wire: Wire, path: &str, body: &Value) -> RequestKind {
    let by_user = conversation(body).iter().filter(|message| message["role"] == "user");
    let users: Vec<_> = by_user.map(|message| flat(&message["content"]) + &flat(&message["parts"])).collect();
    // Newer models of one API are told of their tools in the conversation.
    let offers = [body].into_iter().chain(conversation(body)).filter_map(|entry| entry["tools"].as_array());
    let tools: Vec<_> = offers.flatten().collect();
    let (summary, sub_agent, main) = match wire {
        Wire::Messages => (
            users.last().is_some_and(|last| last.contains(SUMMARY_ORDER)),
            users.first().is_some_and(|first| first.contains(SUBAGENT_MARK)),
            tools.iter().any(|tool| tool["name"] == "Bash"),
        ),
        // These put words of their own before what was asked for.
        Wire::Chat | Wire::Responses | Wire::Gemini => (
            path.ends_with("/compact"),
            users.iter().any(|text| text.contains(SUBAGENT_MARK)),
            !tools.is_empty() && !path.ends_with(":generateContent"),
        ),
    };
    if summary {
        RequestKind::Compact
    } else if sub_agent {
        RequestKind::Sub
    } else if main {
        RequestKind::Main
    } else {
        RequestKind::Side
    }
}

fn conversation(body: &Value) -> &[Value] {
    let lists = CONVERSATION.iter().find_map(|key| body[*key].as_array());
    lists.map_or(&[], Vec::as_slice)
}

/// The results of tools that one entry of a conversation has, in whichever API.
fn results_in(entry: &Value) -> Vec<&Value> {
    if entry["role"] == "tool" {
        return vec![&entry["content"]];
    }
    if entry["type"].as_str().is_some_and(|kind| kind.ends_with("_call_output")) {
        return vec![&entry["output"]];
    }
    let parts = entry["content"].as_array().or(entry["parts"].as_array()).into_iter().flatten();
    parts
        .filter_map(|part| match part["type"].as_str() {
            Some("tool_result") => Some(&part["content"]),
            _ => part.get("functionResponse").map(|answer| &answer["response"]),
        })
        .collect()
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
