//! Sessions by what happened in them. Events are found by their session and by nothing else, and there may be millions:
//! so many of the latest of a span are looked through, and whoever asked is told how far that went.

use crate::session_list::SessionQuery;
use model::Ms;
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::BTreeSet;

/// How many events were looked through, and back to when. What happened before that was not looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LookBack {
    pub events: u64,
    /// `None` where nothing was left out.
    pub back_to: Option<Ms>,
}

/// So many events are looked through for one question.
pub(crate) const MOST: i64 = 200_000;

/// Events that were put by are stored later than they happened.
pub(crate) const STORED_LATE_MS: i64 = 3_600_000;

pub(crate) const BY_TOOL: &str = "SELECT DISTINCT session FROM events NOT INDEXED
    WHERE seq >= ?1 AND seq < ?2 AND tool = ?3 AND at >= ?4 AND at < ?5 AND session IS NOT NULL";

/// Denials have an index of their own, however long ago they were.
pub(crate) const BY_DENIAL: &str = "SELECT DISTINCT session FROM
    (SELECT session, rules, detail FROM events INDEXED BY events_denied
     WHERE verdict = 'deny' AND at >= ?1 AND at < ?2 ORDER BY at DESC LIMIT ?3) AS denied
    WHERE session IS NOT NULL AND EXISTS (SELECT 1 FROM json_each(denied.rules) WHERE value = ?4)
      AND ?4 NOT IN (SELECT value FROM json_each(denied.detail, '$.stop.let_pass'))";

pub(crate) const BY_RULE: &str = "SELECT DISTINCT session FROM events NOT INDEXED
    WHERE seq >= ?1 AND seq < ?2 AND verdict IN ('ask', 'warn') AND at >= ?4 AND at < ?5 AND session IS NOT NULL
      AND EXISTS (SELECT 1 FROM json_each(events.rules) WHERE value = ?3)";

pub(crate) const FROM: &str = "SELECT at FROM events WHERE seq >= ?1 ORDER BY seq LIMIT 1";

const ENDS: &str = "SELECT ifnull((SELECT seq FROM events ORDER BY seq LIMIT 1), 0),
    ifnull((SELECT seq FROM events ORDER BY seq DESC LIMIT 1), -1) + 1";

/// The ids that are left, as a JSON array, and how far was looked; `None` where nothing narrows them.
pub(crate) fn sessions(
    conn: &Connection,
    query: &SessionQuery,
) -> rusqlite::Result<(Option<String>, Option<LookBack>)> {
    let mut chosen: Option<BTreeSet<String>> = query.ids.as_ref().map(|ids| ids.iter().cloned().collect());
    let mut narrow = |found: BTreeSet<String>| {
        chosen = Some(match chosen.take() {
            Some(before) => before.intersection(&found).cloned().collect(),
            None => found,
        });
    };
    let mut looked = None;
    if query.tool.is_some() || query.rule.is_some() {
        let EventSpan { from, to, looked: span } = span(conn, query.since, query.until)?;
        let (since, until) = (query.since.map_or(i64::MIN, |at| at.0), query.until.map_or(i64::MAX, |at| at.0));
        let ids = |sql: &str, values: &[&dyn rusqlite::ToSql]| -> rusqlite::Result<BTreeSet<String>> {
            conn.prepare_cached(sql)?.query_map(values, |row| row.get(0))?.collect()
        };
        if let Some(tool) = &query.tool {
            narrow(ids(BY_TOOL, params![from, to, tool, since, until])?);
        }
        if let Some(rule) = &query.rule {
            let mut found = ids(BY_DENIAL, params![since, until, MOST, rule])?;
            found.extend(ids(BY_RULE, params![from, to, rule, since, until])?);
            narrow(found);
        }
        looked = Some(span);
    }
    Ok((chosen.map(|ids| serde_json::Value::from_iter(ids).to_string()), looked))
}

/// Rows of events, the last of them not among them.
pub(crate) struct EventSpan {
    pub from: i64,
    pub to: i64,
    pub looked: LookBack,
}

/// The rows that a span of time lies in, and of those the latest: rows rise with time, so halving finds them without an
/// index on it.
pub(crate) fn span(conn: &Connection, since: Option<Ms>, until: Option<Ms>) -> rusqlite::Result<EventSpan> {
    let (first, end) = ends(conn)?;
    let since = since.map(|at| row_at(conn, at.plus(-STORED_LATE_MS))).transpose()?.unwrap_or(first);
    let to = until.map(|at| row_at(conn, at.plus(STORED_LATE_MS))).transpose()?.unwrap_or(end);
    let from = since.max(from_row(conn, to)?);
    let oldest: Option<i64> = conn.prepare_cached(FROM)?.query_row([from], |row| row.get(0)).optional()?;
    let back_to = oldest.filter(|_| from > since).map(Ms);
    Ok(EventSpan {
        from,
        to,
        looked: LookBack { events: u64::try_from((to - from).min(MOST)).unwrap_or_default(), back_to },
    })
}

/// The first of so many rows before this one. What was brought back from a damaged file has numbers far below all others,
/// and comes right before them.
fn from_row(conn: &Connection, to: i64) -> rusqlite::Result<i64> {
    const BEFORE: &str = "SELECT seq FROM events WHERE seq < ?1 ORDER BY seq DESC LIMIT 1";
    let from = to - MOST;
    if from > 0 || to <= 0 {
        return Ok(from);
    }
    let last: Option<i64> = conn.prepare_cached(BEFORE)?.query_row([from], |row| row.get(0)).optional()?;
    Ok(last.map_or(from, |last| last + from))
}

/// The first row, and the one after the last.
pub(crate) fn ends(conn: &Connection) -> rusqlite::Result<(i64, i64)> {
    conn.prepare_cached(ENDS)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// The first row that happened at this moment or later.
pub(crate) fn row_at(conn: &Connection, moment: Ms) -> rusqlite::Result<i64> {
    const NEXT: &str = "SELECT seq, at FROM events WHERE seq >= ?1 ORDER BY seq LIMIT 1";
    let (mut low, mut high) = ends(conn)?;
    let mut next = conn.prepare_cached(NEXT)?;
    while low < high {
        let middle = low + (high - low) / 2;
        let found: Option<(i64, i64)> = next.query_row([middle], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        match found {
            Some((seq, at)) if at < moment.0 => low = seq + 1,
            _ => high = middle,
        }
    }
    Ok(low)
}

#[cfg(test)]
mod tests {
    use crate::{SessionQuery, Store};
    use model::Ms;
    use std::time::Duration;

    /// Two sessions, and between their only events more rows than are looked through.
    fn far_apart() -> (tempfile::TempDir, Store) {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(home.path(), Duration::ZERO).unwrap();
        for (seq, id, at) in [(1, "old", 10_000_000), (super::MOST + 9, "new", 90_000_000)] {
            let session =
                "INSERT INTO sessions (id, logical_id, agent, state, started_at, last_seen_at, conversation, source)
                VALUES (?1, ?1, 'a', 'idle', ?2, ?2, 'c', 'startup')";
            store.conn.execute(session, rusqlite::params![id, at]).unwrap();
            let event = "INSERT INTO events (seq, id, key, at, agent, session, event, tool, verdict, micros)
                VALUES (?1, ?2, ?2, ?3, 'a', ?2, 'PreToolUse', 'Bash', 'pass', 1)";
            store.conn.execute(event, rusqlite::params![seq, id, at]).unwrap();
        }
        (home, store)
    }

    #[test]
    fn f4_no_more_than_so_many_events_are_looked_through_and_it_is_said_back_to_when() {
        let (_home, store) = far_apart();
        let query = SessionQuery { tool: Some("Bash".into()), ..SessionQuery::default() };
        let ids = |query: &SessionQuery| -> (Vec<String>, Option<Ms>) {
            let page = store.session_page(query).unwrap();
            (page.sessions.into_iter().map(|one| one.session.id).collect(), page.looked.unwrap().back_to)
        };
        assert_eq!(ids(&query), (vec!["new".to_owned()], Some(Ms(90_000_000))));
        let earlier = SessionQuery { until: Some(Ms(20_000_000)), ..query };
        assert_eq!(ids(&earlier), (vec!["old".to_owned()], None), "a span of time is looked at where it lies");
    }
}
