//! From a claimed task to its worker: a branch, a work tree, a process.

use super::coordinator::{Coordinator, Happened, Slot, Stage, name};
use super::prepare::{TreeJob, Unprepared};
use super::remote::Refusal;
use super::waiting::not_here;
use super::worker::{self, Claim, LimitsLeft};
use crate::run_store::RunStore;
use crate::{RunMessage, RunnerError, claimable};
use model::run::Run;
use model::task::{LEASE_MS, Task};
use model::task_branch::{BranchState, TaskBranch};
use pipeline::queue::QueueError;
use std::path::PathBuf;
use store::{ServerError, TaskFilter};

/// How a worker marks what its agent says.
const AGENT: &str = "agent │ ";

impl Coordinator<'_> {
    /// Claims the next task and begins with its work tree. `false` where there is none, or nothing can be claimed.
    pub(super) fn start_next(&mut self) -> bool {
        let Some(slot) = self.slots.iter().position(Option::is_none) else { return false };
        let claim = match self.claimed.pop_front() {
            Some(claim) => Ok(Some(claim)),
            None => self.claim_next(),
        };
        match claim {
            Ok(Some(claim)) => {
                self.unclaimed = None;
                self.begin_tree(slot, claim);
                true
            }
            Ok(None) => false,
            Err(error) => {
                let words = format!("no task could be claimed: {error}");
                if self.unclaimed.as_ref() != Some(&words) {
                    self.warn(&words);
                    self.unclaimed = Some(words);
                }
                false
            }
        }
    }

    fn claim_next(&mut self) -> Result<Option<Claim>, RunnerError> {
        let Some(slug) = self.first_free()? else { return Ok(None) };
        let agent = self.run_store.register(&self.job.project, self.run.runner)?;
        match self.run_store.claim_one(&self.job.project, &slug, &agent, LEASE_MS) {
            Ok(task) => match self.with_branch(&task, agent.clone()) {
                Ok(claim) => Ok(Some(claim)),
                Err(error) => {
                    // Nobody here would renew its lease.
                    self.run_store.hand_back(&agent, "no branch could be put on record for it", None)?;
                    self.leave(&agent);
                    Err(error)
                }
            },
            Err(error) => {
                self.run_store.deregister(&agent)?;
                // Somebody else was faster, and the next look finds another; or the server is away, which that look says.
                let passes = matches!(
                    error,
                    RunnerError::Queue(
                        QueueError::Refused { .. }
                            | QueueError::NotFound { .. }
                            | QueueError::Server { error: ServerError::Away(_) | ServerError::Busy(_), .. }
                    )
                );
                if passes { Ok(None) } else { Err(error) }
            }
        }
    }

    /// The first that can be claimed and is no worker's of ours: an agent whose context is full lets its task go at once, and
    /// its worker takes it up again in the same tree. Nor one whose branch another is at work on: a task and the task of
    /// its conflict share a tree.
    fn first_free(&mut self) -> Result<Option<String>, RunnerError> {
        let not_here = not_here(&self.run_store, &self.job.project, &self.run.folder)?;
        let many = self.slots.len() + self.to_merge.len() + self.claimed.len() + 1;
        let slots = self.slots.iter().flatten().map(|slot| &slot.claim);
        let ours: Vec<&Claim> = slots.chain(&self.to_merge).chain(&self.merging).chain(&self.claimed).collect();
        let ask = |run_store: &mut RunStore, limit: usize| {
            let some = TaskFilter { claimable_at: Some(host::clock::now()), limit, ..TaskFilter::default() };
            Ok(run_store.queue().tasks(&self.job.project, &some)?)
        };
        let is_free = |run_store: &mut RunStore, task: &Task| {
            let branch = run_store.store().branch_of(&task.queued)?.map(|row| row.branch);
            let same = |claim: &&Claim| claim.slug == task.plan.slug || Some(&claim.branch.branch) == branch.as_ref();
            Ok::<_, RunnerError>(!ours.iter().any(same) && !not_here.contains(&task.plan.slug))
        };
        let found = claimable::first(&mut self.run_store, 2 * many + not_here.len() + 1, ask, is_free)?;
        Ok(found.first.map(|task| task.plan.slug))
    }

    /// The branch an earlier attempt left in this work tree, else a new one. It is on record before it is made.
    pub(super) fn with_branch(&mut self, task: &Task, agent: String) -> Result<Claim, RunnerError> {
        let slug = task.plan.slug.clone();
        let earlier = self.run_store.store().branch_of(&task.queued)?;
        let branch = match earlier.filter(|earlier| self.is_ours(earlier)) {
            Some(earlier) => {
                let state = if earlier.state == BranchState::Conflict { earlier.state } else { BranchState::Working };
                TaskBranch { run: self.run.id.clone(), state, updated_at: host::clock::now(), ..earlier }
            }
            None => self.new_branch(task),
        };
        self.run_store.save_branch(&branch)?;
        Ok(Claim {
            slug,
            title: task.plan.title.clone(),
            agent,
            verify: task.plan.verify.clone(),
            branch,
            adopted: false,
        })
    }

    fn new_branch(&self, task: &Task) -> TaskBranch {
        let folders = self.worktrees();
        let taken = |name: &str| {
            folders.join(name).exists()
                || self.git.succeeds(&["show-ref", "-q", "--verify", &format!("refs/heads/taut/{}/{name}", self.short)])
        };
        let name = engine::loops::safe_name(&task.plan.slug, taken);
        TaskBranch {
            task: task.queued.row,
            slug: task.plan.slug.clone(),
            run: self.run.id.clone(),
            branch: format!("taut/{}/{name}", self.short),
            folder: folders.join(&name).to_string_lossy().into_owned(),
            base: self.target.head(&self.git),
            state: BranchState::Working,
            tries: 0,
            updated_at: host::clock::now(),
        }
    }

    /// Whether a branch on record was made by a loop of this work tree, and is still there.
    pub(super) fn is_ours(&self, branch: &TaskBranch) -> bool {
        let there = self.git.commit(&format!("refs/heads/{}", branch.branch)).is_some();
        branch.state != BranchState::Merged && self.made_here(branch) && there
    }

    pub(super) fn made_here(&self, branch: &TaskBranch) -> bool {
        let made_by = |run: Run| run.folder == self.run.folder && run.branch == self.run.branch;
        let stored = self.run_store.store().stored_run(&branch.run).ok().flatten();
        branch.run == self.run.id || stored.is_some_and(made_by)
    }

    fn begin_tree(&mut self, slot: usize, claim: Claim) {
        let queued = self.run_store.store().task(&self.job.project, &claim.slug).ok().flatten();
        let blockers = queued.and_then(|task| self.run_store.store().branches_of_blockers(&task.queued).ok());
        let merged = blockers.into_iter().flatten().filter(|blocker| blocker.state == BranchState::Merged);
        let job = TreeJob {
            main: self.git.clone(),
            target: self.target.clone(),
            remote: self.remote.clone(),
            folder: PathBuf::from(&claim.branch.folder),
            branch: claim.branch.branch.clone(),
            blockers: merged.map(|blocker| (blocker.slug, blocker.base, blocker.branch)).collect(),
            setup: self.job.settings.worktree_setup.as_deref().map(|line| self.check(line)),
        };
        let (sender, cancel, slug) = (self.sender.clone(), self.cancel_setup.clone(), claim.slug.clone());
        self.outcome(&claim.slug).branch = Some(claim.branch.branch.clone());
        self.slots[slot] = Some(Slot { claim, stage: Stage::Preparing });
        std::thread::spawn(move || {
            let lines = sender.clone();
            let made = job.run(&cancel, |line| {
                let text = String::from_utf8_lossy(line).into_owned();
                let _ = lines.send(Happened::Line { slug: slug.clone(), what: "setup", text });
            });
            let _ = sender.send(Happened::Prepared { slot, made });
        });
    }

    /// The tree stands: its worker begins, unless somebody wants the end meanwhile.
    pub(super) fn prepared(&mut self, slot: usize, made: Result<(), Unprepared>) {
        let Some(Slot { mut claim, .. }) = self.slots[slot].take() else { return };
        self.note_base(&mut claim);
        if self.ends() {
            self.hand_back(&claim, "the loop was stopped before its worker began");
            return;
        }
        if let Err(why) = made {
            self.unprepared(&claim, why);
            return;
        }
        self.remote_is_reached();
        if self.paused {
            // Begun first of all when somebody says to go on; its tree stands by then.
            self.claimed.push_front(claim);
            return;
        }
        self.next_child += 1;
        let about = (self.run.id.as_str(), &claim, self.left());
        match worker::start(self.job, about, (self.next_child, &self.children)) {
            Ok(child) => {
                self.say(&format!("{} begins {}: {}", name(slot), claim.slug, model::text::line(&claim.title, 100)));
                self.outcome(&claim.slug).tries += 1;
                self.slots[slot] = Some(Slot { claim, stage: Stage::Working(child) });
            }
            Err(error) => {
                let words = error.to_string();
                self.warn(&words);
                self.failures.note(&claim.slug, &words);
                self.fail(&claim, &words);
            }
        }
    }

    fn unprepared(&mut self, claim: &Claim, why: Unprepared) {
        match why {
            Unprepared::Task(words) => {
                self.warn(&format!("task {}: {words}", claim.slug));
                self.failures.note(&claim.slug, &words);
                self.fail(claim, &words);
            }
            Unprepared::Remote(Refusal::Unreached(error)) => {
                self.remote_is_away(&error);
                self.hand_back(claim, "the remote could not be reached before its worker began");
            }
            Unprepared::Remote(Refusal::Final(error) | Refusal::Failed(error)) => {
                self.hand_back(claim, &error.to_string());
                self.remote_is_closed(&error);
            }
            Unprepared::Remote(Refusal::Cancelled) => {
                self.hand_back(claim, "the loop was stopped before its worker began");
            }
        }
    }

    /// What others finished came in after the branch was put on record, and is no work of its own.
    fn note_base(&mut self, claim: &mut Claim) {
        let (head, branch) = (self.target.head(&self.git), format!("refs/heads/{}", claim.branch.branch));
        let base = self.git.text(&["merge-base", &head, &branch]).filter(|_| self.remote.is_some());
        if let Some(base) = base.filter(|base| *base != claim.branch.base) {
            claim.branch.base = base;
            let _ = self.run_store.save_branch(&claim.branch);
        }
    }

    /// What is left of the limits of the whole; each worker may use up all of it, and the sum is looked at here.
    fn left(&self) -> LimitsLeft {
        let (limits, tally) = (&self.job.terms.limits, &self.run.tally);
        let shortest = limits.max_ms.into_iter().chain(limits.ceiling_ms).min();
        let past = host::clock::now().since(self.run.started_at);
        LimitsLeft {
            iterations: (limits.max_iterations > 0)
                .then(|| limits.max_iterations.saturating_sub(tally.iterations).max(1)),
            ms: shortest.map(|ms| ms.saturating_sub(past).max(1_000)),
            cost_micros: limits.max_cost_micros.map(|most| most.saturating_sub(tally.cost_micros).max(1)),
        }
    }

    /// What a worker tells people; its own account of itself, on the other pipe, is in the database anyway.
    pub(super) fn worker_line(&mut self, child: u64, text: &[u8]) {
        let of = |slot: &Option<Slot>| match slot {
            Some(Slot { stage: Stage::Working(running), .. }) => running.id == child,
            _ => false,
        };
        let Some(slot) = self.slots.iter().position(of) else { return };
        let text = String::from_utf8_lossy(text).trim_end().to_string();
        if text.is_empty() || text.starts_with('{') {
            return;
        }
        let task = self.slots[slot].as_ref().map(|slot| slot.claim.slug.clone()).unwrap_or_default();
        if let Some(said) = text.strip_prefix(AGENT) {
            let said = RunMessage::AgentSaid { worker: Some(name(slot)), text: said.to_string() };
            self.tell.show(&said);
            return;
        }
        self.log.line(&format!("{} {task}", name(slot)), &text);
        self.tell.show(&RunMessage::WorkerLine { worker: name(slot), task, text });
    }
}
