//! What a coordinator of this work tree left when it was killed or stopped:
//! proposals are merged, workers that are still there are ended, branches wait
//! for the next attempt.

use super::coordinator::Coordinator;
use super::tree;
use super::worker::Claim;
use crate::{RunnerError, recover};
use engine::loops::ConflictLeft;
use model::run::Run;
use model::task::{LEASE_MS, Task, TaskStatus};
use model::task_branch::{BranchState, TaskBranch};
use std::path::Path;

impl Coordinator<'_> {
    pub(super) fn adopt(&mut self, left_by: &[Run]) -> Result<(), RunnerError> {
        let rows = self.run_store.store().task_branches(&self.job.project)?;
        let rows: Vec<TaskBranch> = rows.into_iter().filter(|row| self.was_here(row)).collect();
        let mut parents: Vec<String> = rows.iter().map(|row| row.run.clone()).collect();
        parents.extend(left_by.iter().map(|run| run.id.clone()).chain([self.run.id.clone()]));
        parents.sort();
        parents.dedup();
        for parent in parents {
            for worker in self.run_store.store().unfinished_workers(&parent)? {
                recover::end_worker(&mut self.run_store, &worker, host::clock::now())?;
            }
        }
        // Claimed for a worker that never began.
        for dead in left_by.iter().map(|run| run.runner) {
            for agent in self.run_store.registered_by(dead)? {
                self.run_store.hand_back(&agent, "the loop was killed before its worker began", None)?;
                self.run_store.gave_up(&agent);
            }
        }
        // A lease that lapsed meanwhile is seen as such from here on.
        self.run_store.queue().look(&self.job.project)?;
        for row in &rows {
            if let Some(task) = self.run_store.store().task(&self.job.project, &row.slug)? {
                self.adopt_one(row, &task)?;
            }
        }
        self.pair_conflicts(&rows)?;
        self.keep();
        Ok(())
    }

    /// Also where the branch is gone: a kill may have come between it and the rest of what is cleared away.
    fn was_here(&self, row: &TaskBranch) -> bool {
        row.state != BranchState::Merged && self.made_here(row)
    }

    fn adopt_one(&mut self, row: &TaskBranch, task: &Task) -> Result<(), RunnerError> {
        let row = TaskBranch { run: self.run.id.clone(), ..row.clone() };
        let hold = task.queued.hold.as_ref();
        match task.queued.status {
            TaskStatus::Done | TaskStatus::Deleted => self.put_away(&row),
            TaskStatus::Active if hold.is_some_and(|hold| hold.proposed.is_some()) && !self.is_ours(&row) => {
                let agent = hold.map(|hold| hold.agent.clone()).unwrap_or_default();
                let why = format!("its branch {} is gone, and its work with it", row.branch);
                self.warn(&format!("task {} comes back: {why}", row.slug));
                self.run_store.refute_task(&self.job.project, &row.slug, &agent, &why)?;
                self.run_store.drop_branch(row.task)?;
            }
            TaskStatus::Active if hold.is_some_and(|hold| hold.proposed.is_some()) => {
                self.run_store.save_branch(&row)?;
                let agent = hold.map(|hold| hold.agent.clone()).unwrap_or_default();
                let claim = Claim {
                    slug: row.slug.clone(),
                    title: task.plan.title.clone(),
                    agent,
                    verify: task.plan.verify.clone(),
                    branch: row,
                    adopted: true,
                };
                self.adopt_proposal(claim)?;
            }
            // The next attempt begins with it.
            TaskStatus::Open | TaskStatus::Active => self.run_store.save_branch(&row)?,
            TaskStatus::Quarantined => {}
        }
        Ok(())
    }

    fn adopt_proposal(&mut self, claim: Claim) -> Result<(), RunnerError> {
        let row = &claim.branch;
        let (folder, in_conflict) = (Path::new(&row.folder), row.state == BranchState::Conflict);
        self.outcome(&claim.slug).branch = Some(row.branch.clone());
        if !folder.join(".git").exists() {
            // What was not committed went with it. A branch that is in conflict has all of it.
            let verified = claim.verify.is_some() || self.job.settings.verify.is_some();
            let holds_it = in_conflict || (verified && self.has_own_commits(row));
            if !holds_it {
                let why = "its work tree is gone, and what was not committed with it";
                self.warn(&format!("task {} comes back: {why}", claim.slug));
                self.mark(row, BranchState::Working);
                self.outcome(&claim.slug).why = Some(why.to_string());
                self.run_store.refute_task(&self.job.project, &claim.slug, &claim.agent, why)?;
                self.leave(&claim.agent);
                return Ok(());
            }
            tree::add(&self.git, folder, &row.branch, &row.base)?;
            self.say(&format!("the work tree of task {} is gone: its branch is proven in a new one", claim.slug));
            if let Some(setup) = self.job.settings.worktree_setup.as_deref() {
                // What it fails at the verification fails at as well, and says so.
                let _ = self.check(setup).run(folder, &self.cancel, |_| {});
            }
        } else if !in_conflict {
            tree::set_right(&self.git.of(folder), &row.branch);
        }
        self.say(&format!("task {} was said to be done: it is merged now", claim.slug));
        self.enqueue(claim);
        Ok(())
    }

    /// Whether somebody committed on a branch; taking in a blocker is no work of its own.
    pub(super) fn has_own_commits(&self, row: &TaskBranch) -> bool {
        let range = format!("{}..refs/heads/{}", row.base, row.branch);
        let own = self.git.text(&["rev-list", "--no-merges", "-n", "1", &range]);
        own.is_some_and(|commit| !commit.is_empty())
    }

    /// A branch whose conflict is another task's waits for that one.
    fn pair_conflicts(&mut self, rows: &[TaskBranch]) -> Result<(), RunnerError> {
        for row in rows.iter().filter(|row| row.state == BranchState::Conflict) {
            let solves = |other: &&TaskBranch| other.branch == row.branch && other.slug != row.slug;
            let Some(other) = rows.iter().find(solves) else { continue };
            let store = self.run_store.store();
            let both = (store.task(&self.job.project, &row.slug)?, store.task(&self.job.project, &other.slug)?);
            let (Some(of), Some(solver)) = both else { continue };
            let waits = match engine::loops::conflict_left(&of.queued, &solver.queued) {
                ConflictLeft::Waits => self.to_merge.iter().position(|claim| claim.slug == row.slug),
                ConflictLeft::ClaimedFirst => self.claim_again(&row.slug)?,
                ConflictLeft::Apart => None,
            };
            if let Some(at) = waits {
                let claim = self.to_merge.remove(at);
                self.conflicts.push((claim, other.slug.clone()));
            }
        }
        Ok(())
    }

    /// None where somebody else has it.
    fn claim_again(&mut self, slug: &str) -> Result<Option<usize>, RunnerError> {
        let agent = self.run_store.register(&self.job.project, self.run.runner)?;
        match self.run_store.claim_one(&self.job.project, slug, &agent, LEASE_MS) {
            Ok(task) => {
                let claim = self.with_branch(&task, agent)?;
                self.to_merge.push(claim);
                Ok(Some(self.to_merge.len() - 1))
            }
            Err(_) => {
                self.run_store.deregister(&agent)?;
                Ok(None)
            }
        }
    }
}
