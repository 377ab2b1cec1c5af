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

    /// The file this call would write, when it is an edit tool.
    pub fn written_file(&self) -> Option<&str> {
        match self.name.as_str() {
            "Write" | "Edit" | "MultiEdit" => self.text("file_path"),
            "NotebookEdit" => self.text("notebook_path"),
            _ => None,
        }
    }
}
