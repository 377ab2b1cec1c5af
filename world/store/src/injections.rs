//! Injections: what waits to be told to the model once (S14).

use rusqlite::{Connection, params};

pub(crate) const PUT: &str = "INSERT INTO injections (session, text) VALUES (?1, ?2)";
pub(crate) const WAITING: &str = "SELECT text FROM injections WHERE session = ?1 ORDER BY seq";
pub(crate) const CLEAR: &str = "DELETE FROM injections WHERE session = ?1";

pub(crate) fn put(conn: &Connection, session: &str, text: &str) -> rusqlite::Result<()> {
    conn.prepare_cached(PUT)?.execute(params![session, text]).map(drop)
}

pub(crate) fn take(conn: &Connection, session: &str) -> rusqlite::Result<Vec<String>> {
    let waiting: Vec<String> =
        conn.prepare_cached(WAITING)?.query_map([session], |row| row.get(0))?.collect::<Result<_, _>>()?;
    if !waiting.is_empty() {
        conn.prepare_cached(CLEAR)?.execute([session])?;
    }
    Ok(waiting)
}
