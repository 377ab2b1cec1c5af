//! Runs of the loop: how one stands, how it ends, and what was heard of its agent.

use crate::call::ClientProcess;
use crate::time::Ms;
use std::collections::BTreeMap;

/// So many of the last letters of a run's id are its short name; the first ones are the time.
const SHORT: usize = 8;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RunMode {
    Planning,
    #[default]
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
#[derive(Debug, Clone, Default, PartialEq)]
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
    /// The run that started this one as a worker.
    pub parent: Option<String>,
    /// The one task a worker works on.
    pub task: Option<String>,
    /// What was typed, as JSON, so that going on keeps every limit.
    pub asked: Option<String>,
    /// A "done" of its agent counts only when the loop has proven it.
    pub proves: bool,
    /// Why it ended, in words.
    pub why: Option<String>,
    /// The folder of its logs.
    pub logs: Option<String>,
    /// What it may take; unknown for runs of before this was kept.
    pub limits: Option<RunLimits>,
    /// Of the plan or the queue, as last seen.
    pub done: Option<u64>,
    pub left: Option<u64>,
    pub live: RunProgress,
}

/// What ends a run, for those who look: how much of it is left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunLimits {
    /// Zero is unlimited, as with failures and idle iterations.
    pub iterations: u64,
    pub ms: Option<i64>,
    pub cost_micros: Option<i64>,
    pub failures: u64,
    pub idle: u64,
}

/// What a run does at this moment, for those who look.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunProgress {
    pub state: RunState,
    /// Until when it waits, and for what; set with `Waiting` alone.
    pub until: Option<Ms>,
    pub waits_for: Option<String>,
    /// The task the agent works on.
    pub task: Option<String>,
    pub tool: Option<String>,
    /// The agent's last words.
    pub said: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RunState {
    #[default]
    Starting,
    Running,
    Verifying,
    Merging,
    Waiting,
    Paused,
    Over,
}

/// What somebody outside asked a run to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunWish {
    /// After this iteration.
    Stop,
    /// At once.
    Kill,
    /// After this iteration, until `GoOn`.
    Pause,
    GoOn,
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
    /// Tokens the model read and wrote.
    pub tokens: u64,
    pub last_exit: Option<i32>,
    pub last_ms: i64,
    /// The same failure so often in a row.
    pub same_failure: u64,
    /// What the iteration before this one left, for the next.
    pub last_failure: Option<String>,
}

/// One iteration that is over.
#[derive(Debug, Clone, Default, PartialEq)]
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
    pub tokens: u64,
    /// The task the agent held.
    pub task: Option<String>,
    /// The agent's last words.
    pub said: Option<String>,
    /// What the agent was not let do, each once.
    pub denied: Vec<String>,
    /// Why it did not count: the end of what failed.
    pub failure: Option<String>,
    /// The commit that holds the tree as it was before this iteration.
    pub before: Option<String>,
    /// The commit that holds the tree as it was after it.
    pub after: Option<String>,
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
    /// Commands it may run without asking, by their first words (`git commit`); with `Edits` alone.
    pub commands: Vec<String>,
    pub args: Vec<String>,
}

/// What a started agent may do without asking; nobody is there to answer it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Permissions {
    /// What its own settings let it do.
    #[default]
    Asked,
    /// Edits inside the project, and the commands that are named.
    Edits,
    /// Everything.
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
    /// Tokens read and written so far; a cost is estimated from them where none is told.
    pub tokens: u64,
    pub turns: u64,
    /// What it was not let do, each once, as a person would say it (`Write src/a.rs`, `Bash git commit`).
    pub denied: Vec<String>,
    pub trouble: Option<AgentTrouble>,
    /// Its last word, as text.
    pub said: Option<String>,
    /// The last result was one of failure.
    pub failed: bool,
    /// The model that answers, where that is told.
    pub model: Option<String>,
    pub memory: StreamMemory,
}

/// What was read of a stream and is needed to read on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StreamMemory {
    /// Requests to the model by their id: what was read, what was written, and what it cost. Each is told several times.
    pub requests: BTreeMap<String, (u64, u64, i64)>,
    /// Tools that run, the oldest first.
    pub calls: Vec<StreamCall>,
    /// Calls that were not let through and are spoken for, by their id: named already, or denied by a hook.
    pub spoken_for: Vec<String>,
}

/// A tool that runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StreamCall {
    pub id: String,
    pub tool: String,
    /// As a person would say it.
    pub described: String,
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
    /// Its program is not there, or may not be executed: nobody worked at all.
    NotStarted { what: String },
    /// It was stopped, because another has its task or, its server not having been reached for so long, may have it.
    Unsure { what: String },
}

impl Run {
    /// How people call it: what its logs, its agent and its branches are named after.
    pub fn short(&self) -> &str {
        let at = self.id.char_indices().rev().nth(SHORT - 1).map_or(0, |(at, _)| at);
        self.id.get(at..).unwrap_or_default()
    }

    /// The name its agent goes by.
    pub fn agent_name(&self) -> String {
        self.agent.clone().unwrap_or_else(|| format!("loop-{}", self.short()))
    }
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

impl RunState {
    const ALL: [Self; 7] =
        [Self::Starting, Self::Running, Self::Verifying, Self::Merging, Self::Waiting, Self::Paused, Self::Over];

    pub fn name(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Verifying => "verifying",
            Self::Merging => "merging",
            Self::Waiting => "waiting",
            Self::Paused => "paused",
            Self::Over => "over",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == text)
    }
}

impl RunWish {
    const ALL: [Self; 4] = [Self::Stop, Self::Kill, Self::Pause, Self::GoOn];

    pub fn name(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Kill => "kill",
            Self::Pause => "pause",
            Self::GoOn => "go_on",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|wish| wish.name() == text)
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
