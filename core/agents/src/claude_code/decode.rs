//! Claude Code's payloads as events.

use super::NAME;
use crate::lenient::Fields;
use model::event::{Body, Envelope, Kind, Response, SessionStart, Source, SubAgent};
use model::tool::ToolCall;
use serde_json::{Map, Value};

pub fn decode(object: &Map<String, Value>) -> Envelope {
    let fields = Fields(object);
    let name = event_name(fields);
    let kind = Kind::parse(&name);
    Envelope {
        agent: NAME,
        kind,
        name,
        host_session: fields.string("session_id").filter(|id| !id.is_empty()),
        transcript: fields.string("transcript_path"),
        cwd: fields.string("cwd").filter(|cwd| !cwd.is_empty()),
        prompt_id: fields.string("prompt_id"),
        permission_mode: fields.string("permission_mode"),
        sub_agent: sub_agent(fields, kind),
        body: body(fields, kind),
        notes: Vec::new(),
        cut: false,
    }
}

/// The event's name. Seed-era scripts tell a compaction as `{"event":"auto"}`.
fn event_name(fields: Fields<'_>) -> String {
    match fields.text("hook_event_name") {
        Some(name) => name.to_string(),
        None => match fields.text("event") {
            Some("auto" | "manual") => Kind::PreCompact.name().to_string(),
            _ => String::new(),
        },
    }
}

/// Only sub-agents carry an `agent_id`; a teammate carries one too, but speaks for itself.
fn sub_agent(fields: Fields<'_>, kind: Kind) -> Option<SubAgent> {
    if kind == Kind::TeammateIdle {
        return None;
    }
    let id = fields.string("agent_id").filter(|id| !id.is_empty())?;
    Some(SubAgent { id, kind: fields.plain("agent_type") })
}

fn body(fields: Fields<'_>, kind: Kind) -> Body {
    match kind {
        Kind::SessionStart => Body::SessionStart(SessionStart {
            source: Source::parse(fields.text("source").unwrap_or_default()),
            model: fields.string("model"),
            context_tokens: fields.number("context_tokens"),
        }),
        Kind::UserPromptSubmit => Body::Prompt { text: fields.plain("prompt") },
        Kind::UserPromptExpansion => {
            Body::Expansion { command: fields.plain("command_name"), args: fields.plain("command_args") }
        }
        Kind::PreToolUse | Kind::PermissionRequest | Kind::PermissionDenied => Body::Tool(tool(fields)),
        Kind::PostToolUse => Body::ToolDone {
            call: answered(tool(fields), fields),
            response: response(fields),
            duration_ms: fields.number("duration_ms"),
        },
        Kind::PostToolUseFailure => Body::ToolFailed {
            call: tool(fields),
            error: fields.plain("error"),
            interrupted: fields.flag("is_interrupt"),
        },
        Kind::PostToolBatch => Body::ToolBatch { calls: batch(fields) },
        Kind::Stop | Kind::SubagentStop => Body::Stop {
            hook_active: fields.flag("stop_hook_active"),
            last_message: fields.string("last_assistant_message"),
            background: running(fields),
        },
        Kind::StopFailure => Body::Failure { error: fields.plain("error") },
        Kind::Notification => {
            Body::Notification { kind: fields.plain("notification_type"), message: fields.plain("message") }
        }
        Kind::PreCompact | Kind::PostCompact => Body::Compact { trigger: compact_trigger(fields) },
        Kind::SessionEnd => Body::SessionEnd { reason: fields.string("reason").unwrap_or_else(|| "other".into()) },
        Kind::ConfigChange => Body::ConfigChange { source: fields.plain("source"), file: fields.string("file_path") },
        Kind::CwdChanged => Body::CwdChanged { new: fields.string("new_cwd") },
        Kind::TaskCreated | Kind::TaskCompleted => Body::HostTask {
            id: fields.plain("task_id"),
            subject: fields.plain("task_subject"),
            teammate: fields.string("teammate_name"),
        },
        Kind::PostModelSwitch => {
            Body::ModelSwitch { to: fields.string("to_model"), context_tokens: fields.number("context_tokens") }
        }
        Kind::TeammateIdle => Body::Teammate { name: fields.plain("teammate_name") },
        _ => Body::Plain,
    }
}

fn compact_trigger(fields: Fields<'_>) -> String {
    fields.string("trigger").or_else(|| fields.string("event")).unwrap_or_default()
}

fn tool(fields: Fields<'_>) -> ToolCall {
    ToolCall {
        name: fields.plain("tool_name"),
        use_id: fields.string("tool_use_id").filter(|id| !id.is_empty()),
        input: fields.value("tool_input").filter(|input| input.is_object()).cloned().unwrap_or_default(),
    }
}

/// A response is not kept, but the user's answers to questions are: they belong
/// to what was asked.
fn answered(mut call: ToolCall, fields: Fields<'_>) -> ToolCall {
    let response = fields.value("tool_response").filter(|_| call.name == "AskUserQuestion");
    let answers =
        response.and_then(|response| response.get("answers").or_else(|| response.is_string().then_some(response)));
    if let (Some(answers), Some(input)) = (answers, call.input.as_object_mut()) {
        input.entry("answers").or_insert_with(|| answers.clone());
    }
    call
}

fn batch(fields: Fields<'_>) -> Vec<String> {
    let calls = fields.list("tool_calls").iter().filter_map(Value::as_object);
    calls.filter_map(|call| Fields(call).string("tool_use_id")).collect()
}

/// Background work of the host that still runs. A task without a status counts:
/// better a busy agent shown as busy too long than a working one shown as done.
fn running(fields: Fields<'_>) -> usize {
    let tasks = fields.list("background_tasks").iter().filter_map(Value::as_object);
    tasks.filter(|task| Fields(task).text("status").is_none_or(|status| status == "running")).count()
}

fn response(fields: Fields<'_>) -> Response {
    let Some(value) = fields.value("tool_response") else { return Response::default() };
    let text = value.to_string();
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    Response { bytes: text.len() as u64, hash }
}
