//! Replaces a file in one step: whoever reads it sees the old text or the new.

use super::{SettingsFileChange, SettingsFileError, SettingsSnapshot};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Writes what is to become of the file, unless it is no longer what the
/// snapshot says. Gives the folder that had to be made for it, if one had to.
pub fn replace(snapshot: &SettingsSnapshot, after: &SettingsFileChange) -> Result<Option<PathBuf>, SettingsFileError> {
    let target = &snapshot.target;
    let folder = target.parent().unwrap_or(Path::new("/")).to_path_buf();
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::ReadOnlyFilesystem => SettingsFileError::ReadOnly { path: folder.clone() },
        _ => SettingsFileError::Write { path: snapshot.path.clone(), folder: folder.clone(), source },
    };
    let made = if folder.exists() { None } else { Some(folder.clone()) };
    let old = std::fs::metadata(target).ok();
    refuse_protected(snapshot, &folder, old.as_ref())?;
    match after {
        SettingsFileChange::Gone => {
            unchanged(snapshot)?;
            std::fs::remove_file(target).map_err(failed)?;
        }
        SettingsFileChange::Text(text) => {
            if made.is_some() {
                std::fs::create_dir_all(&folder).map_err(failed)?;
            }
            let mut next = Next::beside(target, old.as_ref()).map_err(failed)?;
            next.fill(text, old.as_ref()).map_err(failed)?;
            // As late as can be: the client does not lock its file.
            unchanged(snapshot)?;
            next.take_place_of(target).map_err(failed)?;
        }
    }
    // The name itself has to survive a power loss, not only the content.
    File::open(&folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
    Ok(made)
}

/// A rename does not ask whether the file may be written; its owner meant it.
fn refuse_protected(
    snapshot: &SettingsSnapshot,
    folder: &Path,
    old: Option<&Metadata>,
) -> Result<(), SettingsFileError> {
    let locked = |meta: &Metadata| meta.mode() & 0o222 == 0;
    if old.is_some_and(locked) {
        return Err(SettingsFileError::ReadOnly { path: snapshot.target.clone() });
    }
    if std::fs::metadata(folder).is_ok_and(|meta| locked(&meta)) {
        return Err(SettingsFileError::ReadOnly { path: folder.to_path_buf() });
    }
    if old.is_some_and(|meta| meta.nlink() > 1) {
        return Err(SettingsFileError::HardLinked { path: snapshot.target.clone() });
    }
    Ok(())
}

fn unchanged(snapshot: &SettingsSnapshot) -> Result<(), SettingsFileError> {
    let now = SettingsSnapshot::read(&snapshot.path)?;
    if now == *snapshot { Ok(()) } else { Err(SettingsFileError::Changed { path: snapshot.path.clone() }) }
}

/// The new text under a passing name; removed again if it does not take its place.
struct Next {
    path: PathBuf,
    file: File,
    placed: bool,
}

impl Next {
    fn beside(target: &Path, old: Option<&Metadata>) -> io::Result<Self> {
        let mut name = std::ffi::OsString::from(".");
        name.push(target.file_name().unwrap_or_default());
        let mark = crate::clock::random().iter().take(6).map(|byte| format!("{byte:02x}")).collect::<String>();
        name.push(format!(".taut-{mark}"));
        let path = target.with_file_name(name);
        // Nobody may read it before it has the mode of the file it replaces.
        let mode = if old.is_some() { 0o600 } else { 0o666 };
        let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&path)?;
        Ok(Self { path, file, placed: false })
    }

    fn fill(&mut self, text: &str, old: Option<&Metadata>) -> io::Result<()> {
        self.file.write_all(text.as_bytes())?;
        if let Some(old) = old {
            let new = self.file.metadata()?;
            if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
                std::os::unix::fs::fchown(&self.file, Some(old.uid()), Some(old.gid()))?;
            }
            self.file.set_permissions(std::fs::Permissions::from_mode(old.mode() & 0o7777))?;
        }
        self.file.sync_all()
    }

    fn take_place_of(mut self, target: &Path) -> io::Result<()> {
        std::fs::rename(&self.path, target)?;
        self.placed = true;
        Ok(())
    }
}

impl Drop for Next {
    fn drop(&mut self) {
        if !self.placed {
            // Nothing more can be done about a file that does not go.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
