//! A damaged file: looked at twice, moved aside, and a fresh one put in its place.

use crate::folder::{StoreFolder, private_file};
use crate::{Error, check, lock, migrate};
use model::Ms;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// What a second look at a file that was called damaged came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repair {
    /// It was damaged and is now at this path; a fresh one is in its place.
    MovedAside(PathBuf),
    /// It is sound, or somebody else has repaired it: open it again.
    Sound,
    /// It could not be told in time. Nothing was changed.
    CannotTell,
}

/// SQLite's own lock bytes in a database file: whoever has it open holds some.
const LOCK_START: libc::off_t = 0x4000_0000;
const LOCK_LENGTH: libc::off_t = 512;

/// To be called after an [`Error::Corrupt`], with every connection of this
/// process to the file closed. Moves the file aside only when a second look
/// finds it damaged and nobody has it open. What is readable in it comes back
/// with [`crate::Store::salvage`].
pub fn repair(folder: &Path, now: Ms, patience: Duration) -> Result<Repair, Error> {
    let place = StoreFolder::new(folder);
    let _held = lock::hold(&place, patience)?;
    match look(&place.database, patience) {
        Look::Sound => return Ok(Repair::Sound),
        Look::CannotTell => return Ok(Repair::CannotTell),
        Look::Damaged => {}
    }
    let damaged = OpenOptions::new()
        .read(true)
        .write(true)
        .open(&place.database)
        .map_err(|cause| Error::file("open the damaged", &place.database, cause))?;
    if !alone(&damaged, patience) {
        // Closing it would drop the locks of our own process's connections to it.
        std::mem::forget(damaged);
        return Err(Error::StillOpen { path: place.database });
    }
    let fresh = make_fresh(&place)?;
    // What was moved aside before is never written over.
    let names = (now.0..).map(|at| place.beside(&format!(".corrupt-{at}")));
    let mut names = names.skip_while(|name| name.symlink_metadata().is_ok());
    let Some(aside) = names.next() else { return Ok(Repair::CannotTell) };
    swap(&place, &fresh, &aside)?;
    Ok(Repair::MovedAside(aside))
}

enum Look {
    Sound,
    Damaged,
    CannotTell,
}

fn look(path: &Path, patience: Duration) -> Look {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let looked = Connection::open_with_flags(path, flags).and_then(|conn| {
        conn.busy_timeout(patience)?;
        within(&conn, patience, |conn| check::quick_check(conn, 1))
    });
    match looked {
        Ok(problems) if problems.is_empty() => Look::Sound,
        Ok(_) => Look::Damaged,
        Err(cause) => match cause.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Look::Damaged,
            _ => Look::CannotTell,
        },
    }
}

/// Interrupts `work` when its time is over.
fn within<T>(
    conn: &Connection,
    patience: Duration,
    work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let interrupt = conn.get_interrupt_handle();
    std::thread::scope(|scope| {
        let (done, waits) = mpsc::channel::<()>();
        scope.spawn(move || {
            if waits.recv_timeout(patience) == Err(mpsc::RecvTimeoutError::Timeout) {
                interrupt.interrupt();
            }
        });
        let outcome = work(conn);
        drop(done);
        outcome
    })
}

/// Whether nobody has the file open through SQLite. From then on, and while
/// `file` is open, nobody can read or write it either.
fn alone(file: &File, patience: Duration) -> bool {
    let began = Instant::now();
    while !sys::disk::try_lock_range(file, LOCK_START, LOCK_LENGTH) {
        if began.elapsed() >= patience {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}

/// An empty database under another name, complete in one file.
fn make_fresh(place: &StoreFolder) -> Result<PathBuf, Error> {
    let fresh = StoreFolder { folder: place.folder.clone(), database: place.beside(".fresh") };
    for suffix in [".fresh", ".fresh-wal", ".fresh-shm"] {
        remove(&place.beside(suffix))?;
    }
    private_file(&fresh.database).map_err(|cause| Error::file("make the file", &fresh.database, cause))?;
    let error = |cause| Error::of(&fresh.database, cause);
    let conn = Connection::open(&fresh.database).map_err(error)?;
    conn.pragma_update(None, "journal_mode", "WAL").map_err(error)?;
    migrate::migrate(&conn, &fresh)?;
    // Closing as the last one moves the log into the file and removes it.
    conn.close().map_err(|(_, cause)| error(cause))?;
    Ok(fresh.database)
}

/// The log goes first: a fresh database must never meet the log of another.
fn swap(place: &StoreFolder, fresh: &Path, aside: &Path) -> Result<(), Error> {
    let mut log_aside = aside.as_os_str().to_owned();
    log_aside.push("-wal");
    match std::fs::rename(place.wal(), &log_aside) {
        Err(cause) if cause.kind() != ErrorKind::NotFound => {
            return Err(Error::file("move aside", &place.wal(), cause));
        }
        _ => {}
    }
    remove(&place.beside("-shm"))?;
    std::fs::rename(&place.database, aside).map_err(|cause| Error::file("move aside", &place.database, cause))?;
    std::fs::rename(fresh, &place.database).map_err(|cause| Error::file("put a fresh file at", &place.database, cause))
}

fn remove(path: &Path) -> Result<(), Error> {
    match std::fs::remove_file(path) {
        Err(cause) if cause.kind() != ErrorKind::NotFound => Err(Error::file("remove", path, cause)),
        _ => Ok(()),
    }
}
