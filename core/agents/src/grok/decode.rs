//! Grok's payloads as events. It sends most fields twice, in snake and in camel case; the event's name is the usual one
//! under the first and its own under the second.

use super::{PROFILE, tools};
use crate::lenient::Fields;
use crate::payload::PayloadForm;
use crate::salvage;
use model::event::{Body, Envelope, EventKind, SubAgent};
use model::tool::ToolCall;
use serde_json::{Map, Value};

/// The turn was broken off.
pub const CANCELLED: &str = "StopCancelled";

const FORM: PayloadForm = PayloadForm {
    agent: &PROFILE,
    events: &[
        ("SessionStart", EventKind::SessionStart),
        ("UserPromptSubmit", EventKind::UserPromptSubmit),
        ("PreToolUse", EventKind::PreToolUse),
        ("PostToolUse", EventKind::PostToolUse),
        ("PostToolUseFailure", EventKind::PostToolUseFailure),
        ("PermissionDenied", EventKind::PermissionDenied),
        ("Notification", EventKind::Notification),
        ("SubagentStart", EventKind::SubagentStart),
        ("SubagentStop", EventKind::SubagentStop),
        ("Stop", EventKind::Stop),
        (CANCELLED, EventKind::Stop),
        ("StopFailure", EventKind::StopFailure),
        ("PreCompact", EventKind::PreCompact),
        ("PostCompact", EventKind::PostCompact),
        ("SessionEnd", EventKind::SessionEnd),
    ],
    tools: &tools::TOOLS,
    call_id: &["tool_use_id"],
    response: &["tool_response", "tool_result"],
};

/// What it tells itself once work in the background has ended.
const WAKING: &str = "-completed-";
const WAKING_WORDS: &str = "<system-reminder>";

pub fn decode(object: &Map<String, Value>) -> Envelope {
    let fields = Fields(object);
    let own = object.get("hookEventName").and_then(Value::as_str).unwrap_or_default();
    let name = object.get("hook_event_name").and_then(Value::as_str).map_or_else(|| usual_name(own), str::to_string);
    let mut envelope = FORM.envelope(fields, name);
    envelope.sub_agent = sub_agent(fields);
    envelope.cut = fields.flag("tool_input_truncated");
    put_right(&mut envelope, fields);
    envelope
}

/// Both names of one event, each in its own spelling: no other agent sends that. Of a long payload only the beginning may
/// be there, where its own stands.
pub fn recognises(object: &Map<String, Value>) -> bool {
    let text = |field: &str| object.get(field).and_then(Value::as_str);
    let Some(own) = text("hookEventName").filter(|own| own.starts_with(|c: char| c.is_ascii_lowercase())) else {
        return false;
    };
    let usual = usual_name(own);
    FORM.events.iter().any(|(known, _)| *known == usual)
        && text("hook_event_name").is_none_or(|told| told == usual)
        && object.contains_key("workspaceRoot")
}

/// `pre_tool_use` is `PreToolUse`.
fn usual_name(own: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect::<String>()
    };
    own.split('_').map(word).collect()
}

/// A helper's own events carry its type, and its own session; the start that its parent tells names it.
fn sub_agent(fields: Fields<'_>) -> Option<SubAgent> {
    let some = |field: &str| fields.string(field).filter(|text| !text.is_empty());
    let kind = some("subagent_type");
    let id = some("subagent_id").or_else(|| some("session_id").filter(|_| kind.is_some()))?;
    Some(SubAgent { id, kind: kind.unwrap_or_default() })
}

/// What it tells otherwise than it is meant.
fn put_right(envelope: &mut Envelope, fields: Fields<'_>) {
    let nothing = (EventKind::Unknown, Body::Plain);
    let waking = envelope.prompt_id.as_ref().is_some_and(|id| id.contains(WAKING))
        || matches!(&envelope.body, Body::Prompt { text } if text.trim_start().starts_with(WAKING_WORDS));
    let is_cancelled = envelope.name == CANCELLED;
    match &mut envelope.body {
        Body::Prompt { .. } if waking || envelope.sub_agent.is_some() => (envelope.kind, envelope.body) = nothing,
        // Once more when the session is over.
        Body::Stop { .. } if !is_cancelled && fields.text("reason").is_some_and(|reason| reason != "end_turn") => {
            (envelope.kind, envelope.body) = nothing;
        }
        Body::Stop { hook_active, background, .. } => {
            *hook_active |= is_cancelled;
            *background = running(fields);
        }
        Body::Compact { trigger, .. } if trigger.is_empty() => *trigger = fields.plain("source"),
        Body::Tool(call) | Body::ToolFailed { call, .. } => reread(call, fields),
        Body::ToolDone { call, .. } => {
            reread(call, fields);
            if let Some(error) = failure(fields) {
                let call = std::mem::take(call);
                envelope.body = Body::ToolFailed { call, error, interrupted: false };
                envelope.kind = EventKind::PostToolUseFailure;
            }
        }
        _ => {}
    }
}

/// A command that failed is told as done, with its status.
fn failure(fields: Fields<'_>) -> Option<String> {
    let result = fields.value("tool_response").or_else(|| fields.value("tool_result"))?;
    let status = result.get("exit_code").and_then(Value::as_i64)?;
    let is_shells = result.get("type").is_some_and(|kind| kind == "Bash");
    (is_shells && status != 0).then(|| format!("exit status {status}"))
}

/// Background work that still runs.
fn running(fields: Fields<'_>) -> usize {
    let tasks = fields.list("background_tasks").iter().filter_map(Value::as_object);
    tasks.filter(|task| Fields(task).text("status").is_none_or(|status| status == "running")).count()
}

/// The input of a server's tool stands within that of the tool which calls it, a long one comes as the beginning of its
/// text, and one tool keeps what it writes in a list.
fn reread(call: &mut ToolCall, fields: Fields<'_>) {
    let inner = call.input.get("tool_input").filter(|inner| inner.is_object() && (tools::TOOLS.is_servers)(&call.name));
    let input = match (inner, fields.text("tool_input")) {
        (Some(inner), _) => Some(inner.clone()),
        (None, Some(text)) => salvage::salvage(text.as_bytes(), &[]).map(|salvaged| Value::Object(salvaged.fields)),
        (None, None) => None,
    };
    if let Some(input) = input {
        *call = tools::TOOLS.call(std::mem::take(&mut call.name), input, call.use_id.take());
    }
    if call.name == tools::ANCHORED_EDIT {
        let edits = call.input.get("edits").and_then(Value::as_array).into_iter().flatten();
        let texts: Vec<&str> = edits.filter_map(|edit| edit.get("content")?.as_str()).collect();
        (call.subject.removed, call.subject.added) = (Some(String::new()), texts.join("\n"));
    }
}
