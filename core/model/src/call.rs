//! A hook call and the answer to it, as bytes.

use crate::time::Ms;
use std::collections::BTreeMap;

/// One hook call as it arrived. The client that sends it is dumb: it adds
/// nothing to the bytes but where and when it was called.
#[derive(Debug, Clone)]
pub struct Call {
    /// Told twice by a client that gave up on a daemon; once is enough.
    pub request: String,
    /// The `--agent` of the command line.
    pub agent: String,
    pub stdin: Vec<u8>,
    pub cwd: String,
    pub env: Environment,
    /// The process that called the hook.
    pub parent: Option<u32>,
    pub at: Ms,
}

/// The variables on the allow-list that were set, and no others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment(pub BTreeMap<String, String>);

/// A process, told apart from a later one with the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientProcess {
    pub pid: u32,
    /// Start time in the system's own unit; zero when it cannot be known.
    pub started: u64,
}

/// What the hook prints and how it ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    pub stdout: String,
    pub stderr: String,
    pub exit: u8,
}

impl Environment {
    /// Read from a hook's environment. The first block names the worker, the
    /// second the place, the third the circumstance.
    pub const ALLOWED: &'static [&'static str] = &[
        "TAUT_AGENT_ID",
        "RALPH_AGENT_ID",
        "AGENT_ID",
        "TAUT_SESSION_ID",
        "CLAUDE_SESSION_ID",
        "CLAUDE_SESSION_ROLE",
        "CLAUDE_SESSION_MODE",
        "CLAUDE_CONVERSATION_ID",
        "CLAUDE_PARENT_SESSION_ID",
        "MISSION_EXECUTION_ID",
        "PROJECT_PATH",
        "TMUX",
        "TMUX_PANE",
        "CLAUDE_PID",
        "CLAUDE_PROJECT_DIR",
        "CLAUDE_CONFIG_DIR",
        "CLAUDECODE",
        "CLAUDE_CODE_ENTRYPOINT",
        "CLAUDE_CODE_SESSION_ATTENDED",
        "TEST_MODE",
    ];

    /// Told anew by the client to each of its hooks; all others are what the client was started with.
    pub const OF_CLIENT: &'static [&'static str] =
        &["CLAUDE_PID", "CLAUDE_PROJECT_DIR", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ATTENDED"];

    pub fn is_of_client(name: &str) -> bool {
        Self::OF_CLIENT.contains(&name)
    }

    pub fn allows(name: &str) -> bool {
        name.starts_with("TAUT_") || Self::ALLOWED.contains(&name)
    }

    /// A variable that is set and not empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The first of several variables that is set.
    pub fn first(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.get(name))
    }
}
