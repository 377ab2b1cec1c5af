//! Several agents on one queue: what a worker has left to do, what becomes of a
//! task when its worker has ended, how branches are named, and when all of it ends.

use super::machine::{MAY_NOT_WORK, same_failure};
use super::{LoopLimits, Open, WorkCount};
use crate::queue::LEASE_UNSURE;
use model::Ms;
use model::run::Finish;
use model::task::{Priority, Queued, TaskPlan, TaskStatus};
use std::collections::BTreeSet;

/// No name of a branch or a folder is longer, before its number.
const LONGEST_NAME: usize = 60;
/// So many of each are named in the task of a conflict.
const MOST_NAMED: usize = 50;
const LONGEST_SLUG: usize = 200;
const LONGEST_FAILURE: usize = 300;

/// Nothing is left.
pub const DONE: WorkCount = WorkCount::Counted { left: 0, done: 1, open: Open::Now };

/// The work of a worker: one task, claimed for it. Done is proven; what it does
/// not hold any more was given back, and is for another.
pub fn work_of_worker(task: Option<&Queued>, agent: &str) -> WorkCount {
    let left = |open| WorkCount::Counted { left: 1, done: 0, open };
    let Some(task) = task else { return DONE };
    match (task.status, &task.hold) {
        (TaskStatus::Done | TaskStatus::Deleted, _) => DONE,
        (TaskStatus::Active, Some(hold)) if hold.agent == agent => {
            if hold.proposed.is_some_and(|proposed| proposed.proven) { DONE } else { left(Open::Now) }
        }
        _ => left(Open::Never),
    }
}

/// What the coordinator does with a task whose worker has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterWorker {
    /// Its branch is merged, then it is done.
    Merge,
    /// It is held still, without anybody at work: back with it, with the worker's reason.
    GiveBack,
    /// It is back in the queue, and its branch waits for the next attempt.
    Returned,
    /// Over without us.
    Over,
    /// Only a person can go on with it.
    Kept,
}

pub fn after_worker(task: Option<&Queued>, agent: &str) -> AfterWorker {
    let Some(task) = task else { return AfterWorker::Over };
    match (task.status, &task.hold) {
        (TaskStatus::Active, Some(hold)) if hold.agent == agent => match hold.proposed {
            Some(_) => AfterWorker::Merge,
            None => AfterWorker::GiveBack,
        },
        (TaskStatus::Done | TaskStatus::Deleted, _) => AfterWorker::Over,
        (TaskStatus::Quarantined, _) => AfterWorker::Kept,
        (TaskStatus::Open | TaskStatus::Active, _) => AfterWorker::Returned,
    }
}

/// How a coordinator stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Coordination {
    /// Tasks that are claimed and being worked on.
    pub working: usize,
    /// Branches that wait for their merge, or are merged now.
    pub merging: usize,
    pub workers: usize,
    /// Of the queue, without what this coordinator itself holds.
    pub work: WorkCount,
    pub iterations: u64,
    /// Those, and one for each worker that has not come to its first yet.
    pub iterations_given: u64,
    pub cost_micros: i64,
    pub started_at: Ms,
    /// Somebody wants it to end; nothing new is begun.
    pub stopping: bool,
    pub paused: bool,
    /// The same failure so often in a row, and what it was.
    pub same_failures: u64,
    pub last_failure: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum CoordinatorStep {
    /// Claims the next task, and starts a worker on it.
    Start,
    /// Something is under way, or becomes claimable then.
    Wait(Option<Ms>),
    /// Nothing new is begun; what runs is ended, at once where a budget or the time is over.
    Drain {
        finish: Finish,
        why: String,
        at_once: bool,
    },
    End {
        finish: Finish,
        why: String,
    },
}

/// What comes next. Completion is looked at before limits, as in every loop.
pub fn coordinate(state: &Coordination, limits: &LoopLimits, now: Ms) -> CoordinatorStep {
    let busy = state.working + state.merging > 0;
    let end = |finish, why: &str| CoordinatorStep::End { finish, why: why.to_string() };
    if state.stopping {
        return if busy { CoordinatorStep::Wait(None) } else { end(Finish::Manual, "stopped by hand") };
    }
    if let WorkCount::Counted { left: 0, done: 1.., .. } = state.work
        && !busy
    {
        return end(Finish::Complete, "everything is done");
    }
    if let Some((finish, why, at_once)) = limit(state, limits, now) {
        return CoordinatorStep::Drain { finish, why, at_once };
    }
    let all_given = limits.max_iterations > 0 && state.iterations_given >= limits.max_iterations;
    if state.paused || state.working >= state.workers || all_given {
        return CoordinatorStep::Wait(None);
    }
    match state.work {
        WorkCount::Counted { left: 1.., open: Open::Now, .. } | WorkCount::Unknown => CoordinatorStep::Start,
        WorkCount::Counted { left: 1.., open: Open::At(at), .. } => CoordinatorStep::Wait(Some(at)),
        _ if busy => CoordinatorStep::Wait(None),
        _ => end(Finish::Stuck, "nothing that is left can be claimed: `taut task why` says why"),
    }
}

fn limit(state: &Coordination, limits: &LoopLimits, now: Ms) -> Option<(Finish, String, bool)> {
    if limits.same_failures > 0 && state.same_failures >= limits.same_failures {
        let what = state.last_failure.clone().unwrap_or_default();
        return Some((Finish::Error, format!("{} tasks in a row failed alike: {what}", state.same_failures), false));
    }
    if limits.max_iterations > 0 && state.iterations >= limits.max_iterations {
        return Some((Finish::MaxIterations, format!("{} iterations were allowed", limits.max_iterations), false));
    }
    if limits.max_cost_micros.is_some_and(|most| state.cost_micros >= most) {
        return Some((Finish::Budget, "the budget is spent".to_string(), true));
    }
    let shortest = limits.max_ms.into_iter().chain(limits.ceiling_ms).min()?;
    (now >= state.started_at.plus(shortest)).then(|| (Finish::Limit, "the time is up".to_string(), true))
}

/// Tasks in a row that failed alike. One task that fails again and again is one: the queue itself gives it up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AlikeFailures {
    tasks: BTreeSet<String>,
    last: Option<String>,
}

impl AlikeFailures {
    /// A server that is away is no failure of a task, whatever it does to all of them at once.
    pub fn note(&mut self, task: &str, why: &str) {
        if why == LEASE_UNSURE {
            return;
        }
        let why = model::text::line(why, LONGEST_FAILURE);
        if !self.last.as_deref().is_some_and(|last| same_failure(last, &why)) {
            self.tasks.clear();
        }
        self.tasks.insert(task.to_string());
        self.last = Some(why);
    }

    pub fn count(&self) -> u64 {
        self.tasks.len() as u64
    }

    pub fn last(&self) -> Option<&str> {
        self.last.as_deref()
    }
}

/// Whether what ended one worker would end every other too: no agent may work.
pub fn ends_all(finish: Option<Finish>, why: Option<&str>) -> bool {
    finish == Some(Finish::Error) && why.is_some_and(|why| why.starts_with(MAY_NOT_WORK))
}

/// A branch that waits to be merged, beside a conflict that is not solved yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Waiting {
    /// It is what solves a conflict.
    pub solves: bool,
    pub unsolved: bool,
    /// Somebody is at work on the solution, or about to be.
    pub in_hand: bool,
    pub ending: bool,
}

/// While a conflict is being solved nothing else lands, or it would be solved for nothing. What is not in hand when
/// all of it ends is the next run's, and holds nobody up.
pub fn lands_now(waiting: Waiting) -> bool {
    waiting.solves || !waiting.unsolved || (waiting.ending && !waiting.in_hand)
}

/// What is done with a task and the task of its conflict, which share a branch, when another run takes them over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConflictLeft {
    /// The task waits until its conflict is solved.
    Waits,
    /// So it does, and is claimed first: its lease lapsed, and somebody would begin it in the same work tree.
    ClaimedFirst,
    /// Neither waits for the other.
    Apart,
}

pub fn conflict_left(of: &Queued, solver: &Queued) -> ConflictLeft {
    match (of.status, solver.status) {
        (TaskStatus::Active, TaskStatus::Open | TaskStatus::Active | TaskStatus::Quarantined) if of.is_proposed() => {
            ConflictLeft::Waits
        }
        (TaskStatus::Open, TaskStatus::Open | TaskStatus::Active) => ConflictLeft::ClaimedFirst,
        _ => ConflictLeft::Apart,
    }
}

/// A slug as part of a branch and as a folder: what any file system and git take,
/// and no other slug's. `taken` tells whether somebody has it.
pub fn safe_name(slug: &str, taken: impl Fn(&str) -> bool) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c.to_ascii_lowercase() } else { '-' };
    let mut name = String::new();
    for c in slug.chars().map(plain) {
        if c != '-' || !(name.is_empty() || name.ends_with('-')) {
            name.push(c);
        }
        if name.len() >= LONGEST_NAME {
            break;
        }
    }
    let name = name.trim_end_matches('-');
    let name = if name.is_empty() { "task" } else { name };
    numbered(name, taken)
}

/// The name, or the first with a number behind it that nobody has.
fn numbered(name: &str, mut taken: impl FnMut(&str) -> bool) -> String {
    let names = (2_u64..).map(|number| format!("{name}-{number}"));
    std::iter::once(name.to_string()).chain(names).find(|name| !taken(name)).unwrap_or_else(|| name.to_string())
}

/// Two sides that changed the same lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    pub slug: String,
    pub title: String,
    /// The branch of the task, and its commits.
    pub branch: String,
    pub commits: Vec<String>,
    /// The branch it is to go into, where that stands now, and what is new there.
    pub onto: String,
    pub head: String,
    pub their_commits: Vec<String>,
    pub files: Vec<String>,
}

/// The task that an agent is given to solve it, under a name that nobody has.
pub fn conflict_task(conflict: &Conflict, taken: impl FnMut(&str) -> bool) -> TaskPlan {
    let Conflict { slug, title, branch, onto, head, .. } = conflict;
    let mut end = slug.len().min(LONGEST_SLUG - 20);
    while !slug.is_char_boundary(end) {
        end -= 1;
    }
    let short = slug.get(..end).unwrap_or(slug);
    let list = |items: &[String]| {
        let shown: Vec<String> = items.iter().take(MOST_NAMED).map(|item| format!("- {item}")).collect();
        let more = items.len().saturating_sub(MOST_NAMED);
        shown.join("\n") + &(if more > 0 { format!("\n- and {more} more") } else { String::new() })
    };
    let description = format!(
        "The work of task `{slug}` ({title}) is done and cannot be merged: both sides changed the same lines.\n\
         You are in the work tree of its branch.\n\n\
         1. `git merge {head}` and solve every conflict so that both changes keep their meaning.\n\
         2. Run the tests, commit, and say done. Do not change anything else, and do not touch another branch.\n\n\
         Files in conflict:\n{}\n\nThis side, branch `{branch}`:\n{}\n\nThe other side, `{onto}` at {head}:\n{}\n",
        list(&conflict.files),
        list(&conflict.commits),
        list(&conflict.their_commits),
    );
    TaskPlan {
        slug: numbered(&format!("merge-{short}"), taken),
        title: format!("Merge the work of {slug}: solve its conflicts with {onto}"),
        description: Some(description),
        category: None,
        priority: Priority(0),
        ..TaskPlan::default()
    }
}

#[cfg(test)]
mod tests;
