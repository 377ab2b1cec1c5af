//! Meta: what the memory remembers about itself.

use crate::{Durability, Error, Store};
use rusqlite::{OptionalExtension, params};

impl Store {
    pub(crate) fn meta(&self, name: &str) -> Result<Option<String>, Error> {
        const FIND: &str = "SELECT value FROM meta WHERE name = ?1";
        self.read(|conn| conn.query_row(FIND, [name], |row| row.get(0)).optional())
    }

    pub(crate) fn set_meta(&mut self, name: &str, value: &str) -> Result<(), Error> {
        const PUT: &str = "INSERT OR REPLACE INTO meta (name, value) VALUES (?1, ?2)";
        self.transact(Durability::Full, |tx| tx.verb(|conn| conn.execute(PUT, params![name, value]).map(drop)))
    }
}
