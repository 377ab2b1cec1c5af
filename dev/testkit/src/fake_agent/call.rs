//! One hook call, and what the real client would make of the answer.

use serde_json::Value;

use crate::process::Finished;

/// One hook call and what came of it.
#[derive(Clone, Debug)]
pub struct HookCall {
    pub event: String,
    pub payload: Vec<u8>,
    pub finished: Finished,
}

impl HookCall {
    /// Stdout as JSON, if it is any.
    #[must_use]
    pub fn answer(&self) -> Option<Value> {
        serde_json::from_slice(&self.finished.stdout).ok()
    }

    /// Exit 0 and not a byte on stdout: the hook had nothing to say.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        self.finished.success() && self.finished.stdout.is_empty()
    }

    /// Whether the real client would not run the tool.
    #[must_use]
    pub fn denies(&self) -> bool {
        let answer = self.answer().unwrap_or_default();
        let decision = &answer["hookSpecificOutput"]["permissionDecision"];
        self.finished.code() == Some(2) || decision == "deny"
    }

    /// Whether the real client would hold back what the event announces, or go on where it wanted to stop.
    #[must_use]
    pub fn blocks(&self) -> bool {
        self.finished.code() == Some(2) || self.answer().is_some_and(|answer| answer["decision"] == "block")
    }
}
