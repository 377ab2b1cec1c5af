//! The calls that agents made, one after the other, for whoever looks at all of them again.

use crate::events::{COLUMNS, read};
use crate::{Error, Store, session_look_back};
use model::Ms;
use model::row::Event;
use rusqlite::params;

/// Rows of events in which calls are looked for; the last is not among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallRows {
    pub from: i64,
    pub end: i64,
    pub since: Ms,
}

impl Store {
    /// The rows since then.
    pub fn call_rows(&self, since: Ms) -> Result<CallRows, Error> {
        self.read(|conn| {
            let from = session_look_back::row_at(conn, since.plus(-session_look_back::STORED_LATE_MS))?;
            Ok(CallRows { from, end: session_look_back::ends(conn)?.1, since })
        })
    }

    /// The first calls of these rows, and where to go on. None are left where there are none.
    pub fn calls(&self, rows: CallRows, most: usize) -> Result<(Vec<Event>, CallRows), Error> {
        let sql = format!(
            "SELECT {COLUMNS}, seq FROM events NOT INDEXED WHERE seq >= ?1 AND seq < ?2 AND at >= ?3
               AND event = 'PreToolUse' AND ifnull(host_session, '') NOT LIKE 'taut-proof-%' ORDER BY seq LIMIT ?4"
        );
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let found: Vec<(Event, i64)> = self.read(|conn| {
            let values = params![rows.from, rows.end, rows.since.0, most];
            conn.prepare_cached(&sql)?.query_map(values, |row| Ok((read(row)?, row.get(17)?)))?.collect()
        })?;
        let from = found.last().map_or(rows.end, |(_, seq)| seq + 1);
        Ok((found.into_iter().map(|(event, _)| event).collect(), CallRows { from, ..rows }))
    }
}
