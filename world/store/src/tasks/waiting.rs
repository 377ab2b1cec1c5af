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

/// How the queue of a project stands at a moment: what there is to do, and when there may be more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueLook {
    pub counts: Counts,
    pub claimable: i64,
    /// Failed and not to be tried again yet; counted as open too.
    pub resting: i64,
    /// Said to be done and still to be proven; counted as active too.
    pub proposed: i64,
    /// When something may become claimable by itself: the earliest end of a rest or a lease.
    pub next: Option<Ms>,
}

const MOST: usize = 20;

const RESTING: &str = "SELECT count(*), min(ready_at) FROM tasks
    WHERE project = ?1 AND status = 'open' AND open_blockers = 0 AND ready_at > ?2 AND shared = 0";

const LEASED: &str =
    "SELECT count(proposed_at), min(max(lease_until, ?2)) FROM tasks WHERE project = ?1 AND status = 'active'";

const OPEN_BLOCKERS: &str = "SELECT slug || ' (' || status || ')' FROM task_deps
    JOIN tasks ON tasks.row = task_deps.blocker
    WHERE task_deps.task = ?1 AND status NOT IN ('done', 'deleted') ORDER BY slug LIMIT 10";

impl Store {
    pub fn queue_look(&self, project: &str, now: Ms) -> Result<QueueLook, Error> {
        type Found = (i64, Option<i64>);
        self.read(|conn| {
            let look = |sql: &str| -> rusqlite::Result<Found> {
                conn.prepare_cached(sql)?.query_row(params![project, now.0], |row| Ok((row.get(0)?, row.get(1)?)))
            };
            let ((resting, rested), (proposed, lapsing)) = (look(RESTING)?, look(LEASED)?);
            let (counts, claimable) = (list::counts(conn, project)?, claimable(conn, project, now)?);
            let next = rested.into_iter().chain(lapsing).min().map(Ms);
            Ok(QueueLook { counts, claimable, resting, proposed, next })
        })
    }

    /// Unfinished tasks of this machine's own queue. Where the project's is on a server, none of their names is claimed there.
    pub fn own_unfinished(&self, project: &str) -> Result<Vec<String>, Error> {
        const OWN: &str = "SELECT slug FROM tasks
            WHERE project = ?1 AND shared = 0 AND status IN ('open', 'active', 'quarantined')";
        self.read(|conn| conn.prepare_cached(OWN)?.query_map([project], |row| row.get(0))?.collect())
    }

    pub fn tasks_waiting(&self, project: &str, now: Ms) -> Result<WaitingTasks, Error> {
        self.read(|conn| {
            let some = |condition: &str| sample(conn, project, condition);
            let blocked = some("status = 'open' AND open_blockers > 0")?
                .into_iter()
                .map(|task| open_blockers(conn, &task).map(|blockers| (task, blockers)))
                .collect::<Result<_, _>>()?;
            Ok(WaitingTasks {
                counts: list::counts(conn, project)?,
                claimable: claimable(conn, project, now)?,
                blocked,
                resting: some(&format!("status = 'open' AND open_blockers = 0 AND ready_at > {}", now.0))?,
                quarantined: some("status = 'quarantined'")?,
                active: some("status = 'active'")?,
                dependencies: deps::edges(conn, project)?,
            })
        })
    }
}

fn claimable(conn: &Connection, project: &str, now: Ms) -> rusqlite::Result<i64> {
    const CLAIMABLE: &str = "SELECT count(*) FROM tasks
        WHERE project = ?1 AND status = 'open' AND open_blockers = 0 AND ready_at <= ?2 AND shared = 0";
    conn.prepare_cached(CLAIMABLE)?.query_row(params![project, now.0], |row| row.get(0))
}

fn sample(conn: &Connection, project: &str, condition: &str) -> rusqlite::Result<Vec<Queued>> {
    let sql = format!(
        concat!(
            "SELECT ",
            queued!(),
            " FROM tasks WHERE project = ?1 AND shared = 0 AND {} ORDER BY priority, created_at LIMIT {}"
        ),
        condition, MOST
    );
    conn.prepare_cached(&sql)?.query_map([project], read)?.collect()
}

fn open_blockers(conn: &Connection, task: &Queued) -> rusqlite::Result<Vec<String>> {
    conn.prepare_cached(OPEN_BLOCKERS)?.query_map([task.row], |row| row.get(0))?.collect()
}
