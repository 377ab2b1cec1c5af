//! Sub-agents' sessions: under their parent's, never in its place.

use super::{list_of, texts};
use crate::{Error, Store};
use model::Ms;
use model::effort::SubSession;
use rusqlite::{Connection, OptionalExtension, Row, params};

pub(crate) const LOAD: &str = "SELECT session, sub_agent, kind, effort, started_at, last_seen_at, ended_at, files
    FROM sub_sessions WHERE session = ?1 AND sub_agent = ?2";

const PUT: &str =
    "INSERT INTO sub_sessions (session, sub_agent, kind, effort, started_at, last_seen_at, ended_at, files)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
    ON CONFLICT DO UPDATE SET kind = excluded.kind, effort = excluded.effort, last_seen_at = excluded.last_seen_at,
      ended_at = excluded.ended_at, files = excluded.files";

pub(super) fn load(conn: &Connection, session: &str, sub_agent: &str) -> rusqlite::Result<Option<SubSession>> {
    conn.prepare_cached(LOAD)?.query_row([session, sub_agent], read).optional()
}

pub(super) fn put(conn: &Connection, sub: &SubSession) -> rusqlite::Result<()> {
    conn.prepare_cached(PUT)?
        .execute(params![
            sub.session,
            sub.sub_agent,
            sub.kind,
            sub.effort,
            sub.started_at.0,
            sub.last_seen_at.0,
            sub.ended_at.map(|at| at.0),
            texts(&sub.files),
        ])
        .map(drop)
}

impl Store {
    /// The sub-agents of a session, in the order they are known by.
    pub fn sub_sessions(&self, session: &str) -> Result<Vec<SubSession>, Error> {
        const LIST: &str = "SELECT session, sub_agent, kind, effort, started_at, last_seen_at, ended_at, files
            FROM sub_sessions WHERE session = ?1 ORDER BY started_at, sub_agent";
        self.read(|conn| conn.prepare_cached(LIST)?.query_map([session], read)?.collect())
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<SubSession> {
    Ok(SubSession {
        session: row.get(0)?,
        sub_agent: row.get(1)?,
        kind: row.get(2)?,
        effort: row.get(3)?,
        started_at: Ms(row.get(4)?),
        last_seen_at: Ms(row.get(5)?),
        ended_at: row.get::<_, Option<i64>>(6)?.map(Ms),
        files: list_of(row.get(7)?),
    })
}
