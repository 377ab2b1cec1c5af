//! Workers that registered: who they are, where they run, and that they left.

use crate::{Error, Store, Tx};
use model::task::Worker;
use model::{ClientProcess, Ms};
use rusqlite::{Row, params};

const COLUMNS: &str = "id, project, pid, started, host, registered_at, ended_at";

impl Tx<'_> {
    /// Whether the id was free.
    pub fn register(&self, worker: &Worker) -> Result<bool, Error> {
        const PUT: &str = "INSERT INTO workers (id, project, pid, started, host, registered_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING";
        let process = worker.process;
        self.verb(|conn| {
            conn.execute(
                PUT,
                params![
                    worker.id,
                    worker.project,
                    process.pid,
                    process.started.cast_signed(),
                    worker.host,
                    worker.registered_at.0
                ],
            )
            .map(|rows| rows == 1)
        })
    }

    /// Marks a worker as gone. `false` when there is none of that name.
    pub fn end_worker(&self, id: &str, now: Ms) -> Result<bool, Error> {
        const END: &str = "UPDATE workers SET ended_at = coalesce(ended_at, ?2) WHERE id = ?1";
        self.verb(|conn| conn.execute(END, params![id, now.0]).map(|rows| rows == 1))
    }

    /// Whether the agent holds anything at all.
    pub fn holds(&self, agent: &str) -> Result<bool, Error> {
        const LOOK: &str = "SELECT EXISTS (SELECT 1 FROM tasks WHERE status = 'active' AND agent = ?1)";
        self.verb(|conn| conn.query_row(LOOK, [agent], |row| row.get(0)))
    }
}

impl Store {
    /// Workers that have not left, oldest first.
    pub fn workers_alive(&self) -> Result<Vec<Worker>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM workers WHERE ended_at IS NULL ORDER BY registered_at, id");
        self.read(|conn| conn.prepare_cached(&sql)?.query_map([], read)?.collect())
    }

    /// All workers of a project, oldest first.
    pub fn workers(&self, project: &str) -> Result<Vec<Worker>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM workers WHERE project = ?1 ORDER BY registered_at, id");
        self.read(|conn| conn.prepare_cached(&sql)?.query_map([project], read)?.collect())
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Worker> {
    Ok(Worker {
        id: row.get(0)?,
        project: row.get(1)?,
        process: ClientProcess { pid: row.get(2)?, started: row.get::<_, i64>(3)?.cast_unsigned() },
        host: row.get(4)?,
        registered_at: Ms(row.get(5)?),
        ended_at: row.get::<_, Option<i64>>(6)?.map(Ms),
    })
}
