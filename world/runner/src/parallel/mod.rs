//! Parallel work that comes together: a coordinator that starts no agent itself.
//! It claims tasks for workers, gives each a work tree, merges what they prove in
//! the order of the queue, and only then says that it is done.

mod adopt;
mod bounded;
mod checks;
mod claims;
mod coordinator;
mod ends;
mod finish;
mod git;
mod hooks;
mod land;
mod merge;
mod merging;
mod outcome;
mod own_folder;
mod prepare;
mod remote;
mod remote_rest;
mod settle;
#[cfg(test)]
mod tests;
mod tree;
mod waiting;
mod watch;
mod wishes;
mod worker;

pub use coordinator::coordinate;
pub(crate) use land::landing_word;
pub use outcome::{ParallelSummary, TaskOutcome};
pub(crate) use waiting::not_here;
pub use waiting::refuse_while_branches_wait;
