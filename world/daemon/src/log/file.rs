//! Adding to the log. Several processes do so, each line in one write.

use super::{is_same, older_path, path};
use model::Ms;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use tracing::Level;

/// The log and one older piece of it never take more than twice this.
const MOST_BYTES: u64 = 512 << 10;

/// The same trouble is not told again within this.
const QUIET_MS: i64 = 60_000;

/// So much of the end is looked at for it.
const LOOK_BACK: u64 = 8 << 10;

/// The log of a state folder, open for adding to it.
#[derive(Debug)]
pub struct LogFile {
    folder: PathBuf,
    file: File,
}

impl LogFile {
    /// # Errors
    /// Also where something else than a file stands there.
    pub fn at(folder: &Path) -> io::Result<Self> {
        Ok(Self { folder: folder.to_owned(), file: open(&path(folder))? })
    }

    /// For the standard error of a process that is started.
    #[must_use]
    pub fn into_file(self) -> File {
        self.file
    }

    /// One line. A warning or an error that stands there already, and not for long, is left out.
    ///
    /// # Errors
    /// When it could not be written whole.
    pub fn add(&mut self, level: Level, text: &str, now: Ms) -> io::Result<()> {
        let tail = format!(" {level} {text}\n");
        let line = format!("{}{tail}", now.rfc3339());
        self.follow_name()?;
        if level <= Level::WARN && self.has(&tail, now)? {
            return Ok(());
        }
        if self.file.metadata()?.len() + line.len() as u64 > MOST_BYTES {
            self.set_aside()?;
        }
        self.file.write_all(line.as_bytes())
    }

    /// Somebody else may have set the file aside, or removed it.
    fn follow_name(&mut self) -> io::Result<()> {
        let there = std::fs::symlink_metadata(path(&self.folder));
        if !there.is_ok_and(|there| self.file.metadata().is_ok_and(|ours| is_same(&ours, &there))) {
            self.file = open(&path(&self.folder))?;
        }
        Ok(())
    }

    /// Whether one of the last lines says the same, a moment ago.
    fn has(&self, tail: &str, now: Ms) -> io::Result<bool> {
        let size = self.file.metadata()?.len();
        let from = size.saturating_sub(LOOK_BACK);
        let mut bytes = vec![0; usize::try_from(size - from).unwrap_or_default()];
        let read = self.file.read_at(&mut bytes, from)?;
        let text = String::from_utf8_lossy(bytes.get(..read).unwrap_or_default()).into_owned();
        let since = Ms(now.0.saturating_sub(QUIET_MS)).rfc3339();
        // A time that is yet to come is a clock's that was put back, and says nothing.
        let soon = |at: &str| at >= since.as_str() && at <= now.rfc3339().as_str();
        Ok(text.split_inclusive('\n').any(|line| line.strip_suffix(tail).is_some_and(soon)))
    }

    /// The one who holds the lock of the file that still has the name does it; others go on in it.
    fn set_aside(&mut self) -> io::Result<()> {
        if self.file.try_lock().is_err() {
            return Ok(());
        }
        let there = std::fs::symlink_metadata(path(&self.folder))?;
        if is_same(&self.file.metadata()?, &there) {
            std::fs::rename(path(&self.folder), older_path(&self.folder))?;
        }
        self.file = open(&path(&self.folder))?;
        Ok(())
    }
}

/// Nothing that stands there can hold the opener up, or lead elsewhere.
fn open(path: &Path) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::last_lines;
    use std::fs;

    fn texts(folder: &Path) -> Vec<String> {
        last_lines(folder, 10).into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn the_log_and_its_older_piece_stay_within_their_cap_and_keep_the_newest_lines() {
        let home = tempfile::tempdir().unwrap();
        let mut logs = [LogFile::at(home.path()).unwrap(), LogFile::at(home.path()).unwrap()];
        let long = "x".repeat(10_000);
        for nth in 0..200 {
            logs[nth % 2].add(Level::INFO, &format!("{nth} {long}"), Ms(0)).unwrap();
        }
        logs[0].add(Level::INFO, "the end", Ms(0)).unwrap();
        let sizes = ["daemon.log", "daemon.log.1"].map(|name| fs::metadata(home.path().join(name)).unwrap().len());
        assert!(sizes.iter().all(|size| *size <= MOST_BYTES) && sizes[1] > MOST_BYTES / 2, "{sizes:?}");
        assert_eq!(texts(home.path()).last().unwrap(), "the end");
    }

    #[test]
    fn the_same_trouble_is_told_once_a_minute_whoever_tells_it() {
        let home = tempfile::tempdir().unwrap();
        for (at, level, text) in [
            (0, Level::WARN, "it hurts"),
            (59_000, Level::WARN, "it hurts"),
            (59_000, Level::WARN, "it hurts elsewhere"),
            (59_000, Level::INFO, "well"),
            (59_000, Level::INFO, "well"),
            (61_000, Level::WARN, "it hurts"),
        ] {
            LogFile::at(home.path()).unwrap().add(level, text, Ms(at)).unwrap();
        }
        assert_eq!(texts(home.path()), ["it hurts", "it hurts elsewhere", "well", "well", "it hurts"]);
    }

    #[test]
    fn t2_what_is_no_file_is_not_written_to_and_holds_nobody_up() {
        let home = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(home.path().join("elsewhere"), path(home.path())).unwrap();
        LogFile::at(home.path()).unwrap_err();
        assert!(!home.path().join("elsewhere").exists());
    }
}
