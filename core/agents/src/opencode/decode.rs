//! OpenCode's tools; the payload is the plugin's.

use super::PROFILE;
use crate::payload::PayloadForm;
use crate::shim;
use crate::tool_table::{AgentTools, KnownTool};
use model::Envelope;
use model::tool::ToolKind;
use serde_json::{Map, Value};

const FILE: &[&str] = &["filePath"];

const TOOLS: AgentTools = AgentTools {
    tools: &[
        KnownTool::shell("bash", &["command"], &["workdir"]),
        KnownTool::shell("shell", &["command"], &["workdir"]),
        KnownTool::write("write", FILE, &["content"]),
        KnownTool::edit("edit", FILE, &["oldString"], &["newString"]),
        KnownTool::edit("multiedit", FILE, &["oldString"], &["newString"]),
        KnownTool::patch("apply_patch", &["patchText"]),
        KnownTool::patch("patch", &["patchText"]),
        KnownTool::read("read", FILE),
        KnownTool::search("glob", &["path"], &["pattern"]),
        KnownTool::search("grep", &["path"], &["pattern"]),
        KnownTool::search("list", &["path"], &[]),
        KnownTool::looks(ToolKind::Search, "lsp"),
        KnownTool::looks(ToolKind::Search, "websearch"),
        KnownTool::looks(ToolKind::Search, "codesearch"),
        KnownTool::of(ToolKind::Fetch, "webfetch"),
        KnownTool::looks(ToolKind::Ask, "question"),
        KnownTool::looks(ToolKind::Plan, "todowrite"),
        KnownTool::looks(ToolKind::Plan, "todoread"),
        KnownTool::looks(ToolKind::Plan, "plan_exit"),
        KnownTool::of(ToolKind::Other, "plan_enter"),
        KnownTool::of(ToolKind::Task, "task"),
        KnownTool::looks(ToolKind::Mcp, "list_mcp_resources"),
        KnownTool::looks(ToolKind::Mcp, "list_mcp_resource_templates"),
        KnownTool::looks(ToolKind::Mcp, "read_mcp_resource"),
        KnownTool::of(ToolKind::Other, "skill"),
    ],
    is_servers: |name| name.contains('_'),
};

const FORM: PayloadForm = PayloadForm {
    agent: &PROFILE,
    events: shim::EVENTS,
    tools: &TOOLS,
    call_id: &["tool_use_id"],
    response: &["tool_response"],
};

pub fn decode(object: &Map<String, Value>) -> Envelope {
    let mut envelope = shim::decode(&FORM, object);
    if let model::event::Body::Tool(call) = &mut envelope.body
        && call.name == "skill"
    {
        call.subject.skill = Some(call.text("name").unwrap_or_default().to_string());
    }
    envelope
}
