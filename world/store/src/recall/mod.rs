//! Recall: what was said and done, to be searched. A file of its own beside the
//! database, which no hook opens, so that its size costs no hook anything; it
//! holds nothing that cannot be made again.

mod catch_up;
mod entry;
mod excerpt;
mod facts;
mod forget;
mod identifier;
mod open;
mod query;
mod search;
mod sources;
#[cfg(test)]
mod tests;

pub use catch_up::CatchUp;
pub use entry::{RecallFact, RecallKind};
pub use excerpt::{Excerpt, ExcerptPiece};
pub use open::RECALL;
pub use search::{CatchUpWith, RecallHit, RecallQuery, Recalled};

use crate::Error;
use rusqlite::Connection;
use std::path::{Path, PathBuf};

/// Bytes that an index nobody asked for leaves free: the record comes first.
const LEAST_FREE: u64 = 64 << 20;

/// Whether an index may grow there by itself.
#[must_use]
pub fn has_room(folder: &Path) -> bool {
    sys::disk::free_bytes(folder) >= LEAST_FREE
}

/// One connection to the index.
#[derive(Debug)]
pub struct RecallIndex {
    conn: Connection,
    path: PathBuf,
    /// Where nothing can be written, as in a client's sandbox, what is there can be searched.
    read_only: bool,
    /// The file's device and inode: another file at the path means to open again.
    opened: Option<(u64, u64)>,
    /// Projects whose memory is off, as whoever searches knows.
    off: Vec<i64>,
}

/// How much the index holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecallSize {
    pub entries: u64,
    pub bytes: u64,
}

impl RecallIndex {
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Another file stands at the path, or none.
    pub fn is_stale(&self) -> bool {
        self.opened.is_none() || open::identity(&self.path) != self.opened
    }

    /// How many entries there are, of one project or of all, and how large all of it is.
    pub fn size(&self, project: Option<&str>) -> Result<RecallSize, Error> {
        const ALL: &str = "SELECT count(*) FROM entries WHERE ?1 IS NULL
            OR project = (SELECT id FROM projects WHERE path = ?1)";
        let entries: i64 = self.read(|conn| conn.query_row(ALL, [project], |row| row.get(0)))?;
        let files = open::files(&self.path).into_iter().filter_map(|file| std::fs::metadata(file).ok());
        Ok(RecallSize { entries: entries.cast_unsigned(), bytes: files.map(|file| file.len()).sum() })
    }

    fn read<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Error> {
        work(&self.conn).map_err(|cause| Error::of(&self.path, cause))
    }

    /// One transaction that takes the write lock first.
    fn write<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Error> {
        self.read(|conn| {
            let tx = rusqlite::Transaction::new_unchecked(conn, rusqlite::TransactionBehavior::Immediate)?;
            let done = work(&tx)?;
            tx.commit()?;
            Ok(done)
        })
    }
}
