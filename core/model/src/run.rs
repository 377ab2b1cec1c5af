//! Runs of the loop: how one stands, how it ends, and what was heard of its agent.

use crate::call::ClientProcess;
use crate::time::Ms;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunMode {
    Planning,
    Building,
}

/// Why a run is over. Each has its own exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    Complete,
    MaxIterations,
    NoChanges,
    Limit,
    Budget,
    Stuck,
    Error,
    HookAbort,
    Manual,
}

/// One run of the loop, as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    pub id: String,
    pub project: String,
    /// The work tree it runs in.
    pub folder: String,
    pub mode: RunMode,
    /// The worker it registered, where it works on the queue.
    pub agent: Option<String>,
    pub runner: ClientProcess,
    /// The leader of the process group of the agent that runs now.
    pub leader: Option<ClientProcess>,
    /// The commit it began on.
    pub base: Option<String>,
    pub branch: Option<String>,
    pub started_at: Ms,
    pub tally: Tally,
    pub finish: Option<Finish>,
    pub finished_at: Option<Ms>,
}

/// What a run counts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tally {
    pub iterations: u64,
    /// In a row, as are the next three.
    pub failures: u64,
    pub idle: u64,
    pub skips: u64,
    pub transients: u64,
    pub commits: u64,
    /// Millionths of a dollar.
    pub cost_micros: i64,
    pub last_exit: Option<i32>,
    pub last_ms: i64,
}

/// One iteration that is over.
#[derive(Debug, Clone, PartialEq)]
pub struct Iteration {
    pub run: String,
    pub number: u64,
    pub started_at: Ms,
    pub ended_at: Ms,
    pub exit: Option<i32>,
    pub commits: u64,
    pub cost_micros: i64,
    pub outcome: String,
    pub log: String,
}

/// How an agent is to be started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Launch {
    /// In place of the agent's usual program.
    pub program: Option<String>,
    pub model: Option<String>,
    pub prompt: String,
    pub max_turns: Option<u64>,
    /// A file whose text is added to the agent's own instructions.
    pub instructions: Option<String>,
    pub permissions: Permissions,
    pub args: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Permissions {
    #[default]
    Asked,
    Skipped,
}

/// A command line, and what it reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchLine {
    pub program: String,
    pub args: Vec<String>,
    pub stdin: Option<String>,
}

/// What an agent's own structured output says, as far as it has come.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentOutput {
    pub session: Option<String>,
    /// The tool that runs now.
    pub tool: Option<String>,
    pub context_tokens: Option<u64>,
    pub cost_micros: i64,
    pub turns: u64,
    pub trouble: Option<AgentTrouble>,
    /// Its last word, as text.
    pub said: Option<String>,
    /// The last result was one of failure.
    pub failed: bool,
}

/// What kept an agent from working, told by its structured output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentTrouble {
    /// A usage or rate limit; until when, where that was told.
    Limited { until: Option<Ms> },
    /// Overloaded, or an error of the server: it passes.
    Transient { what: String },
    /// Nobody is logged in, or nobody pays: only a person can help.
    Refused { what: String },
}

impl RunMode {
    pub fn name(self) -> &'static str {
        match self {
            Self::Planning => "planning",
            Self::Building => "building",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::Planning, Self::Building].into_iter().find(|mode| mode.name() == text)
    }
}

impl Finish {
    pub const ALL: [Self; 9] = [
        Self::Complete,
        Self::MaxIterations,
        Self::NoChanges,
        Self::Limit,
        Self::Budget,
        Self::Stuck,
        Self::Error,
        Self::HookAbort,
        Self::Manual,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::MaxIterations => "max_iterations",
            Self::NoChanges => "no_changes",
            Self::Limit => "limit",
            Self::Budget => "budget",
            Self::Stuck => "stuck",
            Self::Error => "error",
            Self::HookAbort => "hook_abort",
            Self::Manual => "manual",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|finish| finish.name() == text)
    }

    /// The exit status of `taut loop`.
    pub fn exit(self) -> u8 {
        match self {
            Self::Complete => 0,
            Self::MaxIterations => 10,
            Self::NoChanges => 11,
            Self::Limit => 12,
            Self::Budget => 13,
            Self::Stuck => 14,
            Self::Error => 20,
            Self::HookAbort => 21,
            Self::Manual => 130,
        }
    }
}
