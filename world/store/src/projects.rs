//! Projects: the repositories agents work in. Kept for ever.

use crate::{Durability, Error, Store};
use model::Ms;
use rusqlite::{Connection, OptionalExtension, params};

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

    /// What its repository called its queue when that was last seen.
    pub fn queue_of(&self, project: &str) -> Result<Option<String>, Error> {
        const FIND: &str = "SELECT queue FROM projects WHERE path = ?1";
        Ok(self.read(|conn| conn.prepare_cached(FIND)?.query_row([project], |row| row.get(0)).optional())?.flatten())
    }

    pub fn keep_queue_of(&mut self, project: &str, queue: &str) -> Result<(), Error> {
        const KEEP: &str = "UPDATE projects SET queue = ?2 WHERE path = ?1 AND queue IS NOT ?2";
        if self.queue_of(project)?.as_deref() == Some(queue) {
            return Ok(());
        }
        self.transact(Durability::Normal, |tx| tx.verb(|conn| conn.execute(KEEP, [project, queue]).map(drop)))
    }
}
