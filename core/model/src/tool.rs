//! A tool call as the agent asked for it.

use serde_json::Value;

#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    pub name: String,
    /// The host's id of this call; permission requests have none.
    pub use_id: Option<String>,
    /// The tool's input; `Null` when it was absent or not an object.
    pub input: Value,
}

/// Tools that read, ask or note something down for the agent itself.
const LOOKS_ONLY: &[&str] = &[
    "AskUserQuestion",
    "BashOutput",
    "EnterPlanMode",
    "ExitPlanMode",
    "Glob",
    "Grep",
    "LS",
    "ListMcpResourcesTool",
    "NotebookRead",
    "Read",
    "ReadMcpResourceTool",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TodoRead",
    "TodoWrite",
    "ToolSearch",
    "WebSearch",
];

impl ToolCall {
    /// A text field of the input.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.input.get(field).and_then(Value::as_str)
    }

    /// The shell line this call would run, when it is a shell tool. A call whose
    /// name was lost is one if it has a command.
    pub fn command(&self) -> Option<&str> {
        match self.name.as_str() {
            "Bash" | "" => self.text("command"),
            _ => None,
        }
    }

    /// The field that says what a shell or edit tool would do.
    pub fn judged_field(&self) -> Option<&'static str> {
        match self.name.as_str() {
            "Bash" => Some("command"),
            "Write" | "Edit" | "MultiEdit" => Some("file_path"),
            "NotebookEdit" => Some("notebook_path"),
            _ => None,
        }
    }

    /// Whether this call may run or change something: every tool does that is
    /// not known to look only.
    pub fn acts(&self) -> bool {
        !LOOKS_ONLY.contains(&self.name.as_str())
    }

    /// The file this call would write, when it is an edit tool.
    pub fn written_file(&self) -> Option<&str> {
        match self.name.as_str() {
            "Write" | "Edit" | "MultiEdit" => self.text("file_path"),
            "NotebookEdit" => self.text("notebook_path"),
            _ => None,
        }
    }
}
