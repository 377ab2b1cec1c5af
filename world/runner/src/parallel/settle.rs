//! Merges, one after the other: what they came to, and what that means for the
//! queue. Only what is merged is done.

use super::coordinator::{Coordinator, Happened, Stopping};
use super::merging::{MergeEnd, MergeJob, named};
use super::worker::Claim;
use crate::RunnerError;
use engine::loops::{AlikeFailures, Conflict, Waiting};
use model::task::{LEASE_MS, TaskStatus};
use model::task_branch::{BranchState, TaskBranch};
use std::path::PathBuf;

impl Coordinator<'_> {
    /// In the order of the queue, as far as they are ready.
    pub(super) fn enqueue(&mut self, claim: Claim) {
        self.to_merge.push(claim);
        let order = self.run_store.store().task_branches(&self.job.project).unwrap_or_default();
        let place = |claim: &Claim| order.iter().position(|row| row.task == claim.branch.task);
        self.to_merge.sort_by_key(|claim| place(claim).unwrap_or(usize::MAX));
    }

    pub(super) fn merge_next(&mut self) {
        if self.merging.is_some() || self.to_merge.is_empty() || self.stopping == Stopping::Hard {
            if self.stopping == Stopping::Hard {
                // They are proven and on record: whoever goes on merges them.
                self.to_merge.clear();
            }
            return;
        }
        if self.remote_rests() {
            return;
        }
        let Some(next) = self.to_merge.iter().position(|claim| self.lands_now(claim)) else { return };
        let claim = self.to_merge.remove(next);
        let proposed = self.run_store.store().task(&self.job.project, &claim.slug).ok().flatten();
        let hold = proposed.and_then(|task| task.queued.hold).filter(|hold| hold.agent == claim.agent);
        let Some(proposed) = hold.and_then(|hold| hold.proposed) else {
            let why = "nobody says any more that it is done: its lease lapsed";
            self.warn(&format!("task {} is not merged: {why}", claim.slug));
            self.hand_back(&claim, why);
            return;
        };
        let verify = claim.verify.as_ref().or(self.job.settings.verify.as_ref());
        let job = MergeJob {
            slug: claim.slug.clone(),
            title: claim.title.clone(),
            branch: claim.branch.branch.clone(),
            folder: PathBuf::from(&claim.branch.folder),
            main: self.git.clone(),
            target: self.target.clone(),
            remote: self.remote.clone(),
            style: self.job.settings.merge,
            verify: verify.map(|line| self.check(line)),
            setup: self.job.settings.worktree_setup.as_deref().map(|line| self.check(line)),
            proven: proposed.proven && !claim.adopted,
        };
        let (sender, cancel, slug) = (self.sender.clone(), self.cancel.clone(), claim.slug.clone());
        self.merging = Some(claim);
        std::thread::spawn(move || {
            let lines = sender.clone();
            let end = job.run(&cancel, |line| {
                let text = String::from_utf8_lossy(line).into_owned();
                let _ = lines.send(Happened::Line { slug: slug.clone(), what: "verify", text });
            });
            let _ = sender.send(Happened::Merged(end));
        });
    }

    fn lands_now(&self, claim: &Claim) -> bool {
        engine::loops::lands_now(Waiting {
            solves: self.conflicts.iter().any(|(of, _)| of.branch.branch == claim.branch.branch),
            unsolved: !self.conflicts.is_empty(),
            in_hand: self.conflicts.iter().any(|(_, slug)| self.in_hand(slug)),
            ending: self.ends(),
        })
    }

    fn in_hand(&self, slug: &str) -> bool {
        let slots = self.slots.iter().flatten().map(|slot| &slot.claim);
        slots.chain(&self.claimed).chain(&self.to_merge).chain(&self.merging).any(|claim| claim.slug == slug)
    }

    pub(super) fn merged(&mut self, end: MergeEnd) {
        let Some(claim) = self.merging.take() else { return };
        if matches!(end, MergeEnd::Merged { .. } | MergeEnd::Nothing { .. }) {
            self.remote_is_reached();
        }
        match end {
            MergeEnd::Merged { commit, aside } => self.landed(&claim, &commit, aside),
            MergeEnd::Nothing { left } => self.done_without_merge(&claim, &left),
            MergeEnd::Conflict(conflict) => self.in_conflict(claim, &conflict),
            MergeEnd::Refuted(why) => self.refuted(&claim, &why),
            MergeEnd::Failed(error) => {
                self.warn(&format!("task {} could not be merged: {error}", claim.slug));
                self.refuted(&claim, &format!("its branch could not be merged: {error}"));
            }
            // Its proposal stands and its lease is renewed: it is only not merged yet.
            MergeEnd::Unreached(error) => {
                self.remote_is_away(&error);
                self.outcome(&claim.slug).why = Some(error.to_string());
                self.enqueue(claim);
            }
            MergeEnd::Stuck(error) => {
                self.warn(&format!("task {} is proven and not merged: {error}", claim.slug));
                self.outcome(&claim.slug).why = Some(error.to_string());
                self.remote_is_closed(&error);
            }
            // It is on record, and proven.
            MergeEnd::Cancelled => {}
        }
        self.look_now();
    }

    fn landed(&mut self, claim: &Claim, commit: &str, aside: Option<String>) {
        let (solved, of) = self.confirmed(claim);
        // Before the record forgets its name: whoever goes on after a kill must find it.
        self.remove_tree(&of.branch);
        let into = if aside.is_some() { self.target.aside.clone() } else { self.target.shown(&self.git) };
        let merged = TaskBranch {
            state: BranchState::Merged,
            branch: into.clone(),
            folder: String::new(),
            base: commit.to_string(),
            updated_at: host::clock::now(),
            ..of.branch.clone()
        };
        if let Err(error) = self.run_store.save_branch(&merged) {
            self.warn(&format!("the merge of {} could not be put on record: {error}", of.slug));
        }
        if let Some(solved) = &solved {
            let _ = self.run_store.drop_branch(solved.branch.task);
            let outcome = self.outcome(&solved.slug);
            (outcome.merged, outcome.branch, outcome.why) = (Some(commit.to_string()), None, None);
        }
        let outcome = self.outcome(&of.slug);
        (outcome.merged, outcome.branch, outcome.why) = (Some(commit.to_string()), None, None);
        let short: String = commit.chars().take(9).collect();
        self.say(&format!("merged {} into {into}: {short}", of.slug));
        if let Some(why) = aside {
            self.warn(&format!("{} is on branch {into}, beside yours: {why}", of.slug));
        }
    }

    /// What is done needs no commit of its own; none of somebody else's is said to be its.
    fn done_without_merge(&mut self, claim: &Claim, left: &[String]) {
        let (solved, of) = self.confirmed(claim);
        self.remove_tree(&of.branch);
        for done in solved.iter().chain([&of]) {
            let _ = self.run_store.drop_branch(done.branch.task);
            let outcome = self.outcome(&done.slug);
            (outcome.nothing, outcome.branch) = (true, None);
            outcome.why = (!left.is_empty()).then(|| {
                format!("nothing was committed; what git does not look at went with its work tree{}", named(left))
            });
        }
        self.say(&format!("task {} is done: nothing to merge", of.slug));
    }

    /// Both are done in the queue.
    fn confirmed(&mut self, claim: &Claim) -> (Option<Claim>, Claim) {
        let (solved, of) = self.both(claim);
        for done in solved.iter().chain([&of]) {
            if let Err(error) = self.run_store.confirm_task(&self.job.project, &done.slug, &done.agent) {
                self.warn(&format!("task {} is merged and could not be marked as done: {error}", done.slug));
            }
            self.leave(&done.agent);
        }
        self.failures = AlikeFailures::default();
        (solved, of)
    }

    /// The claim that was merged, and whose branch it is: another's, where it solved that one's conflict.
    fn both(&mut self, claim: &Claim) -> (Option<Claim>, Claim) {
        match self.conflicts.iter().position(|(of, _)| of.branch.branch == claim.branch.branch) {
            Some(at) => {
                let (of, _) = self.conflicts.remove(at);
                (Some(claim.clone()).filter(|claim| claim.slug != of.slug), of)
            }
            None => (None, claim.clone()),
        }
    }

    /// What does not pass goes back to whoever works on it next: the conflict's task where there is one.
    fn refuted(&mut self, claim: &Claim, why: &str) {
        self.failures.note(&claim.slug, why);
        self.outcome(&claim.slug).why = Some(why.to_string());
        self.say(&format!("task {} comes back: {}", claim.slug, model::text::line(why, 200)));
        self.mark(&claim.branch, BranchState::Working);
        if let Err(error) = self.run_store.refute_task(&self.job.project, &claim.slug, &claim.agent, why) {
            self.warn(&format!("task {} could not be given back, its lease will lapse: {error}", claim.slug));
        }
        self.leave(&claim.agent);
    }

    fn in_conflict(&mut self, claim: Claim, conflict: &Conflict) {
        let (solved, mut of) = self.both(&claim);
        self.outcome(&of.slug).conflicts += 1;
        let files = model::text::line(&conflict.files.join(", "), 200);
        self.say(&format!("task {} is in conflict with {} in {files}", of.slug, conflict.onto));
        if solved.is_none() && self.ends() {
            // Its proposal and its branch stay, and who goes on merges it again.
            self.mark(&of.branch, BranchState::Conflict);
            let why = format!("its branch {} conflicts in {files}: the next run asks an agent", of.branch.branch);
            self.warn(&format!("task {} is not merged: {why}", of.slug));
            self.outcome(&of.slug).why = Some(why);
            return;
        }
        of.branch.tries += 1;
        if of.branch.tries > self.job.settings.merge_tries {
            self.keep_for_person(solved, &of, &format!("its branch {} conflicts in {files}", of.branch.branch));
            return;
        }
        self.mark(&of.branch, BranchState::Conflict);
        let asked = match solved {
            // It solved what was there; more has come since.
            Some(solved) => self.ask_again(&solved, &of, conflict),
            None => self.ask(&of, conflict),
        };
        match asked {
            Ok(slug) => self.conflicts.push((of, slug)),
            Err(error) => {
                let why = format!(
                    "its branch {} conflicts in {files}, and that could not be made a task: {error}",
                    of.branch.branch
                );
                self.keep_for_person(None, &of, &why);
            }
        }
    }

    /// A task of its own, claimed at once: it can only be worked on in this branch's tree.
    fn ask(&mut self, of: &Claim, conflict: &Conflict) -> Result<String, RunnerError> {
        let conflict = Conflict { slug: of.slug.clone(), title: of.title.clone(), ..conflict.clone() };
        let (mut queue, project) = (self.run_store.queue(), &self.job.project);
        let plan =
            engine::loops::conflict_task(&conflict, |slug| queue.task(project, slug).is_ok_and(|task| task.is_some()));
        self.run_store.create(&self.job.project, &plan)?;
        let agent = self.run_store.register(&self.job.project, self.run.runner)?;
        let task = self.run_store.claim_one(&self.job.project, &plan.slug, &agent, LEASE_MS)?;
        let branch = TaskBranch {
            task: task.queued.row,
            slug: plan.slug.clone(),
            state: BranchState::Working,
            ..of.branch.clone()
        };
        self.run_store.save_branch(&branch)?;
        let claim = Claim {
            slug: plan.slug.clone(),
            title: plan.title,
            agent,
            verify: of.verify.clone(),
            branch,
            adopted: false,
        };
        self.claimed.push_back(claim);
        Ok(plan.slug)
    }

    fn ask_again(&mut self, solved: &Claim, of: &Claim, conflict: &Conflict) -> Result<String, RunnerError> {
        let conflict = Conflict { slug: of.slug.clone(), title: of.title.clone(), ..conflict.clone() };
        let description = engine::loops::conflict_task(&conflict, |_| false).description;
        self.run_store.describe(&self.job.project, &solved.slug, description)?;
        let why = format!("{} has moved on: there are conflicts again in {}", conflict.onto, conflict.files.join(", "));
        self.run_store.refute_task(&self.job.project, &solved.slug, &solved.agent, &why)?;
        self.leave(&solved.agent);
        Ok(solved.slug.clone())
    }

    /// Conflicts whose task is over without us, or given up. Where the queue is on a server, it may be so there alone.
    pub(super) fn mind_conflicts(&mut self) {
        let mut at = 0;
        while let Some((_, slug)) = self.conflicts.get(at) {
            let task = (!self.in_hand(slug)).then(|| self.run_store.queue().task(&self.job.project, slug));
            let status = match task {
                Some(Ok(task)) => task.map_or(TaskStatus::Deleted, |task| task.queued.status),
                // Of one that cannot be asked for now nothing is known.
                Some(Err(_)) | None => TaskStatus::Open,
            };
            match status {
                TaskStatus::Done | TaskStatus::Deleted => {
                    let (of, _) = self.conflicts.remove(at);
                    self.enqueue(of);
                }
                TaskStatus::Quarantined => {
                    let (of, slug) = self.conflicts.remove(at);
                    let why = format!("its branch {} conflicts, and {slug} is quarantined", of.branch.branch);
                    self.keep_for_person(None, &of, &why);
                }
                _ => at += 1,
            }
        }
    }

    /// Both are taken out of the queue, and the branch stays.
    fn keep_for_person(&mut self, solved: Option<Claim>, of: &Claim, why: &str) {
        let hint = format!("{why}; merge it by hand, then `taut task update {} --status done`", of.slug);
        for task in solved.iter().chain([of]) {
            let refuted = self.run_store.refute_task(&self.job.project, &task.slug, &task.agent, &hint);
            // One whose proposal lapsed is held alone.
            let failed = refuted.or_else(|_| self.run_store.fail(&self.job.project, &task.slug, &task.agent, &hint));
            let kept = failed.and_then(|()| self.run_store.quarantine(&self.job.project, &task.slug));
            if let Err(error) = kept {
                self.warn(&format!("task {} could not be quarantined: {error}", task.slug));
            }
            self.leave(&task.agent);
        }
        if let Some(solved) = solved {
            let _ = self.run_store.drop_branch(solved.branch.task);
            self.outcome(&solved.slug).why = Some(hint.clone());
            self.outcome(&solved.slug).branch = None;
        }
        self.keep_branch(of, &hint);
        self.warn(&format!("task {} is left for a person: {why}", of.slug));
    }
}
