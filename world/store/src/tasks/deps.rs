//! Dependencies, and the count of open blockers that every change of them keeps.

use crate::{Error, Store};
use model::task::{Queued, TaskStatus};
use rusqlite::{Connection, params};
use std::collections::BTreeMap;

const FREE: &str = "UPDATE tasks SET open_blockers = open_blockers - 1
    WHERE row IN (SELECT task FROM task_deps WHERE blocker = ?1)";

const HOLD: &str = "UPDATE tasks SET open_blockers = open_blockers + 1
    WHERE row IN (SELECT task FROM task_deps WHERE blocker = ?1)";

const RECOUNT: &str = "UPDATE tasks SET open_blockers = (
      SELECT count(*) FROM task_deps JOIN tasks AS blocker ON blocker.row = task_deps.blocker
      WHERE task_deps.task = tasks.row AND coalesce(blocker.status, '') NOT IN ('done', 'deleted'))
    WHERE row = ?1";

/// Everything the task waits for, at whatever distance, itself included. Each
/// once, and without recursion of ours: as deep as the plan is.
macro_rules! below {
    () => {
        "WITH RECURSIVE below (row) AS (
           SELECT ?1 UNION SELECT task_deps.blocker FROM task_deps JOIN below ON task_deps.task = below.row) "
    };
}

/// Those who wait for the task are looked up first, which the plus sees to:
/// where nobody does, as for every task that was just made, nothing is walked.
const LEADS_BACK: &str =
    concat!(below!(), "SELECT EXISTS (SELECT 1 FROM task_deps WHERE blocker = ?1 AND +task IN below)");

const EDGES_BELOW: &str = concat!(
    below!(),
    "SELECT task.slug, blocker.slug, blocker.status, blocker.open_blockers FROM below
       JOIN task_deps ON task_deps.task = below.row
       JOIN tasks AS task ON task.row = task_deps.task JOIN tasks AS blocker ON blocker.row = task_deps.blocker
     WHERE blocker.status IS NOT NULL ORDER BY blocker.slug"
);

/// One dependency: who waits, for whom, and how that one stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    pub task: String,
    pub blocker: String,
    pub status: TaskStatus,
    /// Of the blocker.
    pub open_blockers: i64,
}

pub(super) fn tell_dependents(conn: &Connection, blocker: i64, now: TaskStatus) -> rusqlite::Result<()> {
    let sql = if now.unblocks() { FREE } else { HOLD };
    conn.prepare_cached(sql)?.execute([blocker]).map(drop)
}

pub(super) fn recount(conn: &Connection, task: i64) -> rusqlite::Result<()> {
    conn.prepare_cached(RECOUNT)?.execute([task]).map(drop)
}

pub(super) fn leads_back(conn: &Connection, task: i64) -> rusqlite::Result<bool> {
    conn.prepare_cached(LEADS_BACK)?.query_row([task], |row| row.get(0))
}

impl Store {
    /// Every dependency the task has, its blockers' and so on; each once, by the blocker's slug.
    pub fn dependencies_below(&self, task: &Queued) -> Result<Vec<Dependency>, Error> {
        self.read(|conn| {
            let mut statement = conn.prepare_cached(EDGES_BELOW)?;
            let rows = statement.query_map([task.row], |row| {
                Ok(Dependency {
                    task: row.get(0)?,
                    blocker: row.get(1)?,
                    status: TaskStatus::parse(row.get_ref(2)?.as_str()?).unwrap_or(TaskStatus::Quarantined),
                    open_blockers: row.get(3)?,
                })
            })?;
            rows.collect()
        })
    }
}

pub(super) fn add(conn: &Connection, task: i64, blocker: i64) -> rusqlite::Result<()> {
    conn.prepare_cached("INSERT INTO task_deps (task, blocker) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?
        .execute([task, blocker])
        .map(drop)
}

/// Whether there was such a dependency.
pub(super) fn remove(conn: &Connection, task: i64, blocker: i64) -> rusqlite::Result<bool> {
    conn.prepare_cached("DELETE FROM task_deps WHERE task = ?1 AND blocker = ?2")?
        .execute([task, blocker])
        .map(|removed| removed > 0)
}

pub(super) fn clear(conn: &Connection, task: i64) -> rusqlite::Result<()> {
    conn.prepare_cached("DELETE FROM task_deps WHERE task = ?1")?.execute([task]).map(drop)
}

/// The slugs a task waits for, done or not, in order.
pub(super) fn of(conn: &Connection, task: i64) -> rusqlite::Result<Vec<String>> {
    conn.prepare_cached(
        "SELECT slug FROM task_deps JOIN tasks ON tasks.row = task_deps.blocker WHERE task_deps.task = ?1 ORDER BY slug",
    )?
    .query_map([task], |row| row.get(0))?
    .collect()
}

/// Every dependency of a project between tasks that are neither done nor deleted.
pub(super) fn edges(conn: &Connection, project: &str) -> rusqlite::Result<BTreeMap<String, Vec<String>>> {
    let mut edges: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut statement = conn.prepare_cached(
        "SELECT task.slug, blocker.slug FROM task_deps
           JOIN tasks AS task ON task.row = task_deps.task JOIN tasks AS blocker ON blocker.row = task_deps.blocker
         WHERE task.project = ?1 AND task.status NOT IN ('done', 'deleted')
           AND blocker.status NOT IN ('done', 'deleted')",
    )?;
    let mut rows = statement.query(params![project])?;
    while let Some(row) = rows.next()? {
        edges.entry(row.get(0)?).or_default().push(row.get(1)?);
    }
    Ok(edges)
}
