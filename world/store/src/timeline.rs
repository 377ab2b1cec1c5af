//! One session as a view tells it: the curve of its context, and what was said
//! to and by its agent. Bounded, so that a long life costs a view no more.

use crate::messages::{self, MessageRow};
use crate::{Error, Store, events, session_look_back};
use model::Ms;
use model::row::Event;
use rusqlite::{OptionalExtension, params};
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

/// A moment of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimelinePosition {
    /// The event with this key.
    Key(String),
    /// The first event at this time or later, else the last.
    At(Ms),
}

/// Events of a session around a moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EventsAround {
    /// In the order they were stored.
    pub events: Vec<Event>,
    /// The key of the one that was asked for.
    pub key: String,
    /// There are more before the first and after the last.
    pub earlier: bool,
    pub later: bool,
}

pub(crate) const AT_OR_AFTER: &str =
    "SELECT seq, key FROM events WHERE session = ?1 AND seq >= ?2 ORDER BY seq LIMIT 1";
pub(crate) const LAST: &str = "SELECT seq, key FROM events WHERE session = ?1 ORDER BY seq DESC LIMIT 1";
const BY_KEY: &str = "SELECT seq, key FROM events WHERE key = ?2 AND session = ?1";

impl Store {
    /// So many events of a session before a moment, and as many from it on. `None` where it has no such moment.
    pub fn events_around(
        &self,
        id: &str,
        moment: &TimelinePosition,
        most: usize,
    ) -> Result<Option<EventsAround>, Error> {
        let most = i64::try_from(most).unwrap_or(i64::MAX - 1);
        self.read(|conn| {
            let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?));
            let found = match moment {
                TimelinePosition::Key(key) => conn.prepare_cached(BY_KEY)?.query_row([id, key], read).optional()?,
                TimelinePosition::At(at) => {
                    let row = session_look_back::row_at(conn, *at)?;
                    let next = conn.prepare_cached(AT_OR_AFTER)?.query_row(params![id, row], read).optional()?;
                    match next {
                        Some(next) => Some(next),
                        None => conn.prepare_cached(LAST)?.query_row([id], read).optional()?,
                    }
                }
            };
            let Some((seq, key)) = found else { return Ok(None) };
            let side = |clause: &str| -> rusqlite::Result<Vec<Event>> {
                let sql = format!("SELECT {} FROM events WHERE session = ?1 AND {clause} LIMIT ?3", events::COLUMNS);
                conn.prepare_cached(&sql)?.query_map(params![id, seq, most + 1], events::read)?.collect()
            };
            let mut before = side("seq < ?2 ORDER BY seq DESC")?;
            let mut after = side("seq >= ?2 ORDER BY seq")?;
            let most = usize::try_from(most).unwrap_or(usize::MAX);
            let (earlier, later) = (before.len() > most, after.len() > most);
            before.truncate(most);
            after.truncate(most);
            before.reverse();
            before.extend(after);
            Ok(Some(EventsAround { events: before, key, earlier, later }))
        })
    }

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
