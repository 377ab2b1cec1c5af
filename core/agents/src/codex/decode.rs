//! Codex's payloads as events. They are Claude Code's, but for a few.

use super::PROFILE;
use super::tools::TOOLS;
use crate::lenient::Fields;
use crate::payload::PayloadForm;
use model::event::{Body, Envelope, EventKind};
use serde_json::{Map, Value};

static FORM: PayloadForm = PayloadForm {
    agent: &PROFILE,
    events: &[
        ("SessionStart", EventKind::SessionStart),
        ("UserPromptSubmit", EventKind::UserPromptSubmit),
        ("PreToolUse", EventKind::PreToolUse),
        ("PermissionRequest", EventKind::PermissionRequest),
        ("PostToolUse", EventKind::PostToolUse),
        ("SubagentStart", EventKind::SubagentStart),
        ("SubagentStop", EventKind::SubagentStop),
        ("Stop", EventKind::Stop),
        (INTERRUPT, EventKind::Stop),
        ("PreCompact", EventKind::PreCompact),
        ("PostCompact", EventKind::PostCompact),
        ("SessionEnd", EventKind::SessionEnd),
    ],
    tools: &TOOLS,
    call_id: &["tool_use_id"],
    response: &["tool_response"],
};

/// The user has stopped the turn: nothing of it goes on, so nothing is answered.
pub const INTERRUPT: &str = "Interrupt";

pub fn decode(object: &Map<String, Value>) -> Envelope {
    let fields = Fields(object);
    let mut envelope = FORM.envelope(fields, fields.plain("hook_event_name"));
    match (&mut envelope.body, envelope.kind) {
        (Body::Stop { hook_active, .. }, EventKind::Stop) if envelope.name == INTERRUPT => *hook_active = true,
        // What a helper is told to do comes as a prompt too.
        (body, EventKind::UserPromptSubmit) if envelope.sub_agent.is_some() => {
            (envelope.kind, *body) = (EventKind::Unknown, Body::Plain);
        }
        _ => {}
    }
    envelope
}

/// Its own name of a session's record, or its own name of a turn beside what it says on every turn. Codex offers to copy
/// another agent's hooks into its own settings, command and all.
pub fn recognises(object: &Map<String, Value>) -> bool {
    let fields = Fields(object);
    let record = fields.text("transcript_path").and_then(|path| path.rsplit('/').next());
    let is_record = record.is_some_and(|name| name.starts_with("rollout-") && name.ends_with(".jsonl"));
    let has = |field: &str| object.get(field).is_some_and(Value::is_string);
    is_record || has("turn_id") && has("model") && !has("prompt_id")
}
