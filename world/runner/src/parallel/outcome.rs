//! What several workers left, for the summary.

use crate::RunSummary;

/// A coordinator that is over.
#[derive(Debug, Clone, PartialEq)]
pub struct ParallelSummary {
    pub run: RunSummary,
    /// One for each task that was worked on, in the order they ended.
    pub tasks: Vec<TaskOutcome>,
    /// The branch that holds what could not go onto the loop's own, and why.
    pub aside: Option<(String, String)>,
}

/// What became of one task.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskOutcome {
    pub slug: String,
    /// The commit it became in the loop's branch.
    pub merged: Option<String>,
    /// It is done, and there was nothing to merge.
    pub nothing: bool,
    /// The branch that still holds its work.
    pub branch: Option<String>,
    /// Why it is not merged, or what was not.
    pub why: Option<String>,
    pub cost_micros: i64,
    /// Agents that were started on it.
    pub tries: u64,
    /// How often its merge met a conflict.
    pub conflicts: u64,
}
