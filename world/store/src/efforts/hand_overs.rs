//! Accounts: what one session wrote down for the next of the same agent, told once.

use model::Ms;
use model::effort::{EffortLineage, StoredHandOver};
use rusqlite::{Connection, OptionalExtension, params};

pub(crate) const WAITING: &str = "SELECT agent, session, effort, line, at, body FROM accounts
    WHERE agent = ?1 AND told_in IS NULL ORDER BY seq DESC LIMIT 1";

const PUT: &str = "INSERT INTO accounts (agent, session, effort, line, at, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

pub(crate) const TOLD: &str = "UPDATE accounts SET told_in = ?2 WHERE agent = ?1 AND told_in IS NULL";

pub(super) fn waiting(conn: &Connection, agent: &str) -> rusqlite::Result<Option<StoredHandOver>> {
    conn.prepare_cached(WAITING)?
        .query_row([agent], |row| {
            let body: String = row.get(5)?;
            Ok(StoredHandOver {
                agent: row.get(0)?,
                session: row.get(1)?,
                effort: row.get(2)?,
                line: EffortLineage::parse(row.get_ref(3)?.as_str()?),
                at: Ms(row.get(4)?),
                hand_over: serde_json::from_str(&body).unwrap_or_default(),
            })
        })
        .optional()
}

pub(super) fn put(conn: &Connection, stored: &StoredHandOver) -> rusqlite::Result<()> {
    let body = serde_json::to_string(&stored.hand_over).unwrap_or_default();
    let row = params![stored.agent, stored.session, stored.effort, stored.line.name(), stored.at.0, body];
    conn.prepare_cached(PUT)?.execute(row).map(drop)
}

/// Older ones are told with the newest: it was written by who knew them.
pub(super) fn mark_shown(conn: &Connection, agent: &str, session: &str) -> rusqlite::Result<()> {
    conn.prepare_cached(TOLD)?.execute([agent, session]).map(drop)
}
