//! What a damaged file knew of this machine and its server comes back with its rows: the machine is no other one for that,
//! and what it had not sent of its record is sent.

use crate::{Durability, Error, Store};
use rusqlite::{Connection, params};

/// Who this machine is to a server.
const IDENTITY: [&str; 4] = ["shared.machine", "shared.starts", "shared.instance", "shared.instances.earlier"];

const KEPT: &str = "SELECT name, value FROM meta WHERE name LIKE 'shared.%'";

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
        let kept = |source: &Connection| -> rusqlite::Result<Vec<(String, String)>> {
            source.prepare(KEPT)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        };
        // What is too damaged for that is drawn anew, as after a loss of everything.
        let kept = kept(source).unwrap_or_default();
        self.transact(Durability::Full, |tx| {
            tx.verb(|conn| {
                for (name, value) in &kept {
                    let cursor = name.starts_with("shared.shipped.").then(|| value.parse::<i64>().ok()).flatten();
                    if let Some(seq) = cursor {
                        conn.execute(PUT_CURSOR, params![name, (seq - shift).to_string()])?;
                    } else if IDENTITY.contains(&name.as_str()) {
                        conn.execute(PUT_IDENTITY, params![name, value])?;
                    }
                }
                Ok(())
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::effect::Write;
    use model::row::Event;
    use model::{Level, Ms};
    use std::time::Duration;

    fn event(n: i64) -> Write {
        let mut event = Event::noted("PreToolUse", "alpha", format!("id-{n}"), Ms(n));
        event.verdict = Level::Deny;
        Write::Event(Box::new(event))
    }

    #[test]
    fn x2_after_a_damaged_file_it_is_the_same_machine_and_what_was_unsent_is_sent() {
        let home = tempfile::tempdir().unwrap();
        let old = tempfile::tempdir().unwrap();
        let mut before = Store::open(old.path(), Duration::ZERO).unwrap();
        before.machine("the-first-id").unwrap();
        before.count_start().unwrap();
        before.transact(Durability::Normal, |tx| tx.apply(&(1..=5).map(event).collect::<Vec<_>>())).unwrap();
        before.set_shipped("srv", 3).unwrap();
        before.backup(&home.path().join("taut.db.corrupt-1")).unwrap();

        let mut store = Store::open(home.path(), Duration::ZERO).unwrap();
        store.machine("drawn-meanwhile").unwrap();
        store.transact(Durability::Normal, |tx| tx.apply(&[event(6)])).unwrap();
        store.salvage().unwrap();
        assert_eq!((store.known_machine().unwrap().as_deref(), store.starts().unwrap()), (Some("the-first-id"), 1));
        let cursor = store.shipped("srv").unwrap().unwrap();
        let unsent: Vec<String> =
            store.events_after(cursor, 10, usize::MAX).unwrap().into_iter().map(|one| one.event.id).collect();
        assert_eq!(unsent, ["id-4", "id-5", "id-6"]);
        assert_eq!(store.unshipped().unwrap(), (3, 0));
    }
}
