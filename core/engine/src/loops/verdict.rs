//! What is seen of the work, and what an ended iteration means.

use super::Progress;
use model::Ms;
use model::run::AgentOutput;

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
}

impl EndedAgent {
    pub fn failed(&self) -> bool {
        self.exit != Some(0) || self.heard.failed
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
