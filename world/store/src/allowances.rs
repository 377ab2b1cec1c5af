//! What people let through once at a terminal, until a call uses it up.

use crate::strikes::LIFE_MS;
use model::Ms;
use model::effect::{Allowance, AllowedOnce};
use rusqlite::{Connection, Row, params};

/// There are hardly ever any. One from the future is of a clock that was set back since, and does not count.
const UNEXPIRED: &str = "SELECT what, allowed_by, at FROM allowances WHERE at > ?1 AND at <= ?2";

const PUT: &str = "INSERT INTO allowances (what, allowed_by, at) VALUES (?1, ?2, ?3)
    ON CONFLICT DO UPDATE SET allowed_by = excluded.allowed_by, at = excluded.at";

const SPEND: &str = "DELETE FROM allowances WHERE what = ?1";

pub(crate) fn unexpired(conn: &Connection, now: Ms) -> rusqlite::Result<Vec<Allowance>> {
    let all: Vec<_> = conn
        .prepare_cached(UNEXPIRED)?
        .query_map(params![now.plus(-LIFE_MS).0, now.plus(LIFE_MS).0], read)?
        .collect::<Result<_, _>>()?;
    Ok(all.into_iter().flatten().collect())
}

pub(crate) fn put(conn: &Connection, allowance: &Allowance) -> rusqlite::Result<()> {
    let Allowance { what, by, at } = allowance;
    conn.prepare_cached(PUT)?.execute(params![name(what), by, at.0]).map(drop)
}

/// In the transaction that read it: of two calls that want it, one finds it gone.
pub(crate) fn spend(conn: &Connection, what: &AllowedOnce) -> rusqlite::Result<()> {
    conn.prepare_cached(SPEND)?.execute([name(what)]).map(drop)
}

fn name(what: &AllowedOnce) -> String {
    match what {
        AllowedOnce::Rule(id) => format!("rule/{id}"),
        AllowedOnce::Call(digest) => format!("call/{digest}"),
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Option<Allowance>> {
    let what: String = row.get(0)?;
    let what = match what.split_once('/') {
        Some(("rule", id)) => AllowedOnce::Rule(id.to_string()),
        Some(("call", digest)) => AllowedOnce::Call(digest.to_string()),
        _ => return Ok(None),
    };
    Ok(Some(Allowance { what, by: row.get(1)?, at: Ms(row.get(2)?) }))
}
