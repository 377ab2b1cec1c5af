//! All that a database holds, as one number: the same rows, the same number.

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use store::DATABASE;

/// Looks without changing anything: no checkpoint follows.
pub fn look(folder: &Path) -> rusqlite::Result<Connection> {
    let conn = Connection::open_with_flags(folder.join(DATABASE), OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(conn)
}

pub fn of(folder: &Path) -> rusqlite::Result<u64> {
    let conn = look(folder)?;
    let tables = "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name";
    let mut tables = conn.prepare(tables)?;
    let tables: Vec<(String, String)> =
        tables.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
    let mut all = DefaultHasher::new();
    for (name, sql) in tables {
        (&name, sql).hash(&mut all);
        let mut rows = rows(&conn, &name)?;
        rows.sort();
        rows.hash(&mut all);
    }
    Ok(all.finish())
}

fn rows(conn: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = conn.prepare(&format!("SELECT * FROM \"{table}\""))?;
    let columns = statement.column_count();
    let text = |row: &rusqlite::Row<'_>| (0..columns).map(|at| row.get_ref(at).map(|v| format!("{v:?}"))).collect();
    let rows = statement.query_map([], text)?.collect::<Result<Vec<Vec<String>>, _>>()?;
    Ok(rows.into_iter().map(|row| row.join("\u{1f}")).collect())
}
