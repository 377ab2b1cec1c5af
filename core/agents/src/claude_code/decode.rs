//! Claude Code's payloads as events.

use super::{PROFILE, tools};
use crate::lenient::Fields;
use model::event::{Body, Envelope, EventKind, SessionStart, StartSource, SubAgent, ToldText, ToolResponse};
use model::tool::{ToolCall, ToolKind};
use serde_json::{Map, Value};

pub fn decode(object: &Map<String, Value>) -> Envelope {
    let fields = Fields(object);
    let name = event_name(fields);
    let kind = EventKind::parse(&name);
    Envelope {
        agent: &PROFILE,
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
            Some("auto" | "manual") => EventKind::PreCompact.name().to_string(),
            _ => String::new(),
        },
    }
}

/// Only sub-agents carry an `agent_id`; a teammate carries one too, but speaks for itself.
fn sub_agent(fields: Fields<'_>, kind: EventKind) -> Option<SubAgent> {
    if kind == EventKind::TeammateIdle {
        return None;
    }
    let id = fields.string("agent_id").filter(|id| !id.is_empty())?;
    Some(SubAgent { id, kind: fields.plain("agent_type") })
}

fn body(fields: Fields<'_>, kind: EventKind) -> Body {
    match kind {
        EventKind::SessionStart => Body::SessionStart(SessionStart {
            source: StartSource::parse(fields.text("source").unwrap_or_default()),
            previous: None,
            model: fields.string("model"),
            context_tokens: fields.number("context_tokens"),
        }),
        EventKind::UserPromptSubmit => Body::Prompt { text: fields.plain("prompt") },
        EventKind::UserPromptExpansion => {
            Body::Expansion { command: fields.plain("command_name"), args: fields.plain("command_args") }
        }
        EventKind::PreToolUse | EventKind::PermissionRequest | EventKind::PermissionDenied => {
            Body::Tool(tools::with_texts(tool(fields)))
        }
        EventKind::PostToolUse => Body::ToolDone {
            call: answered(tool(fields), fields),
            response: response(fields),
            duration_ms: fields.number("duration_ms"),
        },
        EventKind::PostToolUseFailure => Body::ToolFailed {
            call: tool(fields),
            error: fields.plain("error"),
            interrupted: fields.flag("is_interrupt"),
        },
        EventKind::PostToolBatch => Body::ToolBatch { calls: batch(fields), told: told(fields) },
        EventKind::Stop | EventKind::SubagentStop => Body::Stop {
            hook_active: fields.flag("stop_hook_active"),
            last_message: fields.string("last_assistant_message"),
            background: running(fields),
        },
        EventKind::StopFailure => Body::Failure {
            error: fields.plain("error"),
            details: fields.string("error_details"),
            last_message: fields.string("last_assistant_message"),
        },
        EventKind::Notification => {
            Body::Notification { kind: fields.plain("notification_type"), message: fields.plain("message") }
        }
        EventKind::PreCompact | EventKind::PostCompact => Body::Compact {
            trigger: compact_trigger(fields),
            summary: fields.string("compact_summary").filter(|_| kind == EventKind::PostCompact),
        },
        EventKind::SessionEnd => Body::SessionEnd { reason: fields.string("reason").unwrap_or_else(|| "other".into()) },
        EventKind::ConfigChange => {
            Body::ConfigChange { source: fields.plain("source"), file: fields.string("file_path") }
        }
        EventKind::CwdChanged => Body::CwdChanged { new: fields.string("new_cwd") },
        EventKind::TaskCreated | EventKind::TaskCompleted => Body::HostTask {
            id: fields.plain("task_id"),
            subject: fields.plain("task_subject"),
            teammate: fields.string("teammate_name"),
        },
        EventKind::PostModelSwitch => {
            Body::ModelSwitch { to: fields.string("to_model"), context_tokens: fields.number("context_tokens") }
        }
        EventKind::TeammateIdle => Body::Teammate { name: fields.plain("teammate_name") },
        _ => Body::Plain,
    }
}

fn compact_trigger(fields: Fields<'_>) -> String {
    fields.string("trigger").or_else(|| fields.string("event")).unwrap_or_default()
}

fn tool(fields: Fields<'_>) -> ToolCall {
    let input = fields.value("tool_input").filter(|input| input.is_object()).cloned().unwrap_or_default();
    let name = fields.plain("tool_name");
    let call = match own_command(&name, fields) {
        Some(command) => tools::own(name, input, command),
        None => tools::call(name, input),
    };
    ToolCall { use_id: fields.string("tool_use_id").filter(|id| !id.is_empty()), ..call }
}

/// The command that a tool of our own server stands for. A server of that name which a project brings is anybody's, and
/// so is one of which the client does not say whose it is.
fn own_command(tool: &str, fields: Fields<'_>) -> Option<&'static str> {
    let server = fields.value("mcp_server")?;
    let is = |field: &str, text: &str| server.get(field).and_then(Value::as_str) == Some(text);
    if is("name", "taut") && is("source", "user") { tools::own_command(tool) } else { None }
}

/// A response is not kept, but the user's answers to questions are: they belong
/// to what was asked.
fn answered(mut call: ToolCall, fields: Fields<'_>) -> ToolCall {
    let response = fields.value("tool_response").filter(|_| call.kind == ToolKind::Ask);
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

/// A longer text is no person's denial.
const LONGEST_TOLD: usize = 16 * 1024;

fn told(fields: Fields<'_>) -> Vec<ToldText> {
    let calls = fields.list("tool_calls").iter().filter_map(Value::as_object);
    let told = calls.filter_map(|call| Some((Fields(call).text("tool_name")?, Fields(call).text("tool_response")?)));
    let short = told.filter(|(_, text)| text.len() <= LONGEST_TOLD);
    short.map(|(tool, text)| ToldText { tool: tool.to_string(), text: text.to_string() }).collect()
}

/// Background work of the host that still runs. A task without a status counts:
/// better a busy agent shown as busy too long than a working one shown as done.
fn running(fields: Fields<'_>) -> usize {
    let tasks = fields.list("background_tasks").iter().filter_map(Value::as_object);
    tasks.filter(|task| Fields(task).text("status").is_none_or(|status| status == "running")).count()
}

fn response(fields: Fields<'_>) -> ToolResponse {
    fields.value("tool_response").map(crate::payload::response_of).unwrap_or_default()
}
