//! What a damaged file knew of this machine, its server and a collector comes back with its rows: the machine is no other
//! one for that, and what it had not sent of its record is sent.

use crate::{Durability, Error, Store, telemetry_cursor};
use rusqlite::{Connection, params};

/// Who this machine is to a server.
const IDENTITY: [&str; 4] = ["shared.machine", "shared.starts", "shared.instance", "shared.instances.earlier"];

const KEPT: &str = "SELECT name, value FROM meta WHERE name LIKE 'shared.%' OR name = 'telemetry.cursor'";

/// Who has claimed something meanwhile, under an id of its own, stays that one.
const PUT_IDENTITY: &str = "INSERT INTO meta (name, value) SELECT ?1, ?2
    WHERE NOT EXISTS (SELECT 1 FROM shared_holds WHERE state = 'held')
    ON CONFLICT (name) DO UPDATE SET value = excluded.value";

/// The numbers of its events were moved; what follows is what the server lacks, and what came since.
const PUT_CURSOR: &str = "INSERT INTO meta (name, value) VALUES (?1, ?2)
    ON CONFLICT (name) DO UPDATE SET value = min(CAST(value AS INTEGER), CAST(excluded.value AS INTEGER))";

impl Store {
    /// Before the rows are, whose claims would be taken for those of another time. `shift`: how far numbers are moved.
    pub(crate) fn salvage_machine(&mut self, source: &Connection, shift: i64) -> Result<(), Error> {
        self.transact(Durability::Full, |tx| {
            tx.verb(|conn| {
                let mut known = kept(source).into_iter().filter(|(name, _)| IDENTITY.contains(&name.as_str()));
                known.try_for_each(|(name, value)| conn.execute(PUT_IDENTITY, params![name, value]).map(drop))
            })
        })?;
        // Before the events are, too: what nobody is still to be sent is the first to be forgotten.
        self.salvage_cursors(source, shift)
    }

    /// How much of its record each server has, and a collector.
    pub(crate) fn salvage_cursors(&mut self, source: &Connection, shift: i64) -> Result<(), Error> {
        self.transact(Durability::Full, |tx| {
            tx.verb(|conn| {
                for (name, value) in kept(source) {
                    if name == telemetry_cursor::CURSOR {
                        telemetry_cursor::bring_back(conn, &value, shift)?;
                    }
                    let cursor = name.starts_with("shared.shipped.").then(|| value.parse::<i64>().ok()).flatten();
                    if let Some(seq) = cursor {
                        conn.execute(PUT_CURSOR, params![name, (seq - shift).to_string()])?;
                    }
                }
                Ok(())
            })
        })
    }
}

/// What is too damaged for that is drawn anew, as after a loss of everything.
fn kept(source: &Connection) -> Vec<(String, String)> {
    let read = |source: &Connection| -> rusqlite::Result<Vec<(String, String)>> {
        source.prepare(KEPT)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    };
    read(source).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TelemetryCursor;
    use model::effect::Write;
    use model::row::Event;
    use model::{Level, Ms};
    use std::time::Duration;

    fn event(n: i64) -> Write {
        let mut event = Event::noted("PreToolUse", "alpha", format!("id-{n}"), Ms(n));
        event.verdict = Level::Deny;
        Write::Event(Box::new(event))
    }

    /// What is left of an earlier file, three of five events sent, and a store that was begun after it was damaged.
    fn damaged() -> (tempfile::TempDir, Store) {
        let home = tempfile::tempdir().unwrap();
        let old = tempfile::tempdir().unwrap();
        let mut before = Store::open(old.path(), Duration::ZERO).unwrap();
        before.machine("the-first-id").unwrap();
        before.count_start().unwrap();
        before.transact(Durability::Normal, |tx| tx.apply(&(1..=5).map(event).collect::<Vec<_>>())).unwrap();
        before.set_shipped("srv", 3).unwrap();
        let begun = before.begin_telemetry(Ms(0)).unwrap();
        assert!(before.advance_telemetry(&begun, &told_to_the_third()).unwrap());
        before.backup(&home.path().join("taut.db.corrupt-1")).unwrap();
        let mut store = Store::open(home.path(), Duration::ZERO).unwrap();
        store.machine("drawn-meanwhile").unwrap();
        store.transact(Durability::Normal, |tx| tx.apply(&[event(6)])).unwrap();
        (home, store)
    }

    fn told_to_the_third() -> TelemetryCursor {
        TelemetryCursor {
            seq: 3,
            sent: 7,
            moment: 20_000,
            told: ["claim/2/1/19000", "end/2/1/20000", "run/r"].map(str::to_owned).to_vec(),
            waits: [("alpha".to_owned(), ("s".to_owned(), 3))].into(),
            ..TelemetryCursor::default()
        }
    }

    fn untold(store: &Store) -> Vec<String> {
        let cursor = store.telemetry().unwrap().unwrap();
        store.events_after(cursor.seq, 10, usize::MAX).unwrap().into_iter().map(|one| one.event.id).collect()
    }

    fn unsent(store: &Store) -> Vec<String> {
        let cursor = store.shipped("srv").unwrap().unwrap();
        store.events_after(cursor, 10, usize::MAX).unwrap().into_iter().map(|one| one.event.id).collect()
    }

    #[test]
    fn x2_after_a_damaged_file_it_is_the_same_machine_and_what_was_unsent_is_sent() {
        let (_home, mut store) = damaged();
        store.salvage().unwrap();
        assert_eq!((store.known_machine().unwrap().as_deref(), store.starts().unwrap()), (Some("the-first-id"), 1));
        assert_eq!(unsent(&store), ["id-4", "id-5", "id-6"]);
        assert_eq!(store.unshipped().unwrap(), (3, 0));
    }

    #[test]
    fn x2_what_is_sent_while_a_damaged_file_is_read_leaves_out_nothing_that_comes_back_from_it() {
        let (_home, mut store) = damaged();
        // Another process sends the newest as soon as there is a place to go on from.
        const SENDS: &str = "CREATE TEMP TRIGGER sends AFTER INSERT ON events BEGIN
            UPDATE meta SET value = (SELECT max(seq) FROM events) WHERE name = 'shared.shipped.srv'; END";
        store.conn.execute(SENDS, []).unwrap();
        store.salvage().unwrap();
        assert_eq!(unsent(&store), ["id-4", "id-5", "id-6"], "a server takes what it has only once");
    }

    #[test]
    fn x3_after_a_damaged_file_a_collector_is_told_what_it_was_not_and_nothing_twice() {
        let (_home, mut store) = damaged();
        let begun = store.begin_telemetry(Ms(90_000)).unwrap();
        let since = TelemetryCursor { sent: 1, told: vec!["lost/1/90000".into()], ..begun.clone() };
        assert!(store.advance_telemetry(&begun, &since).unwrap());
        store.salvage().unwrap();
        assert_eq!(untold(&store), ["id-4", "id-5", "id-6"]);
        assert_eq!(store.untold().unwrap(), (3, 0));
        let after = store.telemetry().unwrap().unwrap();
        assert_eq!((after.sent, after.moment), (7, 20_000));
        assert_eq!(after.waits["alpha"], ("s".to_owned(), 3), "who waited then may go on now");
        // The rows of tasks have other numbers now, and what was told of them goes by those.
        let moved = 2 - 1_000_000_000_000_i64;
        let claim = format!("claim/{moved}/1/19000");
        let end = format!("end/{moved}/1/20000");
        assert_eq!(after.told, [claim.as_str(), end.as_str(), "run/r", "lost/1/90000"]);
    }

    #[test]
    fn x3_where_nothing_was_told_since_a_damaged_file_its_cursor_comes_back() {
        let (_home, mut store) = damaged();
        // Another process tells the newest as soon as there is a place to go on from.
        const TELLS: &str = "CREATE TEMP TRIGGER tells AFTER INSERT ON events BEGIN
            UPDATE meta SET value = json_set(value, '$.seq', (SELECT max(seq) FROM events)) WHERE name = 'telemetry.cursor'; END";
        store.conn.execute(TELLS, []).unwrap();
        store.salvage().unwrap();
        assert_eq!(untold(&store), ["id-4", "id-5", "id-6"]);
    }
}
