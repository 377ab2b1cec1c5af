//! The runner: carries out what the loop's machine decides, and supervises an
//! agent in the foreground. One thread decides; the others only report to it.

mod agent;
mod asked;
mod carried;
mod checkpoint;
mod child;
mod claimable;
mod dispatch;
mod error;
mod git_command;
mod group_guard;
mod hook;
mod job;
mod kept;
mod lock;
mod log;
mod parallel;
mod permissions;
mod prompt;
mod prove;
mod pty;
mod recover;
mod run_commits;
mod run_message;
mod run_name;
mod run_store;
mod supervise;
mod templates;
mod undo;
mod work_state;

/// Names the process that started a loop as its worker, as `pid:start`.
pub const PARENT: &str = "TAUT_LOOP_PARENT";

pub use checkpoint::{ChangeKind, PathChange};
pub use dispatch::{RunSummary, run};
pub use error::RunnerError;
pub use group_guard::guard_group;
pub use hook::run_in_background;
pub use job::{Job, JobRequest, Resume, WorkerJob};
pub use kept::{KEEPING_TIME, KeepRequest, KeepSize, KeptTree, keep_tree, kept_trees};
pub use lock::TreeLock;
pub use parallel::{ParallelSummary, TaskOutcome, coordinate, refuse_while_branches_wait};
pub use permissions::{keep_permissions, kept_permissions, permission_name};
pub use run_commits::{RunCommit, landed_commits, run_commits, standing_branches};
pub use run_message::{RunMessage, RunStatus, Tell};
pub use run_name::RunName;
pub use run_store::QueueServer;
pub use supervise::{Supervised, supervise};
pub use templates::{Template, templates};
pub use undo::{UndoDone, UndoPlan, UndoRequest, UndoTarget};
