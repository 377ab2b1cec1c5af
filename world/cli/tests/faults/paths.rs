//! The paths that are walked, and what is promised on each.

use crate::house::{HELD, House, State};
use serde_json::json;
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Path {
    /// A destructive command, without a daemon.
    Guard,
    /// The same where nothing was ever stored.
    FirstGuard,
    /// The same through a daemon.
    DaemonGuard,
    /// The end of a session that holds a task.
    End,
    Claim,
    Done,
    /// Letting go by hand.
    Release,
    Check,
}

impl Path {
    pub const ALL: [Self; 8] = [
        Self::Guard,
        Self::FirstGuard,
        Self::DaemonGuard,
        Self::End,
        Self::Claim,
        Self::Done,
        Self::Release,
        Self::Check,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Guard => "hook-guard",
            Self::FirstGuard => "hook-guard-first",
            Self::DaemonGuard => "hook-guard-daemon",
            Self::End => "hook-end",
            Self::Claim => "claim",
            Self::Done => "done",
            Self::Release => "release",
            Self::Check => "db-check",
        }
    }

    pub fn is_guard(self) -> bool {
        matches!(self, Self::Guard | Self::FirstGuard | Self::DaemonGuard)
    }

    pub fn is_hook(self) -> bool {
        self.is_guard() || self == Self::End
    }

    pub fn args(self) -> &'static [&'static str] {
        match self {
            Self::Guard | Self::FirstGuard | Self::DaemonGuard | Self::End => &["hook", "--agent", "claude-code"],
            Self::Claim => &["task", "claim", "--json"],
            Self::Done => &["task", "done", HELD, "--result", "{\"by\":\"w1\"}"],
            Self::Release => &["task", "fail", HELD, "--reason", "session exited without completing task"],
            Self::Check => &["db", "check"],
        }
    }

    pub fn stdin(self, house: &House, id: &str) -> String {
        match self {
            Self::Guard | Self::FirstGuard | Self::DaemonGuard => house.payload(
                "PreToolUse",
                &json!({"tool_name": "Bash", "tool_input": {"command": "rm -rf ~"}, "tool_use_id": id}),
            ),
            Self::End => house.payload("SessionEnd", &json!({"reason": "other"})),
            Self::Claim | Self::Done | Self::Release | Self::Check => String::new(),
        }
    }

    pub fn state(self, house: &House, number: usize) -> State {
        match self {
            Self::FirstGuard => house.empty(number),
            Self::DaemonGuard => house.shared(),
            _ => house.copy(number),
        }
    }

    /// D6: two seconds, one for the end of a session; as much again for a machine that is busy with other things.
    pub fn limit(self) -> Duration {
        match self {
            Self::End => Duration::from_secs(3),
            Self::Guard | Self::FirstGuard | Self::DaemonGuard => Duration::from_secs(4),
            Self::Claim | Self::Done | Self::Release | Self::Check => Duration::from_secs(60),
        }
    }
}
