//! One session as a view tells it: the curve of its context, and what was said
//! to and by its agent. Bounded, so that a long life costs a view no more.

use crate::messages::{self, MessageRow};
use crate::{Error, Store};
use model::Ms;
use rusqlite::params;
use serde_json::Value;

/// How full a context was, at an event that told it. Nothing is known of one
/// that was just compacted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub at: Ms,
    pub tokens: Option<u64>,
    pub percent: Option<f64>,
}

/// Among so many of a session's latest events the points are looked for. What
/// an agent wrote is escaped in JSON: it cannot look like a point.
const CURVE: &str = "SELECT at, detail FROM
      (SELECT seq, at, detail FROM events WHERE session = ?1 ORDER BY seq DESC LIMIT 5000)
    WHERE instr(detail, '\"context\":{') > 0 ORDER BY seq";

/// No index finds messages by session: the latest are looked through.
const SAID: &str = concat!(
    "SELECT ",
    messages::columns!(),
    ", delivered_at FROM (SELECT * FROM messages ORDER BY seq DESC LIMIT 5000)
     WHERE session = ?1 OR to_agent = ?2 OR from_agent = ?2
       OR to_conversation = (SELECT conversation FROM sessions WHERE id = ?1)
     ORDER BY seq DESC LIMIT ?3"
);

impl Store {
    /// The oldest point first.
    pub fn context_curve(&self, session: &str) -> Result<Vec<Point>, Error> {
        let read = |row: &rusqlite::Row<'_>| Ok((Ms(row.get(0)?), row.get::<_, String>(1)?));
        let rows: Vec<(Ms, String)> =
            self.read(|conn| conn.prepare_cached(CURVE)?.query_map([session], read)?.collect())?;
        Ok(rows.iter().filter_map(|(at, detail)| point(*at, detail)).collect())
    }

    /// What was said in a session, to its agent or by it, the newest first.
    pub fn messages_of(&self, session: &str, agent: &str, most: usize) -> Result<Vec<MessageRow>, Error> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let read = |row: &rusqlite::Row<'_>| {
            let (_, message) = messages::read(row)?;
            Ok(MessageRow { message, delivered_at: row.get::<_, Option<i64>>(9)?.map(Ms) })
        };
        self.read(|conn| conn.prepare_cached(SAID)?.query_map(params![session, agent, most], read)?.collect())
    }
}

fn point(at: Ms, detail: &str) -> Option<Point> {
    let detail: Value = serde_json::from_str(detail).ok()?;
    let context = detail.get("context")?;
    Some(Point {
        at,
        tokens: context.get("tokens").and_then(Value::as_u64),
        percent: context.get("percent").and_then(Value::as_f64),
    })
}
