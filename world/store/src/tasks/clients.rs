//! Clients of open sessions, by their processes: who a command runs within.

use crate::{Error, Store};
use model::ClientProcess;
use rusqlite::{Connection, Row};

/// The client of an open session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenClient {
    pub agent: String,
    /// Our id of the session.
    pub session: String,
    pub process: ClientProcess,
}

/// The index is not named: a database that was not migrated yet, and can only be read, has none.
pub(super) const OF_PROCESS: &str = "SELECT agent, id, client_pid, client_started FROM sessions
    WHERE client_pid = ?1 AND ended_at IS NULL ORDER BY row DESC";

impl Store {
    /// Those with one of these process numbers, in the order of the numbers;
    /// the newest session of each first. Whether it is still the same process
    /// is for the caller to see.
    pub fn open_clients(&self, pids: &[u32]) -> Result<Vec<OpenClient>, Error> {
        let of = |conn: &Connection, pid: &u32| -> rusqlite::Result<Vec<OpenClient>> {
            conn.prepare_cached(OF_PROCESS)?.query_map([pid], read)?.collect()
        };
        self.read(|conn| Ok(pids.iter().map(|pid| of(conn, pid)).collect::<Result<Vec<_>, _>>()?.concat()))
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<OpenClient> {
    let started = row.get::<_, Option<i64>>(3)?.unwrap_or_default().cast_unsigned();
    Ok(OpenClient { agent: row.get(0)?, session: row.get(1)?, process: ClientProcess { pid: row.get(2)?, started } })
}
