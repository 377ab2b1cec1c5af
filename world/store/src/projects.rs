//! Projects: the repositories agents work in. Kept for ever.

use crate::{Error, Store};
use model::Ms;
use rusqlite::{Connection, params};

/// A project as listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectRow {
    pub path: String,
    pub first_seen: Ms,
}

pub(crate) const SEE: &str = "INSERT INTO projects (path, first_seen) VALUES (?1, ?2) ON CONFLICT DO NOTHING";

const LIST: &str = "SELECT path, first_seen FROM projects ORDER BY path";

pub(crate) fn see(conn: &Connection, path: &str, at: Ms) -> rusqlite::Result<()> {
    conn.prepare_cached(SEE)?.execute(params![path, at.0]).map(drop)
}

impl Store {
    pub fn projects(&self) -> Result<Vec<ProjectRow>, Error> {
        self.read(|conn| {
            conn.prepare_cached(LIST)?
                .query_map([], |row| Ok(ProjectRow { path: row.get(0)?, first_seen: Ms(row.get(1)?) }))?
                .collect()
        })
    }
}
