//! What the plugin sends.

use crate::lenient::Fields;
use crate::payload::PayloadForm;
use model::event::{Envelope, EventKind, SubAgent};
use serde_json::{Map, Value};

/// The events a plugin tells, by our own names. A prompt that a helper is given has another, and is none of these.
pub const EVENTS: &[(&str, EventKind)] = &[
    ("SessionStart", EventKind::SessionStart),
    ("UserPromptSubmit", EventKind::UserPromptSubmit),
    ("PreToolUse", EventKind::PreToolUse),
    ("PermissionRequest", EventKind::PermissionRequest),
    ("PostToolUse", EventKind::PostToolUse),
    ("PostToolUseFailure", EventKind::PostToolUseFailure),
    ("SubagentStart", EventKind::SubagentStart),
    ("SubagentStop", EventKind::SubagentStop),
    ("Stop", EventKind::Stop),
    ("StopFailure", EventKind::StopFailure),
    ("PreCompact", EventKind::PreCompact),
    ("PostCompact", EventKind::PostCompact),
    ("SessionEnd", EventKind::SessionEnd),
];

/// A helper's event names the session it belongs to, which is then the event's own.
pub fn decode(form: &PayloadForm, object: &Map<String, Value>) -> Envelope {
    let fields = Fields(object);
    let mut envelope = form.envelope(fields, fields.plain("hook_event_name"));
    envelope.cut = fields.flag("cut");
    envelope.sub_agent = None;
    if let Some(parent) = fields.string("parent_session_id").filter(|id| !id.is_empty()) {
        let own = envelope.host_session.replace(parent);
        envelope.sub_agent = own.map(|id| SubAgent { id, kind: fields.plain("agent_type") });
    }
    envelope
}
