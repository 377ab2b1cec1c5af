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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
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
    /// What is read from a hook's environment whatever agent calls it. The names each agent has for itself are its
    /// dialect's (`AgentVariables`), and `agents::is_allowed` knows both.
    pub const ALLOWED: &'static [&'static str] = &[
        "TAUT_AGENT_ID", "RALPH_AGENT_ID", "AGENT_ID", "TAUT_SESSION_ID", "MISSION_EXECUTION_ID", "PROJECT_PATH",
        "TMUX", "TMUX_PANE", "TEST_MODE",
    ];

    /// A variable that is set and not empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The first of several variables that is set.
    pub fn first(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.get(name))
    }
}
