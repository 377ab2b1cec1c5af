//! Opening the index: made where it is missing, thrown away where it is of an
//! older build or damaged.

use super::RecallIndex;
use crate::folder::private_file;
use crate::{Error, lock};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::fs::{DirBuilder, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The index's file name in the folder of the database.
pub const RECALL: &str = "recall.db";

/// Held by whoever makes the file, or throws it away.
const LOCK: &str = "recall.lock";

const VERSION: i64 = 1;
const SCHEMA: &str = include_str!("schema.sql");

/// Somebody else catches up in short steps; nobody on the way of an answer waits here.
const PATIENCE: Duration = Duration::from_secs(2);

impl RecallIndex {
    /// Opens the index in `folder`. One of an older build or a damaged one is thrown
    /// away: the next [`RecallIndex::catch_up`] fills it again. Where nothing can be
    /// written, what is there is opened to be read.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(RECALL);
        match open_to_write(folder, &path) {
            Err(error) if is_unusable(&error) => {
                throw_away(folder, &path)?;
                open_to_write(folder, &path)
            }
            Err(error @ (Error::ReadOnly { .. } | Error::CannotOpen { .. } | Error::File { .. })) => {
                if !path.exists() {
                    return Err(Error::Refused(format!(
                        "there is no index of what can be recalled yet, and none can be made here: {error}; run \
                         `taut recall` once where {} can be written, in your own terminal",
                        folder.display()
                    )));
                }
                open_to_read(&path).map_err(|_| error)
            }
            other => other,
        }
    }

    /// Opens what is there to be read, for who changes nothing. `None` where there is no index, or none yet: one that is
    /// being made, or of another build, is for those to see to who may write.
    pub fn open_existing_read_only(folder: &Path) -> Option<Self> {
        open_to_read(&folder.join(RECALL)).ok()
    }

    /// Throws the file away and begins with an empty one.
    pub(super) fn start_over(&mut self) -> Result<(), Error> {
        if self.read_only {
            return Err(Error::ReadOnly { path: self.path.clone(), source: rusqlite::Error::InvalidQuery });
        }
        let folder = self.path.parent().unwrap_or(Path::new("/")).to_path_buf();
        // Somebody may have done it meanwhile.
        if !self.is_stale() {
            throw_away(&folder, &self.path)?;
        }
        *self = open_to_write(&folder, &self.path)?;
        Ok(())
    }
}

pub(super) fn identity(path: &Path) -> Option<(u64, u64)> {
    std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

/// The file and what SQLite keeps beside it.
pub(super) fn files(path: &Path) -> [PathBuf; 3] {
    ["", "-wal", "-shm"].map(|suffix| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    })
}

/// Whether it helps to make the index anew: damage, tables that are not there, and what SQLite keeps beside a file
/// being another file's.
pub(super) fn is_unusable(error: &Error) -> bool {
    let Error::Sql { source, .. } = error else { return error.is_corrupt() };
    let said = source.to_string();
    source.sqlite_error_code() == Some(ErrorCode::SystemIoFailure)
        || ["no such table", "no such column", "vtable constructor failed"].iter().any(|part| said.contains(part))
}

/// A new file begins without a log: one that is there belongs to a file that somebody removed.
fn make_file(folder: &Path, path: &Path) -> Result<(), Error> {
    if path.exists() {
        return Ok(());
    }
    let _held = hold(folder)?;
    if path.exists() {
        return Ok(());
    }
    let [_, beside @ ..] = files(path);
    remove(&beside)?;
    match private_file(path) {
        Err(cause) if cause.kind() != ErrorKind::AlreadyExists => Err(Error::file("make the file", path, cause)),
        _ => Ok(()),
    }
}

fn open_to_write(folder: &Path, path: &Path) -> Result<RecallIndex, Error> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|cause| Error::file("make the folder", folder, cause))?;
    make_file(folder, path)?;
    let sql = |cause| Error::of(path, cause);
    let opened = identity(path);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags).map_err(sql)?;
    conn.busy_timeout(PATIENCE).map_err(sql)?;
    // What is forgotten is overwritten. The index can be made again: it need not outlive a power cut.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true).map_err(sql)?;
    conn.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON").map_err(sql)?;
    let index = RecallIndex { conn, path: path.to_path_buf(), read_only: false, opened, off: Vec::new() };
    let found = version(&index.conn).map_err(sql)?;
    if found > VERSION {
        return Err(Error::NewerSchema { path: path.to_path_buf(), found, known: VERSION });
    }
    if found != VERSION {
        make(folder, &index)?;
    }
    // A file that was cut or written over often shows it here, and not only in a search.
    index.read(|conn| conn.prepare("SELECT 1 FROM projects, entries, words LIMIT 0").map(drop))?;
    index.read(|conn| conn.query_row("SELECT count(*) FROM cursors", [], |row| row.get::<_, i64>(0)))?;
    Ok(index)
}

/// The tables, anew: an older build's are dropped, in one transaction, so that nobody
/// who has the file open finds half of them.
fn make(folder: &Path, index: &RecallIndex) -> Result<(), Error> {
    let _held = hold(folder)?;
    index.read(|conn| conn.query_row("PRAGMA journal_mode = WAL", [], |row| row.get::<_, String>(0)).map(drop))?;
    index.write(|conn| {
        if version(conn)? == VERSION {
            return Ok(());
        }
        const OURS: &str = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
            AND name NOT LIKE 'words_%'";
        let old: Vec<String> = conn.prepare(OURS)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        for table in old {
            conn.execute_batch(&format!("DROP TABLE \"{}\"", table.replace('"', "\"\"")))?;
        }
        conn.execute_batch(SCHEMA)?;
        conn.pragma_update(None, "user_version", VERSION)
    })
}

fn open_to_read(path: &Path) -> Result<RecallIndex, Error> {
    let index =
        |conn| RecallIndex { conn, path: path.to_path_buf(), read_only: true, opened: identity(path), off: Vec::new() };
    let known = |conn: Connection| match version(&conn) {
        Ok(VERSION) => Ok(conn),
        Ok(_) => Err(rusqlite::Error::InvalidQuery),
        Err(cause) => Err(cause),
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let live = Connection::open_with_flags(path, flags).and_then(known);
    let found = live.or_else(|_| {
        // Reading takes an index beside the log; without one nobody writes, or it cannot be told.
        let escaped: String = path.as_os_str().as_bytes().iter().map(|byte| format!("%{byte:02x}")).collect();
        let flags = flags | OpenFlags::SQLITE_OPEN_URI;
        Connection::open_with_flags(format!("file:{escaped}?immutable=1"), flags).and_then(known)
    });
    found.map(index).map_err(|cause| Error::of(path, cause))
}

fn version(conn: &Connection) -> rusqlite::Result<i64> {
    conn.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Whoever has it open goes on with a file that nobody else sees, and finds that out by [`RecallIndex::is_stale`].
fn throw_away(folder: &Path, path: &Path) -> Result<(), Error> {
    let _held = hold(folder)?;
    remove(&files(path))
}

fn remove(files: &[PathBuf]) -> Result<(), Error> {
    files.iter().try_for_each(|file| match std::fs::remove_file(file) {
        Err(cause) if cause.kind() != ErrorKind::NotFound => {
            Err(Error::file("throw away the damaged index", file, cause))
        }
        _ => Ok(()),
    })
}

fn hold(folder: &Path) -> Result<std::fs::File, Error> {
    let path = folder.join(LOCK);
    let failed = |cause| Error::file("take the lock", &path, cause);
    let mut how = OpenOptions::new();
    how.write(true).create(true).truncate(false).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    let file = how.open(&path).map_err(failed)?;
    if lock::wait_for(&file, PATIENCE).map_err(failed)? {
        return Ok(file);
    }
    Err(Error::InHand { path })
}
