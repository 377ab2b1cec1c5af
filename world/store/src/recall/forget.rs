//! Forgetting: entries go, and with them every trace in the file.

use super::RecallIndex;
use super::catch_up::remove;
use crate::Error;
use crate::forget::ForgetScope;
use rusqlite::OptionalExtension;

const STEP: usize = 500;

impl RecallIndex {
    /// How many entries there are of it.
    pub fn count(&self, scope: &ForgetScope) -> Result<u64, Error> {
        let (clause, value) = clause(scope);
        let sql = format!("SELECT count(*) FROM entries WHERE {clause}");
        self.read(|conn| conn.query_row(&sql, [value], |row| row.get::<_, i64>(0))).map(i64::cast_unsigned)
    }

    /// Deletes them, and what is deleted is overwritten. How many there were. The memory's own rows
    /// are read again afterwards: what was forgotten there too does not come back.
    /// `also` are entries of rows that go too and that the index does not know to belong there.
    pub fn forget(&mut self, scope: &ForgetScope, also: &[String]) -> Result<u64, Error> {
        let (clause, value) = clause(scope);
        let sql = format!("SELECT id FROM entries WHERE {clause}");
        let mut ids: Vec<i64> =
            self.read(|conn| conn.prepare(&sql)?.query_map([value], |row| row.get(0))?.collect())?;
        for source in also {
            const FIND: &str = "SELECT id FROM entries WHERE source = ?1";
            let found: Option<i64> =
                self.read(|conn| conn.prepare_cached(FIND)?.query_row([source], |row| row.get(0)).optional())?;
            ids.extend(found);
        }
        ids.sort_unstable();
        ids.dedup();
        for step in ids.chunks(STEP) {
            self.write(|conn| step.iter().try_for_each(|id| remove(conn, *id)))?;
        }
        self.write(|conn| {
            conn.execute(
                "DELETE FROM projects WHERE NOT EXISTS (SELECT 1 FROM entries WHERE project = projects.id)",
                [],
            )?;
            // Numbers of rows that are gone may be given again.
            conn.execute("DELETE FROM cursors", []).map(drop)
        })?;
        self.overwrite()?;
        Ok(ids.len() as u64)
    }

    /// Deleted words stand in pages and in the log until these are written anew.
    fn overwrite(&self) -> Result<(), Error> {
        let busy: i64 = self.read(|conn| {
            conn.execute_batch("INSERT INTO words (words) VALUES ('optimize'); VACUUM")?;
            conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
        })?;
        if busy != 0 {
            return Err(Error::Refused(format!(
                "the entries are deleted, but somebody reads {}, so its log could not be emptied; run the same command again",
                self.path.display()
            )));
        }
        Ok(())
    }
}

fn clause(scope: &ForgetScope) -> (&'static str, rusqlite::types::Value) {
    match scope {
        ForgetScope::Project(path) => ("project = (SELECT id FROM projects WHERE path = ?1)", path.clone().into()),
        ForgetScope::Session(id) => ("session = ?1", id.clone().into()),
        // Facts stand in files, and go with these.
        ForgetScope::Before(at) => ("at < ?1 AND kind <> 'fact'", at.0.into()),
    }
}
