//! Cursor's payloads as events.

use super::PROFILE;
use crate::lenient::Fields;
use crate::payload::{PayloadForm, error_text};
use crate::tool_table::{AgentTools, KnownTool};
use model::event::{Body, Envelope, EventKind, SubAgent};
use model::tool::{ToolCall, ToolKind};
use serde_json::{Map, Value, json};

pub const BEFORE: &str = "preToolUse";
pub const SHELL: &str = "beforeShellExecution";

const FORM: PayloadForm = PayloadForm {
    agent: &PROFILE,
    events: &[
        ("sessionStart", EventKind::SessionStart),
        ("beforeSubmitPrompt", EventKind::UserPromptSubmit),
        (BEFORE, EventKind::PreToolUse),
        // Registered by hand in place of the general one.
        (SHELL, EventKind::PreToolUse),
        ("postToolUse", EventKind::PostToolUse),
        ("postToolUseFailure", EventKind::PostToolUseFailure),
        ("subagentStart", EventKind::SubagentStart),
        ("subagentStop", EventKind::SubagentStop),
        ("preCompact", EventKind::PreCompact),
        ("stop", EventKind::Stop),
        ("sessionEnd", EventKind::SessionEnd),
    ],
    tools: &TOOLS,
    call_id: &["tool_use_id"],
    response: &["tool_output"],
};

const FILES: &[&str] = &["file_path", "path", "target_file"];

const TOOLS: AgentTools = AgentTools {
    tools: &[
        KnownTool::shell("Shell", &["command"], &["working_directory", "cwd"]),
        KnownTool::write("Write", FILES, &["content", "contents"]),
        KnownTool::edit("StrReplace", FILES, &["old_string"], &["new_string"]),
        KnownTool::edit("Edit", FILES, &["old_string"], &["new_string"]),
        KnownTool::of(ToolKind::Other, "Delete"),
        KnownTool::read("Read", FILES),
        KnownTool::search("Grep", &["path"], &["pattern"]),
        KnownTool::search("Glob", &["target_directory", "path"], &["glob_pattern", "pattern"]),
        KnownTool::looks(ToolKind::Search, "SemanticSearch"),
        KnownTool::looks(ToolKind::Search, "WebSearch"),
        KnownTool::of(ToolKind::Fetch, "WebFetch"),
        KnownTool::looks(ToolKind::Plan, "TodoWrite"),
        KnownTool::of(ToolKind::Task, "Task"),
    ],
    is_servers: |name| name.starts_with("MCP:"),
};

pub fn decode(object: &Map<String, Value>) -> Envelope {
    let fields = Fields(object);
    let mut envelope = FORM.envelope(fields, fields.plain("hook_event_name"));
    envelope.host_session = fields.string("conversation_id").or(envelope.host_session.take());
    let root = || fields.list("workspace_roots").first().and_then(Value::as_str).map(str::to_string);
    envelope.cwd = envelope.cwd.take().or_else(root);
    envelope.prompt_id = fields.string("generation_id");
    match envelope.name.as_str() {
        SHELL => envelope.body = Body::Tool(shell(fields)),
        "postToolUseFailure" => {
            let error = error_text(fields.value("error_message").or(fields.value("error")));
            envelope.body =
                Body::ToolFailed { call: FORM.tool(fields), error, interrupted: fields.flag("is_interrupt") };
        }
        "subagentStart" | "subagentStop" => {
            let kind = fields.plain("subagent_type");
            let id = fields.string("subagent_id").unwrap_or_else(|| kind.clone());
            envelope.sub_agent = Some(SubAgent { id, kind });
        }
        // How often it has been sent on already.
        "stop" => {
            let sent_back = fields.number("loop_count").is_some_and(|count| count > 0);
            envelope.body = Body::Stop { hook_active: sent_back, last_message: None, background: 0 };
        }
        _ => {}
    }
    envelope
}

/// The event names no tool: the command stands beside it.
fn shell(fields: Fields<'_>) -> ToolCall {
    let input = json!({"command": fields.value("command").cloned().unwrap_or_default(), "cwd": fields.plain("cwd")});
    TOOLS.call("Shell".into(), input, fields.string("tool_use_id"))
}
