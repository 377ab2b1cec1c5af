//! What only one loop can go on with. Finished work that a coordinator of this work tree left when it was killed: a loop with
//! one worker cannot merge it, and must not wait for its leases. Conflicts of branches of another work tree. Tasks of a
//! shared queue that are queued on this machine, too.

use crate::RunnerError;
use crate::job::Job;
use crate::run_store::RunStore;
use model::task::TaskStatus;
use model::task_branch::{BranchState, TaskBranch};
use store::Store;

/// An error that says what waits and what merges it, where a loop begins anew with one worker.
pub fn refuse_while_branches_wait(job: &Job) -> Result<(), RunnerError> {
    if !job.queue || job.worker.is_some() || job.resumed.is_some() {
        return Ok(());
    }
    let run_store = RunStore::open(&job.state)?;
    let store = run_store.store();
    let (mut tasks, mut last) = (Vec::new(), None);
    for row in store.task_branches(&job.project)?.into_iter().filter(|row| row.state != BranchState::Merged) {
        let said = store.task(&job.project, &row.slug)?.is_some_and(|task| {
            let proposed = task.queued.hold.is_some_and(|hold| hold.proposed.is_some());
            task.queued.status == TaskStatus::Active && proposed
        });
        // The lock of this work tree is ours: whichever run of it left this is over.
        let here = store.stored_run(&row.run)?.filter(|run| said && run.folder == job.folder.to_string_lossy());
        if let Some(run) = here {
            tasks.push(row.slug);
            last = Some(run.short().to_string());
        }
    }
    match last {
        Some(run) => Err(RunnerError::BranchesWait { folder: job.folder.to_string_lossy().into_owned(), tasks, run }),
        None => Ok(()),
    }
}

/// Tasks that may be claimable, and not by a loop of this work tree.
pub(crate) fn not_here(run_store: &RunStore, project: &str, folder: &str) -> Result<Vec<String>, RunnerError> {
    let mut slugs = conflicts_elsewhere(run_store.store(), project, folder)?;
    slugs.extend(run_store.queued_here(project)?);
    Ok(slugs)
}

/// Tasks that solve the conflict of a branch which a loop of another work tree has: they can be solved there alone.
fn conflicts_elsewhere(store: &Store, project: &str, folder: &str) -> Result<Vec<String>, RunnerError> {
    let rows = store.task_branches(project)?;
    let mut slugs = Vec::new();
    for row in rows.iter().filter(|row| row.state != BranchState::Merged) {
        let is_its = |other: &TaskBranch| {
            other.branch == row.branch && other.task != row.task && other.state == BranchState::Conflict
        };
        if rows.iter().any(is_its) && store.stored_run(&row.run)?.is_some_and(|run| run.folder != folder) {
            slugs.push(row.slug.clone());
        }
    }
    Ok(slugs)
}
