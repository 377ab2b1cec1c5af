//! Messages: what was said to or by an agent, in the order it was said.

use crate::{Error, Store};
use model::Ms;
use model::effort::Message;
use rusqlite::{Connection, params};

const PUT: &str = "INSERT INTO messages (id, at, kind, from_agent, to_agent, session, body, delivered_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING";

/// One that is for nobody in particular waits for nobody.
pub(super) fn put(conn: &Connection, message: &Message) -> rusqlite::Result<()> {
    let Message { id, at, kind, from_agent, to_agent, session, body } = message;
    let delivered = to_agent.is_none().then_some(at.0);
    conn.prepare_cached(PUT)?.execute(params![id, at.0, kind, from_agent, to_agent, session, body, delivered]).map(drop)
}

impl Store {
    /// Messages of one kind, the oldest first.
    pub fn messages(&self, kind: &str) -> Result<Vec<Message>, Error> {
        const LIST: &str =
            "SELECT id, at, kind, from_agent, to_agent, session, body FROM messages WHERE kind = ?1 ORDER BY seq";
        self.read(|conn| {
            conn.prepare_cached(LIST)?
                .query_map([kind], |row| {
                    Ok(Message {
                        id: row.get(0)?,
                        at: Ms(row.get(1)?),
                        kind: row.get(2)?,
                        from_agent: row.get(3)?,
                        to_agent: row.get(4)?,
                        session: row.get(5)?,
                        body: row.get(6)?,
                    })
                })?
                .collect()
        })
    }
}
