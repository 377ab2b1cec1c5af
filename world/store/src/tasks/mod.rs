//! Tasks: the queue's rows, found by index and written as decided.

mod check;
mod clients;
mod deps;
mod held;
mod lapse;
mod list;
mod plan;
mod proposals;
mod turn;
mod waiting;
mod workers;

pub use clients::{ClientSpan, OpenClient};
pub use deps::Dependency;
pub use lapse::Lapsed;
pub use list::TaskFilter;
pub use plan::TaskEdit;
pub use waiting::{QueueLook, WaitingTasks};

pub(crate) use check::problems;
pub(crate) use held::held;
pub(crate) use turn::write as write_turn;

use crate::{Error, Tx};
use model::Ms;
use model::task::{Hold, Proposed, Queued, TaskStatus};
use rusqlite::{Connection, OptionalExtension, Row, params};

/// A rest that is over is ended for so many tasks at once; the others wait for the next claim.
const MOST_RESTED: i64 = 64;

/// How many columns `queued!` names: what is selected besides begins there.
pub(crate) const QUEUED: usize = 18;

macro_rules! queued {
    () => {
        "tasks.row, tasks.project, tasks.slug, tasks.status, tasks.agent, tasks.session, tasks.lease_until, \
         tasks.lease_ms, tasks.renewed_at, tasks.attempt, tasks.retry_count, tasks.failures, tasks.releases, \
         tasks.fail_reason, tasks.ready_at, tasks.open_blockers, tasks.proposed_at, tasks.proven"
    };
}
pub(crate) use queued;

/// The index is named: one that begins with the status would find every blocked task first.
pub(crate) const FIRST_READY: &str = concat!(
    "SELECT ",
    queued!(),
    " FROM tasks INDEXED BY tasks_ready
      WHERE project = ?1 AND status = 'open' AND open_blockers = 0 AND ready_at = 0 AND shared = 0
      ORDER BY priority, created_at, row LIMIT 1"
);

/// A copy of a shared task is one here while somebody here holds it.
pub(crate) const FIND: &str = concat!(
    "SELECT ",
    queued!(),
    " FROM tasks WHERE project = ?1 AND slug = ?2 AND status IS NOT NULL AND (shared = 0 OR status = 'active')"
);

pub(crate) const RESTED: &str = "UPDATE tasks SET ready_at = 0 WHERE row IN (
    SELECT row FROM tasks INDEXED BY tasks_resting WHERE status = 'open' AND ready_at > 0 AND ready_at <= ?1 ORDER BY ready_at LIMIT ?2)";

impl crate::Store {
    /// How SQLite finds the next task, one line a step: for proofs that it is by index.
    pub fn explain_claim(&self, project: &str) -> Result<Vec<String>, Error> {
        let sql = format!("EXPLAIN QUERY PLAN {FIRST_READY}");
        self.read(|conn| conn.prepare(&sql)?.query_map([project], |row| row.get(3))?.collect())
    }
}

impl Tx<'_> {
    /// The task that is next in the project, if any may be claimed now.
    pub fn first_ready(&self, project: &str, now: Ms) -> Result<Option<Queued>, Error> {
        self.verb(|conn| {
            conn.prepare_cached(RESTED)?.execute(params![now.0, MOST_RESTED])?;
            conn.prepare_cached(FIRST_READY)?.query_row([project], read).optional()
        })
    }

    pub fn queued(&self, project: &str, slug: &str) -> Result<Option<Queued>, Error> {
        self.verb(|conn| find(conn, project, slug))
    }
}

pub(crate) fn find(conn: &Connection, project: &str, slug: &str) -> rusqlite::Result<Option<Queued>> {
    conn.prepare_cached(FIND)?.query_row([project, slug], read).optional()
}

pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Queued> {
    let status = TaskStatus::parse(row.get_ref(3)?.as_str()?).unwrap_or(TaskStatus::Quarantined);
    let attempt = row.get(9)?;
    let hold = match (status, row.get::<_, Option<String>>(4)?) {
        (TaskStatus::Active, Some(agent)) => Some(Hold {
            agent,
            session: row.get(5)?,
            attempt,
            lease_until: Ms(row.get::<_, Option<i64>>(6)?.unwrap_or_default()),
            lease_ms: row.get::<_, Option<i64>>(7)?.unwrap_or_default(),
            renewed_at: Ms(row.get::<_, Option<i64>>(8)?.unwrap_or_default()),
            proposed: proposed(row)?,
        }),
        _ => None,
    };
    Ok(Queued {
        row: row.get(0)?,
        project: row.get(1)?,
        slug: row.get(2)?,
        status,
        hold,
        attempt,
        retry_count: row.get(10)?,
        failures: row.get(11)?,
        releases: row.get(12)?,
        fail_reason: row.get(13)?,
        ready_at: Ms(row.get(14)?),
        open_blockers: row.get(15)?,
    })
}

fn proposed(row: &Row<'_>) -> rusqlite::Result<Option<Proposed>> {
    let Some(at) = row.get::<_, Option<i64>>(16)? else { return Ok(None) };
    Ok(Some(Proposed { at: Ms(at), proven: row.get(17)? }))
}

#[cfg(test)]
mod tests {
    use crate::Store;
    use std::time::Duration;

    #[test]
    fn q2_no_statement_of_a_claim_or_a_hook_scans_or_sorts() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(home.path(), Duration::ZERO).unwrap();
        let statements = [
            super::FIRST_READY,
            super::FIND,
            super::RESTED,
            super::held::OF_SESSION,
            super::clients::OF_PROCESS,
            super::held::OF_AGENT_ALONE,
            super::lapse::LAPSED,
            super::turn::RENEW,
            super::turn::MOVE,
            super::turn::PROPOSE,
            super::proposals::RUN_OF,
            super::proposals::OF_AGENT,
            super::turn::END,
        ];
        for sql in statements {
            let plan: Vec<String> = store
                .read(|conn| {
                    let mut statement = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
                    let blanks = vec![rusqlite::types::Null; statement.parameter_count()];
                    let lines = statement.query_map(rusqlite::params_from_iter(blanks), |row| row.get(3))?;
                    lines.collect()
                })
                .unwrap();
            let bad = |line: &String| line.contains("SCAN") || line.contains("TEMP B-TREE");
            assert!(!plan.iter().any(bad), "{sql}\n{plan:?}");
        }
    }
}
