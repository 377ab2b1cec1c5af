//! Clients of open sessions, by their processes: who a command runs within.

use crate::{Error, Store};
use model::{ClientProcess, Ms};
use rusqlite::{Connection, Row};

/// The client of an open session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenClient {
    pub agent: String,
    /// Our id of the session.
    pub session: String,
    /// Which agent it is, by its dialect.
    pub dialect: Option<String>,
    pub process: ClientProcess,
}

/// A client's process, and when it was heard of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientSpan {
    pub process: ClientProcess,
    pub started: Ms,
    pub last_seen: Ms,
    /// `None` as long as its session is open.
    pub ended: Option<Ms>,
    /// The session as the client names it.
    pub host_session: Option<String>,
}

const SINCE: &str = "SELECT client_pid, client_started, started_at, last_seen_at, ended_at, host_session
    FROM sessions
    WHERE client_pid IS NOT NULL AND last_seen_at >= ?1";

/// The index is not named: a database that was not migrated yet, and can only be read, has none.
pub(super) const OF_PROCESS: &str = "SELECT agent, id, client_pid, client_started, memo ->> '$.dialect' FROM sessions
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

    /// The clients of all sessions that were heard of since then, ended or not.
    pub fn clients_since(&self, since: Ms) -> Result<Vec<ClientSpan>, Error> {
        self.read(|conn| conn.prepare_cached(SINCE)?.query_map([since.0], read_span)?.collect())
    }
}

fn read_span(row: &Row<'_>) -> rusqlite::Result<ClientSpan> {
    Ok(ClientSpan {
        process: ClientProcess { pid: row.get(0)?, started: started(row, 1)? },
        started: Ms(row.get(2)?),
        last_seen: Ms(row.get(3)?),
        ended: row.get::<_, Option<i64>>(4)?.map(Ms),
        host_session: row.get(5)?,
    })
}

fn started(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    Ok(row.get::<_, Option<i64>>(at)?.unwrap_or_default().cast_unsigned())
}

fn read(row: &Row<'_>) -> rusqlite::Result<OpenClient> {
    let started = started(row, 3)?;
    let process = ClientProcess { pid: row.get(2)?, started };
    Ok(OpenClient { agent: row.get(0)?, session: row.get(1)?, dialect: row.get(4)?, process })
}
