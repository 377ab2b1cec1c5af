//! The APIs that clients speak: which one a request is in, and a turn spelt in it.

mod chat;
mod gemini;
mod messages;
mod responses;

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::script::{ApiFailure, Turn};

/// An API, named by what its makers call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wire {
    /// Anthropic's `/v1/messages`.
    Messages,
    /// `OpenAI`'s `/chat/completions`, which most clients can be pointed at.
    Chat,
    /// `OpenAI`'s `/responses`.
    Responses,
    /// Google's `:generateContent` and `:streamGenerateContent`.
    Gemini,
}

/// A whole answer, or the frames of one that is streamed.
#[derive(Debug)]
pub(super) enum Spelt {
    Whole(Value),
    Frames(Vec<String>),
}

/// Numbers for ids; one per model, so that a script gives the same ids each time.
#[derive(Debug, Default)]
pub(super) struct Ids(AtomicU64);

impl Ids {
    fn next(&self, prefix: &str) -> String {
        format!("{prefix}_scripted_{:04}", self.0.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

impl Wire {
    /// The API in which a request to this path wants the model to speak.
    pub fn of(path: &str) -> Option<Self> {
        let ends = |ends: &[&str]| ends.iter().any(|end| path.ends_with(end));
        match path {
            "/v1/messages" => Some(Self::Messages),
            _ if ends(&["/chat/completions"]) => Some(Self::Chat),
            _ if ends(&["/responses", "/responses/compact"]) => Some(Self::Responses),
            _ if ends(&[":generateContent", ":streamGenerateContent"]) => Some(Self::Gemini),
            _ => None,
        }
    }

    pub fn spell(self, turn: &Turn, path: &str, body: &Value, ids: &Ids) -> Spelt {
        let (whole, frames): (Value, fn(&Value) -> Vec<String>) = match self {
            Self::Messages => (messages::message(turn, &body["model"], ids), messages::frames),
            Self::Chat => (chat::completion(turn, &body["model"], ids), chat::frames),
            Self::Responses if path.ends_with("/compact") => (responses::compaction(), responses::frames),
            Self::Responses => (responses::response(turn, ids), responses::frames),
            Self::Gemini => (gemini::content(turn), gemini::frames),
        };
        if body["stream"] == true || path.ends_with(":streamGenerateContent") {
            Spelt::Frames(frames(&whole))
        } else {
            Spelt::Whole(whole)
        }
    }

    pub fn failure(self, failure: &ApiFailure) -> Value {
        match self {
            Self::Messages => messages::failure(failure),
            Self::Chat | Self::Responses | Self::Gemini => json!({"error": {
                "code": failure.http, "type": failure.error_type, "status": failure.error_type, "message": failure.message,
            }}),
        }
    }
}

pub(super) fn not_found() -> Value {
    messages::error("not_found_error", "the scripted model has no such page")
}

/// A server-sent event that is named by its own type.
fn event_frame(event: &Value) -> String {
    format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
}

/// A server-sent event without a name.
fn data_frame(data: &Value) -> String {
    format!("data: {data}\n\n")
}

/// The tokens a turn reports as read, and as written.
fn tokens(turn: &Turn) -> (u64, u64) {
    let of = |key: &str| turn.usage.get(key).and_then(Value::as_u64);
    (of("input_tokens").unwrap_or(1200), of("output_tokens").unwrap_or(40))
}
