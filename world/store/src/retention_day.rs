//! How much of the history went today: whatever a clock says, there is time to
//! notice before much is gone.

use crate::Retention;
use model::Ms;
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::{Value, json};

const DAY_MS: i64 = 86_400_000;
const NAME: &str = "retention_day";
const FIND: &str = "SELECT value FROM meta WHERE name = ?1";
const PUT: &str = "INSERT OR REPLACE INTO meta (name, value) VALUES (?1, ?2)";

/// The kinds of history, each with its own share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HistoryKind {
    Events,
    Sessions,
    Messages,
    Runs,
}

const COUNTS: [&str; 4] = [
    "SELECT count(*) FROM events",
    "SELECT count(*) FROM sessions",
    "SELECT count(*) FROM messages",
    "SELECT (SELECT count(*) FROM runs) + (SELECT count(*) FROM iterations)",
];

/// What may still go today.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Day {
    begun: Ms,
    left: [i64; 4],
}

impl Day {
    /// The day that is on, by the time that is believed; a new one counts what there is.
    pub fn of(conn: &Connection, time: Ms, keep: &Retention) -> rusqlite::Result<Self> {
        let text: Option<String> = conn.prepare_cached(FIND)?.query_row([NAME], |row| row.get(0)).optional()?;
        let known = text.and_then(|text| serde_json::from_str(&text).ok()).and_then(|value| Self::read(&value));
        match known {
            // A time that was believed and no longer is must not make this day last for years.
            Some(day) if time < day.begun => Ok(Self { begun: time, ..day }),
            Some(day) if time.since(day.begun) < DAY_MS => Ok(day),
            _ => Self::begin(conn, time, keep),
        }
    }

    fn begin(conn: &Connection, time: Ms, keep: &Retention) -> rusqlite::Result<Self> {
        let mut left = [0; 4];
        for (left, sql) in left.iter_mut().zip(COUNTS) {
            let rows: i64 = conn.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
            *left = (rows.saturating_mul(i64::from(keep.percent_a_day)) / 100).max(i64::from(keep.rows_a_day));
        }
        Ok(Self { begun: time, left })
    }

    pub fn left(&self, kind: HistoryKind) -> u32 {
        let left = self.left.get(kind as usize).copied().unwrap_or_default();
        u32::try_from(left.max(0)).unwrap_or(u32::MAX)
    }

    pub fn count(&mut self, kind: HistoryKind, gone: usize) {
        if let Some(left) = self.left.get_mut(kind as usize) {
            *left = left.saturating_sub(i64::try_from(gone).unwrap_or(i64::MAX)).max(0);
        }
    }

    pub fn put(&self, conn: &Connection) -> rusqlite::Result<()> {
        let value = json!({"begun": self.begun.0, "left": self.left});
        conn.prepare_cached(PUT)?.execute(params![NAME, value.to_string()]).map(drop)
    }

    fn read(value: &Value) -> Option<Self> {
        let left: Vec<i64> = value.get("left")?.as_array()?.iter().filter_map(Value::as_i64).collect();
        Some(Self { begun: Ms(value.get("begun")?.as_i64()?), left: left.try_into().ok()? })
    }
}
