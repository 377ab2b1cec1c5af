//! A queue that moves: unfinished tasks are copied to a server's queue, and only then marked as moved here; or copied back.
//! Done again after a crash anywhere between, it ends the same.

use super::{MissingTasks, Queue, QueueError, SyncMode, Synced, UnknownDeps, write};
use engine::queue::{self, Speaker};
use engine::redact;
use model::Ms;
use model::task::{ClockReading, Queued, Task, TaskPlan, TaskStatus};
use std::collections::{BTreeMap, BTreeSet};
use store::{PlanRows, ServerError, TaskFilter, TaskServer};

/// What can be moved, and what stays where it is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MovePlan {
    pub tasks: Vec<Task>,
    pub left: Vec<TaskLeft>,
    /// Tasks with a command that proves them, which no server is told.
    pub unproven: Vec<String>,
}

/// A task that is not moved, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskLeft {
    pub slug: String,
    pub why: String,
}

/// What was moved.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MovedTasks {
    /// Written to the server now.
    pub added: Vec<String>,
    /// There already: by an earlier try.
    pub known: Vec<String>,
    pub left: Vec<TaskLeft>,
}

impl MovePlan {
    /// Of all tasks of a project. Who holds a task goes on with it here, and so does whatever waits for that.
    pub fn of(tasks: Vec<Task>) -> Self {
        let unfinished: Vec<Task> = tasks.into_iter().filter(|task| !task.queued.status.unblocks()).collect();
        let mut stays: BTreeMap<String, String> = BTreeMap::new();
        for task in &unfinished {
            if let Some(hold) = &task.queued.hold {
                stays.insert(task.queued.slug.clone(), format!("{} holds it", hold.agent));
            }
        }
        while let Some((slug, why)) = unfinished.iter().find_map(|task| waits_for_one_that_stays(task, &stays)) {
            stays.insert(slug, why);
        }
        let tasks: Vec<Task> = unfinished.into_iter().filter(|task| !stays.contains_key(&task.queued.slug)).collect();
        let proves = tasks.iter().filter(|task| task.plan.verify.is_some());
        let unproven = proves.map(|task| task.queued.slug.clone()).collect();
        let left = stays.into_iter().map(|(slug, why)| TaskLeft { slug, why }).collect();
        Self { tasks, left, unproven }
    }
}

fn waits_for_one_that_stays(task: &Task, stays: &BTreeMap<String, String>) -> Option<(String, String)> {
    let slug = &task.queued.slug;
    let blocker = task.plan.deps.iter().find(|dep| stays.contains_key(*dep))?;
    (!stays.contains_key(slug)).then(|| (slug.clone(), format!("it waits for {blocker}, which stays")))
}

impl<C: Fn() -> ClockReading> Queue<'_, C> {
    pub fn movable(&self, project: &str) -> Result<MovePlan, QueueError> {
        Ok(MovePlan::of(self.store.tasks(project, &TaskFilter::default())?))
    }

    /// The server has a task before it is marked as moved here, so that nothing is lost between the two.
    pub fn move_to(
        &mut self,
        project: &str,
        plan: &MovePlan,
        server: &mut dyn TaskServer,
    ) -> Result<MovedTasks, QueueError> {
        let queue = server.place().queue.clone();
        let mut moved = MovedTasks { left: plan.left.clone(), ..copy(&plan.tasks, &queue, server)? };
        let known = std::mem::take(&mut moved.known);
        let ours: BTreeMap<&str, &Task> = plan.tasks.iter().map(|task| (task.queued.slug.as_str(), task)).collect();
        for slug in known {
            let there = server.task(&slug).map_err(unreached)?;
            let same = ours.get(slug.as_str()).zip(there).is_some_and(|(here, there)| is_copy(here, &there));
            if same {
                moved.known.push(slug);
            } else {
                moved.left.push(TaskLeft { slug, why: "another task has that name there".to_string() });
            }
        }
        let slugs: Vec<&str> = moved.added.iter().chain(&moved.known).map(String::as_str).collect();
        let shown = &server.place().shown;
        let left = self.mark_moved(project, &slugs, &format!("moved to the queue {queue} on {shown}"))?;
        moved.left.extend(left);
        Ok(moved)
    }

    /// Softly deleted, with the reason. What somebody claimed meanwhile is theirs.
    fn mark_moved(&mut self, project: &str, slugs: &[&str], reason: &str) -> Result<Vec<TaskLeft>, QueueError> {
        self.all_or_nothing(|tx, moment| {
            let mut left = Vec::new();
            for slug in slugs {
                let Some(task) = tx.queued(project, slug)?.filter(|task| task.status != TaskStatus::Deleted) else {
                    continue;
                };
                if let Some(hold) = &task.hold {
                    let why = format!("{} claimed it here meanwhile, and the server has it too", hold.agent);
                    left.push(TaskLeft { slug: (*slug).to_string(), why });
                    continue;
                }
                let turn = queue::delete(&task, &Speaker::Person, moment.now);
                let mut turn = turn.map_err(|refusal| super::refused(&task, refusal))?;
                turn.after.fail_reason = Some(reason.to_string());
                write(tx, turn)?;
            }
            Ok(left)
        })
    }

    /// The unfinished tasks of a server's queue, copied into the local one. A command that proves a task is this machine's own,
    /// and comes from here alone.
    pub fn copy_back(&mut self, project: &str, server: &mut dyn TaskServer) -> Result<Synced, QueueError> {
        let unfinished = vec![TaskStatus::Open, TaskStatus::Active, TaskStatus::Quarantined];
        let tasks = server.tasks(&TaskFilter { statuses: unfinished, ..TaskFilter::default() }).map_err(unreached)?;
        let names: BTreeSet<String> = tasks.iter().map(|task| task.queued.slug.clone()).collect();
        let aside = tasks.iter().filter(|task| task.queued.status == TaskStatus::Quarantined);
        let stand = aside.map(|task| (task.queued.slug.clone(), TaskStatus::Quarantined)).collect();
        let mut plan = Vec::new();
        for (at, task) in tasks.into_iter().enumerate() {
            let known = self.store.task(project, &task.queued.slug)?;
            let mut one = TaskPlan { verify: known.and_then(|known| known.plan.verify), ..task.plan };
            one.deps.retain(|dep| names.contains(dep));
            plan.push((at + 1, one));
        }
        let mode =
            SyncMode { missing: MissingTasks::Kept, unknown: UnknownDeps::LeftOut, stand, ..SyncMode::default() };
        self.sync(project, plan, &Speaker::Person, &mode)
    }
}

/// Writes all in one transaction of the server; what is there already is left as it is.
fn copy(tasks: &[Task], queue: &str, server: &mut dyn TaskServer) -> Result<MovedTasks, QueueError> {
    let mut moved = MovedTasks::default();
    if tasks.is_empty() {
        return Ok(moved);
    }
    server.plan(&mut |rows| {
        moved = MovedTasks::default();
        let slugs: Vec<&str> = tasks.iter().map(|task| task.queued.slug.as_str()).collect();
        rows.prefetch(&slugs)?;
        let mut added: Vec<(&Task, Queued)> = Vec::new();
        for task in tasks {
            if rows.queued(queue, &task.queued.slug)?.is_some() {
                moved.known.push(task.queued.slug.clone());
                continue;
            }
            added.push((task, rows.add_task(queue, &sent(&task.plan), Ms(0))?));
            moved.added.push(task.queued.slug.clone());
        }
        added.iter().try_for_each(|(task, queued)| complete(rows, queue, task, queued))
    })?;
    Ok(moved)
}

/// What a new task needs besides its plan: whom it waits for, which steps are done, and that it was put aside.
fn complete(rows: &dyn PlanRows, queue: &str, task: &Task, queued: &Queued) -> Result<(), store::Error> {
    let mut blockers = Vec::new();
    for dep in &task.plan.deps {
        blockers.extend(rows.queued(queue, dep)?);
    }
    rows.set_blockers(queued, &blockers)?;
    for (seq, _) in (1..).zip(&task.plan.steps).filter(|(_, step)| step.done) {
        rows.finish_step(queued, seq)?;
    }
    if task.queued.status == TaskStatus::Quarantined
        && let Ok(mut turn) = queue::set_status(queued, TaskStatus::Quarantined, Ms(0))
    {
        turn.after.fail_reason.clone_from(&task.queued.fail_reason);
        rows.turn(redact::turn(turn))?;
    }
    Ok(())
}

/// As it leaves this machine: redacted again, and without the command that proves it.
fn sent(plan: &TaskPlan) -> TaskPlan {
    TaskPlan { verify: None, ..redact::plan(plan.clone()) }
}

/// Whether the server's task is what was sent of this one.
fn is_copy(here: &Task, there: &Task) -> bool {
    let sent = sent(&here.plan);
    let what = |plan: &TaskPlan| (plan.title.clone(), plan.description.clone(), plan.spec.clone());
    what(&sent) == what(&there.plan)
}

fn unreached(error: ServerError) -> QueueError {
    QueueError::Wrong(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::task::{Hold, LEASE_MS};

    fn task(slug: &str, deps: &[&str], status: TaskStatus) -> Task {
        let hold = Hold {
            agent: "ann".into(),
            session: None,
            attempt: 1,
            lease_until: Ms(1),
            lease_ms: LEASE_MS,
            renewed_at: Ms(0),
            proposed: None,
        };
        let plan = TaskPlan {
            slug: slug.into(),
            title: slug.into(),
            deps: deps.iter().map(ToString::to_string).collect(),
            ..TaskPlan::default()
        };
        let queued = Queued {
            row: 1,
            project: "p".into(),
            slug: slug.into(),
            status,
            hold: (status == TaskStatus::Active).then_some(hold),
            attempt: 1,
            retry_count: 0,
            failures: 0,
            releases: 0,
            fail_reason: None,
            ready_at: Ms(0),
            open_blockers: 0,
        };
        Task { plan, queued, result: None, created_at: Ms(0), updated_at: Ms(0), deleted_at: None }
    }

    #[test]
    fn x2_what_is_held_and_what_waits_for_it_stays_and_what_is_finished_is_no_matter() {
        let tasks = vec![
            task("held", &[], TaskStatus::Active),
            task("next", &["held"], TaskStatus::Open),
            task("after", &["next", "free"], TaskStatus::Open),
            task("free", &["old"], TaskStatus::Open),
            task("aside", &[], TaskStatus::Quarantined),
            task("old", &[], TaskStatus::Done),
            task("gone", &[], TaskStatus::Deleted),
        ];
        let plan = MovePlan::of(tasks);
        let slugs: Vec<&str> = plan.tasks.iter().map(|task| task.queued.slug.as_str()).collect();
        assert_eq!(slugs, ["free", "aside"]);
        let left: Vec<String> = plan.left.iter().map(|left| format!("{}: {}", left.slug, left.why)).collect();
        assert_eq!(
            left,
            ["after: it waits for next, which stays", "held: ann holds it", "next: it waits for held, which stays"]
        );
    }

    #[test]
    fn x2_the_command_that_proves_a_task_does_not_leave_this_machine() {
        let mut proven = task("a", &[], TaskStatus::Open);
        proven.plan.verify = Some("make test".into());
        let plan = MovePlan::of(vec![proven.clone()]);
        assert_eq!(plan.unproven, ["a"]);
        assert_eq!(sent(&proven.plan).verify, None);
        assert!(is_copy(&proven, &task("a", &[], TaskStatus::Open)));
    }
}
