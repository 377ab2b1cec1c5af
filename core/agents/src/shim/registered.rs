//! What a plugin tells of, and the call that proves it is installed.

use crate::settings::{ProofDialect, Registered, Version};
use model::EventKind::{self, *};
use serde_json::{Value, json};

/// The limits of time are the plugin's own.
pub const REGISTERED: &[Registered] = &[
    on(SessionStart, "opens the session and gives it its context"),
    on(UserPromptSubmit, "heartbeat; delivers warnings and messages"),
    on(PreToolUse, "the guard"),
    on(PostToolUse, "the tool has ended; delivers what is pending"),
    on(PostToolUseFailure, "the tool has failed; status and record"),
    on(Stop, "the turn is over; status"),
    on(PreCompact, "saves what the session knows before it is compacted"),
    on(PostCompact, "context usage starts again"),
    on(SessionEnd, "ends the session and releases what the agent held"),
];

const fn on(kind: EventKind, reason: &'static str) -> Registered {
    Registered { kind, name: kind.name(), since: Version(0, 0, 0), timeout: 5, reason, after_calls: false }
}

pub const PROOF: ProofDialect = ProofDialect { payload, farewell, denial };

fn payload(cwd: &str, mark: &str, command: &str) -> String {
    json!({
        "hook_event_name": PreToolUse.name(), "session_id": mark, "cwd": cwd,
        "tool_name": "bash", "tool_use_id": mark, "tool_input": {"command": command},
    })
    .to_string()
}

fn farewell(cwd: &str, mark: &str) -> String {
    json!({"hook_event_name": SessionEnd.name(), "session_id": mark, "cwd": cwd, "reason": "other"}).to_string()
}

fn denial(stdout: &str) -> Option<String> {
    let answer: Value = serde_json::from_str(stdout.trim()).ok()?;
    answer.get("deny")?.as_str().map(str::to_owned)
}
