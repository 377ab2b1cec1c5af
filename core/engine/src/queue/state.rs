//! Where a task stands, as one word: its status alone does not tell what keeps it from being claimed.

use model::Ms;
use model::task::{Queued, TaskStatus};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskState {
    /// May be claimed now.
    Open,
    /// Waits for others; counted so even where somebody holds it.
    Blocked,
    /// Failed, and is not tried again before so many milliseconds.
    Resting {
        left: i64,
    },
    Active,
    /// Its agent says that it is done.
    Proposed {
        proven: bool,
    },
    Done,
    Quarantined,
    Deleted,
}

impl TaskState {
    pub fn of(task: &Queued, now: Ms) -> Self {
        let proposed = task.hold.as_ref().and_then(|hold| hold.proposed);
        match (task.status, proposed) {
            (TaskStatus::Done, _) => Self::Done,
            (TaskStatus::Deleted, _) => Self::Deleted,
            (TaskStatus::Quarantined, _) => Self::Quarantined,
            (TaskStatus::Active, Some(said)) => Self::Proposed { proven: said.proven },
            _ if task.open_blockers > 0 => Self::Blocked,
            (TaskStatus::Active, None) => Self::Active,
            (TaskStatus::Open, _) if task.ready_at > now => Self::Resting { left: task.ready_at.since(now) },
            (TaskStatus::Open, _) => Self::Open,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Blocked => "blocked",
            Self::Resting { .. } => "resting",
            Self::Active => "active",
            Self::Proposed { .. } => "proposed",
            Self::Done => "done",
            Self::Quarantined => "quarantined",
            Self::Deleted => "deleted",
        }
    }

    /// For people: with what the word leaves out.
    pub fn words(self) -> String {
        match self {
            Self::Resting { left } => format!("resting, {} s left", whole_seconds(left)),
            Self::Proposed { proven: false } => "done, waiting for proof".to_string(),
            Self::Proposed { proven: true } => "done and proven, waiting to be merged".to_string(),
            other => other.name().to_string(),
        }
    }

    /// Whole seconds until its rest is over.
    pub fn rest_seconds(self) -> Option<i64> {
        match self {
            Self::Resting { left } => Some(whole_seconds(left)),
            _ => None,
        }
    }
}

fn whole_seconds(millis: i64) -> i64 {
    millis.saturating_add(999) / 1000
}
