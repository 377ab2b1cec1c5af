//! Plans: tasks made, changed and linked, each as a whole or not at all.

use super::{Queue, QueueError, known, refused, write};
use engine::queue::{self, LineError};
use engine::redact;
use model::Ms;
use model::task::{Plan, Queued, Status};
use std::collections::{BTreeMap, BTreeSet};
use store::{Edit, Tx};

/// What synchronising a plan did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Synced {
    pub inserted: usize,
    pub updated: usize,
    pub deleted: usize,
    pub skipped: usize,
}

/// A change by hand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change {
    pub edit: Edit,
    /// Written over those there were, when given.
    pub deps: Option<Vec<String>>,
}

impl Queue<'_> {
    /// Every line is checked first, then all are written in one transaction:
    /// new ones are made, known ones rewritten, done ones left alone, and what
    /// came from the same documents and is planned no more is deleted.
    pub fn plan_sync(&mut self, project: &str, text: &str) -> Result<Synced, QueueError> {
        let lines = queue::parse_lines(text).map_err(|lines| QueueError::Lines { lines })?;
        let lines: Vec<(usize, Plan)> = lines.into_iter().map(|(line, plan)| (line, redact::plan(plan))).collect();
        self.all_or_nothing(|tx, moment| {
            let mut synced = Synced::default();
            let mut written: BTreeMap<&str, Queued> = BTreeMap::new();
            for (_, plan) in &lines {
                match put(tx, project, plan, moment.now)? {
                    (task, Put::Inserted) => (synced.inserted += 1, written.insert(&plan.slug, task)),
                    (task, Put::Updated) => (synced.updated += 1, written.insert(&plan.slug, task)),
                    (_, Put::Done) => (synced.skipped += 1, None),
                };
            }
            for (line, plan) in &lines {
                if let Some(task) = written.get(plan.slug.as_str()) {
                    let blockers = blockers(tx, project, plan, *line)?;
                    tx.set_blockers(task, &blockers)?;
                }
            }
            synced.deleted = prune(tx, project, &lines, moment.now)?;
            match queue::cycle(&tx.dependencies(project)?) {
                Some(circle) => Err(circular(&circle)),
                None => Ok(synced),
            }
        })
    }

    pub fn create(&mut self, project: &str, plan: &Plan) -> Result<(), QueueError> {
        let plan = &redact::plan(plan.clone());
        self.all_or_nothing(|tx, moment| {
            match tx.queued(project, &plan.slug)? {
                Some(task) if task.status == Status::Deleted => revive(tx, &task, plan, moment.now)?,
                Some(_) => {
                    return Err(QueueError::Wrong(format!(
                        "task '{0}' exists already; `taut task update {0}` changes it",
                        plan.slug
                    )));
                }
                None => drop(tx.add_task(project, plan, moment.now)?),
            }
            let task = known(tx, project, &plan.slug)?;
            link(tx, &task, &plan.deps)
        })
    }

    pub fn update(&mut self, project: &str, slug: &str, change: &Change) -> Result<(), QueueError> {
        self.all_or_nothing(|tx, moment| {
            let task = known(tx, project, slug)?;
            if task.status == Status::Done {
                return Err(QueueError::Wrong(format!("task '{slug}' is done and cannot be updated")));
            }
            tx.edit_task(&task, &without_secrets(change.edit.clone()), moment.now)?;
            match &change.deps {
                Some(deps) => {
                    tx.set_blockers(&task, &[])?;
                    link(tx, &task, deps)
                }
                None => Ok(()),
            }
        })
    }

    /// By hand, between the states a hand may set.
    pub fn set_status(&mut self, project: &str, slug: &str, status: Status) -> Result<(), QueueError> {
        match status {
            Status::Deleted => self.delete(project, &[slug.to_string()]),
            _ => self.all_or_nothing(|tx, moment| {
                let task = known(tx, project, slug)?;
                let turn = queue::set_status(&task, status, moment.now).map_err(|refusal| refused(&task, refusal))?;
                Ok(write(tx, turn)?)
            }),
        }
    }

    /// Softly: what waits for a deleted task may go on.
    pub fn delete(&mut self, project: &str, slugs: &[String]) -> Result<(), QueueError> {
        self.all_or_nothing(|tx, moment| {
            for slug in slugs {
                let task = known(tx, project, slug)?;
                if task.status != Status::Deleted {
                    write(tx, queue::delete(&task, moment.now))?;
                }
            }
            Ok(())
        })
    }

    pub fn block(&mut self, project: &str, slug: &str, by: &str) -> Result<(), QueueError> {
        self.all_or_nothing(|tx, _| {
            let task = known(tx, project, slug)?;
            link(tx, &task, &[by.to_string()])
        })
    }

    pub fn unblock(&mut self, project: &str, slug: &str, by: &str) -> Result<(), QueueError> {
        self.all_or_nothing(|tx, _| {
            let (task, blocker) = (known(tx, project, slug)?, known(tx, project, by)?);
            if tx.remove_blocker(&task, &blocker)? {
                return Ok(());
            }
            Err(QueueError::NotFound { slug: format!("{slug}' blocked by '{by}") })
        })
    }

    pub fn finish_step(&mut self, project: &str, slug: &str, seq: i64) -> Result<bool, QueueError> {
        self.all_or_nothing(|tx, _| Ok(tx.finish_step(&known(tx, project, slug)?, seq)?))
    }
}

fn without_secrets(mut edit: Edit) -> Edit {
    [&mut edit.title, &mut edit.description, &mut edit.reference].into_iter().for_each(redact::change);
    for step in edit.steps.iter_mut().flatten() {
        step.content = redact::text_without_secrets(&step.content);
    }
    edit
}

enum Put {
    Inserted,
    Updated,
    Done,
}

fn put(tx: &Tx<'_>, project: &str, plan: &Plan, now: Ms) -> Result<(Queued, Put), QueueError> {
    match tx.queued(project, &plan.slug)? {
        None => Ok((tx.add_task(project, plan, now)?, Put::Inserted)),
        Some(task) if task.status == Status::Done => Ok((task, Put::Done)),
        Some(task) if task.status == Status::Deleted => {
            revive(tx, &task, plan, now)?;
            Ok((task, Put::Updated))
        }
        Some(task) => {
            tx.rewrite_task(&task, plan, now)?;
            Ok((task, Put::Updated))
        }
    }
}

fn revive(tx: &Tx<'_>, task: &Queued, plan: &Plan, now: Ms) -> Result<(), QueueError> {
    tx.rewrite_task(task, plan, now)?;
    Ok(write(tx, queue::revive(task, now))?)
}

fn blockers(tx: &Tx<'_>, project: &str, plan: &Plan, line: usize) -> Result<Vec<Queued>, QueueError> {
    let find = |slug: &String| {
        tx.queued(project, slug)?.ok_or_else(|| QueueError::Lines {
            lines: vec![LineError {
                line,
                field: "deps".into(),
                value: format!("\"{slug}\""),
                why: "names a task that is neither in this plan nor stored".into(),
            }],
        })
    };
    plan.deps.iter().map(find).collect()
}

/// Deletes what came from the same documents and is not planned any more.
fn prune(tx: &Tx<'_>, project: &str, lines: &[(usize, Plan)], now: Ms) -> Result<usize, QueueError> {
    let planned: BTreeSet<&str> = lines.iter().map(|(_, plan)| plan.slug.as_str()).collect();
    let specs: BTreeSet<&str> = lines.iter().filter_map(|(_, plan)| plan.spec.as_deref()).collect();
    let mut deleted = 0;
    for spec in specs {
        for task in tx.tasks_of_spec(project, spec)? {
            if !planned.contains(task.slug.as_str()) && !task.status.unblocks() {
                write(tx, queue::delete(&task, now))?;
                deleted += 1;
            }
        }
    }
    Ok(deleted)
}

fn link(tx: &Tx<'_>, task: &Queued, deps: &[String]) -> Result<(), QueueError> {
    for slug in deps {
        let blocker = known(tx, &task.project, slug)?;
        if tx.would_circle(task, &blocker)? {
            let both = [task.slug.clone(), slug.clone()];
            let circle = if task.slug == *slug { &both[..1] } else { &both[..] };
            return Err(circular(circle));
        }
        tx.add_blocker(task, &blocker)?;
    }
    Ok(())
}

fn circular(circle: &[String]) -> QueueError {
    let round = circle.iter().chain(circle.first()).cloned().collect::<Vec<_>>().join(" → ");
    QueueError::Wrong(format!(
        "field 'deps': these tasks would wait for each other: {round}; nothing was written. Take one dependency out"
    ))
}
