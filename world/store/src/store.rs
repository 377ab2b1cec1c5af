//! One connection to the memory and its transactions.

use crate::folder::{ConnectionState, Identity, StoreFolder};
use crate::{Error, Tx};
use rusqlite::Connection;
use std::cell::Cell;
use std::path::Path;
use std::time::Duration;

/// One connection.
#[derive(Debug)]
pub struct Store {
    pub(crate) conn: Connection,
    pub(crate) place: StoreFolder,
    pub(crate) opened: Identity,
    pub(crate) patience: Duration,
    durability: Cell<Durability>,
}

/// What a commit survives. Both survive `kill -9`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// A power cut may drop the last moments.
    Normal,
    /// Flushed to the disk before it is acknowledged.
    Full,
}

impl Store {
    pub(crate) fn new(conn: Connection, place: StoreFolder, opened: Identity, patience: Duration) -> Self {
        Self { conn, place, opened, patience, durability: Cell::new(Durability::Normal) }
    }

    /// Runs `work` in one transaction that takes the write lock first, so that
    /// what it reads is still true when it writes. An error rolls all of it back.
    pub fn transact<T>(
        &mut self,
        durability: Durability,
        work: impl FnOnce(&Tx<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.make_durable(durability)?;
        self.run("BEGIN IMMEDIATE")?;
        let rollback = Rollback(&self.conn);
        let done = work(&Tx::new(&self.conn, &self.place.database))?;
        if self.conn.is_autocommit() {
            return Err(Error::RolledBack);
        }
        self.run("COMMIT")?;
        drop(rollback);
        Ok(done)
    }

    /// How long the next calls wait for a lock. A caller with a deadline lowers
    /// it as its time runs out.
    pub fn set_patience(&mut self, patience: Duration) -> Result<(), Error> {
        self.conn.busy_timeout(patience).map_err(|cause| self.error(cause))?;
        self.patience = patience;
        Ok(())
    }

    pub fn path(&self) -> &Path {
        &self.place.database
    }

    /// Whether the file at the path is still the one that was opened.
    pub fn standing(&self) -> ConnectionState {
        self.place.standing(self.opened)
    }

    /// Another file stands at the path, or none: this connection is to be dropped.
    pub fn stale(&self) -> bool {
        self.standing() != ConnectionState::Same
    }

    pub(crate) fn read<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Error> {
        work(&self.conn).map_err(|cause| self.error(cause))
    }

    pub(crate) fn error(&self, cause: rusqlite::Error) -> Error {
        Error::of(&self.place.database, cause)
    }

    fn run(&self, sql: &str) -> Result<(), Error> {
        self.read(|conn| conn.prepare_cached(sql)?.execute([]).map(drop))
    }

    /// SQLite takes the level outside a transaction only, and while it prepares
    /// the statement: a cached one would do nothing.
    fn make_durable(&self, wanted: Durability) -> Result<(), Error> {
        if self.durability.get() == wanted {
            return Ok(());
        }
        let pragma = match wanted {
            Durability::Normal => "PRAGMA synchronous = NORMAL; PRAGMA fullfsync = 0",
            Durability::Full => "PRAGMA synchronous = FULL; PRAGMA fullfsync = 1",
        };
        self.conn.execute_batch(pragma).map_err(|cause| self.error(cause))?;
        self.durability.set(wanted);
        Ok(())
    }
}

/// Rolls back what was neither committed nor rolled back: an error or a panic.
struct Rollback<'c>(&'c Connection);

impl Drop for Rollback<'_> {
    fn drop(&mut self) {
        if !self.0.is_autocommit() {
            // Where even this fails, SQLite rolls back when the connection closes.
            let _ = self.0.execute_batch("ROLLBACK");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spool::SPOOL;
    use model::effect::{Audience, Injection, Write};

    fn pragma(store: &Store, name: &str) -> String {
        let read = |row: &rusqlite::Row<'_>| row.get_ref(0).map(|value| format!("{value:?}"));
        store.conn.query_row(&format!("PRAGMA {name}"), [], read).unwrap()
    }

    fn large(n: usize) -> Write {
        Write::Injection(Injection { session: format!("s{n}"), audience: Audience::Model, text: "x".repeat(10_000) })
    }

    #[test]
    fn every_connection_is_told_the_same() {
        let home = tempfile::tempdir().unwrap();
        let first = Store::open(home.path(), Duration::from_millis(250)).unwrap();
        let second = Store::open(home.path(), Duration::from_millis(250)).unwrap();
        for store in [first, second] {
            assert_eq!(pragma(&store, "foreign_keys"), "Integer(1)");
            assert_eq!(pragma(&store, "synchronous"), "Integer(1)");
            assert_eq!(pragma(&store, "wal_autocheckpoint"), "Integer(0)");
            assert_eq!(pragma(&store, "busy_timeout"), "Integer(250)");
            assert_eq!(pragma(&store, "journal_mode"), format!("Text({:?})", b"wal"));
        }
    }

    #[test]
    fn a_full_transaction_is_flushed_and_the_next_normal_one_is_not() {
        let home = tempfile::tempdir().unwrap();
        let mut store = Store::open(home.path(), Duration::ZERO).unwrap();
        for (durability, level) in
            [(Durability::Full, "Integer(2)"), (Durability::Full, "Integer(2)"), (Durability::Normal, "Integer(1)")]
        {
            store.transact(durability, |tx| tx.apply(&[large(1)])).unwrap();
            assert_eq!(pragma(&store, "synchronous"), level);
        }
    }

    #[test]
    fn a_full_disk_is_named_undoes_the_transaction_and_leaves_the_rest() {
        let home = tempfile::tempdir().unwrap();
        let mut store = Store::open(home.path(), Duration::ZERO).unwrap();
        store.transact(Durability::Normal, |tx| tx.apply(&[large(1)])).unwrap();
        let pages: i64 = store.conn.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
        store.conn.pragma_update(None, "max_page_count", pages + 1).unwrap();
        let full = store.transact(Durability::Normal, |tx| tx.apply(&[large(2), large(3)])).unwrap_err();
        assert!(matches!(full, Error::Full { .. }), "{full}");
        assert!(full.is_for_the_spool());
        store.conn.pragma_update(None, "max_page_count", pages + 1000).unwrap();
        store.transact(Durability::Normal, |tx| tx.apply(&[large(4)])).unwrap();
        let rows: Vec<String> = store
            .read(|conn| conn.prepare("SELECT session FROM injections")?.query_map([], |row| row.get(0))?.collect())
            .unwrap();
        assert_eq!(rows, ["s1", "s4"]);
        assert!(!home.path().join(SPOOL).exists());
    }

    #[test]
    fn after_sqlite_rolled_back_by_itself_nothing_commits_on_its_own() {
        let home = tempfile::tempdir().unwrap();
        let mut store = Store::open(home.path(), Duration::ZERO).unwrap();
        let outcome = store.transact(Durability::Normal, |tx| {
            tx.verb(|conn| conn.execute_batch("ROLLBACK"))?;
            assert!(matches!(tx.apply(&[large(1)]), Err(Error::RolledBack)));
            assert!(matches!(tx.savepoint(|tx| tx.apply(&[large(2)])), Err(Error::RolledBack)));
            Ok(())
        });
        assert!(matches!(outcome, Err(Error::RolledBack)));
        let rows: i64 =
            store.read(|conn| conn.query_row("SELECT count(*) FROM injections", [], |row| row.get(0))).unwrap();
        assert_eq!(rows, 0);
    }
}
