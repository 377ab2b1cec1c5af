//! What became of tasks and runs since a moment, for a collector: no hook call tells it. Read by a worker that only runs
//! where somebody asked for it, so no index is kept for it on the way of a claim.

use crate::{Error, Store};
use model::Ms;
use model::work_change::{WorkChange, WorkChangeKind};
use rusqlite::Row;

const CLAIMED: &str =
    "SELECT 'claim/' || a.task || '/' || a.number || '/' || a.claimed_at, a.claimed_at, t.project, a.agent,
      s.host_session, t.slug, a.number, NULL, NULL, NULL
    FROM attempts a JOIN tasks t ON t.row = a.task LEFT JOIN sessions s ON s.id = a.session
    WHERE a.claimed_at >= ?1 ORDER BY a.claimed_at LIMIT ?2";
const ENDED: &str = "SELECT 'end/' || a.task || '/' || a.number || '/' || a.ended_at, a.ended_at, t.project, a.agent,
      s.host_session, t.slug, a.number, a.outcome, a.reason, a.ended_at - a.claimed_at
    FROM attempts a JOIN tasks t ON t.row = a.task LEFT JOIN sessions s ON s.id = a.session
    WHERE a.ended_at >= ?1 ORDER BY a.ended_at LIMIT ?2";
const LOST: &str =
    "SELECT 'lost/' || seq || '/' || at, at, queue, ifnull(agent, ''), NULL, slug, attempt, outcome, why, NULL
    FROM refused_turns WHERE at >= ?1 ORDER BY at LIMIT ?2";
const RUNS: &str = "SELECT 'run/' || id, finished_at, project, ifnull(agent, ''), NULL, id, NULL, finish, why,
      finished_at - started_at
    FROM runs WHERE finished_at >= ?1 ORDER BY finished_at LIMIT ?2";

impl Store {
    /// Those of this moment and later, the earliest first: at most so many of each kind.
    pub fn work_changes(&self, since: Ms, most: usize) -> Result<Vec<WorkChange>, Error> {
        let kinds = [
            (CLAIMED, WorkChangeKind::Claimed),
            (ENDED, WorkChangeKind::Ended),
            (LOST, WorkChangeKind::Lost),
            (RUNS, WorkChangeKind::LoopEnded),
        ];
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.read(|conn| {
            let mut found = Vec::new();
            for (sql, kind) in kinds {
                let mut statement = conn.prepare_cached(sql)?;
                let rows = statement.query_map([since.0, most], |row| read(row, kind))?;
                found.extend(rows.collect::<rusqlite::Result<Vec<_>>>()?);
            }
            found.sort_by(|a, b| (a.at, &a.id).cmp(&(b.at, &b.id)));
            Ok(found)
        })
    }
}

fn read(row: &Row<'_>, kind: WorkChangeKind) -> rusqlite::Result<WorkChange> {
    Ok(WorkChange {
        id: row.get(0)?,
        at: row.get(1)?,
        kind,
        project: row.get(2)?,
        agent: row.get(3)?,
        host_session: row.get(4)?,
        subject: row.get(5)?,
        attempt: row.get(6)?,
        outcome: row.get(7)?,
        why: row.get(8)?,
        length_ms: row.get(9)?,
    })
}
