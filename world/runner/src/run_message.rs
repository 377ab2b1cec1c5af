//! What a run tells whoever watches it. The command line decides how it looks.

use model::run::Finish;

/// Takes in what is told; must not fail, for a closed terminal is no reason to stop.
pub trait Tell {
    fn show(&self, said: &RunMessage);
}

#[derive(Debug, Clone, PartialEq)]
pub enum RunMessage {
    Note(String),
    Warning(String),
    /// A line of a hook, apart from the agent's.
    HookLine {
        hook: &'static str,
        text: String,
    },
    /// A line of a worker's loop.
    WorkerLine {
        worker: String,
        task: String,
        text: String,
    },
    /// What the agent said, as it says it; of which worker, where there are several.
    AgentSaid {
        worker: Option<String>,
        text: String,
    },
    IterationStarted {
        iteration: u64,
    },
    IterationEnded {
        iteration: u64,
        exit: Option<i32>,
        commits: u64,
        cost_micros: i64,
        ms: i64,
    },
    /// Shown in one line that changes, and only where a person looks.
    Status(RunStatus),
    Countdown {
        seconds: i64,
        why: String,
    },
    /// It waits for somebody, after this iteration.
    Paused {
        iteration: u64,
    },
    Finished {
        finish: Finish,
        why: String,
    },
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunStatus {
    pub iteration: u64,
    pub elapsed_ms: i64,
    pub cost_micros: i64,
    pub context_tokens: Option<u64>,
    pub done: Option<u64>,
    pub left: Option<u64>,
    pub tool: Option<String>,
    pub task: Option<String>,
    pub tokens: u64,
    /// The agent's last words.
    pub said: Option<String>,
}
