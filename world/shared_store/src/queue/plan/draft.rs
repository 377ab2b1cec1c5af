//! What a plan has read and is going to write: tasks as they stood, and as they are to stand.

use super::super::answer::{Reading, TaskRow};
use model::Ms;
use model::task::{Priority, Queued, Task, TaskPlan, TaskStatus, TaskStep, TaskTransition};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use store::{ServerTurn, TaskEdit};

/// By slug: all are of one project.
#[derive(Default)]
pub(super) struct Draft {
    /// `None` where the server has no such task.
    tasks: BTreeMap<String, Option<Entry>>,
    made: i64,
}

/// One task.
pub(super) struct Entry {
    /// As it is to stand. Its dependencies are in `blockers`.
    pub task: Task,
    claim: Option<String>,
    /// Whom it is to wait for, and whether that one is neither done nor deleted.
    pub blockers: BTreeMap<String, bool>,
    /// As it stood; `None` for one that is made here.
    pub before: Option<Before>,
    /// Planned anew after it was deleted.
    pub afresh: bool,
    /// The turns it took, as one.
    pub turn: Option<ServerTurn>,
}

pub(super) struct Before {
    plan: TaskPlan,
    pub status: TaskStatus,
    pub blockers: BTreeSet<String>,
}

impl Draft {
    pub fn knows(&self, slug: &str) -> bool {
        self.tasks.contains_key(slug)
    }

    pub fn get(&self, slug: &str) -> Option<&Entry> {
        self.tasks.get(slug)?.as_ref()
    }

    fn get_mut(&mut self, slug: &str) -> Option<&mut Entry> {
        self.tasks.get_mut(slug)?.as_mut()
    }

    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.tasks.values().flatten()
    }

    /// What the server said of a task. What is known already has been changed here since, or reads the same.
    pub fn learn(&mut self, row: &TaskRow, reading: &Reading<'_>) {
        let task = reading.task(row);
        if self.get(&task.plan.slug).is_some() {
            return;
        }
        let open = |status: &str| !TaskStatus::parse(status).is_some_and(TaskStatus::unblocks);
        let blockers: BTreeMap<String, bool> = row
            .blockers
            .iter()
            .flatten()
            .map(|blocker| {
                let known = self.get(&blocker.slug).map(|entry| !entry.task.queued.status.unblocks());
                (blocker.slug.clone(), known.unwrap_or_else(|| open(&blocker.status)))
            })
            .collect();
        let before = Before {
            plan: task.plan.clone(),
            status: task.queued.status,
            blockers: blockers.keys().cloned().collect(),
        };
        let claim = row.queued.claim.clone();
        let entry = Entry { claim, blockers, before: Some(before), afresh: false, turn: None, task };
        self.tasks.insert(entry.task.plan.slug.clone(), Some(entry));
    }

    /// The server was asked for these and has no others of them.
    pub fn note_absent<'a>(&mut self, slugs: impl IntoIterator<Item = &'a str>) {
        for slug in slugs {
            self.tasks.entry(slug.to_string()).or_insert(None);
        }
    }

    /// `None` where there is one.
    pub fn add(&mut self, project: &str, plan: &TaskPlan, now: Ms) -> Option<Queued> {
        if self.get(&plan.slug).is_some() {
            return None;
        }
        self.made += 1;
        let queued = Queued {
            // The server gives it another: until then what is made here is told apart by this.
            row: -self.made,
            project: project.to_string(),
            slug: plan.slug.clone(),
            status: TaskStatus::Open,
            hold: None,
            attempt: 0,
            retry_count: 0,
            failures: 0,
            releases: 0,
            fail_reason: None,
            ready_at: Ms(0),
            open_blockers: 0,
        };
        let task = Task {
            plan: plan_of(plan, plan.steps.clone()),
            queued: queued.clone(),
            result: None,
            created_at: now,
            updated_at: now,
            deleted_at: None,
        };
        let entry = Entry { task, claim: None, blockers: BTreeMap::new(), before: None, afresh: false, turn: None };
        self.tasks.insert(plan.slug.clone(), Some(entry));
        Some(queued)
    }

    /// Steps that were done and are still planned stay done.
    pub fn rewrite(&mut self, slug: &str, plan: &TaskPlan) {
        let Some(entry) = self.get_mut(slug) else { return };
        let done: HashSet<&String> =
            entry.task.plan.steps.iter().filter(|step| step.done).map(|step| &step.content).collect();
        let steps = plan
            .steps
            .iter()
            .map(|step| TaskStep { done: step.done || done.contains(&step.content), content: step.content.clone() });
        let steps = steps.collect();
        entry.task.plan = plan_of(plan, steps);
    }

    pub fn replan(&mut self, slug: &str, plan: &TaskPlan, now: Ms) {
        let Some(entry) = self.get_mut(slug) else { return };
        entry.task.plan = plan_of(plan, plan.steps.clone());
        entry.task.result = None;
        entry.task.created_at = now;
        entry.afresh = true;
    }

    pub fn edit(&mut self, slug: &str, edit: &TaskEdit) {
        let Some(entry) = self.get_mut(slug) else { return };
        let plan = &mut entry.task.plan;
        let pairs = [
            (&mut plan.description, &edit.description),
            (&mut plan.category, &edit.category),
            (&mut plan.spec, &edit.spec),
            (&mut plan.reference, &edit.reference),
        ];
        for (old, new) in pairs {
            if new.is_some() {
                old.clone_from(new);
            }
        }
        if let Some(title) = &edit.title {
            plan.title.clone_from(title);
        }
        plan.priority = edit.priority.unwrap_or(plan.priority);
        if let Some(steps) = &edit.steps {
            plan.steps.clone_from(steps);
        }
    }

    pub fn finish_step(&mut self, slug: &str, seq: i64) -> bool {
        let index = usize::try_from(seq).ok().and_then(|seq| seq.checked_sub(1));
        let steps = self.get_mut(slug).map(|entry| &mut entry.task.plan.steps);
        let step = steps.zip(index).and_then(|(steps, index)| steps.get_mut(index));
        step.map(|step| step.done = true).is_some()
    }

    pub fn set_blockers(&mut self, slug: &str, blockers: &[Queued]) {
        if let Some(entry) = self.get_mut(slug) {
            entry.blockers.clear();
            entry.recount();
        }
        self.add_blockers(slug, blockers);
    }

    pub fn add_blockers(&mut self, slug: &str, blockers: &[Queued]) {
        let open: Vec<(String, bool)> = blockers
            .iter()
            .map(|blocker| {
                // As it is here to stand: what was handed in may have been read before.
                let status = self.get(&blocker.slug).map_or(blocker.status, |entry| entry.task.queued.status);
                (blocker.slug.clone(), !status.unblocks())
            })
            .collect();
        if let Some(entry) = self.get_mut(slug) {
            entry.blockers.extend(open);
            entry.recount();
        }
    }

    pub fn remove_blocker(&mut self, slug: &str, blocker: &str) -> bool {
        self.get_mut(slug).is_some_and(|entry| {
            let removed = entry.blockers.remove(blocker).is_some();
            entry.recount();
            removed
        })
    }

    /// Nothing where the task does not stand as it did when this was decided, as everywhere.
    pub fn turn(&mut self, turn: &TaskTransition) {
        let Some(entry) = self.get_mut(&turn.after.slug) else { return };
        let queued = &mut entry.task.queued;
        if (queued.status, queued.attempt) != turn.before {
            return;
        }
        let open_blockers = queued.open_blockers;
        let (row, project) = (queued.row, queued.project.clone());
        *queued = Queued { row, project, open_blockers, ..turn.after.clone() };
        entry.task.result = turn.result.clone().or(entry.task.result.take());
        entry.task.deleted_at = (turn.after.status == TaskStatus::Deleted).then_some(turn.at);
        if entry.before.is_some() {
            let next = ServerTurn::of(turn, row, entry.claim.take(), None);
            entry.turn = Some(match entry.turn.take() {
                Some(first) => after(first, next),
                None => next,
            });
        }
        let (slug, open) = (&turn.after.slug, !turn.after.status.unblocks());
        for other in self.tasks.values_mut().flatten() {
            if let Some(known) = other.blockers.get_mut(slug)
                && *known != open
            {
                *known = open;
                other.recount();
            }
        }
    }
}

impl Entry {
    pub fn slug(&self) -> &str {
        &self.task.plan.slug
    }

    /// What is planned of it differs from what the server has.
    pub fn is_rewritten(&self) -> bool {
        self.before.as_ref().is_some_and(|before| self.afresh || !same(&before.plan, &self.task.plan))
    }

    /// It waits for others than it did.
    pub fn is_relinked(&self) -> bool {
        self.added().next().is_some() || self.removed().next().is_some()
    }

    pub fn added(&self) -> impl Iterator<Item = &str> {
        let before = self.before.as_ref();
        let known = move |slug: &&String| !before.is_some_and(|before| before.blockers.contains(*slug));
        self.blockers.keys().filter(known).map(String::as_str)
    }

    pub fn removed(&self) -> impl Iterator<Item = &str> {
        let before = self.before.iter().flat_map(|before| &before.blockers);
        before.filter(|slug| !self.blockers.contains_key(*slug)).map(String::as_str)
    }

    pub fn is_changed(&self) -> bool {
        self.before.is_none() || self.turn.is_some() || self.is_rewritten() || self.is_relinked()
    }

    fn recount(&mut self) {
        let open = self.blockers.values().filter(|open| **open).count();
        self.task.queued.open_blockers = i64::try_from(open).unwrap_or(i64::MAX);
    }
}

/// What two turns come to, one after the other.
fn after(first: ServerTurn, next: ServerTurn) -> ServerTurn {
    ServerTurn {
        was: first.was,
        attempt: first.attempt,
        claim: first.claim,
        outcome: next.outcome.or(first.outcome),
        reason: next.reason.or(first.reason),
        result: next.result.or(first.result),
        step: first.step + next.step,
        ..next
    }
}

/// Dependencies are told apart from the rest, and no command is kept on a server: another machine would run it.
fn plan_of(plan: &TaskPlan, steps: Vec<TaskStep>) -> TaskPlan {
    TaskPlan { deps: Vec::new(), verify: None, steps, ..plan.clone() }
}

fn same(one: &TaskPlan, other: &TaskPlan) -> bool {
    let key = |plan: &TaskPlan| -> (Priority, String) { (plan.priority, plan.title.clone()) };
    key(one) == key(other)
        && (&one.description, &one.category, &one.spec, &one.reference, &one.steps)
            == (&other.description, &other.category, &other.spec, &other.reference, &other.steps)
}
