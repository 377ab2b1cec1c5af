//! Messages that wait for an agent: told once, then kept until they are pruned.

use model::Ms;
use model::effort::Message;
use rusqlite::{Connection, params};

/// The oldest few at a time: the rest is told at the next prompt.
pub(crate) const DUE: &str = "SELECT seq, id, at, kind, from_agent, session, body FROM messages
    WHERE to_agent = ?1 AND delivered_at IS NULL ORDER BY seq LIMIT 5";
pub(crate) const DELIVERED: &str = "UPDATE messages SET delivered_at = ?2 WHERE seq = ?1";

pub(crate) fn take(conn: &Connection, agent: &str, now: Ms) -> rusqlite::Result<Vec<Message>> {
    let read = |row: &rusqlite::Row<'_>| {
        let message = Message {
            id: row.get(1)?,
            at: Ms(row.get(2)?),
            kind: row.get(3)?,
            from_agent: row.get(4)?,
            to_agent: Some(agent.to_string()),
            session: row.get(5)?,
            body: row.get(6)?,
        };
        Ok((row.get::<_, i64>(0)?, message))
    };
    let due: Vec<(i64, Message)> = conn.prepare_cached(DUE)?.query_map([agent], read)?.collect::<Result<_, _>>()?;
    for (seq, _) in &due {
        conn.prepare_cached(DELIVERED)?.execute(params![seq, now.0])?;
    }
    Ok(due.into_iter().map(|(_, message)| message).collect())
}
