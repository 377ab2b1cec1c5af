//! The schema's versions: forward only, each one file in `migrations/`.

use crate::Error;
use crate::folder::{StoreFolder, private_file};
use rusqlite::Connection;
use std::io::ErrorKind;
use std::path::Path;

/// In order; the position plus one is the version. To add one, add its file
/// and its line here, and never change one that was released.
const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_first.sql"),
    include_str!("../migrations/0002_tasks.sql"),
    include_str!("../migrations/0003_efforts.sql"),
    include_str!("../migrations/0004_context.sql"),
    include_str!("../migrations/0005_runs.sql"),
    include_str!("../migrations/0006_messages.sql"),
    include_str!("../migrations/0007_attempt_tokens.sql"),
    include_str!("../migrations/0008_allowances.sql"),
    include_str!("../migrations/0009_memory.sql"),
    include_str!("../migrations/0010_agents.sql"),
    include_str!("../migrations/0011_loops.sql"),
    include_str!("../migrations/0012_answers.sql"),
    include_str!("../migrations/0013_past.sql"),
    include_str!("../migrations/0014_names.sql"),
    include_str!("../migrations/0015_shared.sql"),
];

/// The schema this build reads and writes.
pub const SCHEMA: i64 = MIGRATIONS.len() as i64;

pub(crate) fn version(conn: &Connection) -> rusqlite::Result<i64> {
    conn.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Brings a database at `from` to [`SCHEMA`]. Another opener may have done it
/// meanwhile: the version is read again under the write lock, and the copy is
/// made under it too, so that the copy is exactly what is migrated.
pub(crate) fn migrate(conn: &Connection, place: &StoreFolder) -> Result<(), Error> {
    migrate_through(conn, place, MIGRATIONS)
}

pub(crate) fn migrate_through(conn: &Connection, place: &StoreFolder, all: &[&str]) -> Result<(), Error> {
    let sql = |cause| Error::of(&place.database, cause);
    conn.execute_batch("BEGIN IMMEDIATE").map_err(sql)?;
    let outcome = steps(conn, place, all);
    match outcome {
        Ok(()) => conn.execute_batch("COMMIT").map_err(sql),
        Err(cause) => {
            // The cause matters more than a rollback that SQLite does anyway at close.
            let _ = conn.execute_batch("ROLLBACK");
            Err(cause)
        }
    }
}

fn steps(conn: &Connection, place: &StoreFolder, all: &[&str]) -> Result<(), Error> {
    let sql = |cause| Error::of(&place.database, cause);
    let found = version(conn).map_err(sql)?;
    let missing = usize::try_from(found).ok().and_then(|found| all.get(found..)).unwrap_or_default();
    if missing.is_empty() {
        return Ok(());
    }
    if found > 0 {
        copy_before(place, found + 1)?;
    }
    for step in missing {
        conn.execute_batch(step).map_err(sql)?;
    }
    conn.pragma_update(None, "user_version", all.len() as i64).map_err(sql)
}

/// `taut.db.before-v2`: what there was before version 2. A copy that is there
/// already came from an attempt that did not commit, so it is made again.
fn copy_before(place: &StoreFolder, version: i64) -> Result<(), Error> {
    let to = place.beside(&format!(".before-v{version}"));
    match std::fs::remove_file(&to) {
        Err(cause) if cause.kind() != ErrorKind::NotFound => {
            return Err(Error::file("replace the old copy", &to, cause));
        }
        _ => {}
    }
    let reader = Connection::open(&place.database).map_err(|cause| Error::of(&place.database, cause))?;
    copy(&reader, &to)
}

/// A consistent, compact and private copy in one file, flushed to the disk and
/// ready to be put back.
pub(crate) fn copy(conn: &Connection, to: &Path) -> Result<(), Error> {
    let file = private_file(to).map_err(|cause| Error::file("make the copy", to, cause))?;
    let copied = conn.execute("VACUUM INTO ?1", [to.to_string_lossy()]).and_then(|_| {
        // The copy comes out in the mode of old, in which readers block writers.
        let copy = Connection::open(to)?;
        copy.pragma_update(None, "journal_mode", "WAL")?;
        copy.close().map_err(|(_, cause)| cause)
    });
    if let Err(cause) = copied {
        // Half a copy is worse than none.
        let _ = std::fs::remove_file(to);
        return Err(Error::of(to, cause));
    }
    file.sync_all().map_err(|cause| Error::file("flush the copy", to, cause))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;
    use std::os::unix::fs::PermissionsExt;
    use std::time::Duration;

    const NEXT: &str = "CREATE TABLE made_up (id TEXT PRIMARY KEY); INSERT INTO meta VALUES ('made_up', 'yes')";

    fn with_one_project(folder: &Path) -> Store {
        let store = Store::open(folder, Duration::ZERO).unwrap();
        store.conn.execute("INSERT INTO projects (path, first_seen) VALUES ('/p', 1)", []).unwrap();
        store
    }

    #[test]
    fn a_migration_is_applied_once_and_keeps_a_private_copy_of_what_was_before() {
        let home = tempfile::tempdir().unwrap();
        let store = with_one_project(home.path());
        let all = [MIGRATIONS, &[NEXT]].concat();
        for _ in 0..2 {
            migrate_through(&store.conn, &store.place, &all).unwrap();
            assert_eq!(version(&store.conn).unwrap(), SCHEMA + 1);
        }
        let copy = home.path().join(format!("taut.db.before-v{}", SCHEMA + 1));
        assert_eq!(std::fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
        let before = Connection::open(&copy).unwrap();
        assert_eq!(version(&before).unwrap(), SCHEMA);
        let projects: i64 = before.query_row("SELECT count(*) FROM projects", [], |row| row.get(0)).unwrap();
        assert_eq!(projects, 1);
    }

    #[test]
    fn a_migration_that_fails_changes_nothing_and_can_be_tried_again() {
        let home = tempfile::tempdir().unwrap();
        let store = with_one_project(home.path());
        let broken = [MIGRATIONS, &[NEXT, "CREATE TABLE oops ("]].concat();
        assert!(migrate_through(&store.conn, &store.place, &broken).is_err());
        assert_eq!(version(&store.conn).unwrap(), SCHEMA);
        assert!(store.conn.prepare("SELECT * FROM made_up").is_err());
        migrate_through(&store.conn, &store.place, &[MIGRATIONS, &[NEXT]].concat()).unwrap();
        assert!(store.conn.prepare("SELECT * FROM made_up").is_ok());
    }

    #[test]
    fn f4_agents_that_are_here_when_names_come_are_named_after_their_projects() {
        let home = tempfile::tempdir().unwrap();
        let place = StoreFolder::new(home.path());
        let conn = Connection::open(&place.database).unwrap();
        let before = MIGRATIONS.get(..13).unwrap();
        migrate_through(&conn, &place, before).unwrap();
        for (id, named, session, since) in [
            ("acme-2345678", 0, "'s'", 5),
            ("acme-bcdefgh", 0, "'s'", 3),
            ("Acme-jkmnpqr", 0, "'s'", 9),
            ("gone-2345678", 0, "NULL", 1),
            ("worker-1", 1, "'s'", 1),
            ("shop", 1, "'s'", 1),
            ("shop-2345678", 0, "'s'", 1),
            ("__-2345678", 0, "'s'", 1),
        ] {
            let row = format!(
                "INSERT INTO agents (id, named, status, session, project, since)
                VALUES ('{id}', {named}, 'working', {session}, '/p', {since})"
            );
            conn.execute(&row, []).unwrap();
        }
        migrate_through(&conn, &place, MIGRATIONS).unwrap();
        let sql = "SELECT agent || ' ' || name || ' ' || key FROM agent_names ORDER BY agent";
        let rows: Vec<String> =
            conn.prepare(sql).unwrap().query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        assert_eq!(
            rows,
            [
                "Acme-jkmnpqr Acme·3 acme·3", "__-2345678 agent agent", "acme-2345678 acme·2 acme·2",
                "acme-bcdefgh acme acme"
            ]
        );
    }

    #[test]
    fn a_newer_schema_is_refused_in_words() {
        let home = tempfile::tempdir().unwrap();
        let store = with_one_project(home.path());
        migrate_through(&store.conn, &store.place, &[MIGRATIONS, &[NEXT]].concat()).unwrap();
        drop(store);
        let refused = [
            Store::open(home.path(), Duration::ZERO),
            Store::open_and_migrate(home.path(), Duration::ZERO),
            Store::open_existing_read_only(home.path()),
        ];
        for refused in refused {
            let cause = refused.unwrap_err();
            assert!(matches!(cause, Error::NewerSchema { found, known: SCHEMA, .. } if found == SCHEMA + 1));
            assert!(cause.to_string().contains("newer taut"), "{cause}");
        }
    }
}
