//! The branch and work tree that a task of several workers is done in, until it is merged.

use crate::time::Ms;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskBranch {
    /// The row of the task.
    pub task: i64,
    pub slug: String,
    /// The run that merges it.
    pub run: String,
    /// Without `refs/heads/`; once it is merged, the branch it was merged into.
    pub branch: String,
    /// The work tree; empty once it is merged.
    pub folder: String,
    /// The commit it began on; once it is merged, the one it became.
    pub base: String,
    pub state: BranchState,
    /// How often its merge met a conflict.
    pub tries: u64,
    pub updated_at: Ms,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BranchState {
    /// An agent works on it, or the next attempt goes on with it.
    #[default]
    Working,
    /// Its task is said to be done, and it is on its way into the loop's branch.
    Merging,
    /// Its merge met a conflict, which is a task of its own.
    Conflict,
    /// Left for a person.
    Kept,
    Merged,
}

impl BranchState {
    const ALL: [Self; 5] = [Self::Working, Self::Merging, Self::Conflict, Self::Kept, Self::Merged];

    pub fn name(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::Merging => "merging",
            Self::Conflict => "conflict",
            Self::Kept => "kept",
            Self::Merged => "merged",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == text)
    }
}
