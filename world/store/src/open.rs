//! Opening: cheap where the file is there and current, careful where it is not.

use crate::folder::{Identity, StoreFolder};
use crate::migrate::{self, SCHEMA};
use crate::{Error, Store, lock, reserve};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

/// Before it, two connections that write and reset the WAL at the same instant
/// can lose a commit.
pub const OLDEST_SQLITE: &str = "3.51.3";
const OLDEST_SQLITE_NUMBER: i32 = 3_051_003;

/// A file above it is not copied and migrated on the way of a hook.
const SMALL: u64 = 32 * 1024 * 1024;

/// Whether opening may take its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Migration {
    IfSmall,
    Whatever,
}

/// One opening: where, how long it may wait, and what it may do.
#[derive(Debug)]
struct Opening {
    place: StoreFolder,
    patience: Duration,
    migration: Migration,
}

impl Store {
    /// Opens the memory in `folder`, which is made where it is missing. On the
    /// way of a hook: a large file of an older schema is left to
    /// [`Store::open_and_migrate`].
    pub fn open(folder: &Path, patience: Duration) -> Result<Self, Error> {
        Opening { place: StoreFolder::new(folder), patience, migration: Migration::IfSmall }.open()
    }

    /// The same for those who may take their time: the daemon and commands.
    pub fn open_and_migrate(folder: &Path, patience: Duration) -> Result<Self, Error> {
        let opened = Opening { place: StoreFolder::new(folder), patience, migration: Migration::Whatever }.open()?;
        reserve::make(folder);
        Ok(opened)
    }

    /// Reads what is there and changes nothing, in a read-only folder too.
    pub fn open_existing_read_only(folder: &Path) -> Result<Self, Error> {
        let place = StoreFolder::new(folder);
        let patience = Duration::from_secs(1);
        let (conn, found) = match connect_to_read(&place.database, patience) {
            // Reading takes an index beside the log. Where there is no log,
            // nothing is missed by telling SQLite that nobody writes.
            Err(cause) if cannot_index(&cause) && !place.has_log() => connect_to_still(&place.database),
            other => other,
        }
        .map_err(|cause| Error::of(&place.database, cause))?;
        let opened = known(&place, found)?;
        Ok(Self::new(conn, place, opened, patience))
    }
}

impl Opening {
    fn open(self) -> Result<Store, Error> {
        if rusqlite::version_number() < OLDEST_SQLITE_NUMBER {
            return Err(Error::OldSqlite { found: rusqlite::version().to_owned(), oldest: OLDEST_SQLITE });
        }
        let before = match self.place.private_identity() {
            Some(found) => Some(found),
            None => {
                self.place.make()?;
                self.place.identity()
            }
        };
        let conn = connect(&self.place.database, self.patience).map_err(|cause| self.error(cause))?;
        let found = migrate::version(&conn).map_err(|cause| self.error(cause))?;
        // From the first read on, SQLite's shared lock keeps the file from being
        // moved aside; before it, the path may have changed hands.
        let Some(opened) = before.filter(|_| self.place.identity() == before) else {
            return Err(Error::Moved { path: self.place.database });
        };
        if found != SCHEMA {
            self.bring_up(&conn, found)?;
        }
        Ok(Store::new(conn, self.place, opened, self.patience))
    }

    /// Makes the schema or migrates it. Those who change the file as a whole
    /// stand in line: turning WAL on fails at once where two do it together.
    fn bring_up(&self, conn: &Connection, found: i64) -> Result<(), Error> {
        let path = || self.place.database.clone();
        if found > SCHEMA {
            return Err(Error::NewerSchema { path: path(), found, known: SCHEMA });
        }
        let size = std::fs::metadata(&self.place.database).map_or(0, |file| file.len());
        if found > 0 && self.migration == Migration::IfSmall && size > SMALL {
            return Err(Error::OlderSchema { path: path(), found, known: SCHEMA });
        }
        let _held = lock::hold(&self.place, self.patience)?;
        turn_wal_on(conn).map_err(|cause| self.error(cause))?;
        migrate::migrate(conn, &self.place)?;
        // The first opener takes the space for bad times while it takes its time anyway.
        reserve::make(&self.place.folder);
        Ok(())
    }

    fn error(&self, cause: rusqlite::Error) -> Error {
        Error::of(&self.place.database, cause)
    }
}

/// What every connection that writes is told. Automatic checkpoints are off,
/// at commit and at close: they cost more than the hook itself.
fn connect(path: &Path, patience: Duration) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    conn.busy_timeout(patience)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    conn.set_prepared_statement_cache_capacity(64);
    conn.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0")?;
    Ok(conn)
}

/// SQLite tells the new mode before it has written it, and what then goes wrong only to who asks on: the pragma is
/// run to its end, and what holds is asked for by itself.
fn turn_wal_on(conn: &Connection) -> rusqlite::Result<()> {
    let mode = |pragma: &str| -> rusqlite::Result<Vec<String>> {
        conn.prepare(pragma)?.query_map([], |row| row.get(0))?.collect()
    };
    mode("PRAGMA journal_mode = WAL")?;
    if mode("PRAGMA journal_mode")? == ["wal"] {
        return Ok(());
    }
    let failed = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_IOERR);
    Err(rusqlite::Error::SqliteFailure(failed, Some("the journal mode could not be set".into())))
}

fn connect_to_read(path: &Path, patience: Duration) -> rusqlite::Result<(Connection, i64)> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    conn.busy_timeout(patience)?;
    let found = migrate::version(&conn)?;
    Ok((conn, found))
}

fn connect_to_still(path: &Path) -> rusqlite::Result<(Connection, i64)> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let escaped: String = path.as_os_str().as_bytes().iter().map(|byte| format!("%{byte:02x}")).collect();
    let conn = Connection::open_with_flags(format!("file:{escaped}?immutable=1"), flags)?;
    let found = migrate::version(&conn)?;
    Ok((conn, found))
}

fn cannot_index(cause: &rusqlite::Error) -> bool {
    matches!(cause.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
}

fn known(place: &StoreFolder, found: i64) -> Result<Identity, Error> {
    if found != SCHEMA {
        let path = place.database.clone();
        return Err(if found > SCHEMA {
            Error::NewerSchema { path, found, known: SCHEMA }
        } else {
            Error::OlderSchema { path, found, known: SCHEMA }
        });
    }
    place.identity().ok_or_else(|| Error::Moved { path: place.database.clone() })
}
