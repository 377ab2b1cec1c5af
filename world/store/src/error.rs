//! What can go wrong with the memory, in words, with the command that helps.

use crate::Unstored;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the database {path} is locked by another process; see who holds it with `taut doctor`")]
    Busy { path: PathBuf, source: rusqlite::Error },

    #[error("the database {path} cannot be written because it or its folder is read-only; `taut doctor` says which")]
    ReadOnly { path: PathBuf, source: rusqlite::Error },

    #[error(
        "the database {path} cannot grow because the disk or the quota is full; make room, then run `taut db check`"
    )]
    Full { path: PathBuf, source: rusqlite::Error },

    #[error("the database {path} cannot be opened; `taut doctor` says why")]
    CannotOpen { path: PathBuf, source: rusqlite::Error },

    #[error(
        "the database {path} is damaged; `taut db check` moves it aside, recovers what is readable and starts afresh"
    )]
    Corrupt { path: PathBuf, source: rusqlite::Error },

    #[error(
        "the database {path} has schema {found} and this taut knows {known}: a newer taut wrote it; run that one, `taut version` says which this is"
    )]
    NewerSchema { path: PathBuf, found: i64, known: i64 },

    #[error(
        "the database {path} has schema {found}, older than {known}, and is too large to be copied and migrated on the way of a hook; run `taut db check` once"
    )]
    OlderSchema { path: PathBuf, found: i64, known: i64 },

    #[error(
        "this taut was built with SQLite {found}, and before {oldest} a write can be lost; install the newest Taut the way you \
         installed it: it brings its own SQLite"
    )]
    OldSqlite { found: String, oldest: &'static str },

    #[error("cannot {what} {path}; `taut doctor` checks its owner and mode")]
    File { what: &'static str, path: PathBuf, source: std::io::Error },

    #[error("another taut is making, migrating or repairing the database ({path} is held); try again in a moment")]
    InHand { path: PathBuf },

    #[error("the database {path} was replaced or removed while it was opened; try again")]
    Moved { path: PathBuf },

    #[error(
        "the damaged database {path} is still open in another process, so it was left where it is; stop it with `taut daemon stop`, then run `taut db check`"
    )]
    StillOpen { path: PathBuf },

    #[error("{unstored}; the guard still judges; make room, then run `taut db check`")]
    Unstored {
        unstored: Unstored,
        /// Nobody was told in the last minute: this one is to be said.
        say: bool,
    },

    #[error("the database rolled the whole transaction back; nothing of it was kept, so it may be tried again")]
    RolledBack,

    #[error("the database {path} refused a statement; `taut db check` looks for the cause")]
    Sql { path: PathBuf, source: rusqlite::Error },

    #[error("{0}")]
    Refused(String),

    #[error(transparent)]
    Server(#[from] crate::ServerError),
}

impl Error {
    /// Names SQLite's error by what the caller can do about it.
    pub(crate) fn of(path: &Path, source: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode as Code;
        let path = path.to_path_buf();
        match source.sqlite_error_code() {
            Some(Code::DatabaseBusy | Code::DatabaseLocked | Code::FileLockingProtocolFailed) => {
                Self::Busy { path, source }
            }
            Some(Code::ReadOnly | Code::PermissionDenied) => Self::ReadOnly { path, source },
            Some(Code::DiskFull) => Self::Full { path, source },
            Some(Code::CannotOpen) => Self::CannotOpen { path, source },
            Some(Code::DatabaseCorrupt | Code::NotADatabase) => Self::Corrupt { path, source },
            _ => Self::Sql { path, source },
        }
    }

    pub(crate) fn file(what: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::File { what, path: path.to_path_buf(), source }
    }

    /// Whether this error is news to whoever would be told of it.
    pub fn is_to_be_said(&self) -> bool {
        !matches!(self, Self::Unstored { say: false, .. })
    }

    pub fn is_corrupt(&self) -> bool {
        matches!(self, Self::Corrupt { .. })
    }

    /// The row is sound but the database cannot take it now: it belongs in the spool.
    pub fn is_for_the_spool(&self) -> bool {
        !matches!(self, Self::Refused(_))
    }
}
