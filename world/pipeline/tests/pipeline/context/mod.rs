//! What a session's model is told and how its context is measured, on a real database.

mod loading;
mod measure;
mod stopping;
mod usage;
mod warnings;

use crate::home::{Client, PipelineHome};
use pipeline::Response;
use serde_json::{Value, json};

/// A transcript whose last answer held so many tokens of a window of a million.
pub struct Transcript {
    path: std::path::PathBuf,
}

impl Transcript {
    pub fn new(stage: &PipelineHome) -> Self {
        Self { path: stage.folder("home").join("t.jsonl") }
    }

    pub fn answer(&self, tokens: u64) {
        let usage = json!({"input_tokens": tokens, "output_tokens": 0});
        let message = json!({"id": format!("msg_{tokens}"), "model": "claude-opus-5-5", "usage": usage});
        self.line(&json!({"type": "assistant", "isSidechain": false, "message": message}));
    }

    pub fn line(&self, line: &Value) {
        let mut text = std::fs::read_to_string(&self.path).unwrap_or_default();
        text.push_str(&format!("{line}\n"));
        std::fs::write(&self.path, text).unwrap();
    }

    pub fn send(&self, stage: &mut PipelineHome, client: &Client, event: &str, mut fields: Value) -> Response {
        fields["transcript_path"] = json!(self.path);
        stage.send(client, event, fields)
    }

    pub fn prompt(&self, stage: &mut PipelineHome, client: &Client) -> Response {
        self.send(stage, client, "UserPromptSubmit", json!({"prompt": "go on"}))
    }

    pub fn tool(&self, stage: &mut PipelineHome, client: &Client, id: &str) -> Response {
        let fields =
            json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": id, "tool_response": {}});
        self.send(stage, client, "PostToolUse", fields)
    }

    pub fn stop(&self, stage: &mut PipelineHome, client: &Client) -> Response {
        self.send(stage, client, "Stop", json!({"stop_hook_active": false}))
    }
}

/// What the model is told beside an event.
pub fn told(served: &Response) -> String {
    let said: Value = serde_json::from_str(&served.answer.stdout).unwrap_or_default();
    said["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}

/// Why a stop was refused.
pub fn refused(served: &Response) -> Option<String> {
    let said: Value = serde_json::from_str(&served.answer.stdout).ok()?;
    (said["decision"] == "block").then(|| said["reason"].as_str().unwrap().to_owned())
}

pub const WARNINGS: &str = "[context]\nwarnings = true\n";
