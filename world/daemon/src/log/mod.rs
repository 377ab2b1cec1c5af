//! The daemon's log: levels, bounded in size, private, without secrets and without anything a terminal would obey.
//! Hooks that work without a daemon add their troubles to the same file.

mod file;
mod read;
mod subscriber;

pub use file::LogFile;
pub use read::{LogFollower, LogLine, last_lines};
pub use tracing::level_filters::LevelFilter as LogFilter;

pub(crate) use subscriber::install;

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// How much is logged, and what makes a text fit to be: whoever runs a daemon knows what a secret looks like.
#[derive(Debug, Clone, Copy)]
pub struct LogOptions {
    pub most: LogFilter,
    pub clean: fn(&str) -> String,
}

/// Where the log of a state folder is.
#[must_use]
pub fn path(folder: &Path) -> PathBuf {
    folder.join("daemon.log")
}

/// Where what was there before it is.
fn older_path(folder: &Path) -> PathBuf {
    folder.join("daemon.log.1")
}

/// Whether the standard error of this process is the log: what is logged need not be said there too.
#[must_use]
pub fn is_stderr(folder: &Path) -> bool {
    let stderr = std::fs::metadata("/dev/fd/2");
    let log = std::fs::metadata(path(folder));
    matches!((stderr, log), (Ok(stderr), Ok(log)) if is_same(&stderr, &log))
}

fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}
