//! Droid's tools.

use crate::tool_table::{AgentTools, KnownTool};
use model::ToolKind;

pub const TOOLS: AgentTools = AgentTools {
    tools: &[
        KnownTool::shell("Execute", &["command"], &[]),
        KnownTool::write("Create", &["file_path"], &["content"]),
        KnownTool::edit("Edit", &["file_path"], &["old_str"], &["new_str"]),
        KnownTool::patch("ApplyPatch", &["input"]),
        KnownTool::read("Read", &["file_path"]),
        KnownTool::search("Grep", &["path"], &["pattern"]),
        KnownTool::names("LS", &["directory_path"], &[]),
        KnownTool::names("Glob", &["folder"], &["patterns"]),
        KnownTool::looks(ToolKind::Search, "WebSearch"),
        KnownTool::of(ToolKind::Fetch, "FetchUrl"),
        KnownTool::looks(ToolKind::Ask, "AskUser"),
        KnownTool::looks(ToolKind::Plan, "TodoWrite"),
        KnownTool::looks(ToolKind::Plan, "ExitSpecMode"),
        KnownTool::looks(ToolKind::Plan, "ExitMissionPlanning"),
        KnownTool::looks(ToolKind::Plan, "ProposeMission"),
        KnownTool::looks(ToolKind::Plan, "RecommendMission"),
        KnownTool::of(ToolKind::Task, "Task"),
        KnownTool::of(ToolKind::Task, "TaskStop"),
        KnownTool::looks(ToolKind::Task, "TaskOutput"),
        KnownTool::of(ToolKind::Task, "StartMissionRun"),
        KnownTool::of(ToolKind::Task, "EndFeatureRun"),
        KnownTool::looks(ToolKind::Other, "ToolSearch"),
        KnownTool { skill: &["skill"], ..KnownTool::of(ToolKind::Other, "Skill") },
    ],
    is_servers: |name| name.contains("___"),
};
