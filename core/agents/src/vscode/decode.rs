//! VS Code's payloads as events.

use super::PROFILE;
use crate::lenient::Fields;
use crate::payload::PayloadForm;
use crate::tool_table::{AgentTools, KnownTool};
use model::event::{Body, Envelope, EventKind};
use model::tool::{ToolCall, ToolKind};
use serde_json::{Map, Value};

const FORM: PayloadForm = PayloadForm {
    agent: &PROFILE,
    events: &[
        ("SessionStart", EventKind::SessionStart),
        ("UserPromptSubmit", EventKind::UserPromptSubmit),
        ("PreToolUse", EventKind::PreToolUse),
        ("PostToolUse", EventKind::PostToolUse),
        ("PreCompact", EventKind::PreCompact),
        ("SubagentStart", EventKind::SubagentStart),
        ("SubagentStop", EventKind::SubagentStop),
        ("Stop", EventKind::Stop),
        // It tells none; the proof of an installation does.
        ("SessionEnd", EventKind::SessionEnd),
    ],
    tools: &TOOLS,
    call_id: &["tool_use_id"],
    response: &["tool_response"],
};

const FILE: &[&str] = &["filePath", "file_path", "path"];
const SEVERAL: &str = "multi_replace_string_in_file";

const TOOLS: AgentTools = AgentTools {
    tools: &[
        KnownTool::shell("run_in_terminal", &["command"], &["cwd"]),
        KnownTool::write("create_file", FILE, &["content"]),
        KnownTool::edit("replace_string_in_file", FILE, &["oldString"], &["newString"]),
        KnownTool::edit(SEVERAL, FILE, &["oldString"], &["newString"]),
        KnownTool::edit("insert_edit_into_file", FILE, &[], &["code"]),
        KnownTool::edit("edit_file", FILE, &[], &["code", "content"]),
        KnownTool::edit("edit_notebook_file", FILE, &[], &["newCode"]),
        KnownTool::patch("apply_patch", &["input"]),
        KnownTool::read("read_file", FILE),
        KnownTool::search("list_dir", &["path"], &[]),
        KnownTool::names("file_search", &[], &["query"]),
        KnownTool::search("grep_search", &["includePattern"], &["query"]),
        KnownTool::looks(ToolKind::Search, "semantic_search"),
        KnownTool::looks(ToolKind::Search, "get_errors"),
        KnownTool::looks(ToolKind::Search, "get_changed_files"),
        KnownTool::looks(ToolKind::Shell, "get_terminal_output"),
        KnownTool::of(ToolKind::Fetch, "fetch_webpage"),
        KnownTool::looks(ToolKind::Plan, "manage_todo_list"),
        KnownTool::of(ToolKind::Task, "runSubagent"),
    ],
    is_servers: |name| name.starts_with("mcp_"),
};

/// Its documented mixture of spellings, or a transcript where it keeps its own.
pub fn recognises(object: &Map<String, Value>) -> bool {
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
    let mixed = !text("hookEventName").is_empty() && text("hook_event_name").is_empty();
    let path = text("transcript_path");
    let own = path.contains("/workspaceStorage/") || path.contains("copilot-chat");
    !path.is_empty() && !text("timestamp").is_empty() && (mixed || own)
}

pub fn decode(object: &Map<String, Value>) -> Envelope {
    let fields = Fields(object);
    let mut envelope = FORM.envelope(fields, fields.plain("hook_event_name"));
    if let Body::Tool(call) | Body::ToolDone { call, .. } = &mut envelope.body {
        with_all_files(call);
    }
    envelope
}

/// One call may change several files.
fn with_all_files(call: &mut ToolCall) {
    let changes = call.input.get("replacements").and_then(Value::as_array).filter(|_| call.name == SEVERAL);
    let files = changes.into_iter().flatten().filter_map(|change| change.get("filePath")?.as_str().map(str::to_string));
    call.subject.paths.extend(files.collect::<Vec<_>>());
    call.subject.unread.take_if(|_| !call.subject.paths.is_empty());
}
