//! Codex's tools, as its hooks are told of them: every shell is `Bash`, whatever the model calls it.

use crate::tool_table::{AgentTools, KnownTool};
use model::tool::ToolKind;

const NONE: &[&str] = &[];

pub static TOOLS: AgentTools = AgentTools {
    tools: &[
        // The folder it runs in is the event's own.
        KnownTool::shell("Bash", &["command"], NONE),
        KnownTool::patch("apply_patch", &["command", "input", "patch"]),
        KnownTool::read("view_image", &["path"]),
        KnownTool::read("read_file", &["file_path", "path"]),
        KnownTool::search("list_dir", &["dir_path", "path"], NONE),
        KnownTool::search("grep_files", &["path"], &["pattern"]),
        KnownTool::looks(ToolKind::Search, "web_search"),
        KnownTool::looks(ToolKind::Ask, "request_user_input"),
        KnownTool::looks(ToolKind::Plan, "update_plan"),
        KnownTool::looks(ToolKind::Plan, "get_goal"),
        KnownTool::of(ToolKind::Plan, "create_goal"),
        KnownTool::of(ToolKind::Plan, "update_goal"),
        KnownTool::of(ToolKind::Task, "spawn_agent"),
        KnownTool::of(ToolKind::Task, "spawn_agents_on_csv"),
        KnownTool::of(ToolKind::Task, "resume_agent"),
        KnownTool::of(ToolKind::Task, "send_input"),
        KnownTool::of(ToolKind::Task, "send_message"),
        KnownTool::of(ToolKind::Task, "followup_task"),
        KnownTool::of(ToolKind::Task, "interrupt_agent"),
        KnownTool::of(ToolKind::Task, "close_agent"),
        KnownTool::looks(ToolKind::Task, "wait_agent"),
        KnownTool::looks(ToolKind::Task, "list_agents"),
        KnownTool::looks(ToolKind::Mcp, "list_mcp_resources"),
        KnownTool::looks(ToolKind::Mcp, "list_mcp_resource_templates"),
        KnownTool::looks(ToolKind::Mcp, "read_mcp_resource"),
        KnownTool::looks(ToolKind::Other, "tool_search"),
        KnownTool::looks(ToolKind::Other, "get_context_remaining"),
    ],
    is_servers: |name| name.starts_with("mcp__"),
};
