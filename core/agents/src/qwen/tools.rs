//! Qwen Code's tools, as its requests declare them and as its package names them. A tool that is called through
//! `tool_call` is told by its own name.

use crate::tool_table::{AgentTools, KnownTool as Tool};
use model::tool::ToolKind;

pub const TOOLS: AgentTools = AgentTools {
    tools: &[
        Tool::shell("run_shell_command", &["command"], &["directory"]),
        Tool::shell("monitor", &["command"], &["directory"]),
        Tool::write("write_file", &["file_path"], &["content"]),
        Tool::edit("edit", &["file_path"], &["old_string"], &["new_string"]),
        Tool::edit("notebook_edit", &["notebook_path"], &[], &["new_source"]),
        Tool::read("read_file", &["file_path"]),
        Tool::looks(ToolKind::Read, "zoom_image"),
        Tool::looks(ToolKind::Read, "display_image"),
        Tool::names("list_directory", &["path"], &[]),
        Tool::names("glob", &["path"], &["pattern"]),
        Tool::search("grep_search", &["path"], &["pattern"]),
        Tool::looks(ToolKind::Search, "lsp"),
        Tool::looks(ToolKind::Search, "web_search"),
        Tool::of(ToolKind::Fetch, "web_fetch"),
        Tool::looks(ToolKind::Ask, "ask_user_question"),
        Tool::looks(ToolKind::Plan, "todo_write"),
        Tool::looks(ToolKind::Plan, "exit_plan_mode"),
        Tool::looks(ToolKind::Plan, "get_goal"),
        Tool::of(ToolKind::Plan, "update_goal"),
        Tool::of(ToolKind::Plan, "propose_goal"),
        Tool::of(ToolKind::Plan, "task_create"),
        Tool::of(ToolKind::Plan, "task_update"),
        Tool::looks(ToolKind::Plan, "task_list"),
        Tool::of(ToolKind::Task, "agent"),
        Tool::of(ToolKind::Task, "workflow"),
        Tool::of(ToolKind::Task, "create_sub_session"),
        Tool::of(ToolKind::Task, "send_message"),
        Tool::of(ToolKind::Task, "task_stop"),
        Tool::of(ToolKind::Task, "cron_create"),
        Tool::of(ToolKind::Task, "cron_delete"),
        Tool::looks(ToolKind::Task, "cron_list"),
        Tool::looks(ToolKind::Task, "list_agents"),
        Tool { skill: &["skill"], ..Tool::of(ToolKind::Other, "skill") },
        Tool::of(ToolKind::Other, "enter_plan_mode"),
        Tool::of(ToolKind::Other, "save_memory"),
        Tool::looks(ToolKind::Other, "tool_search"),
        Tool::looks(ToolKind::Other, "report_findings"),
        Tool::looks(ToolKind::Mcp, "read_mcp_resource"),
    ],
    is_servers: |name| name.starts_with("mcp__"),
};
