//! Qwen Code's payloads as events.

use super::{PROFILE, tools::TOOLS};
use crate::lenient::Fields;
use crate::payload::PayloadForm;
use model::event::{Body, Envelope, EventKind};
use serde_json::{Map, Value};

/// Its names are those of the model. Those of which nothing follows are not here.
const FORM: PayloadForm = PayloadForm {
    agent: &PROFILE,
    events: &[
        named(EventKind::SessionStart),
        named(EventKind::InstructionsLoaded),
        named(EventKind::UserPromptSubmit),
        named(EventKind::UserPromptExpansion),
        named(EventKind::PreToolUse),
        named(EventKind::PermissionRequest),
        named(EventKind::PermissionDenied),
        named(EventKind::PostToolUse),
        named(EventKind::PostToolUseFailure),
        named(EventKind::PostToolBatch),
        named(EventKind::MessageDisplay),
        named(EventKind::Notification),
        named(EventKind::SubagentStart),
        named(EventKind::SubagentStop),
        named(EventKind::Stop),
        named(EventKind::StopFailure),
        named(EventKind::PreCompact),
        named(EventKind::PostCompact),
        named(EventKind::SessionEnd),
    ],
    tools: &TOOLS,
    call_id: &["tool_use_id", "tool_call_id"],
    response: &["tool_response"],
};

const fn named(kind: EventKind) -> (&'static str, EventKind) {
    (kind.name(), kind)
}

pub fn decode(object: &Map<String, Value>) -> Envelope {
    let fields = Fields(object);
    let envelope = FORM.envelope(fields, fields.plain("hook_event_name"));
    let Envelope { kind, body, .. } = envelope;
    let (kind, body) = match body {
        // The client sends the event whenever it asks its model anything: with no words after a tool, with ours after a
        // stop that was refused. What a person has submitted stands in a field of its own.
        Body::Prompt { .. } if fields.text("submitted_prompt").is_none_or(str::is_empty) => {
            (EventKind::Unknown, Body::Plain)
        }
        Body::Stop { hook_active, last_message, .. } => {
            (kind, Body::Stop { hook_active, last_message, background: running(fields) })
        }
        Body::Plain if kind == EventKind::PostToolBatch => {
            (kind, Body::ToolBatch { calls: batch(fields), told: Vec::new() })
        }
        body => (kind, body),
    };
    Envelope { kind, body, ..envelope }
}

fn batch(fields: Fields<'_>) -> Vec<String> {
    let calls = fields.list("tool_calls").iter().filter_map(Value::as_object);
    calls.filter_map(|call| Fields(call).string("tool_use_id")).collect()
}

/// Background work that still runs. A helper that stops stands in the list itself.
fn running(fields: Fields<'_>) -> usize {
    let own = fields.text("agent_id");
    let tasks = fields.list("background_tasks").iter().filter_map(Value::as_object).map(Fields);
    tasks.filter(|task| task.text("status") == Some("running") && (own.is_none() || task.text("id") != own)).count()
}
