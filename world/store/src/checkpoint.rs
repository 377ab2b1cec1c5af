//! Checkpoints: moving the log into the file, off the way of an event.

use crate::{Error, Store};
use std::time::Duration;

/// Where nobody else keeps the file open, each opener reads the whole log to
/// rebuild its index, so a log without a daemon is kept short.
const SHORT: u64 = 512 * 1024;

/// A log that readers kept from being reset is cut above this size.
const LONG: u64 = 16 * 1024 * 1024;

/// What a checkpoint left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckpointResult {
    /// Size of the log's file.
    pub bytes: u64,
    /// Pages in the log, and how many of them are in the file by now.
    pub pages: u64,
    pub moved: u64,
}

impl Store {
    /// For the daemon's own thread and connection. Blocks no writer, except for
    /// the moment in which a log that has grown long is cut.
    pub fn checkpoint(&self) -> Result<CheckpointResult, Error> {
        let log = self.move_log("PRAGMA wal_checkpoint(PASSIVE)")?;
        if log.bytes > LONG && log.pages == log.moved {
            return self.cut_log();
        }
        Ok(log)
    }

    /// For a process that worked without a daemon, after its answer is out.
    /// Gives up at once where somebody else is at work: they will do it.
    pub fn settle(&self) -> Result<(), Error> {
        if self.log_bytes() <= SHORT {
            return Ok(());
        }
        let log = self.move_log("PRAGMA wal_checkpoint(PASSIVE)")?;
        if log.pages == log.moved {
            self.cut_log()?;
        }
        Ok(())
    }

    pub(crate) fn log_bytes(&self) -> u64 {
        std::fs::metadata(self.place.wal()).map_or(0, |file| file.len())
    }

    /// Resets the log to nothing. A passive checkpoint alone does not last:
    /// that it was done is known only while somebody has the file open.
    fn cut_log(&self) -> Result<CheckpointResult, Error> {
        self.read(|conn| conn.busy_timeout(Duration::ZERO))?;
        let cut = self.move_log("PRAGMA wal_checkpoint(TRUNCATE)");
        self.read(|conn| conn.busy_timeout(self.patience))?;
        cut
    }

    fn move_log(&self, pragma: &str) -> Result<CheckpointResult, Error> {
        let count = |pages: i64| u64::try_from(pages).unwrap_or_default();
        let (pages, moved) =
            self.read(|conn| conn.query_row(pragma, [], |row| Ok((count(row.get(1)?), count(row.get(2)?)))))?;
        Ok(CheckpointResult { bytes: self.log_bytes(), pages, moved })
    }
}
