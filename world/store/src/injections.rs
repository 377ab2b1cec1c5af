//! Injections: what waits to be told to the model once (S14).

use model::effect::{Audience, Injection};
use rusqlite::{Connection, params};

pub(crate) const PUT: &str = "INSERT INTO injections (session, audience, text) VALUES (?1, ?2, ?3)";
pub(crate) const WAITING: &str = "SELECT audience, text FROM injections WHERE session = ?1 ORDER BY seq";
pub(crate) const CLEAR: &str = "DELETE FROM injections WHERE session = ?1 AND (?2 IS NULL OR audience = ?2)";

pub(crate) fn put(conn: &Connection, injection: &Injection) -> rusqlite::Result<()> {
    conn.prepare_cached(PUT)?.execute(params![injection.session, name(injection.audience), injection.text]).map(drop)
}

fn name(audience: Audience) -> &'static str {
    match audience {
        Audience::Model => "model",
        Audience::User => "user",
    }
}

/// What waits for this audience, or for anyone, oldest first.
pub(crate) fn waiting(
    conn: &Connection,
    session: &str,
    audience: Option<Audience>,
) -> rusqlite::Result<Vec<Injection>> {
    let read = |row: &rusqlite::Row<'_>| {
        let audience = if row.get::<_, String>(0)? == "user" { Audience::User } else { Audience::Model };
        Ok(Injection { session: session.to_string(), audience, text: row.get(1)? })
    };
    let mut waiting: Vec<Injection> =
        conn.prepare_cached(WAITING)?.query_map([session], read)?.collect::<Result<_, _>>()?;
    waiting.retain(|one| audience.is_none_or(|audience| one.audience == audience));
    Ok(waiting)
}

pub(crate) fn clear(conn: &Connection, session: &str, audience: Option<Audience>) -> rusqlite::Result<()> {
    conn.prepare_cached(CLEAR)?.execute(params![session, audience.map(name)]).map(drop)
}
