//! The paths that are walked, and what is promised on each.

use super::home::{HELD, House, State};
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
    /// The same, and it is the daemon's calls that fail.
    DaemonServes,
    /// The end of a session that holds a task.
    End,
    Claim,
    Done,
    /// Letting go by hand.
    Release,
    Check,
}

impl Path {
    pub const ALL: [Self; 9] = [
        Self::Guard,
        Self::FirstGuard,
        Self::DaemonGuard,
        Self::DaemonServes,
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
            Self::DaemonServes => "daemon-guard",
            Self::End => "hook-end",
            Self::Claim => "claim",
            Self::Done => "done",
            Self::Release => "release",
            Self::Check => "db-check",
        }
    }

    pub fn is_guard(self) -> bool {
        matches!(self, Self::Guard | Self::FirstGuard | Self::DaemonGuard | Self::DaemonServes)
    }

    pub fn is_hook(self) -> bool {
        self.is_guard() || self == Self::End
    }

    pub fn args(self) -> &'static [&'static str] {
        match self {
            _ if self.is_hook() => &["hook", "--agent", "claude-code"],
            Self::Claim => &["task", "claim", "--json"],
            Self::Done => &["task", "done", HELD, "--result", "{\"commit\":\"c0ffee\"}"],
            Self::Release => &["task", "fail", HELD, "--reason", "session exited without completing task"],
            _ => &["db", "check"],
        }
    }

    pub fn stdin(self, house: &House, id: &str) -> String {
        match self {
            _ if self.is_guard() => house.payload(
                "PreToolUse",
                &json!({"tool_name": "Bash", "tool_input": {"command": "rm -rf ~"}, "tool_use_id": id}),
            ),
            Self::End => house.payload("SessionEnd", &json!({"reason": "other"})),
            _ => String::new(),
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
            _ if self.is_guard() => Duration::from_secs(4),
            _ => Duration::from_secs(60),
        }
    }
}
