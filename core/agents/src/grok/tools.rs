//! Grok's tools, and those it has where its user chose another way of editing.

use crate::tool_table::{AgentTools, KnownTool};
use model::ToolKind;

pub const TOOLS: AgentTools = AgentTools {
    tools: &[
        KnownTool::shell("run_terminal_command", &["command"], &[]),
        KnownTool::shell("run_terminal_cmd", &["command"], &[]),
        KnownTool::shell("monitor", &["command"], &[]),
        KnownTool::write("write", &["file_path"], &["content"]),
        KnownTool::edit("search_replace", &["file_path"], &["old_string"], &["new_string"]),
        KnownTool::edit(ANCHORED_EDIT, &["file_path"], &[], &[]),
        KnownTool::patch("apply_patch", &["input", "patch"]),
        KnownTool::read("read_file", &["target_file"]),
        KnownTool::read("hashline_read", &["target_file"]),
        KnownTool::search("grep", &["path"], &["pattern"]),
        KnownTool::search("hashline_grep", &["path"], &["pattern"]),
        KnownTool::names("list_dir", &["target_directory"], &[]),
        KnownTool::looks(ToolKind::Search, "web_search"),
        KnownTool::looks(ToolKind::Search, "memory_search"),
        KnownTool::looks(ToolKind::Read, "memory_get"),
        KnownTool::of(ToolKind::Fetch, "web_fetch"),
        KnownTool::looks(ToolKind::Ask, "ask_user_question"),
        KnownTool::looks(ToolKind::Plan, "todo_write"),
        KnownTool::looks(ToolKind::Plan, "exit_plan_mode"),
        KnownTool::of(ToolKind::Other, "enter_plan_mode"),
        KnownTool::of(ToolKind::Task, "spawn_subagent"),
        KnownTool::of(ToolKind::Task, "send_subagent_message"),
        KnownTool::of(ToolKind::Task, "kill_command_or_subagent"),
        KnownTool::looks(ToolKind::Task, "get_command_or_subagent_output"),
        KnownTool::looks(ToolKind::Task, "wait_commands_or_subagents"),
        KnownTool::of(ToolKind::Task, "workflow"),
        KnownTool::of(ToolKind::Task, "scheduler_create"),
        KnownTool::of(ToolKind::Task, "scheduler_delete"),
        KnownTool::looks(ToolKind::Task, "scheduler_list"),
        KnownTool::looks(ToolKind::Other, "search_tool"),
        KnownTool { skill: &["skill", "name"], ..KnownTool::of(ToolKind::Other, "skill") },
    ],
    is_servers: |name| name.contains("__"),
};

/// Its texts stand in a list: `edits`, each with its `content`.
pub const ANCHORED_EDIT: &str = "hashline_edit";
