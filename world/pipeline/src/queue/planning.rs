//! Plans: tasks made, changed and linked, each as a whole or not at all.

use super::{PlanContext, Queue, QueueError, known, refused, verify};
use engine::queue::{self, Speaker};
use engine::redact;
use model::task::{ClockReading, Queued, TaskPlan, TaskStatus};
use store::{TaskEdit, TaskFilter};

/// A change by hand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskChange {
    pub edit: TaskEdit,
    /// Written over those there were, when given.
    pub deps: Option<Vec<String>>,
    /// Between the states a hand may set.
    pub status: Option<TaskStatus>,
}

impl<C: Fn() -> ClockReading> Queue<'_, C> {
    pub fn create(&mut self, project: &str, plan: &TaskPlan, speaker: &Speaker) -> Result<(), QueueError> {
        verify::may_set(plan.verify.as_ref(), speaker, self.is_shared())?;
        let plan = &redact::plan(plan.clone());
        self.plan(|tx| {
            match tx.queued(project, &plan.slug)? {
                Some(task) if task.status == TaskStatus::Deleted => {
                    revive(tx, &task, plan, speaker)?;
                    // What it waited for before it was deleted might close a circle by now.
                    tx.set_blockers(&task, &[])?;
                }
                Some(_) => {
                    return Err(QueueError::Wrong(format!(
                        "task '{0}' exists already; `taut task update {0}` changes it",
                        plan.slug
                    )));
                }
                None => drop(tx.add_task(project, plan, tx.now)?),
            }
            let task = known(tx.rows, project, &plan.slug)?;
            link(tx, &task, &plan.deps)
        })
    }

    pub fn update(
        &mut self,
        project: &str,
        slug: &str,
        change: &TaskChange,
        speaker: &Speaker,
    ) -> Result<(), QueueError> {
        verify::may_set(change.edit.verify.as_ref(), speaker, self.is_shared())?;
        self.plan(|tx| {
            let task = known(tx.rows, project, slug)?;
            match change.status {
                Some(TaskStatus::Done) => verify::may_finish(tx, &task, speaker)?,
                Some(TaskStatus::Deleted) => verify::may_delete(tx, &task, speaker)?,
                _ => {}
            }
            if task.status == TaskStatus::Done {
                return Err(QueueError::Wrong(format!("task '{slug}' is done and cannot be updated")));
            }
            tx.edit_task(&task, &without_secrets(change.edit.clone()), tx.now)?;
            if let Some(deps) = &change.deps {
                relink(tx, &task, deps, speaker)?;
            }
            let turn = match change.status {
                Some(TaskStatus::Deleted) => queue::delete(&task, speaker, tx.now),
                Some(status) => queue::set_status(&task, status, tx.now),
                None => return Ok(()),
            };
            tx.write(turn.map_err(|refusal| refused(&task, refusal))?)
        })
    }

    /// Softly: what waits for a deleted task may go on.
    pub fn delete(&mut self, project: &str, slug: &str, speaker: &Speaker) -> Result<(), QueueError> {
        self.plan(|tx| {
            let task = known(tx.rows, project, slug)?;
            if task.status == TaskStatus::Deleted {
                return Ok(());
            }
            verify::may_delete(tx, &task, speaker)?;
            let turn = queue::delete(&task, speaker, tx.now).map_err(|refusal| refused(&task, refusal))?;
            tx.write(turn)
        })
    }

    /// All that the filter finds, under the lock: what was finished meanwhile
    /// stays as it is. Gives how many.
    pub fn delete_by(&mut self, project: &str, filter: &TaskFilter, speaker: &Speaker) -> Result<usize, QueueError> {
        self.plan(|tx| {
            let live = tx.queued_by(project, filter)?.into_iter().filter(|task| task.status != TaskStatus::Deleted);
            let mut deleted = 0;
            for task in live {
                verify::may_delete(tx, &task, speaker)?;
                let turn = queue::delete(&task, speaker, tx.now).map_err(|refusal| refused(&task, refusal))?;
                tx.write(turn)?;
                deleted += 1;
            }
            Ok(deleted)
        })
    }

    pub fn block(&mut self, project: &str, slug: &str, by: &str) -> Result<(), QueueError> {
        self.plan(|tx| {
            let task = known(tx.rows, project, slug)?;
            link(tx, &task, &[by.to_string()])
        })
    }

    pub fn unblock(&mut self, project: &str, slug: &str, by: &str, speaker: &Speaker) -> Result<(), QueueError> {
        self.plan(|tx| {
            let (task, blocker) = (known(tx.rows, project, slug)?, known(tx.rows, project, by)?);
            if tx.remove_blocker(&task, &blocker)? {
                return verify::may_unblock(tx, &task, &blocker, speaker);
            }
            Err(QueueError::NotFound { slug: format!("{slug}' blocked by '{by}") })
        })
    }

    /// Back into the queue by hand.
    pub fn requeue(&mut self, project: &str, slug: &str) -> Result<(), QueueError> {
        self.plan(|tx| {
            let task = known(tx.rows, project, slug)?;
            tx.write(queue::requeue(&task, tx.now).map_err(|refusal| refused(&task, refusal))?)
        })
    }

    /// Whether there is such a step. Those of a task that another agent holds are its own.
    pub fn finish_step(&mut self, project: &str, slug: &str, seq: i64, speaker: &Speaker) -> Result<bool, QueueError> {
        self.plan(|tx| {
            let task = known(tx.rows, project, slug)?;
            queue::untouched(&task, speaker, tx.now).map_err(|refusal| refused(&task, refusal))?;
            Ok(tx.finish_step(&task, seq)?)
        })
    }
}

fn without_secrets(mut edit: TaskEdit) -> TaskEdit {
    [&mut edit.title, &mut edit.description, &mut edit.reference].into_iter().for_each(redact::change);
    for step in edit.steps.iter_mut().flatten() {
        step.content = redact::text_without_secrets(&step.content);
    }
    edit
}

pub(super) fn revive(
    tx: &PlanContext<'_>,
    task: &Queued,
    plan: &TaskPlan,
    speaker: &Speaker,
) -> Result<(), QueueError> {
    tx.replan_task(task, &verify::kept_from_agents(tx, task, plan, speaker)?, tx.now)?;
    tx.write(queue::revive(task, tx.now))
}

/// It waits for these and no others.
fn relink(tx: &PlanContext<'_>, task: &Queued, deps: &[String], speaker: &Speaker) -> Result<(), QueueError> {
    if let Speaker::Agents(_) = speaker {
        let before = tx.dependencies(&task.project)?.remove(&task.slug).unwrap_or_default();
        if let Some((_, why)) = verify::kept_blockers(tx, task, (&before, deps), speaker)?.pop() {
            return Err(QueueError::Wrong(why));
        }
    }
    tx.set_blockers(task, &[])?;
    link(tx, task, deps)
}

fn link(tx: &PlanContext<'_>, task: &Queued, deps: &[String]) -> Result<(), QueueError> {
    let blockers: Vec<Queued> =
        deps.iter().map(|slug| known(tx.rows, &task.project, slug)).collect::<Result<_, _>>()?;
    tx.add_blockers(task, &blockers)?;
    // After they are written, so that many of them are looked at in one walk;
    // only where it comes round, all are, to see who waits for whom.
    let circle = if tx.leads_back(task)? { queue::cycle(&tx.dependencies(&task.project)?) } else { None };
    circle.map_or(Ok(()), |circle| Err(circular(&circle)))
}

pub(super) fn circular(circle: &[String]) -> QueueError {
    QueueError::Wrong(format!(
        "field 'deps': these tasks would wait for each other: {}; nothing was written. Take one dependency out",
        queue::round(circle)
    ))
}
