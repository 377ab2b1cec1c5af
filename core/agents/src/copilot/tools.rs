//! Copilot's tools: as it calls them itself, and as it calls the better known of them where a hook is registered in
//! another agent's spelling.

use crate::tool_table::{AgentTools, KnownTool};
use model::tool::ToolKind;

const NONE: &[&str] = &[];
const PATH: &[&str] = &["path", "file_path"];
const OLD: &[&str] = &["old_str", "old_string"];
const NEW: &[&str] = &["new_str", "new_string", "file_text"];
const PATCH: &[&str] = &["input", "patch"];

/// A change of a file, or a patch of several: both are `Edit` in the other spelling.
const fn edit(name: &'static str) -> KnownTool {
    KnownTool { patch: PATCH, ..KnownTool::edit(name, PATH, OLD, NEW) }
}

pub static TOOLS: AgentTools = AgentTools {
    tools: &[
        KnownTool::shell("bash", &["command"], NONE),
        KnownTool::shell("Bash", &["command"], NONE),
        // What is typed into a shell that is open.
        KnownTool::shell("write_bash", &["input"], NONE),
        KnownTool::write("create", PATH, &["file_text"]),
        KnownTool::write("Write", PATH, &["file_text"]),
        edit("edit"),
        edit("Edit"),
        edit("apply_patch"),
        KnownTool::read("view", PATH),
        KnownTool::read("Read", PATH),
        KnownTool::search("grep", &["path", "paths"], &["pattern"]),
        KnownTool::search("Grep", &["path", "paths"], &["pattern"]),
        KnownTool::search("glob", &["path", "paths"], &["pattern"]),
        KnownTool::search("Glob", &["path", "paths"], &["pattern"]),
        KnownTool::of(ToolKind::Fetch, "web_fetch"),
        KnownTool::of(ToolKind::Fetch, "WebFetch"),
        KnownTool::looks(ToolKind::Search, "web_search"),
        KnownTool::looks(ToolKind::Search, "WebSearch"),
        KnownTool::looks(ToolKind::Ask, "ask_user"),
        KnownTool::looks(ToolKind::Ask, "AskUserQuestion"),
        // A database of the session's own, for its lists.
        KnownTool::of(ToolKind::Plan, "sql"),
        KnownTool::looks(ToolKind::Plan, "session_store_sql"),
        KnownTool::looks(ToolKind::Plan, "update_todo"),
        KnownTool::looks(ToolKind::Plan, "TodoWrite"),
        KnownTool::looks(ToolKind::Plan, "report_intent"),
        KnownTool::looks(ToolKind::Plan, "exit_plan_mode"),
        KnownTool::looks(ToolKind::Plan, "ExitPlanMode"),
        KnownTool::of(ToolKind::Task, "task"),
        KnownTool::of(ToolKind::Task, "Agent"),
        KnownTool::of(ToolKind::Task, "Task"),
        KnownTool::of(ToolKind::Task, "write_agent"),
        KnownTool::looks(ToolKind::Task, "read_agent"),
        KnownTool::looks(ToolKind::Task, "list_agents"),
        KnownTool::looks(ToolKind::Task, "read_bash"),
        KnownTool::looks(ToolKind::Task, "list_bash"),
        KnownTool::of(ToolKind::Task, "stop_bash"),
        KnownTool::of(ToolKind::Other, "skill"),
        KnownTool::of(ToolKind::Other, "Skill"),
        KnownTool::looks(ToolKind::Other, "fetch_copilot_cli_documentation"),
        KnownTool::looks(ToolKind::Other, "task_complete"),
    ],
    // `server-tool`: none of its own has a dash.
    is_servers: |name| name.contains('-'),
};
