//! The daemon's own log: few lines, bounded in size, private.

use model::Ms;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The log and one older piece of it never take more than twice this.
const MOST_BYTES: u64 = 512 << 10;

pub(crate) struct Log {
    file: Option<File>,
    path: PathBuf,
}

pub(crate) fn path(folder: &Path) -> PathBuf {
    folder.join("daemon.log")
}

/// Opens the log for adding to it, after setting a large one aside.
pub(crate) fn open(folder: &Path) -> io::Result<File> {
    let path = path(folder);
    if fs::metadata(&path).is_ok_and(|found| found.len() > MOST_BYTES) {
        fs::rename(&path, path.with_extension("log.1"))?;
    }
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

/// A line from one of the daemon's ticks, in one write: others add to it too.
pub fn log_line(folder: &Path, text: &str) -> io::Result<()> {
    let line = format!("{} {}\n", now().rfc3339(), text.replace('\n', " "));
    open(folder)?.write_all(line.as_bytes())
}

/// The last line of the log, for whoever has to say why a daemon did not start.
pub(crate) fn last_line(folder: &Path) -> Option<String> {
    let text = fs::read(path(folder)).ok()?;
    let text = String::from_utf8_lossy(&text);
    text.lines().rev().find(|line| !line.trim().is_empty()).map(str::to_owned)
}

pub(crate) fn now() -> Ms {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Ms(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

impl Log {
    /// A log that cannot be opened swallows its lines: the daemon serves without one.
    pub fn new(folder: &Path) -> Self {
        Self { file: open(folder).ok(), path: path(folder) }
    }

    pub fn line(&mut self, text: &str) {
        self.bound();
        if let Some(file) = &mut self.file {
            // A full disk must not stop the daemon.
            let _ = writeln!(file, "{} {text}", now().rfc3339());
        }
    }

    fn bound(&mut self) {
        let size = self.file.as_ref().and_then(|file| file.metadata().ok()).map_or(0, |found| found.size());
        if size > MOST_BYTES
            && let Some(folder) = self.path.parent()
        {
            self.file = open(folder).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Log, MOST_BYTES, last_line};
    use std::fs;

    #[test]
    fn stays_bounded_and_keeps_the_newest_lines() {
        let home = tempfile::tempdir().unwrap();
        let mut log = Log::new(home.path());
        let long = "x".repeat(10_000);
        for _ in 0..150 {
            log.line(&long);
        }
        log.line("the end");
        let sizes = ["daemon.log", "daemon.log.1"].map(|name| fs::metadata(home.path().join(name)).unwrap().len());
        assert!(sizes.iter().all(|size| *size < MOST_BYTES + 20_000), "{sizes:?}");
        assert!(last_line(home.path()).unwrap().ends_with("the end"));
    }
}
