//! Planned tasks: made, rewritten, linked. What is planned never touches a live claim.

use super::{deps, find, queued, read};
use crate::{Error, Store, Tx, projects};
use model::Ms;
use model::task::{Priority, Queued, TaskPlan, TaskStep};
use rusqlite::{Connection, params};
use std::collections::{BTreeMap, HashSet};

/// Which fields of a task to change; `None` leaves one as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskEdit {
    pub title: Option<String>,
    pub description: Option<String>,
    pub category: Option<String>,
    pub priority: Option<Priority>,
    pub spec: Option<String>,
    pub reference: Option<String>,
    pub steps: Option<Vec<TaskStep>>,
    /// An empty one takes it away.
    pub verify: Option<String>,
}

/// A task that only owned a folder becomes one of the queue, as does the left copy of one that a server had; one that is
/// queued is not touched.
const INSERT: &str = "INSERT INTO tasks (project, slug, title, description, category, priority, status, spec, ref,
      verify, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'open', ?7, ?8, ?10, ?9, ?9)
    ON CONFLICT (project, slug) DO UPDATE SET title = excluded.title, description = excluded.description,
      category = excluded.category, priority = excluded.priority, status = 'open', spec = excluded.spec,
      ref = excluded.ref, verify = excluded.verify, created_at = excluded.created_at, updated_at = excluded.updated_at,
      shared = 0
    WHERE status IS NULL OR shared = 1 AND status <> 'active'";

const REWRITE: &str =
    "UPDATE tasks SET title = ?2, description = ?3, category = ?4, priority = ?5, spec = ?6, ref = ?7,
      updated_at = ?8, verify = ?9 WHERE row = ?1";

const EDIT: &str = "UPDATE tasks SET title = coalesce(?2, title), description = coalesce(?3, description),
      category = coalesce(?4, category), priority = coalesce(?5, priority), spec = coalesce(?6, spec),
      ref = coalesce(?7, ref), updated_at = ?8, verify = nullif(coalesce(?9, verify), '') WHERE row = ?1";

const OF_SPEC: &str =
    concat!("SELECT ", queued!(), " FROM tasks WHERE project = ?1 AND spec = ?2 AND status IS NOT NULL");

impl Tx<'_> {
    /// Makes an open task without dependencies. No queued task may have its slug.
    pub fn add_task(&self, project: &str, plan: &TaskPlan, now: Ms) -> Result<Queued, Error> {
        self.verb(|conn| {
            projects::see(conn, project, now)?;
            let made = conn.prepare_cached(INSERT)?.execute(params![
                project, plan.slug, plan.title, plan.description, plan.category, plan.priority.0, plan.spec,
                plan.reference, now.0, plan.verify
            ])?;
            if made == 0 {
                return Err(rusqlite::Error::StatementChangedRows(made));
            }
            let made = find(conn, project, &plan.slug)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
            write_steps(conn, made.row, &plan.steps)?;
            Ok(made)
        })
    }

    /// Writes what is planned over what was; steps that were done and are still planned stay done.
    pub fn rewrite_task(&self, task: &Queued, plan: &TaskPlan, now: Ms) -> Result<(), Error> {
        self.verb(|conn| {
            conn.prepare_cached(REWRITE)?.execute(params![
                task.row, plan.title, plan.description, plan.category, plan.priority.0, plan.spec, plan.reference,
                now.0, plan.verify
            ])?;
            let mut steps = plan.steps.clone();
            let known: HashSet<String> =
                read_steps(conn, task.row)?.into_iter().filter(|known| known.done).map(|known| known.content).collect();
            for step in steps.iter_mut().filter(|step| known.contains(&step.content)) {
                step.done = true;
            }
            write_steps(conn, task.row, &steps)
        })
    }

    /// A task that was deleted is planned anew: nothing of its former life counts.
    pub fn replan_task(&self, task: &Queued, plan: &TaskPlan, now: Ms) -> Result<(), Error> {
        const AFRESH: &str = "UPDATE tasks SET created_at = ?2, result = NULL WHERE row = ?1";
        self.rewrite_task(task, plan, now)?;
        self.verb(|conn| {
            conn.prepare_cached(AFRESH)?.execute(params![task.row, now.0])?;
            write_steps(conn, task.row, &plan.steps)
        })
    }

    pub fn edit_task(&self, task: &Queued, edit: &TaskEdit, now: Ms) -> Result<(), Error> {
        self.verb(|conn| {
            conn.prepare_cached(EDIT)?.execute(params![
                task.row,
                edit.title,
                edit.description,
                edit.category,
                edit.priority.map(|priority| priority.0),
                edit.spec,
                edit.reference,
                now.0,
                edit.verify
            ])?;
            match &edit.steps {
                Some(steps) => write_steps(conn, task.row, steps),
                None => Ok(()),
            }
        })
    }

    /// The task waits for exactly these from now on.
    pub fn set_blockers(&self, task: &Queued, blockers: &[Queued]) -> Result<(), Error> {
        self.verb(|conn| {
            deps::clear(conn, task.row)?;
            blockers.iter().try_for_each(|blocker| deps::add(conn, task.row, blocker.row))?;
            deps::recount(conn, task.row)
        })
    }

    /// The task waits for these too.
    pub fn add_blockers(&self, task: &Queued, blockers: &[Queued]) -> Result<(), Error> {
        self.verb(|conn| {
            blockers.iter().try_for_each(|blocker| deps::add(conn, task.row, blocker.row))?;
            deps::recount(conn, task.row)
        })
    }

    /// Whether there was such a dependency.
    pub fn remove_blocker(&self, task: &Queued, blocker: &Queued) -> Result<bool, Error> {
        self.verb(|conn| {
            let removed = deps::remove(conn, task.row, blocker.row)?;
            deps::recount(conn, task.row)?;
            Ok(removed)
        })
    }

    /// Whether the task waits for itself, be it through tasks that are done or deleted.
    pub fn leads_back(&self, task: &Queued) -> Result<bool, Error> {
        self.verb(|conn| deps::leads_back(conn, task.row))
    }

    /// Every dependency between tasks of a project that still matters.
    pub fn dependencies(&self, project: &str) -> Result<BTreeMap<String, Vec<String>>, Error> {
        self.verb(|conn| deps::edges(conn, project))
    }

    /// The tasks that come from the same document.
    pub fn tasks_of_spec(&self, project: &str, spec: &str) -> Result<Vec<Queued>, Error> {
        self.verb(|conn| conn.prepare_cached(OF_SPEC)?.query_map([project, spec], read)?.collect())
    }

    /// Whether there is such a step; counted from 1.
    pub fn finish_step(&self, task: &Queued, seq: i64) -> Result<bool, Error> {
        const DONE: &str = "UPDATE task_steps SET done = 1 WHERE task = ?1 AND seq = ?2";
        self.verb(|conn| conn.prepare_cached(DONE)?.execute(params![task.row, seq]).map(|rows| rows == 1))
    }
}

impl Store {
    /// The tasks that come from the same document, outside any transaction.
    pub fn tasks_of_document(&self, project: &str, spec: &str) -> Result<Vec<Queued>, Error> {
        self.read(|conn| conn.prepare_cached(OF_SPEC)?.query_map([project, spec], read)?.collect())
    }
}

pub(super) fn read_steps(conn: &Connection, task: i64) -> rusqlite::Result<Vec<TaskStep>> {
    conn.prepare_cached("SELECT content, done FROM task_steps WHERE task = ?1 ORDER BY seq")?
        .query_map([task], |row| Ok(TaskStep { content: row.get(0)?, done: row.get(1)? }))?
        .collect()
}

fn write_steps(conn: &Connection, task: i64, steps: &[TaskStep]) -> rusqlite::Result<()> {
    conn.prepare_cached("DELETE FROM task_steps WHERE task = ?1")?.execute([task])?;
    let mut put = conn.prepare_cached("INSERT INTO task_steps (task, seq, content, done) VALUES (?1, ?2, ?3, ?4)")?;
    for (seq, step) in (1_i64..).zip(steps) {
        put.execute(params![task, seq, step.content, step.done])?;
    }
    Ok(())
}
