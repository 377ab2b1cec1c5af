//! How far the record was sent. The table of events is its own outbox: its numbers rise in the order of commits, so one
//! number says what a server has.

use crate::{Durability, Error, Store, events, telemetry_cursor};
use model::row::Event;
use rusqlite::{Connection, OptionalExtension, params};

/// An event that may leave, with where it happened.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredEvent {
    pub seq: i64,
    /// The project of its session, where that is still known.
    pub project: Option<String>,
    pub event: Event,
}

/// Name of the cursors in `meta`, before the server's own id.
const CURSOR: &str = "shared.shipped.";

/// How many were forgotten before they could be sent to a server.
pub(crate) const SKIPPED: &str = "shared.skipped";

impl Store {
    /// Those behind a number, in their order: at most so many, and not many more bytes. One is always given.
    pub fn events_after(&self, seq: i64, most: usize, bytes: usize) -> Result<Vec<StoredEvent>, Error> {
        let columns = events::COLUMNS;
        let sql = format!(
            "SELECT {columns}, seq, (SELECT project FROM sessions WHERE sessions.id = events.session) FROM events
             WHERE seq > ?1 ORDER BY seq LIMIT ?2"
        );
        self.read(|conn| {
            let mut found = Vec::new();
            let mut used = 0;
            let most = i64::try_from(most).unwrap_or(i64::MAX);
            let mut statement = conn.prepare_cached(&sql)?;
            let mut rows = statement.query(params![seq, most])?;
            while let Some(row) = rows.next()? {
                let texts =
                    [15, 16].map(|at| row.get_ref(at).ok().and_then(|text| text.as_bytes().ok().map(<[u8]>::len)));
                used += 300 + texts.iter().flatten().sum::<usize>();
                if used > bytes && !found.is_empty() {
                    break;
                }
                found.push(StoredEvent { event: events::read(row)?, seq: row.get(17)?, project: row.get(18)? });
            }
            Ok(found)
        })
    }

    /// What a server has of the record; `None` where nothing was ever to be sent to it.
    pub fn shipped(&self, server: &str) -> Result<Option<i64>, Error> {
        let found = self.meta(&format!("{CURSOR}{server}"))?;
        Ok(found.and_then(|text| text.parse().ok()))
    }

    /// The server has all up to this one.
    pub fn set_shipped(&mut self, server: &str, seq: i64) -> Result<(), Error> {
        self.set_meta(&format!("{CURSOR}{server}"), &seq.to_string())
    }

    /// The server has those behind `from` up to `to`. Whether that was written: who set the cursor meanwhile, as what comes
    /// back from a damaged file does, knows of others that the server lacks.
    pub fn advance_shipped(&mut self, server: &str, from: i64, to: i64) -> Result<bool, Error> {
        const ADVANCE: &str = "UPDATE meta SET value = ?3 WHERE name = ?1 AND CAST(value AS INTEGER) = ?2";
        let values = params![format!("{CURSOR}{server}"), from, to.to_string()];
        self.transact(Durability::Full, |tx| tx.verb(|conn| conn.execute(ADVANCE, values).map(|rows| rows == 1)))
    }

    /// From now on the record is sent to this server and to no other. What happened before was agreed to by nobody.
    pub fn begin_shipping(&mut self, server: &str) -> Result<i64, Error> {
        let last = self.last_event()?;
        self.end_shipping()?;
        self.set_shipped(server, last)?;
        Ok(last)
    }

    /// Nothing is to be sent any more, so nothing is kept for it.
    pub fn end_shipping(&mut self) -> Result<(), Error> {
        const GONE: &str = "DELETE FROM meta WHERE substr(name, 1, length(?1)) = ?1";
        self.transact(Durability::Normal, |tx| tx.verb(|conn| conn.execute(GONE, [CURSOR]).map(drop)))
    }

    /// How many wait to be sent, and how many were forgotten before they were.
    pub fn unshipped(&self) -> Result<(u64, u64), Error> {
        self.read(|conn| {
            let waiting = match shipped(conn)? {
                Some(seq) => {
                    conn.query_row("SELECT count(*) FROM events WHERE seq > ?1", [seq], |row| row.get::<_, i64>(0))?
                }
                None => 0,
            };
            Ok((waiting.cast_unsigned(), skipped(conn, SKIPPED)?.cast_unsigned()))
        })
    }

    /// How many are kept.
    pub fn stored_events(&self) -> Result<u64, Error> {
        let count: i64 = self.read(|conn| conn.query_row("SELECT count(*) FROM events", [], |row| row.get(0)))?;
        Ok(count.cast_unsigned())
    }

    fn last_event(&self) -> Result<i64, Error> {
        self.read(|conn| conn.query_row("SELECT ifnull(max(seq), 0) FROM events", [], |row| row.get(0)))
    }
}

/// Of all who are sent the record the one that is furthest behind.
pub(crate) fn cursor(conn: &Connection) -> rusqlite::Result<Option<i64>> {
    Ok([shipped(conn)?, telemetry_cursor::told(conn)?].into_iter().flatten().min())
}

/// Of all servers the one that is furthest behind.
fn shipped(conn: &Connection) -> rusqlite::Result<Option<i64>> {
    const LEAST: &str =
        "SELECT min(CAST(value AS INTEGER)) FROM meta WHERE name >= 'shared.shipped.' AND name < 'shared.shipped/'";
    conn.prepare_cached(LEAST)?.query_row([], |row| row.get(0))
}

/// Those were forgotten: whoever was still to be sent some of them is counted its own.
pub(crate) fn count_skipped(conn: &Connection, gone: &[i64]) -> rusqlite::Result<()> {
    for (name, cursor) in [(SKIPPED, shipped(conn)?), (telemetry_cursor::SKIPPED, telemetry_cursor::told(conn)?)] {
        let behind = |cursor| gone.iter().filter(|seq| **seq > cursor).count();
        add_skipped(conn, name, i64::try_from(cursor.map_or(0, behind)).unwrap_or(i64::MAX))?;
    }
    Ok(())
}

pub(crate) fn add_skipped(conn: &Connection, name: &str, more: i64) -> rusqlite::Result<()> {
    const PUT: &str = "INSERT OR REPLACE INTO meta (name, value) VALUES (?1, ?2)";
    if more == 0 {
        return Ok(());
    }
    let all = skipped(conn, name)?.saturating_add(more);
    conn.execute(PUT, params![name, all.to_string()]).map(drop)
}

pub(crate) fn skipped(conn: &Connection, name: &str) -> rusqlite::Result<i64> {
    const FIND: &str = "SELECT CAST(value AS INTEGER) FROM meta WHERE name = ?1";
    Ok(conn.query_row(FIND, [name], |row| row.get(0)).optional()?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clocks, Retention};
    use model::effect::Write;
    use model::{Level, Ms};
    use std::time::Duration;

    const DAY: i64 = 86_400_000;

    fn event(n: i64, verdict: Level) -> Write {
        let mut event = Event::noted("PreToolUse", "alpha", format!("id-{n}"), Ms(n));
        event.verdict = verdict;
        event.detail = serde_json::json!({"text": "x".repeat(1_000)});
        Write::Event(Box::new(event))
    }

    fn store(events: &[Write]) -> (tempfile::TempDir, Store) {
        let home = tempfile::tempdir().unwrap();
        let mut store = Store::open(home.path(), Duration::ZERO).unwrap();
        store.transact(Durability::Normal, |tx| tx.apply(events)).unwrap();
        (home, store)
    }

    /// A machine that is never off.
    fn on_day(day: i64) -> Clocks {
        Clocks { now: Ms(day * DAY), since_boot_ms: day * DAY, boot: "one".into() }
    }

    fn ids(store: &Store) -> Vec<String> {
        store.events_after(0, 100, usize::MAX).unwrap().into_iter().map(|one| one.event.id).collect()
    }

    #[test]
    fn x3_a_batch_follows_the_cursor_and_is_bounded_by_number_and_bytes() {
        let events: Vec<Write> = (1..=6).map(|n| event(n, Level::Pass)).collect();
        let (_home, mut store) = store(&events);
        assert_eq!(store.shipped("srv").unwrap(), None);
        assert_eq!(store.begin_shipping("srv").unwrap(), 6, "what was before is not sent");
        store.set_shipped("srv", 2).unwrap();
        let seqs = |most, bytes| -> Vec<i64> {
            store.events_after(2, most, bytes).unwrap().iter().map(|one| one.seq).collect()
        };
        assert_eq!(seqs(3, usize::MAX), [3, 4, 5]);
        assert_eq!(seqs(100, 3_000), [3, 4], "each is more than 1,300 bytes");
        assert_eq!(seqs(100, 1), [3], "one at least");
        assert_eq!(store.unshipped().unwrap(), (4, 0));
    }

    #[test]
    fn x2_a_cursor_that_another_set_back_while_a_batch_was_sent_stays_there() {
        let (_home, mut store) = store(&(1..=4).map(|n| event(n, Level::Pass)).collect::<Vec<_>>());
        store.set_shipped("srv", 2).unwrap();
        assert!(store.advance_shipped("srv", 2, 3).unwrap());
        store.set_shipped("srv", 1).unwrap();
        assert!(!store.advance_shipped("srv", 3, 4).unwrap());
        assert_eq!(store.shipped("srv").unwrap(), Some(1));
    }

    #[test]
    fn x3_what_is_unsent_is_left_while_there_is_room_and_what_was_stopped_goes_last_and_is_counted() {
        let verdict = |n: i64| if n == 4 { Level::Deny } else { Level::Pass };
        let events: Vec<Write> = (1..=8).map(|n| event(n, verdict(n))).collect();
        let (_home, mut store) = store(&events);
        store.set_shipped("srv", 2).unwrap();
        let roomy = Retention { bytes: 1, rows: 3, unsent_ms: DAY, ..Retention::default() };
        let clocks = Clocks::at(Ms(DAY / 2));
        assert_eq!(store.prune_by(&clocks, &roomy).unwrap().events, 2, "those that were sent");
        assert_eq!(store.prune_by(&clocks, &roomy).unwrap().events, 0);
        assert_eq!(store.unshipped().unwrap(), (6, 0));
        let tight = Retention { unsent_bytes: 1, ..roomy };
        assert_eq!(store.prune_by(&clocks, &tight).unwrap().events, 3);
        assert_eq!(ids(&store), ["id-4", "id-7", "id-8"]);
        assert_eq!(store.prune_by(&clocks, &tight).unwrap().events, 2);
        assert_eq!(ids(&store), ["id-4"]);
        assert_eq!(store.unshipped().unwrap(), (1, 5));
        assert_eq!(store.prune_by(&clocks, &tight).unwrap().events, 0, "what was stopped stays");
        let flooded = Retention { unsent_denied: 0, ..tight.clone() };
        assert_eq!(store.prune_by(&clocks, &flooded).unwrap().events, 1, "but for one who fills the disk with it");
        assert_eq!(store.unshipped().unwrap(), (0, 6), "which is counted");
        store.transact(Durability::Normal, |tx| tx.apply(&[event(9, Level::Deny)])).unwrap();
        store.end_shipping().unwrap();
        assert_eq!(store.prune_by(&clocks, &tight).unwrap().events, 1);
        assert_eq!(store.unshipped().unwrap(), (0, 6), "nobody was to be sent it");
    }

    #[test]
    fn x2_an_old_event_that_was_stopped_makes_the_young_ones_behind_it_no_older() {
        let young = |id: i64| event(2 * DAY + id, Level::Pass);
        let (_home, mut store) = store(&[event(1, Level::Deny), young(2), young(3)]);
        store.set_shipped("srv", 0).unwrap();
        let roomy = Retention { bytes: 1, unsent_ms: DAY, ..Retention::default() };
        assert_eq!(store.prune_by(&on_day(2), &roomy).unwrap().events, 0, "there is room for what is unsent");
        assert_eq!(store.unshipped().unwrap(), (3, 0));
        assert_eq!(store.prune_by(&on_day(4), &roomy).unwrap().events, 2, "now they are old");
        assert_eq!(ids(&store), ["id-1"]);
    }

    #[test]
    fn x2_what_was_stopped_and_is_unsent_is_never_too_old() {
        let verdict = |n: i64| if n % 3 == 0 { Level::Deny } else { Level::Pass };
        let events: Vec<Write> = (1..=12).map(|n| event(n, verdict(n))).collect();
        let (_home, mut store) = store(&events);
        store.set_shipped("srv", 4).unwrap();
        let keep = Retention { rows: 2, events_ms: DAY, unsent_ms: DAY, percent_a_day: 100, ..Retention::default() };
        let mut pruned = 0;
        for day in 0..20 {
            pruned += store.prune_by(&on_day(day), &keep).unwrap().events;
        }
        assert_eq!((pruned, ids(&store)), (9, ["id-6", "id-9", "id-12"].map(String::from).to_vec()));
        assert_eq!(store.unshipped().unwrap(), (3, 5));
        store.set_shipped("srv", 12).unwrap();
        pruned = (20..25).map(|day| store.prune_by(&on_day(day), &keep).unwrap().events).sum();
        assert_eq!((pruned, store.unshipped().unwrap()), (3, (0, 5)), "once it was sent it goes as others do");
    }

    #[test]
    fn x3_the_number_of_an_event_that_is_forgotten_is_given_to_no_other() {
        let (_home, mut store) = store(&(1..=7).map(|n| event(n, Level::Pass)).collect::<Vec<_>>());
        assert_eq!(store.begin_shipping("srv").unwrap(), 7);
        let keep = Retention { events_ms: 0, unsent_ms: 0, ..Retention::default() };
        store.prune_by(&on_day(0), &keep).unwrap();
        assert_eq!(store.prune_by(&on_day(1), &keep).unwrap().events, 7);
        store.transact(Durability::Normal, |tx| tx.apply(&[event(8, Level::Deny)])).unwrap();
        let next: Vec<i64> = store.events_after(7, 10, usize::MAX).unwrap().iter().map(|one| one.seq).collect();
        assert_eq!((next, store.unshipped().unwrap()), (vec![8], (1, 0)));
    }
}
