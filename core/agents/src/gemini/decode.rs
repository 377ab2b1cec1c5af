//! Gemini CLI's payloads as events.

use super::{PROFILE, tools::TOOLS};
use crate::answers::BEFORE_STOP;
use crate::lenient::Fields;
use crate::payload::{PayloadForm, error_text};
use model::event::{Body, Envelope, EventKind};
use serde_json::{Map, Value};

/// `PreCompress` is not here: it comes before every turn, also where nothing is compacted.
const FORM: PayloadForm = PayloadForm {
    agent: &PROFILE,
    events: &[
        ("SessionStart", EventKind::SessionStart),
        ("BeforeAgent", EventKind::UserPromptSubmit),
        ("BeforeTool", EventKind::PreToolUse),
        ("AfterTool", EventKind::PostToolUse),
        ("AfterAgent", EventKind::Stop),
        ("Notification", EventKind::Notification),
        ("SessionEnd", EventKind::SessionEnd),
    ],
    tools: &TOOLS,
    call_id: &[],
    response: &["tool_response"],
};

/// What a hook gave at the start stands in the first prompt, between these.
const CONTEXT: (&str, &str) = ("<hook_context>", "</hook_context>");

pub fn decode(object: &Map<String, Value>) -> Envelope {
    let fields = Fields(object);
    let envelope = FORM.envelope(fields, fields.plain("hook_event_name"));
    let Envelope { kind, body, .. } = envelope;
    let (kind, body) = match body {
        Body::Prompt { text } => prompt(&text),
        Body::ToolDone { call, response, duration_ms } => match failure(fields) {
            Some(error) => (EventKind::PostToolUseFailure, Body::ToolFailed { call, error, interrupted: false }),
            None => (kind, Body::ToolDone { call, response, duration_ms }),
        },
        Body::Stop { hook_active, background, .. } => {
            (kind, Body::Stop { hook_active, background, last_message: fields.string("prompt_response") })
        }
        Body::Notification { kind: what, message } if what == "ToolPermission" => {
            (kind, Body::Notification { kind: "permission_prompt".into(), message })
        }
        body => (kind, body),
    };
    Envelope { kind, body, ..envelope }
}

/// A stop that was refused comes in as a prompt with our own words.
fn prompt(text: &str) -> (EventKind, Body) {
    let own = text.strip_prefix(CONTEXT.0).and_then(|rest| rest.split_once(CONTEXT.1));
    let text = own.map_or(text, |(_, users)| users.trim_start());
    if text.starts_with(BEFORE_STOP) {
        return (EventKind::Unknown, Body::Plain);
    }
    (EventKind::UserPromptSubmit, Body::Prompt { text: text.to_string() })
}

/// What a tool says that could not do its work. A line of the shell that ends with another status than 0 is done.
fn failure(fields: Fields<'_>) -> Option<String> {
    let error = fields.value("tool_response")?.get("error").filter(|error| !error.is_null())?;
    Some(error_text(Some(error)))
}
