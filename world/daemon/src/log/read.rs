//! Reading the log: its last lines, and what is added from now on.

use super::{is_same, older_path, path};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use sys::outside::{self, Links, Rules};

/// More of a file is not looked at.
const MOST_BYTES: u64 = 1 << 20;

/// A line of the log. What a crash printed there has neither time nor level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    pub at: Option<String>,
    pub level: Option<String>,
    pub text: String,
}

impl LogLine {
    fn parse(line: &str) -> Self {
        let mut words = line.splitn(3, ' ');
        match (words.next(), words.next(), words.next()) {
            (Some(at), Some(level @ ("ERROR" | "WARN" | "INFO" | "DEBUG")), Some(text)) if at.ends_with('Z') => {
                Self { at: Some(at.to_owned()), level: Some(level.to_owned()), text: text.to_owned() }
            }
            _ => Self { at: None, level: None, text: line.to_owned() },
        }
    }

    /// Whether something went wrong.
    #[must_use]
    pub fn is_trouble(&self) -> bool {
        matches!(self.level.as_deref(), Some("ERROR" | "WARN"))
    }
}

/// The last lines, oldest first; none where there is no log.
#[must_use]
pub fn last_lines(folder: &Path, most: usize) -> Vec<LogLine> {
    let mut text = end_of(&older_path(folder));
    text.push_str(&end_of(&path(folder)));
    let mut lines: Vec<LogLine> =
        text.lines().rev().filter(|line| !line.trim().is_empty()).take(most).map(LogLine::parse).collect();
    lines.reverse();
    lines
}

fn end_of(path: &Path) -> String {
    let read = outside::read_end(path, MOST_BYTES).unwrap_or_default();
    String::from_utf8_lossy(&read.1).into_owned()
}

/// What is added to the log, over every setting aside of it.
pub struct LogFollower {
    folder: PathBuf,
    file: Option<File>,
    /// The beginning of a line whose end is not written yet.
    begun: Vec<u8>,
}

impl LogFollower {
    /// From now on; a log that is not there yet is followed from its beginning.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        let mut follower = Self { folder: folder.to_owned(), file: open(folder), begun: Vec::new() };
        if let Some(file) = &mut follower.file {
            // What cannot be skipped is shown twice.
            let _ = file.seek(SeekFrom::End(0));
        }
        follower
    }

    /// The lines that were added since the last call.
    pub fn next_lines(&mut self) -> Vec<LogLine> {
        self.read();
        let there = std::fs::metadata(path(&self.folder)).ok();
        let ours = self.file.as_ref().and_then(|file| file.metadata().ok());
        let stays = matches!((&ours, &there), (Some(ours), Some(there)) if is_same(ours, there));
        if !stays && there.is_some() {
            // What was added between the look and the setting aside.
            self.read();
            self.file = open(&self.folder);
            self.read();
        }
        let end = self.begun.iter().rposition(|byte| *byte == b'\n').map_or(0, |place| place + 1);
        let whole: Vec<u8> = self.begun.drain(..end).collect();
        String::from_utf8_lossy(&whole).lines().map(LogLine::parse).collect()
    }

    fn read(&mut self) {
        if let Some(file) = &mut self.file {
            // What cannot be read now is read the next time.
            let _ = file.take(MOST_BYTES).read_to_end(&mut self.begun);
        }
    }
}

fn open(folder: &Path) -> Option<File> {
    let rules = Rules { links: Links::Refused, ..Rules::up_to(u64::MAX) };
    outside::open(&path(folder), &rules).ok().map(|(file, _)| file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_line_of_a_crash_is_shown_as_it_is_and_any_other_in_its_parts() {
        let line = LogLine::parse("2026-01-01T00:00:00.000Z WARN it hurts");
        assert_eq!((line.is_trouble(), line.text.as_str()), (true, "it hurts"));
        let line = LogLine::parse("memory allocation of 7 bytes failed");
        assert_eq!((line.is_trouble(), line.text.as_str()), (false, "memory allocation of 7 bytes failed"));
    }

    #[test]
    fn who_follows_sees_every_whole_line_over_a_setting_aside() {
        let home = tempfile::tempdir().unwrap();
        let log = path(home.path());
        let mut follower = LogFollower::new(home.path());
        let mut seen = || -> Vec<String> { follower.next_lines().into_iter().map(|line| line.text).collect() };
        assert!(seen().is_empty());
        fs::write(&log, "one\ntw").unwrap();
        assert_eq!(seen(), ["one"]);
        fs::write(&log, "one\ntwo\nthree\n").unwrap();
        fs::rename(&log, older_path(home.path())).unwrap();
        fs::write(&log, "four\n").unwrap();
        assert_eq!(seen(), ["two", "three", "four"]);
        assert!(seen().is_empty());
    }
}
