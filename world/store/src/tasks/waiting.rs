//! What stands between the tasks of a project and being claimed.

use super::{deps, list, queued, read};
use crate::{Error, Store};
use model::Ms;
use model::task::{Counts, Queued};
use rusqlite::{Connection, params};
use std::collections::BTreeMap;

/// The counts are whole, the lists short samples.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WaitingTasks {
    pub counts: Counts,
    pub claimable: i64,
    /// Each with the blockers it still waits for.
    pub blocked: Vec<(Queued, Vec<String>)>,
    pub resting: Vec<Queued>,
    pub quarantined: Vec<Queued>,
    pub active: Vec<Queued>,
    /// All dependencies that still matter, for finding circles.
    pub dependencies: BTreeMap<String, Vec<String>>,
}

const MOST: usize = 20;

const OPEN_BLOCKERS: &str = "SELECT slug || ' (' || status || ')' FROM task_deps
    JOIN tasks ON tasks.row = task_deps.blocker
    WHERE task_deps.task = ?1 AND status NOT IN ('done', 'deleted') ORDER BY slug LIMIT 10";

impl Store {
    pub fn tasks_waiting(&self, project: &str, now: Ms) -> Result<WaitingTasks, Error> {
        self.read(|conn| {
            let some = |condition: &str| sample(conn, project, condition);
            let blocked = some("status = 'open' AND open_blockers > 0")?
                .into_iter()
                .map(|task| open_blockers(conn, &task).map(|blockers| (task, blockers)))
                .collect::<Result<_, _>>()?;
            Ok(WaitingTasks {
                counts: list::counts(conn, project)?,
                claimable: conn.query_row(
                    "SELECT count(*) FROM tasks
                     WHERE project = ?1 AND status = 'open' AND open_blockers = 0 AND ready_at <= ?2",
                    params![project, now.0],
                    |row| row.get(0),
                )?,
                blocked,
                resting: some(&format!("status = 'open' AND open_blockers = 0 AND ready_at > {}", now.0))?,
                quarantined: some("status = 'quarantined'")?,
                active: some("status = 'active'")?,
                dependencies: deps::edges(conn, project)?,
            })
        })
    }
}

fn sample(conn: &Connection, project: &str, condition: &str) -> rusqlite::Result<Vec<Queued>> {
    let sql = format!(
        concat!("SELECT ", queued!(), " FROM tasks WHERE project = ?1 AND {} ORDER BY priority, created_at LIMIT {}"),
        condition, MOST
    );
    conn.prepare_cached(&sql)?.query_map([project], read)?.collect()
}

fn open_blockers(conn: &Connection, task: &Queued) -> rusqlite::Result<Vec<String>> {
    conn.prepare_cached(OPEN_BLOCKERS)?.query_map([task.row], |row| row.get(0))?.collect()
}
