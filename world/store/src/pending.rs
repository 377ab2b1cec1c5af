//! Effects that were not carried out when their event was answered, because
//! the database was out of reach: kept until somebody carries them out, once.

use crate::{Error, Store, Tx};
use model::Ms;
use model::row::Event;
use rusqlite::{Connection, params};
use serde_json::{Value, json};

/// What one event left to be done.
#[derive(Debug, Clone, PartialEq)]
pub struct Pending {
    /// The event's key.
    pub key: String,
    pub at: Ms,
    /// What whoever spooled the event told to carry them out with.
    pub told: Value,
}

/// Few, and gone within seconds: they need no table of their own.
const NAMES: &str = "pending:";
const PUT: &str = "INSERT OR IGNORE INTO meta (name, value) VALUES (?1, ?2)";
const LIST: &str = "SELECT name, value FROM meta WHERE name >= 'pending:' AND name < 'pending;' ORDER BY name";
const PLACE: &str = "UPDATE events SET session = ?2 WHERE key = ?1 AND session IS NULL";
const REMOVE: &str = "DELETE FROM meta WHERE name = ?1";

/// Only the last events are looked through: what is older than so many is not
/// what a session that has just gone on did.
const WENT_ON: &str = "SELECT EXISTS (SELECT 1 FROM
    (SELECT host_session, at FROM events ORDER BY seq DESC LIMIT 50000) WHERE host_session = ?1 AND at > ?2)";

pub(crate) fn put(conn: &Connection, event: &Event, told: &Value) -> rusqlite::Result<()> {
    let value = json!({"at": event.at.0, "told": told}).to_string();
    conn.prepare_cached(PUT)?.execute(params![format!("{NAMES}{}", event.key), value]).map(drop)
}

impl Store {
    /// What is still to be carried out, the earliest event first.
    pub fn pending(&self) -> Result<Vec<Pending>, Error> {
        let rows: Vec<(String, String)> = self
            .read(|conn| conn.prepare_cached(LIST)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect())?;
        let mut found: Vec<Pending> = rows.iter().filter_map(|(name, value)| read(name, value)).collect();
        found.sort_by_key(|one| one.at);
        Ok(found)
    }
}

impl Tx<'_> {
    /// To be called in the transaction that carries the effects out. `false`
    /// where somebody has done it meanwhile.
    pub fn settle_pending(&self, key: &str) -> Result<bool, Error> {
        self.verb(|conn| Ok(conn.prepare_cached(REMOVE)?.execute([format!("{NAMES}{key}")])? > 0))
    }

    /// The event belongs to this session, as became known after it was stored.
    pub fn place_event(&self, key: &str, session: &str) -> Result<(), Error> {
        self.verb(|conn| conn.prepare_cached(PLACE)?.execute([key, session]).map(drop))
    }

    /// Whether this session of the host has done anything after that moment.
    pub fn went_on(&self, host_session: &str, after: Ms) -> Result<bool, Error> {
        self.verb(|conn| conn.prepare_cached(WENT_ON)?.query_row(params![host_session, after.0], |row| row.get(0)))
    }
}

fn read(name: &str, value: &str) -> Option<Pending> {
    let mut value: Value = serde_json::from_str(value).ok()?;
    let at = Ms(value.get("at")?.as_i64()?);
    Some(Pending { key: name.strip_prefix(NAMES)?.to_owned(), at, told: value.get_mut("told")?.take() })
}
