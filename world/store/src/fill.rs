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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_history_has_as_many_events_as_asked() {
        let home = tempfile::tempdir().unwrap();
        events(home.path(), 20_001).unwrap();
        let report = Store::open(home.path(), Duration::ZERO).unwrap().check().unwrap();
        assert_eq!((report.events, report.log_bytes < 600_000), (20_001, true));
    }
}
