//! Droid's payloads as events.

use super::{PROFILE, tools};
use crate::lenient::Fields;
use crate::payload::PayloadForm;
use model::event::{Body, Envelope, EventKind, SubAgent};
use serde_json::{Map, Value};

const FORM: PayloadForm = PayloadForm {
    agent: &PROFILE,
    events: &[
        ("SessionStart", EventKind::SessionStart),
        ("UserPromptSubmit", EventKind::UserPromptSubmit),
        ("PreToolUse", EventKind::PreToolUse),
        ("PostToolUse", EventKind::PostToolUse),
        ("Notification", EventKind::Notification),
        ("Stop", EventKind::Stop),
        ("SubagentStop", EventKind::SubagentStop),
        ("PreCompact", EventKind::PreCompact),
        ("SessionEnd", EventKind::SessionEnd),
    ],
    tools: &tools::TOOLS,
    call_id: &[],
    response: &["tool_response"],
};

/// What it puts before the task that it gives to a helper.
const TASK_OF_A_HELPER: &str = "# Task Tool Invocation\n";

pub fn decode(object: &Map<String, Value>) -> Envelope {
    let fields = Fields(object);
    let mut envelope = FORM.envelope(fields, fields.plain("hook_event_name"));
    let some = |field: &str| fields.string(field).filter(|text| !text.is_empty());
    match &mut envelope.body {
        Body::SessionStart(start) => {
            start.previous = some("previous_session_id").filter(|id| envelope.host_session.as_ref() != Some(id));
        }
        // The parent's words, though told as the user's.
        Body::Prompt { text } if text.starts_with(TASK_OF_A_HELPER) => {
            (envelope.kind, envelope.body) = (EventKind::Unknown, Body::Plain);
        }
        Body::Stop { last_message, .. } => *last_message = some("task_result"),
        _ => {}
    }
    match (envelope.kind, some("calling_session_id")) {
        (EventKind::SessionStart, Some(parent)) => helper(envelope, parent),
        _ => envelope,
    }
}

/// A helper is a session of its own, and this is the only event that says whose.
fn helper(envelope: Envelope, parent: String) -> Envelope {
    let Some(id) = envelope.host_session.clone().filter(|own| *own != parent) else { return envelope };
    Envelope {
        kind: EventKind::SubagentStart,
        host_session: Some(parent),
        sub_agent: Some(SubAgent { id, kind: String::new() }),
        // It is the helper's own.
        transcript: None,
        body: Body::Plain,
        ..envelope
    }
}
