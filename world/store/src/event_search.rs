//! Events that somebody looks for. No index knows what they are about, and there may be millions: so many of the latest of
//! a span are looked through, denials by their index however long ago, and whoever asked is told how far that went.

use crate::events::{self, EventFilter, SEQ_OF};
use crate::session_look_back::{self, LookBack, MOST, STORED_LATE_MS};
use crate::{Error, Store};
use model::Ms;
use model::row::Event;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};

/// In the order they were stored, each with the number that people call it by.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FoundEvents {
    pub events: Vec<(i64, Event)>,
    /// What was left out where fewer were found than asked for.
    pub looked: Option<LookBack>,
}

/// So many denials before the span are looked through.
const DENIALS: i64 = 20_000;

const NUMBERED: &str = "WHERE seq = ?1";

const CALLED: &str = "NOT INDEXED WHERE seq >= ?1 AND seq < ?2 AND id >= ?3 AND id < ?4 ORDER BY seq LIMIT 20";

impl Store {
    /// The latest that are like that, or with `since_key` those that follow it.
    pub fn look_for_events(&self, filter: &EventFilter) -> Result<FoundEvents, Error> {
        self.read(|conn| look(conn, filter))
    }

    pub fn event_numbered(&self, number: i64) -> Result<Option<Event>, Error> {
        let sql = select(NUMBERED);
        self.read(|conn| conn.prepare_cached(&sql)?.query_row([number], events::read).optional())
    }

    /// Those whose id begins so. It begins with the moment it was made, and around that they are looked for; without all
    /// of that, nothing is found.
    pub fn events_called(&self, letters: &str) -> Result<Vec<(i64, Event)>, Error> {
        let digits: String = letters.chars().filter(|letter| *letter != '-').take(12).collect();
        let Some(at) = i64::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == 12) else {
            return Ok(Vec::new());
        };
        let letters = letters.to_ascii_lowercase();
        // No letter of an id comes after this one.
        let after = format!("{letters}g");
        self.read(|conn| {
            let from = session_look_back::row_at(conn, Ms(at).plus(-STORED_LATE_MS))?;
            let to = session_look_back::row_at(conn, Ms(at).plus(STORED_LATE_MS))?.min(from + MOST);
            let mut found = conn.prepare_cached(&select(CALLED))?;
            found.query_map(params![from, to, letters, after], numbered)?.collect()
        })
    }
}

fn look(conn: &Connection, filter: &EventFilter) -> rusqlite::Result<FoundEvents> {
    let after: Option<i64> = match &filter.since_key {
        Some(key) => conn.prepare_cached(SEQ_OF)?.query_row([key], |row| row.get(0)).optional()?,
        None => None,
    };
    let most = i64::try_from(filter.limit).ok().filter(|limit| *limit > 0).unwrap_or(i64::MAX);
    if let Some(after) = after {
        let (clauses, values) = clauses(filter);
        let sql = select(&format!("WHERE seq > ?{clauses} ORDER BY seq LIMIT ?"));
        return Ok(FoundEvents {
            events: run(conn, &sql, [vec![after.into()], values, vec![most.into()]])?,
            looked: None,
        });
    }
    let span = session_look_back::span(conn, filter.since, filter.until)?;
    let (clauses, values) = clauses(filter);
    // One session is found by its own index, with as many events as it has.
    let (place, bounds) = match &filter.session {
        Some(_) => ("WHERE seq >= ? AND seq < ?", [0_i64, i64::MAX]),
        None => ("NOT INDEXED WHERE seq >= ? AND seq < ?", [span.from, span.to]),
    };
    let sql = select(&format!("{place}{clauses} ORDER BY seq DESC LIMIT ?"));
    let bounds = bounds.map(Value::from).to_vec();
    let mut found = run(conn, &sql, [bounds, values.clone(), vec![most.into()]])?;
    let missing = most.saturating_sub(i64::try_from(found.len()).unwrap_or(i64::MAX));
    let is_left_out = filter.session.is_none() && span.looked.back_to.is_some() && missing > 0;
    if is_left_out {
        let (since, until) = (filter.since.map_or(i64::MIN, |at| at.0), filter.until.map_or(i64::MAX, |at| at.0));
        let sql = select(&format!("{BY_DENIAL}{clauses} ORDER BY seq DESC LIMIT ?"));
        let bounds = [since, until, DENIALS, span.from].map(Value::from).to_vec();
        found.extend(run(conn, &sql, [bounds, values, vec![missing.into()]])?);
    }
    found.reverse();
    Ok(FoundEvents { events: found, looked: is_left_out.then_some(span.looked) })
}

const BY_DENIAL: &str = "WHERE seq IN (SELECT seq FROM events INDEXED BY events_denied
    WHERE verdict = 'deny' AND at >= ? AND at < ? ORDER BY at DESC LIMIT ?) AND seq < ?";

fn clauses(filter: &EventFilter) -> (String, Vec<Value>) {
    let (mut sql, mut values) = (String::new(), Vec::new());
    events::narrow(filter, &mut sql, &mut values);
    (sql, values)
}

fn select(rest: &str) -> String {
    format!("SELECT {}, seq FROM events {rest}", events::COLUMNS)
}

fn run(conn: &Connection, sql: &str, values: [Vec<Value>; 3]) -> rusqlite::Result<Vec<(i64, Event)>> {
    conn.prepare(sql)?.query_map(params_from_iter(values.concat()), numbered)?.collect()
}

fn numbered(row: &Row<'_>) -> rusqlite::Result<(i64, Event)> {
    Ok((row.get(17)?, events::read(row)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Events far apart: more rows lie between them than are looked through.
    fn store() -> (tempfile::TempDir, Store) {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(home.path(), Duration::ZERO).unwrap();
        for (seq, id, verdict, at) in [
            (1, "00000098-9680-7aaa", "deny", 10_000_000),
            (2, "00000098-9681-7aaa", "pass", 10_000_001),
            (MOST + 9, "0000055d-4a80-7aaa", "pass", 90_000_000),
        ] {
            let event = "INSERT INTO events (seq, id, key, at, agent, event, tool, verdict, rules, micros)
                VALUES (?1, ?2, ?2, ?3, 'a', 'PreToolUse', 'Bash', ?4, '[\"sudo\"]', 1)";
            store.conn.execute(event, params![seq, id, at, verdict]).unwrap();
        }
        (home, store)
    }

    fn numbers(found: &FoundEvents) -> Vec<i64> {
        found.events.iter().map(|(number, _)| *number).collect()
    }

    #[test]
    fn f4_the_latest_are_looked_through_and_denials_however_long_ago() {
        let (_home, store) = store();
        let bash = EventFilter { tool: Some("Bash".into()), limit: 9, ..EventFilter::default() };
        let found = store.look_for_events(&bash).unwrap();
        assert_eq!(numbers(&found), [1, MOST + 9], "what passed long ago is not looked at");
        assert_eq!(found.looked.and_then(|looked| looked.back_to), Some(Ms(90_000_000)));
        let before = EventFilter { until: Some(Ms(20_000_000)), ..bash.clone() };
        assert_eq!(numbers(&store.look_for_events(&before).unwrap()), [1, 2], "unless it is asked for");
        assert_eq!(store.look_for_events(&before).unwrap().looked, None);
        let one = EventFilter { limit: 1, ..bash.clone() };
        assert_eq!(numbers(&store.look_for_events(&one).unwrap()), [MOST + 9]);
        assert_eq!(store.look_for_events(&one).unwrap().looked, None, "nothing is missing");
        for (rule, found) in [("sudo", 2), ("other", 0)] {
            let of_rule = EventFilter { rule: Some(rule.into()), only_denied: false, ..bash.clone() };
            assert_eq!(store.look_for_events(&of_rule).unwrap().events.len(), found, "{rule}");
        }
    }

    #[test]
    fn f4_an_event_is_found_by_its_number_and_by_how_its_id_begins() {
        let (_home, store) = store();
        assert_eq!(store.event_numbered(2).unwrap().unwrap().id, "00000098-9681-7aaa");
        assert!(store.event_numbered(3).unwrap().is_none());
        let called = |letters: &str| -> Vec<i64> {
            store.events_called(letters).unwrap().into_iter().map(|(number, _)| number).collect()
        };
        assert_eq!((called("00000098-9680"), called("00000098-9681-7AAA")), (vec![1], vec![2]));
        for nothing in ["00000098", "00000098-9682", "", "zz", "00000098-9680-8", "ä0000098-9680"] {
            assert!(called(nothing).is_empty(), "{nothing}");
        }
    }
}
