//! Strikes: what was denied once and is then let through (G2).

use model::effect::Strike;
use model::verdict::Intent;
use model::{Ms, Who};
use rusqlite::{Connection, Row, params};

/// A strike opens the way for half an hour.
pub(crate) const LIFE_MS: i64 = 30 * 60 * 1000;

/// A strike from the future is one of a clock that was set back since: it
/// would never expire, so it does not count.
pub(crate) const UNEXPIRED: &str = "SELECT session, rule, what, target, at, denied_to, delivered FROM strikes
    WHERE session = ?1 AND at > ?2 AND at <= ?3";

pub(crate) const GIVE: &str = "INSERT INTO strikes (session, rule, what, target, denied_to, at, delivered)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
    ON CONFLICT DO UPDATE SET at = excluded.at, delivered = excluded.delivered";

pub(crate) const DELIVER: &str =
    "UPDATE strikes SET delivered = 1 WHERE session = ?1 AND denied_to = ?2 AND delivered = 0 AND at <= ifnull(?3, at)";

/// The session strikes are kept under: the host's, which its sub-agents share.
pub(crate) fn root_session(who: &Who) -> &str {
    who.host_session.as_deref().unwrap_or(&who.logical_id)
}

pub(crate) fn unexpired(conn: &Connection, session: &str, now: Ms) -> rusqlite::Result<Vec<Strike>> {
    conn.prepare_cached(UNEXPIRED)?
        .query_map(params![session, now.plus(-LIFE_MS).0, now.plus(LIFE_MS).0], read)?
        .collect()
}

pub(crate) fn give(conn: &Connection, strike: &Strike) -> rusqlite::Result<()> {
    conn.prepare_cached(GIVE)?
        .execute(params![
            strike.session, strike.rule, strike.intent.what, strike.intent.target, strike.denied_to, strike.at.0,
            strike.delivered
        ])
        .map(drop)
}

pub(crate) fn deliver(conn: &Connection, session: &str, denied_to: &str, until: Option<Ms>) -> rusqlite::Result<()> {
    conn.prepare_cached(DELIVER)?.execute(params![session, denied_to, until.map(|until| until.0)]).map(drop)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Strike> {
    Ok(Strike {
        session: row.get(0)?,
        rule: row.get(1)?,
        intent: Intent { what: row.get(2)?, target: row.get(3)? },
        at: Ms(row.get(4)?),
        denied_to: row.get(5)?,
        delivered: row.get(6)?,
    })
}
