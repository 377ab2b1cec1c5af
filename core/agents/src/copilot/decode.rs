//! Copilot's payloads as events, in both of its spellings. A hook that is registered as `PreToolUse` is told its event's
//! name; one that is registered as `preToolUse`, and a few of the others, are not: their fields say which it is.

use super::PROFILE;
use super::tools::TOOLS;
use crate::answers::BEFORE_STOP;
use crate::lenient::Fields;
use crate::payload::{PayloadForm, made_id};
use model::event::{Body, Envelope, EventKind, Family, SubAgent};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

static FORM: PayloadForm = PayloadForm {
    agent: &PROFILE,
    events: &[
        ("SessionStart", EventKind::SessionStart),
        ("sessionStart", EventKind::SessionStart),
        ("UserPromptSubmit", EventKind::UserPromptSubmit),
        ("userPromptSubmitted", EventKind::UserPromptSubmit),
        ("PreToolUse", EventKind::PreToolUse),
        ("preToolUse", EventKind::PreToolUse),
        ("PermissionRequest", EventKind::PermissionRequest),
        ("permissionRequest", EventKind::PermissionRequest),
        ("PostToolUse", EventKind::PostToolUse),
        ("postToolUse", EventKind::PostToolUse),
        ("PostToolUseFailure", EventKind::PostToolUseFailure),
        ("postToolUseFailure", EventKind::PostToolUseFailure),
        ("Notification", EventKind::Notification),
        ("SubagentStart", EventKind::SubagentStart),
        ("subagentStart", EventKind::SubagentStart),
        ("SubagentStop", EventKind::SubagentStop),
        ("subagentStop", EventKind::SubagentStop),
        ("Stop", EventKind::Stop),
        ("agentStop", EventKind::Stop),
        ("ErrorOccurred", EventKind::StopFailure),
        ("errorOccurred", EventKind::StopFailure),
        ("PreCompact", EventKind::PreCompact),
        ("preCompact", EventKind::PreCompact),
        ("SessionEnd", EventKind::SessionEnd),
        ("sessionEnd", EventKind::SessionEnd),
    ],
    tools: &TOOLS,
    call_id: &["tool_use_id", "tool_call_id"],
    response: &["tool_result"],
};

/// The event of a payload without a name, by the first of these fields that it has.
const BY_FIELD: &[(&str, &str)] = &[
    ("toolResult", "postToolUse"),
    ("errorContext", "errorOccurred"),
    ("transformedPrompt", "userPromptTransformed"),
    ("prompt", "userPromptSubmitted"),
    ("source", "sessionStart"),
    ("trigger", "preCompact"),
    ("reason", "sessionEnd"),
];

pub fn decode(object: &Map<String, Value>) -> Envelope {
    let object = with_usual_names(object);
    let fields = Fields(&object);
    let mut envelope = FORM.envelope(fields, name(fields));
    // A helper has a session of its own, and names that of whoever started it.
    if let Some(parent) = fields.string("parent_agent_id").filter(|id| !id.is_empty()) {
        let id = fields.string("agent_id").or(envelope.host_session.take()).unwrap_or_default();
        envelope.sub_agent = Some(SubAgent { id, kind: fields.plain("agent_type") });
        envelope.host_session = Some(parent);
    }
    if is_no_event_of_its_kind(&envelope) {
        (envelope.kind, envelope.body) = (EventKind::Unknown, Body::Plain);
    }
    if let Body::Tool(call) | Body::ToolDone { call, .. } | Body::ToolFailed { call, .. } = &mut envelope.body {
        if matches!(call.name.as_str(), "skill" | "Skill") {
            call.subject.skill = Some(call.text("skill").unwrap_or_default().to_string());
        }
        if envelope.kind.family() != Family::Permission {
            call.use_id.get_or_insert_with(|| made_id(&call.name, &call.input));
        }
    }
    envelope
}

fn name(fields: Fields<'_>) -> String {
    let told = fields.text("hook_event_name").or(fields.text("hookName"));
    if let Some(told) = told {
        return told.to_string();
    }
    let has = |field: &str| fields.value(field).is_some();
    let of_tool = if has("error") { "postToolUseFailure" } else { "preToolUse" };
    let ends = |of_helper, own| if has("agent_name") { of_helper } else { own };
    match BY_FIELD.iter().find(|(field, _)| fields.0.contains_key(*field)) {
        _ if has("stop_reason") => ends("subagentStop", "agentStop"),
        Some((_, name)) => name,
        None if has("tool_name") || has("tool_input") => of_tool,
        None => ends("subagentStart", ""),
    }
    .to_string()
}

/// The input of a tool is `toolArgs` in one spelling; a patch may come as bare text.
fn with_usual_names(object: &Map<String, Value>) -> Cow<'_, Map<String, Value>> {
    let input = ["tool_input", "toolInput", "toolArgs"].iter().find_map(|name| object.get(*name));
    let input = match input {
        Some(Value::String(text)) => parsed(text),
        Some(input) if !object.contains_key("tool_input") => input.clone(),
        _ => return Cow::Borrowed(object),
    };
    let others = object.iter().filter(|(name, _)| !matches!(name.as_str(), "toolInput" | "toolArgs"));
    let mut object: Map<String, Value> = others.map(|(name, value)| (name.clone(), value.clone())).collect();
    object.insert("tool_input".into(), input);
    Cow::Owned(object)
}

fn parsed(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(Value::Object(input)) => Value::Object(input),
        _ => json!({ "input": text }),
    }
}

/// What a helper is told to do, and our own words after a refused stop, come as prompts. A helper's end is told twice.
fn is_no_event_of_its_kind(envelope: &Envelope) -> bool {
    match (&envelope.body, envelope.kind) {
        (Body::Prompt { text }, _) => envelope.sub_agent.is_some() || text.starts_with(BEFORE_STOP),
        (_, EventKind::Stop) => envelope.sub_agent.is_some(),
        _ => false,
    }
}

/// Its own name of a session's record; or a moment as text, with none of what others say on every event; or as a number,
/// with a session in its first spelling alone.
pub fn recognises(object: &Map<String, Value>) -> bool {
    let fields = Fields(object);
    let has = |field: &str| object.get(field).is_some_and(|value| !value.is_null());
    let is_text = |field: &str| object.get(field).is_some_and(Value::is_string);
    let moment = object.get("timestamp");
    let is_record = |path: &str| path.contains("/session-state/") && path.ends_with("/events.jsonl");
    let second = is_text("hook_event_name") && is_text("session_id") && moment.is_some_and(Value::is_string);
    fields.text("transcript_path").is_some_and(is_record)
        || second && !["transcript_path", "permission_mode", "sessionId"].into_iter().any(has)
        || is_text("sessionId") && moment.is_some_and(Value::is_number) && !has("session_id")
}
