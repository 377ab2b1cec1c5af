//! How far a collector was told, and what came of it. A cursor of its own over the same record that servers are sent.

use crate::{Durability, Error, Store, event_cursor};
use model::Ms;
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub(crate) const CURSOR: &str = "telemetry.cursor";

/// How many events were forgotten before a collector was told of them.
pub(crate) const SKIPPED: &str = "telemetry.skipped";

/// Where it stands with a collector. It is moved in one write with all it means, after the collector has taken a batch.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TelemetryCursor {
    /// The last event that was told.
    pub seq: i64,
    /// Who waits for a person since when, and in which session: by agent.
    pub waits: BTreeMap<String, (String, i64)>,
    /// The moment of work that was told last, and which of those around it.
    pub moment: i64,
    pub told: Vec<String>,
    /// Records that were taken, that were refused with their batch, and that the collector dropped of what it took.
    pub sent: u64,
    pub refused: u64,
    pub rejected: u64,
    pub last_sent: Option<i64>,
    /// What went wrong last; `None` while all is well.
    pub error: Option<String>,
}

impl Store {
    /// `None` where nothing is told to anybody.
    pub fn telemetry(&self) -> Result<Option<TelemetryCursor>, Error> {
        self.read(cursor)
    }

    /// What came of those behind `from`. Whether that was written: who set the cursor meanwhile, as one does who names another
    /// collector or switches it off, is not undone by what was on its way.
    pub fn advance_telemetry(&mut self, from: &TelemetryCursor, to: &TelemetryCursor) -> Result<bool, Error> {
        self.transact(Durability::Full, |tx| {
            tx.verb(|conn| {
                // By what it says, and not by its text: an earlier build may have written it.
                let stands = cursor(conn)?.is_some_and(|now| now == *from);
                if stands {
                    put(conn, to)?;
                }
                Ok(stands)
            })
        })
    }

    /// From now on. What happened before was agreed to by nobody; what waited for a collector before is counted as forgotten.
    pub fn begin_telemetry(&mut self, now: Ms) -> Result<TelemetryCursor, Error> {
        self.transact(Durability::Full, |tx| {
            tx.verb(|conn| {
                let seq = conn.query_row("SELECT ifnull(max(seq), 0) FROM events", [], |row| row.get(0))?;
                let waited = told(conn)?.map_or(Ok(0), |told| waiting(conn, told))?;
                event_cursor::add_skipped(conn, SKIPPED, waited)?;
                let cursor = TelemetryCursor { seq, moment: now.0, ..TelemetryCursor::default() };
                put(conn, &cursor)?;
                Ok(cursor)
            })
        })
    }

    /// Nobody is told any more, so nothing is kept for it.
    pub fn end_telemetry(&mut self) -> Result<(), Error> {
        const GONE: &str = "DELETE FROM meta WHERE name IN (?1, ?2)";
        self.transact(Durability::Normal, |tx| tx.verb(|conn| conn.execute(GONE, [CURSOR, SKIPPED]).map(drop)))
    }

    /// How many events a collector was not told of yet, and how many were forgotten before.
    pub fn untold(&self) -> Result<(u64, u64), Error> {
        self.read(|conn| {
            let waiting = waiting(conn, told(conn)?.unwrap_or(i64::MAX))?;
            Ok((waiting.cast_unsigned(), event_cursor::skipped(conn, SKIPPED)?.cast_unsigned()))
        })
    }
}

fn waiting(conn: &Connection, seq: i64) -> rusqlite::Result<i64> {
    conn.query_row("SELECT count(*) FROM events WHERE seq > ?1", [seq], |row| row.get(0))
}

fn cursor(conn: &Connection) -> rusqlite::Result<Option<TelemetryCursor>> {
    const FIND: &str = "SELECT value FROM meta WHERE name = ?1";
    let found: Option<String> = conn.prepare_cached(FIND)?.query_row([CURSOR], |row| row.get(0)).optional()?;
    Ok(found.map(|text| serde_json::from_str(&text).unwrap_or_default()))
}

fn put(conn: &Connection, cursor: &TelemetryCursor) -> rusqlite::Result<()> {
    const PUT: &str = "INSERT OR REPLACE INTO meta (name, value) VALUES (?1, ?2)";
    let text = serde_json::to_string(cursor).unwrap_or_default();
    conn.prepare_cached(PUT)?.execute([CURSOR, &text]).map(drop)
}

/// What a damaged file knew of it. Its numbers were moved by `shift`; asked again it is the same.
pub(crate) fn bring_back(conn: &Connection, text: &str, shift: i64) -> rusqlite::Result<()> {
    let Ok(mut lost) = serde_json::from_str::<TelemetryCursor>(text) else { return Ok(()) };
    lost.seq = lost.seq.saturating_sub(shift);
    lost.told.iter_mut().for_each(|id| *id = moved(id, shift));
    match cursor(conn)? {
        Some(since) => put(conn, &joined(lost, since)),
        None => put(conn, &lost),
    }
}

/// The number of a task is in the name of what became of it.
fn moved(id: &str, shift: i64) -> String {
    let of_task = || {
        let (kind, rest) = id.split_once('/').filter(|(kind, _)| matches!(*kind, "claim" | "end"))?;
        let (task, rest) = rest.split_once('/')?;
        Some(format!("{kind}/{}/{rest}", task.parse::<i64>().ok()?.saturating_sub(shift)))
    };
    of_task().unwrap_or_else(|| id.to_owned())
}

/// From where the first of both was, so that nothing is left out: what is sent twice has the same id.
fn joined(lost: TelemetryCursor, since: TelemetryCursor) -> TelemetryCursor {
    let mut waits = lost.waits;
    waits.extend(since.waits);
    let mut told = lost.told;
    told.retain(|id| !since.told.contains(id));
    told.extend(since.told);
    TelemetryCursor {
        seq: lost.seq.min(since.seq),
        waits,
        moment: lost.moment.min(since.moment),
        told,
        // They cannot be added: nobody knows whether they were.
        sent: lost.sent.max(since.sent),
        refused: lost.refused.max(since.refused),
        rejected: lost.rejected.max(since.rejected),
        last_sent: lost.last_sent.max(since.last_sent),
        error: since.error,
    }
}

pub(crate) fn told(conn: &Connection) -> rusqlite::Result<Option<i64>> {
    const FIND: &str = "SELECT CASE WHEN json_valid(value) THEN ifnull(json_extract(value, '$.seq'), 0) ELSE 0 END FROM meta WHERE name = ?1";
    conn.prepare_cached(FIND)?.query_row([CURSOR], |row| row.get(0)).optional()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clocks, Retention};
    use model::effect::Write;
    use model::row::Event;
    use std::time::Duration;

    #[test]
    fn x3_a_server_and_a_collector_each_have_a_cursor_and_what_either_lacks_is_kept_and_counted_its_own() {
        let home = tempfile::tempdir().unwrap();
        let mut store = Store::open(home.path(), Duration::ZERO).unwrap();
        let event = |n: i64| Write::Event(Box::new(Event::noted("PreToolUse", "a", format!("id-{n}"), Ms(n))));
        let events: Vec<Write> = (1..=6).map(event).collect();
        store.transact(Durability::Normal, |tx| tx.apply(&events)).unwrap();
        assert_eq!(store.telemetry().unwrap(), None);
        let begun = store.begin_telemetry(Ms(9)).unwrap();
        assert_eq!((begun.seq, begun.moment, store.untold().unwrap()), (6, 9, (0, 0)), "what was before is not told");
        assert!(store.advance_telemetry(&begun, &TelemetryCursor { seq: 2, ..begun.clone() }).unwrap());
        store.set_shipped("srv", 4).unwrap();
        assert_eq!((store.untold().unwrap(), store.unshipped().unwrap()), ((4, 0), (2, 0)));
        let roomy = Retention { bytes: 1, rows: 10, unsent_ms: 1_000_000, ..Retention::default() };
        assert_eq!(store.prune_by(&Clocks::at(Ms(10)), &roomy).unwrap().events, 2, "those that both have");
        let tight = Retention { unsent_bytes: 1, ..roomy };
        assert_eq!(store.prune_by(&Clocks::at(Ms(10)), &tight).unwrap().events, 4);
        assert_eq!((store.untold().unwrap(), store.unshipped().unwrap()), ((0, 4), (0, 2)));
        // Ending one leaves the other.
        store.end_shipping().unwrap();
        assert!(store.telemetry().unwrap().is_some());
        store.end_telemetry().unwrap();
        assert_eq!((store.telemetry().unwrap(), store.untold().unwrap()), (None, (0, 0)));
    }

    #[test]
    fn x3_a_cursor_that_another_set_while_a_batch_was_sent_stays_there() {
        let home = tempfile::tempdir().unwrap();
        let mut store = Store::open(home.path(), Duration::ZERO).unwrap();
        store.set_meta(CURSOR, "{\"seq\":2,\"of_another_build\":1}").unwrap();
        let before = store.telemetry().unwrap().unwrap();
        let after = TelemetryCursor { seq: 4, ..before.clone() };
        assert!(store.advance_telemetry(&before, &after).unwrap());
        let anew = store.begin_telemetry(Ms(9)).unwrap();
        assert!(!store.advance_telemetry(&after, &TelemetryCursor { seq: 5, ..after.clone() }).unwrap());
        assert_eq!(store.telemetry().unwrap().as_ref(), Some(&anew));
        store.end_telemetry().unwrap();
        assert!(!store.advance_telemetry(&anew, &after).unwrap());
        assert_eq!(store.telemetry().unwrap(), None);
    }

    #[test]
    fn x3_what_waited_for_one_collector_when_another_was_named_is_counted() {
        let home = tempfile::tempdir().unwrap();
        let mut store = Store::open(home.path(), Duration::ZERO).unwrap();
        let event = |n: i64| Write::Event(Box::new(Event::noted("PreToolUse", "a", format!("id-{n}"), Ms(n))));
        store.begin_telemetry(Ms(0)).unwrap();
        store.transact(Durability::Normal, |tx| tx.apply(&(1..=6).map(event).collect::<Vec<_>>())).unwrap();
        assert_eq!(store.untold().unwrap(), (6, 0));
        assert_eq!(store.begin_telemetry(Ms(9)).unwrap().seq, 6);
        assert_eq!(store.untold().unwrap(), (0, 6));
        store.begin_telemetry(Ms(10)).unwrap();
        assert_eq!(store.untold().unwrap(), (0, 6), "none waited");
    }
}
