//! Kimi Code's payloads as events.

use super::PROFILE;
use crate::lenient::Fields;
use crate::payload::PayloadForm;
use crate::tool_table::{AgentTools, KnownTool};
use model::event::{Body, Envelope, EventKind, SubAgent};
use model::tool::ToolKind;
use serde_json::{Map, Value};

const FORM: PayloadForm = PayloadForm {
    agent: &PROFILE,
    events: &[
        ("SessionStart", EventKind::SessionStart),
        ("UserPromptSubmit", EventKind::UserPromptSubmit),
        ("PreToolUse", EventKind::PreToolUse),
        ("PermissionRequest", EventKind::PermissionRequest),
        ("PostToolUse", EventKind::PostToolUse),
        ("PostToolUseFailure", EventKind::PostToolUseFailure),
        ("Stop", EventKind::Stop),
        ("Interrupt", EventKind::Stop),
        ("StopFailure", EventKind::StopFailure),
        ("SubagentStart", EventKind::SubagentStart),
        ("SubagentStop", EventKind::SubagentStop),
        ("PreCompact", EventKind::PreCompact),
        ("PostCompact", EventKind::PostCompact),
        ("Notification", EventKind::Notification),
        ("SessionEnd", EventKind::SessionEnd),
    ],
    tools: &TOOLS,
    call_id: &["tool_call_id"],
    response: &["tool_output"],
};

const TOOLS: AgentTools = AgentTools {
    tools: &[
        KnownTool::shell("Bash", &["command"], &["cwd"]),
        KnownTool::write("Write", &["path"], &["content"]),
        KnownTool::edit("Edit", &["path"], &["old_string"], &["new_string"]),
        KnownTool::read("Read", &["path"]),
        KnownTool::search("Glob", &["path"], &["pattern"]),
        KnownTool::search("Grep", &["path"], &["pattern"]),
        KnownTool::of(ToolKind::Fetch, "FetchURL"),
        KnownTool::looks(ToolKind::Ask, "AskUserQuestion"),
        KnownTool::looks(ToolKind::Plan, "TodoList"),
        KnownTool::looks(ToolKind::Plan, "ExitPlanMode"),
        KnownTool::looks(ToolKind::Plan, "GetGoal"),
        KnownTool::of(ToolKind::Plan, "CreateGoal"),
        KnownTool::of(ToolKind::Plan, "UpdateGoal"),
        KnownTool::of(ToolKind::Plan, "SetGoalBudget"),
        KnownTool::of(ToolKind::Task, "Agent"),
        KnownTool::of(ToolKind::Task, "AgentSwarm"),
        KnownTool::of(ToolKind::Task, "TaskStop"),
        KnownTool::looks(ToolKind::Task, "TaskList"),
        KnownTool::looks(ToolKind::Task, "TaskOutput"),
        KnownTool::looks(ToolKind::Task, "WaitFor"),
        KnownTool::of(ToolKind::Other, "Skill"),
    ],
    is_servers: |name| name.starts_with("mcp__"),
};

pub fn decode(object: &Map<String, Value>) -> Envelope {
    let fields = Fields(object);
    let mut envelope = FORM.envelope(fields, fields.plain("hook_event_name"));
    match envelope.name.as_str() {
        "UserPromptSubmit" => envelope.body = Body::Prompt { text: prompt(fields) },
        "Interrupt" => envelope.body = Body::Stop { hook_active: true, last_message: None, background: 0 },
        "StopFailure" => {
            let details = Some(fields.plain("error_message")).filter(|text| !text.is_empty());
            envelope.body = Body::Failure { error: fields.plain("error_type"), details, last_message: None };
        }
        // A helper has a name and no id.
        "SubagentStart" | "SubagentStop" => {
            let name = fields.plain("agent_name");
            envelope.sub_agent = Some(SubAgent { id: name.clone(), kind: name });
        }
        _ => {}
    }
    envelope
}

/// A prompt is a list of parts.
fn prompt(fields: Fields<'_>) -> String {
    let parts = fields.list("prompt").iter().filter_map(|part| part.get("text")?.as_str());
    let text = parts.collect::<Vec<_>>().join("\n");
    if text.is_empty() { fields.plain("prompt") } else { text }
}
