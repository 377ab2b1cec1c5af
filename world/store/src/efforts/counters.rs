//! Counters: what a session, or one sub-agent of it, has done since it last logged.

use super::{list_of, texts};
use model::effort::Counters;
use rusqlite::{Connection, OptionalExtension, params};

pub(crate) const LOAD: &str = "SELECT since_log, calls, unread_calls, last_edit, folders, told FROM counters
    WHERE session = ?1 AND sub_agent = ?2";

const PUT: &str = "INSERT INTO counters (session, sub_agent, since_log, calls, unread_calls, last_edit, folders, told)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
    ON CONFLICT DO UPDATE SET since_log = excluded.since_log, calls = excluded.calls,
      unread_calls = excluded.unread_calls, last_edit = excluded.last_edit, folders = excluded.folders,
      told = excluded.told";

pub(super) fn load(conn: &Connection, session: &str, sub_agent: &str) -> rusqlite::Result<Option<Counters>> {
    conn.prepare_cached(LOAD)?
        .query_row([session, sub_agent], |row| {
            Ok(Counters {
                session: session.to_string(),
                sub_agent: sub_agent.to_string(),
                since_log: row.get(0)?,
                calls: row.get(1)?,
                unread_calls: row.get(2)?,
                last_edit: row.get(3)?,
                folders: list_of(row.get(4)?),
                told: list_of(row.get(5)?),
            })
        })
        .optional()
}

pub(super) fn put(conn: &Connection, counters: &Counters) -> rusqlite::Result<()> {
    conn.prepare_cached(PUT)?
        .execute(params![
            counters.session,
            counters.sub_agent,
            counters.since_log,
            counters.calls,
            counters.unread_calls,
            counters.last_edit,
            texts(&counters.folders),
            texts(&counters.told),
        ])
        .map(drop)
}
