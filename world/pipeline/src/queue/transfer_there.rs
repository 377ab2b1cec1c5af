//! The server's half of a queue that moves: tasks are copied to it, compared with what it has, and taken back where they
//! changed here meanwhile.

use super::QueueError;
use super::transfer::MovedTasks;
use engine::queue::{self, Speaker};
use engine::redact;
use model::Ms;
use model::task::{Queued, Task, TaskPlan, TaskStatus};
use std::collections::BTreeMap;
use store::{Error, PlanRows, ServerError, TaskServer};

/// Why a copy is gone there. One that was deleted for another reason is not made again.
const TAKEN_BACK: &str = "taken back: it changed where it came from while it moved";

/// Writes all in one transaction of the server; what is there already is left as it is.
pub(super) fn copy(tasks: &[Task], queue: &str, server: &mut dyn TaskServer) -> Result<MovedTasks, QueueError> {
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
            match add(rows, queue, task)? {
                Some(there) => {
                    added.push((task, there));
                    moved.added.push(task.queued.slug.clone());
                }
                None => moved.known.push(task.queued.slug.clone()),
            }
        }
        added.iter().try_for_each(|(task, there)| complete(rows, queue, task, there))
    })?;
    Ok(moved)
}

/// `None` where it is there already.
fn add(rows: &dyn PlanRows, queue: &str, task: &Task) -> Result<Option<Queued>, Error> {
    let plan = sent(&task.plan);
    match rows.queued(queue, &plan.slug)? {
        None => rows.add_task(queue, &plan, Ms(0)).map(Some),
        Some(there) if is_taken_back(&there) => {
            rows.replan_task(&there, &plan, Ms(0))?;
            rows.turn(redact::turn(queue::revive(&there, Ms(0))))?;
            rows.queued(queue, &plan.slug)
        }
        Some(_) => Ok(None),
    }
}

fn is_taken_back(there: &Queued) -> bool {
    there.status == TaskStatus::Deleted && there.fail_reason.as_deref() == Some(TAKEN_BACK)
}

/// What a new task needs besides its plan: whom it waits for, which steps are done, and that it was put aside.
fn complete(rows: &dyn PlanRows, queue: &str, task: &Task, queued: &Queued) -> Result<(), Error> {
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

/// Copies of what stays here after all are deleted again, unless somebody there was quicker. Which are still there, and why.
pub(super) fn take_back(slugs: &[&str], queue: &str, server: &mut dyn TaskServer) -> BTreeMap<String, String> {
    let mut kept = BTreeMap::new();
    if slugs.is_empty() {
        return kept;
    }
    let done = server.plan(&mut |rows| {
        kept.clear();
        rows.prefetch(slugs)?;
        for slug in slugs {
            let Some(there) = rows.queued(queue, slug)? else { continue };
            match &there.hold {
                Some(hold) => drop(kept.insert((*slug).to_string(), format!("{} claimed it there", hold.agent))),
                None if there.status == TaskStatus::Deleted => {}
                None if there.status == TaskStatus::Done => {
                    kept.insert((*slug).to_string(), "it is done there".to_string());
                }
                None => delete(rows, &there)?,
            }
        }
        Ok(())
    });
    if let Err(error) = done {
        let why = format!("it could not be taken back: {error}");
        kept.extend(slugs.iter().map(|slug| ((*slug).to_string(), why.clone())));
    }
    kept
}

fn delete(rows: &dyn PlanRows, there: &Queued) -> Result<(), Error> {
    let Ok(mut turn) = queue::delete(there, &Speaker::Person, Ms(0)) else { return Ok(()) };
    turn.after.fail_reason = Some(TAKEN_BACK.to_string());
    rows.turn(redact::turn(turn))
}

/// Why the task of that name there does not stand for this one.
pub(super) fn is_another(here: &Task, there: Option<&Task>) -> Option<String> {
    match there {
        Some(there) if !is_copy(here, there) => Some("another task has that name there".to_string()),
        Some(there) if there.queued.status.unblocks() => Some(format!(
            "one like it is {} there already; `taut task delete {}` where that was this one",
            there.queued.status.name(),
            here.queued.slug
        )),
        Some(_) => None,
        None => Some("it was there a moment ago, and is not any more".to_string()),
    }
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

pub(super) fn unreached(error: ServerError) -> QueueError {
    QueueError::Wrong(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::transfer::tests::task;
    use super::*;

    #[test]
    fn x2_the_command_that_proves_a_task_does_not_leave_this_machine() {
        let mut proven = task("a", &[], TaskStatus::Open);
        proven.plan.verify = Some("make test".into());
        assert_eq!(super::super::MovePlan::of(vec![proven.clone()]).unproven, ["a"]);
        assert_eq!(sent(&proven.plan).verify, None);
        assert!(is_copy(&proven, &task("a", &[], TaskStatus::Open)));
    }
}
