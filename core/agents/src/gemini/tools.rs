//! Gemini CLI's tools, as its requests declare them and as its package names them.

use crate::tool_table::{AgentTools, KnownTool as Tool};
use model::tool::ToolKind;

pub const TOOLS: AgentTools = AgentTools {
    tools: &[
        Tool::shell("run_shell_command", &["command"], &["dir_path", "directory"]),
        Tool::write("write_file", &["file_path"], &["content"]),
        Tool::edit("replace", &["file_path"], &["old_string"], &["new_string"]),
        Tool::read("read_file", &["file_path", "absolute_path"]),
        Tool::read("read_many_files", &["include", "paths"]),
        Tool::names("list_directory", &["dir_path", "path"], &[]),
        Tool::names("glob", &["dir_path", "path"], &["pattern"]),
        Tool::search("grep_search", &["dir_path", "path"], &["pattern"]),
        Tool::search("search_file_content", &["dir_path", "path"], &["pattern"]),
        Tool::looks(ToolKind::Search, "google_web_search"),
        Tool::of(ToolKind::Fetch, "web_fetch"),
        Tool::looks(ToolKind::Ask, "ask_user"),
        Tool::looks(ToolKind::Plan, "write_todos"),
        Tool::looks(ToolKind::Plan, "exit_plan_mode"),
        Tool::looks(ToolKind::Plan, "update_topic"),
        Tool::looks(ToolKind::Plan, "tracker_get_task"),
        Tool::looks(ToolKind::Plan, "tracker_list_tasks"),
        Tool::looks(ToolKind::Plan, "tracker_visualize"),
        Tool::of(ToolKind::Plan, "tracker_create_task"),
        Tool::of(ToolKind::Plan, "tracker_update_task"),
        Tool::of(ToolKind::Plan, "tracker_add_dependency"),
        Tool::of(ToolKind::Task, "invoke_agent"),
        Tool::looks(ToolKind::Task, "complete_task"),
        Tool::looks(ToolKind::Task, "list_background_processes"),
        Tool::looks(ToolKind::Task, "read_background_output"),
        Tool { skill: &["name"], ..Tool::of(ToolKind::Other, "activate_skill") },
        Tool::of(ToolKind::Other, "enter_plan_mode"),
        Tool::of(ToolKind::Other, "save_memory"),
        Tool::looks(ToolKind::Other, "get_internal_docs"),
        Tool::looks(ToolKind::Mcp, "list_mcp_resources"),
        Tool::looks(ToolKind::Mcp, "read_mcp_resource"),
    ],
    is_servers: |name| name.starts_with("mcp_") || name.contains("__"),
};
