//! What is seen of the work, and what an ended iteration means.

use super::{LoopLimits, Progress};
use model::Ms;
use model::run::{AgentOutput, AgentTrouble, Permissions};

/// The work as it stands between two iterations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkState {
    pub work: WorkCount,
    /// Commits since the run began.
    pub commits: u64,
    pub head: Option<String>,
    /// A mark that changes with the files of the work tree.
    pub tree: u64,
    /// A mark that changes with the tasks of the queue.
    pub tasks: u64,
    /// The agent asked to be started again with a fresh context.
    pub restart: bool,
    /// A task that the agent ended without settling.
    pub forgotten: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkCount {
    /// There is no plan and no queue to tell.
    Unknown,
    Counted {
        left: u64,
        done: u64,
        open: Open,
    },
}

/// Whether what is left can be worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Open {
    Now,
    /// Not before; all of it backs off or is held by others.
    At(Ms),
    /// Blocked or quarantined: nobody can go on.
    Never,
}

/// An agent that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedAgent {
    /// `None` where a signal ended it.
    pub exit: Option<i32>,
    pub ms: i64,
    pub heard: AgentOutput,
    pub by: AgentEnd,
}

/// What ended an agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AgentEnd {
    #[default]
    Itself,
    /// The budget was spent while it worked.
    Budget,
    Silence,
    TooLong,
    /// It asked for a fresh context, or somebody stopped the loop.
    Asked,
}

/// What the command said that shows whether work is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProofResult {
    /// There is no such command, or nothing was said to be done.
    NotAsked,
    Passed,
    /// The end of what it printed.
    Failed {
        end: String,
    },
    /// It was ended with the loop, and says nothing.
    Stopped,
}

/// So many denials are named; the rest is counted.
const MOST_NAMED: usize = 5;
const MOST_NAME: usize = 80;

impl EndedAgent {
    pub fn failed(&self) -> bool {
        self.exit != Some(0) || self.heard.failed
    }

    /// What kept it from working, so that its end says nothing of its task. Whoever was ended by us for its silence may
    /// have been in trouble, but did not end for it.
    pub fn kept_from_working(&self) -> Option<&AgentTrouble> {
        self.heard.trouble.as_ref().filter(|_| self.by == AgentEnd::Itself && self.failed())
    }

    /// Why its iteration did not count, in words; none where it did, or where it never got to work.
    pub fn failure(&self, seen: &WorkState, limits: &LoopLimits) -> Option<String> {
        if seen.restart {
            return None;
        }
        let said = self.heard.said.as_deref().map(|words| format!(": {words}")).unwrap_or_default();
        let minutes = |ms: Option<i64>| span(ms.unwrap_or_default());
        let words = match (self.by, &self.heard.trouble) {
            (AgentEnd::Silence, _) => {
                format!("the agent said nothing for {} and was ended", minutes(limits.max_silence_ms))
            }
            (AgentEnd::TooLong, _) => {
                format!("the iteration took longer than {} and was ended", minutes(limits.max_iteration_ms))
            }
            (AgentEnd::Budget | AgentEnd::Asked, _) => return None,
            (AgentEnd::Itself, Some(AgentTrouble::Limited { .. })) if self.failed() => {
                format!("the usage limit was reached{said}")
            }
            (AgentEnd::Itself, Some(AgentTrouble::NotStarted { what } | AgentTrouble::Unsure { what })) => what.clone(),
            (AgentEnd::Itself, _) if self.failed() => {
                let how = self.exit.map_or("was ended by a signal".to_string(), |code| format!("ended with {code}"));
                format!("the agent {how}{said}")
            }
            (AgentEnd::Itself, _) => match &seen.forgotten {
                Some(slug) => format!("the agent ended without settling task {slug}{said}"),
                None => return None,
            },
        };
        Some(words)
    }

    /// It was not let do things, and nothing else explains why nothing came of it.
    pub fn is_held_up_by_denials(&self) -> bool {
        self.by == AgentEnd::Itself && self.heard.trouble.is_none() && !self.heard.denied.is_empty()
    }

    /// What it was not let do, and what would let it beyond what holds already.
    pub fn denials(&self, permissions: Permissions) -> String {
        let denied = &self.heard.denied;
        let named: Vec<String> =
            denied.iter().take(MOST_NAMED).map(|name| model::text::line(name, MOST_NAME)).collect();
        let more = match denied.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        // The way out comes first: lists are cut short where room is scarce.
        let ways = match permissions {
            Permissions::Asked => {
                "`--permissions edits`, with `[loop] commands`, or `--permissions all` would allow what the agent was denied"
            }
            Permissions::Edits => {
                "`[loop] commands` (for commands) or `--permissions all` would allow what the agent was denied"
            }
            Permissions::Skipped => "the agent may do everything, and its own settings or a hook denied it",
        };
        format!("nothing changed; {ways}: {}{more}", named.join(", "))
    }
}

/// A length of time as a person says it.
fn span(ms: i64) -> String {
    match ms / 1000 {
        seconds if seconds < 120 => format!("{seconds} s"),
        seconds if seconds < 7200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}

impl WorkState {
    pub fn complete(&self) -> bool {
        matches!(self.work, WorkCount::Counted { left: 0, done, .. } if done > 0)
    }

    /// Whether anything came of the time between.
    pub fn progressed(&self, before: &Self, progress: Progress) -> bool {
        let committed = self.commits > before.commits || (self.head.is_some() && self.head != before.head);
        match progress {
            Progress::Commits => committed,
            Progress::Any => {
                committed
                    || self.tree != before.tree
                    || self.tasks != before.tasks
                    || self.work != before.work
                    || self.restart
            }
        }
    }
}
