//! The vocabulary of a played session.

use serde_json::{Value, json};

/// One thing that happens in a session.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentStep {
    /// SessionStart.
    Start { source: &'static str },
    /// UserPromptSubmit.
    Prompt(String),
    /// PreToolUse for all at once, PostToolUse for each that was not denied, PostToolBatch.
    Tools(Vec<FakeTool>),
    /// Stop.
    Stop { last_message: String },
    /// SessionEnd of the old session, SessionStart of a new one with a new id.
    Clear,
    /// PreCompact and, unless that was blocked, what follows a compaction.
    Compact { trigger: &'static str },
    /// SessionEnd.
    End { reason: &'static str },
    /// Any event: `fields` over the common ones.
    Event { event: &'static str, fields: Value },
    /// A whole payload; `{session_id}`, `{prompt_id}`, `{cwd}` and `{tool_use_id}` in its strings are filled in.
    Template(Value),
}

impl AgentStep {
    #[must_use]
    pub fn start() -> Self {
        Self::Start { source: "startup" }
    }

    #[must_use]
    pub fn prompt(text: &str) -> Self {
        Self::Prompt(text.to_owned())
    }

    #[must_use]
    pub fn bash(command: &str) -> Self {
        Self::Tools(vec![FakeTool::bash(command)])
    }

    #[must_use]
    pub fn stop() -> Self {
        Self::Stop { last_message: "All done.".to_owned() }
    }

    #[must_use]
    pub fn end() -> Self {
        Self::End { reason: "other" }
    }
}

/// A tool the agent wants to use, and how that would turn out.
#[derive(Clone, Debug, PartialEq)]
pub struct FakeTool {
    pub name: String,
    pub input: Value,
    /// The response, or the error the client would report.
    pub outcome: Result<Value, String>,
}

impl FakeTool {
    #[must_use]
    pub fn new(name: &str, input: Value, response: Value) -> Self {
        Self { name: name.to_owned(), input, outcome: Ok(response) }
    }

    #[must_use]
    pub fn bash(command: &str) -> Self {
        let response =
            json!({"stdout": "", "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": false});
        Self::new("Bash", json!({"command": command, "description": "a step"}), response)
    }

    #[must_use]
    pub fn failing_with(mut self, error: &str) -> Self {
        self.outcome = Err(error.to_owned());
        self
    }
}
