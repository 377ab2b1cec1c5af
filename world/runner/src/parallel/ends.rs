//! What becomes of a task when its worker has ended.

use super::coordinator::{Coordinator, Slot, Stage, Stopping, name};
use super::tree;
use super::worker::Claim;
use crate::{lock, recover};
use engine::loops::AfterWorker;
use model::run::{Finish, Run};
use model::task_branch::{BranchState, TaskBranch};
use std::path::Path;

impl Coordinator<'_> {
    pub(super) fn worker_ended(&mut self, child: u64) {
        let is_it = |slot: &Option<Slot>| matches!(slot, Some(Slot { stage: Stage::Working(running), .. }) if running.id == child);
        let Some(at) = self.slots.iter().position(is_it) else { return };
        let Some(Slot { claim, stage: Stage::Working(running) }) = self.slots[at].take() else { return };
        let end = running.reap(|| {});
        let run = self.worker_run(&claim);
        self.close(run.as_ref(), &claim);
        let why = match &run {
            Some(Run { why: Some(why), finish: Some(finish), .. }) => format!("{}: {why}", finish.name()),
            Some(Run { finish: Some(finish), .. }) => finish.name().to_string(),
            _ => end.code.map_or("its worker was killed".to_string(), |code| format!("its worker ended with {code}")),
        };
        let complete = run.as_ref().is_some_and(|run| run.finish == Some(Finish::Complete));
        if let Some(Run { finish, why: Some(words), .. }) = &run
            && engine::loops::ends_all(*finish, Some(words))
            && self.ending.is_none()
        {
            self.end_with(Finish::Error, words.clone(), Stopping::Soft);
        }
        self.after(claim, complete, &why);
        self.say_ended(at, &why);
    }

    fn say_ended(&mut self, at: usize, why: &str) {
        self.say(&format!("{} ended: {}", name(at), model::text::line(why, 200)));
        // The database tells at once what that opened.
        self.look_now();
    }

    fn after(&mut self, claim: Claim, complete: bool, why: &str) {
        let task = self.run_store.store().task(&self.job.project, &claim.slug).ok().flatten();
        let queued = task.as_ref().map(|task| &task.queued);
        let is_conflict = self.conflicts.iter().any(|(_, slug)| *slug == claim.slug);
        match engine::loops::after_worker(queued, &claim.agent) {
            AfterWorker::Merge => {
                self.mark(&claim.branch, BranchState::Merging);
                self.enqueue(claim);
            }
            AfterWorker::GiveBack => {
                self.failures.note(&claim.slug, why);
                self.give_back(&claim, why);
            }
            AfterWorker::Returned => {
                if !complete {
                    let reason = queued.and_then(|task| task.fail_reason.clone()).unwrap_or_else(|| why.to_string());
                    self.failures.note(&claim.slug, &reason);
                    self.outcome(&claim.slug).why = Some(reason);
                }
                self.leave(&claim.agent);
            }
            // `mind_conflicts` sees to the branch.
            AfterWorker::Kept | AfterWorker::Over if is_conflict => self.leave(&claim.agent),
            AfterWorker::Kept => {
                let reason = queued.and_then(|task| task.fail_reason.clone()).unwrap_or_else(|| why.to_string());
                self.failures.note(&claim.slug, &reason);
                self.keep_branch(&claim, &format!("quarantined: {reason}"));
                self.leave(&claim.agent);
            }
            AfterWorker::Over => {
                self.leave(&claim.agent);
                self.put_away(&claim.branch);
            }
        }
    }

    /// The run of a worker that has ended; one whose process was killed is closed for it.
    fn close(&mut self, run: Option<&Run>, claim: &Claim) {
        let Some(run) = run else { return };
        self.outcome(&claim.slug).cost_micros += run.tally.cost_micros;
        if run.finished_at.is_some() {
            return;
        }
        let closed = recover::close_killed(&mut self.run_store, run, host::clock::now());
        if let Err(error) = closed {
            self.warn(&format!("the run of a worker that was killed could not be closed: {error}"));
        }
    }

    fn worker_run(&self, claim: &Claim) -> Option<Run> {
        let workers = self.run_store.store().workers_of(&self.run.id).ok()?;
        workers.into_iter().rev().find(|run| run.agent.as_deref() == Some(&claim.agent))
    }

    /// Back into the queue at once; its branch waits for the next attempt.
    pub(super) fn give_back(&mut self, claim: &Claim, why: &str) {
        self.outcome(&claim.slug).why = Some(why.to_string());
        if let Err(error) = self.run_store.release_for(&claim.agent, why) {
            self.warn(&format!("task {} could not be given back, its lease will lapse: {error}", claim.slug));
        }
        self.leave(&claim.agent);
    }

    /// Back into the queue as if it had not been claimed: nobody worked on it.
    pub(super) fn hand_back(&mut self, claim: &Claim, why: &str) {
        self.outcome(&claim.slug).why = Some(why.to_string());
        if let Err(error) = self.run_store.hand_back(&claim.agent, why, None) {
            self.warn(&format!("task {} could not be given back, its lease will lapse: {error}", claim.slug));
        }
        self.leave(&claim.agent);
    }

    /// Back into the queue as failed, after a rest.
    pub(super) fn fail(&mut self, claim: &Claim, why: &str) {
        self.outcome(&claim.slug).why = Some(why.to_string());
        if let Err(error) = self.run_store.fail(&self.job.project, &claim.slug, &claim.agent, why) {
            self.warn(&format!("task {} could not be given back, its lease will lapse: {error}", claim.slug));
        }
        self.leave(&claim.agent);
    }

    pub(super) fn leave(&mut self, agent: &str) {
        // One that is listed though it is gone is found out by the next look at the queue.
        let _ = self.run_store.deregister(agent);
    }

    pub(super) fn mark(&mut self, branch: &TaskBranch, state: BranchState) {
        let marked = TaskBranch { state, updated_at: host::clock::now(), ..branch.clone() };
        if let Err(error) = self.run_store.save_branch(&marked) {
            self.warn(&format!("branch {} could not be put on record: {error}", branch.branch));
        }
    }

    /// For a person: what the agent left is on the branch, and the work tree goes.
    pub(super) fn keep_branch(&mut self, claim: &Claim, why: &str) {
        let tree = self.git.of(Path::new(&claim.branch.folder));
        tree::set_right(&tree, &claim.branch.branch);
        if let Err(words) = tree::gather(&tree, &claim.branch.branch, &claim.slug) {
            self.warn(&format!("task {}: {words}; its work tree stays in {}", claim.slug, claim.branch.folder));
        } else {
            tree::put_away(&self.git, Path::new(&claim.branch.folder));
        }
        self.mark(&claim.branch, BranchState::Kept);
        let outcome = self.outcome(&claim.slug);
        (outcome.why, outcome.branch) = (Some(why.to_string()), Some(claim.branch.branch.clone()));
    }

    /// The work tree, the lock of the loops that ran in it, and the branch where nothing of it is needed any more.
    pub(super) fn remove_tree(&mut self, branch: &TaskBranch) {
        let folder = Path::new(&branch.folder);
        let lock = lock::beside(&self.job.state, folder, "lock");
        tree::remove(&self.git, folder, &branch.branch);
        let _ = std::fs::remove_file(lock);
    }

    /// A task that is over without a merge. Work that nobody has elsewhere stays on its branch.
    pub(super) fn put_away(&mut self, branch: &TaskBranch) {
        let (folder, head) = (Path::new(&branch.folder), self.target.head(&self.git));
        let tip = self.git.commit(&format!("refs/heads/{}", branch.branch));
        let inside = tip.is_none_or(|tip| self.git.is_ancestor(&tip, &head));
        if inside {
            self.remove_tree(branch);
            self.outcome(&branch.slug).branch = None;
        } else {
            tree::put_away(&self.git, folder);
            self.outcome(&branch.slug).why = Some("it is over in the queue, and its branch is not merged".to_string());
        }
        if let Err(error) = self.run_store.drop_branch(branch.task) {
            self.warn(&format!("branch {} could not be taken off the record: {error}", branch.branch));
        }
    }
}
