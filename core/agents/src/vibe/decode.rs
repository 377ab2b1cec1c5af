//! Mistral Vibe's payloads as events.

use super::PROFILE;
use crate::lenient::Fields;
use crate::payload::PayloadForm;
use crate::tool_table::{AgentTools, KnownTool};
use model::event::{Body, Envelope, EventKind, SubAgent};
use model::tool::ToolKind;
use serde_json::{Map, Value};

pub const BEFORE: &str = "pre_tool";
pub const AFTER: &str = "post_tool";
pub const END: &str = "post_agent";
/// It tells no end of a session; the proof of an installation does.
pub const PROOF_END: &str = "session_end";

const FORM: PayloadForm = PayloadForm {
    agent: &PROFILE,
    events: &[
        (BEFORE, EventKind::PreToolUse),
        (AFTER, EventKind::PostToolUse),
        (END, EventKind::Stop),
        (PROOF_END, EventKind::SessionEnd),
    ],
    tools: &TOOLS,
    call_id: &["tool_call_id"],
    response: &["tool_output", "tool_output_text"],
};

/// A tool is called by its group and its name. What a script of the model calls is told call by call.
const TOOLS: AgentTools = AgentTools {
    tools: &[
        KnownTool::shell("file_system.bash", &["command"], &[]),
        KnownTool::write("file_system.write_file", &["file_path", "path"], &["content"]),
        KnownTool::edit("file_system.edit", &["file_path", "path"], &["old_string"], &["new_string"]),
        KnownTool::read("file_system.read_file", &["file_path", "path"]),
        KnownTool::looks(ToolKind::Plan, "vibe.todo"),
        KnownTool::looks(ToolKind::Plan, "vibe.unified_harness_scratchpad"),
        KnownTool::looks(ToolKind::Read, "skill.read"),
        KnownTool::of(ToolKind::Task, "subagent.spawn"),
        KnownTool::of(ToolKind::Task, "subagent.send_message"),
        KnownTool::of(ToolKind::Task, "subagent.stop"),
        KnownTool::of(ToolKind::Task, "subagent.interrupt"),
        KnownTool::looks(ToolKind::Task, "subagent.wait"),
        KnownTool::looks(ToolKind::Task, "subagent.list"),
    ],
    is_servers: |name| name.starts_with("mcp") || name.starts_with("connector"),
};

pub fn decode(object: &Map<String, Value>) -> Envelope {
    let fields = Fields(object);
    let mut envelope = FORM.envelope(fields, fields.plain("hook_event_name"));
    if fields.text("tool_status").is_some_and(|status| status != "success") && envelope.kind == EventKind::PostToolUse {
        envelope.kind = EventKind::PostToolUseFailure;
        envelope.body = Body::ToolFailed {
            call: FORM.tool(fields),
            error: fields.plain("tool_error"),
            interrupted: fields.text("tool_status") == Some("cancelled"),
        };
    }
    // A helper's session is its own, and every event names its parent's.
    if let Some(parent) = fields.string("parent_session_id").filter(|parent| !parent.is_empty()) {
        let id = envelope.host_session.replace(parent).unwrap_or_default();
        envelope.sub_agent = Some(SubAgent { id, kind: "helper".into() });
        if envelope.kind == EventKind::Stop {
            envelope.kind = EventKind::SubagentStop;
        }
    }
    envelope
}
