//! A made-up history, so that benchmarks can measure against much of it.

use crate::{Durability, Error, Store};
use rusqlite::params;
use std::path::Path;
use std::time::Duration;

const BATCH: u64 = 20_000;

/// Sessions of 500 calls, with keys and ids as long as real ones and spread as
/// they are. Negative moments: they are older than anything measured.
const MAKE: &str = "WITH RECURSIVE n (i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?2),
    call (i, host) AS (SELECT i, printf('%08x-0000-4000-8000-%012x', (i / 500 * 2654435761) & 4294967295, i / 500) FROM n)
    INSERT INTO events (id, key, at, agent, session, host_session, event, tool, verdict, micros, detail)
    SELECT printf('00000000-0000-7000-8000-%012x', i), printf('%s:PreToolUse:toolu_%024x', host, i), i,
      printf('agent-%d', i / 500 % 50), printf('00000000-0000-7000-9000-%012x', i / 500), host, 'PreToolUse', 'Bash',
      'pass', 40, printf('{\"input\":{\"command\":\"cargo test -p crate-%d\",\"description\":\"Run the tests\"}}', i)
    FROM call";

/// Stores `count` events and leaves a short log.
pub fn events(folder: &Path, count: u64) -> Result<(), Error> {
    let mut store = Store::open_and_migrate(folder, Duration::from_secs(5))?;
    for from in (0..count).step_by(usize::try_from(BATCH).unwrap_or(usize::MAX)) {
        let to = count.min(from + BATCH);
        let range = params![from.cast_signed(), to.cast_signed()];
        store.transact(Durability::Normal, |tx| tx.verb(|conn| conn.prepare_cached(MAKE)?.execute(range)))?;
        store.settle()?;
    }
    Ok(())
}

/// Sessions of fifty agents in nine projects, one a quarter of an hour, all but the last ten of them over.
const SESSIONS: &str = "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1)
    INSERT INTO sessions (id, logical_id, agent, ended_at, state, started_at, last_seen_at, host_session, conversation,
      project, source, memo)
    SELECT printf('00000000-0000-7000-9000-%012x', i), printf('%08x-0000-4000-8000-%012x', (i * 2654435761) & 4294967295, i),
      printf('agent-%d', i % 50), CASE WHEN i + 10 < ?1 THEN i * 900000 + 800000 END,
      CASE WHEN i + 10 < ?1 THEN 'ended' ELSE 'idle' END, i * 900000, i * 900000 + 800000, printf('host-%d', i),
      printf('conversation-%d', i), printf('/home/ada/project-%d', i % 9), 'startup',
      '{\"dialect\":\"an-agent\",\"model\":\"a-large-model\",\"read_to\":123456}' FROM n";

/// One call in ninety-seven was denied, one in fifty thousand was of a tool that is hardly ever used.
const CALLS: &str = "WITH RECURSIVE n (i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?2)
    INSERT INTO events (id, key, at, agent, session, host_session, event, tool, verdict, micros, rules, detail)
    SELECT printf('00000000-0000-7000-8000-%012x', i), printf('host-%d/PreToolUse/toolu_%024x', i / ?3, i),
      i / ?3 * 900000 + i % ?3 * 100, printf('agent-%d', i / ?3 % 50), printf('00000000-0000-7000-9000-%012x', i / ?3),
      printf('host-%d', i / ?3), 'PreToolUse', CASE WHEN i % 50000 = 7 THEN 'WebFetch' ELSE 'Bash' END,
      CASE WHEN i % 97 = 3 THEN 'deny' ELSE 'pass' END, 40, CASE WHEN i % 97 = 3 THEN '[\"git-force-push\"]' END,
      printf('{\"input\":{\"command\":\"cargo test -p crate-%d %s\",\"description\":\"Run the tests\"}}', i, hex(zeroblob(200)))
    FROM n";

/// So many sessions of the past with so many events each.
pub fn sessions(folder: &Path, count: u64, events_each: u64) -> Result<(), Error> {
    let mut store = Store::open_and_migrate(folder, Duration::from_secs(5))?;
    store.transact(Durability::Normal, |tx| {
        tx.verb(|conn| {
            for nth in 0..9 {
                conn.execute(
                    "INSERT INTO projects (path, first_seen) VALUES (printf('/home/ada/project-%d', ?1), 0)",
                    [nth],
                )?;
            }
            conn.execute(SESSIONS, [count.cast_signed()])
        })
    })?;
    let all = count * events_each;
    for from in (0..all).step_by(usize::try_from(BATCH).unwrap_or(usize::MAX)) {
        let range = params![from.cast_signed(), all.min(from + BATCH).cast_signed(), events_each.cast_signed()];
        store.transact(Durability::Normal, |tx| tx.verb(|conn| conn.prepare_cached(CALLS)?.execute(range)))?;
        store.settle()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_past_has_as_many_sessions_and_events_as_asked() {
        let home = tempfile::tempdir().unwrap();
        sessions(home.path(), 30, 10).unwrap();
        let store = Store::open(home.path(), Duration::ZERO).unwrap();
        let page = store.session_page(&crate::SessionQuery::default()).unwrap();
        assert_eq!((page.total, page.open, store.check().unwrap().events), (30, 10, 300));
    }

    #[test]
    fn the_history_has_as_many_events_as_asked() {
        let home = tempfile::tempdir().unwrap();
        events(home.path(), 20_001).unwrap();
        let report = Store::open(home.path(), Duration::ZERO).unwrap().check().unwrap();
        assert_eq!((report.events, report.log_bytes < 600_000), (20_001, true));
    }
}
