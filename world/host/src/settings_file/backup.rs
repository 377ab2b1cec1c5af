//! What is kept of a settings file before it is changed: a plain copy, and a
//! record of what we found and what we wrote.

use super::{SettingsFileChange, SettingsFileError, SettingsSnapshot};
use model::Ms;
use serde_json::{Value, json};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The copies and the record of one settings file.
#[derive(Debug, Clone)]
pub struct Backups {
    target: PathBuf,
    folder: PathBuf,
    lock: PathBuf,
}

/// What an installation found and left.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    /// The file was there before us.
    pub existed: bool,
    /// The first of the folders that were made for the file.
    pub made_folder: Option<PathBuf>,
    /// The text before us; absent when others have changed the file between two
    /// of our own changes, so that no text stands for "before" any more.
    pub before: Option<String>,
    /// What we wrote.
    pub after: String,
    /// Permission rules that we added.
    pub allow: Vec<String>,
}

/// How many copies are kept of one file.
const COPIES: usize = 10;
/// How long another installation is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

impl Backups {
    pub fn of(state: &Path, target: &Path) -> Self {
        let folder = state.join("backups");
        Self { target: target.to_path_buf(), lock: folder.join("lock"), folder: folder.join(name_for(target)) }
    }

    /// The files that there is a record of, in their order.
    pub fn recorded(state: &Path) -> Vec<PathBuf> {
        let folders = std::fs::read_dir(state.join("backups")).into_iter().flatten().flatten();
        let file = |folder: PathBuf| {
            let value: Value = serde_json::from_slice(&std::fs::read(folder.join("record.json")).ok()?).ok()?;
            let file = PathBuf::from(value.get("file")?.as_str()?);
            (Self::of(state, &file).folder == folder).then_some(file)
        };
        let mut files: Vec<PathBuf> = folders.filter_map(|entry| file(entry.path())).collect();
        files.sort();
        files
    }

    /// Keeps other installations out until the file is dropped.
    pub fn lock(&self) -> Result<File, SettingsFileError> {
        let failed = |source| SettingsFileError::Backup { path: self.lock.clone(), source };
        make_private(&self.folder).map_err(failed)?;
        let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&self.lock);
        let file = file.map_err(failed)?;
        let until = Instant::now() + PATIENCE;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(std::fs::TryLockError::WouldBlock) if Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(std::fs::TryLockError::WouldBlock) => {
                    return Err(SettingsFileError::Busy { path: self.lock.clone() });
                }
                Err(std::fs::TryLockError::Error(source)) => return Err(failed(source)),
            }
        }
    }

    /// Copies the file as it is; the oldest copies go.
    pub fn keep(&self, snapshot: &SettingsSnapshot, at: Ms) -> Result<Option<PathBuf>, SettingsFileError> {
        let Some(text) = &snapshot.text else {
            return Ok(None);
        };
        let name = snapshot.target.file_name().unwrap_or_default().to_string_lossy();
        let copy = self.folder.join(format!("{name}.{:015}.taut-backup", at.0));
        let failed = |source| SettingsFileError::Backup { path: self.folder.clone(), source };
        make_private(&self.folder).map_err(failed)?;
        write_private(&copy, text).map_err(failed)?;
        self.prune().map_err(failed)?;
        Ok(Some(copy))
    }

    pub fn read_record(&self) -> Option<Record> {
        let value: Value = serde_json::from_slice(&std::fs::read(self.record_file()).ok()?).ok()?;
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let rules = value.get("allow").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        Some(Record {
            existed: value.get("existed")?.as_bool()?,
            made_folder: text("made_folder").map(PathBuf::from),
            before: text("before"),
            after: text("after")?,
            allow: rules.iter().filter_map(|rule| rule.as_str().map(str::to_owned)).collect(),
        })
    }

    pub fn write_record(&self, record: &Record) -> Result<(), SettingsFileError> {
        let value = json!({
            "file": self.target.to_string_lossy(),
            "existed": record.existed,
            "made_folder": record.made_folder.as_ref().map(|folder| folder.to_string_lossy()),
            "before": record.before,
            "after": record.after,
            "allow": record.allow,
        });
        let failed = |source| SettingsFileError::Backup { path: self.folder.clone(), source };
        make_private(&self.folder).map_err(failed)?;
        let next = self.folder.join("record.json.next");
        write_private(&next, &value.to_string()).map_err(failed)?;
        std::fs::rename(next, self.record_file()).map_err(failed)
    }

    /// Forgets the record; the copies stay.
    pub fn forget(&self) {
        // Without its file a record that stays only says what is no longer so.
        let _ = std::fs::remove_file(self.record_file());
    }

    fn record_file(&self) -> PathBuf {
        self.folder.join("record.json")
    }

    fn prune(&self) -> io::Result<()> {
        let mut copies: Vec<_> = std::fs::read_dir(&self.folder)?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "taut-backup"))
            .collect();
        copies.sort();
        let surplus = copies.len().saturating_sub(COPIES);
        copies.iter().take(surplus).try_for_each(std::fs::remove_file)
    }
}

impl Record {
    /// What an uninstall restores without looking closer: the file is exactly
    /// as we left it, and what was there before is known.
    pub fn restores(&self, current: Option<&str>) -> Option<SettingsFileChange> {
        if current != Some(self.after.as_str()) {
            return None;
        }
        if self.existed { self.before.clone().map(SettingsFileChange::Text) } else { Some(SettingsFileChange::Gone) }
    }
}

/// A name for what is kept of a path: the end of the path, readable, and a mark of all of it.
pub(crate) fn name_for(target: &Path) -> String {
    let bytes = target.as_os_str().as_encoded_bytes();
    let mark = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let readable = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: Vec<char> = target.to_string_lossy().chars().map(readable).collect();
    let tail: String = name.iter().skip(name.len().saturating_sub(48)).collect();
    format!("{}-{mark:016x}", tail.trim_matches('-'))
}

pub(crate) fn make_private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

pub(crate) fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
