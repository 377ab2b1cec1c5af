//! Notices: what a person was told of the fleet, so that nobody tells it twice.
//! One short text among what the memory knows about itself; it forgets by itself.

use crate::{Durability, Error, Store};
use model::Ms;
use model::fleet::NotifiedTurn;
use model::row::AgentStatus;
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::{Value, json};

const NAME: &str = "told";
const FIND: &str = "SELECT value FROM meta WHERE name = ?1";
const PUT: &str = "INSERT OR REPLACE INTO meta (name, value) VALUES (?1, ?2)";

impl Store {
    pub fn notified(&self) -> Result<Vec<NotifiedTurn>, Error> {
        self.read(read)
    }

    /// Remembers `after` where it is still `before` that is remembered. Whoever
    /// gets `true` tells, and nobody else.
    pub fn claim_told(&mut self, before: &[NotifiedTurn], after: &[NotifiedTurn]) -> Result<bool, Error> {
        self.transact(Durability::Normal, |tx| {
            tx.verb(|conn| {
                if read(conn)? != before {
                    return Ok(false);
                }
                conn.prepare_cached(PUT)?.execute(params![NAME, text(after)]).map(|_| true)
            })
        })
    }
}

/// What cannot be read was never told: once too often is better than never.
fn read(conn: &Connection) -> rusqlite::Result<Vec<NotifiedTurn>> {
    let text: Option<String> = conn.prepare_cached(FIND)?.query_row([NAME], |row| row.get(0)).optional()?;
    let rows: Vec<Value> = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    Ok(rows.iter().filter_map(one).collect())
}

fn one(row: &Value) -> Option<NotifiedTurn> {
    let status = AgentStatus::parse(row.get(1)?.as_str()?)?;
    Some(NotifiedTurn { agent: row.get(0)?.as_str()?.to_owned(), status, at: Ms(row.get(2)?.as_i64()?) })
}

fn text(told: &[NotifiedTurn]) -> String {
    let rows: Vec<Value> = told.iter().map(|one| json!([one.agent, one.status.name(), one.at.0])).collect();
    Value::from(rows).to_string()
}
