//! Installing into an agent's settings and leaving them again: what is proposed,
//! what is carried out, and what is kept so that nothing is lost.
//!
//! What an edit looks like is the agent's matter and comes in as text; this room
//! decides what becomes of the file and does it.

pub mod channel;
pub mod checks;
pub mod intent;
mod lasting;
pub mod line;
pub mod preset;
pub mod preset_record;
pub mod program;
#[cfg(test)]
mod tests;

pub use intent::uninstall_intended;

use crate::settings_file::{Backups, Record, SettingsFileChange, SettingsFileError, SettingsSnapshot, replace};
use model::Ms;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The settings with our entries in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallRequest {
    pub text: String,
    /// Permission rules that were not there before.
    pub allow: Vec<String>,
    pub found: ExistingHooks,
}

/// Whether the settings held entries of ours already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExistingHooks {
    Ours,
    NoneOfOurs,
}

/// The settings without our entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UninstallRequest {
    pub text: String,
    pub left: LeftBehind,
}

/// What is left when our entries are out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftBehind {
    Settings,
    /// The whole of the settings was ours.
    Nothing,
    /// The file itself was ours.
    NoFile,
}

/// A change that can be shown and then carried out, or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    pub file: SettingsSnapshot,
    pub after: SettingsFileChange,
    step: Step,
    /// A file that has to be made is for its owner alone.
    private: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Install { allow: Vec<String>, found: ExistingHooks },
    Uninstall,
}

/// What was done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Installed {
    /// The copy of the file as it was.
    pub copy: Option<PathBuf>,
    /// What did not work and was not needed.
    pub notes: Vec<String>,
}

impl Proposal {
    pub fn install(file: SettingsSnapshot, with: InstallRequest) -> Self {
        Self {
            file,
            after: SettingsFileChange::Text(with.text),
            step: Step::Install { allow: with.allow, found: with.found },
            private: false,
        }
    }

    /// For a file that the agent keeps its user's keys in later.
    pub fn private(self) -> Self {
        Self { private: true, ..self }
    }

    /// Proposes to leave. The record, where there is one, only helps: what goes
    /// is decided by the text as it is now.
    pub fn uninstall(file: SettingsSnapshot, without: UninstallRequest, record: Option<&Record>) -> Self {
        let after = if file.text.is_none() {
            SettingsFileChange::Gone
        } else {
            let untouched = record.and_then(|record| record.restores(file.text.as_deref()));
            untouched.unwrap_or_else(|| what_is_left(&file.path, without, record))
        };
        Self { file, after, step: Step::Uninstall, private: false }
    }

    pub fn changes_anything(&self) -> bool {
        self.file.is_changed_by(&self.after)
    }

    /// The exact change, as people read it.
    pub fn diff(&self) -> String {
        self.file.diff(&self.after)
    }

    /// Makes the change. A file that was changed since it was read is left
    /// alone: the caller proposes again.
    pub fn apply(&self, state: &Path, now: Ms) -> Result<Installed, SettingsFileError> {
        if !self.changes_anything() {
            return Ok(Installed::default());
        }
        let backups = Backups::of(state, &self.file.target);
        match &self.step {
            Step::Install { allow, found } => self.apply_install(&backups, allow, *found, now),
            Step::Uninstall => self.apply_uninstall(&backups, state, now),
        }
    }

    fn apply_install(
        &self,
        backups: &Backups,
        allow: &[String],
        found: ExistingHooks,
        now: Ms,
    ) -> Result<Installed, SettingsFileError> {
        let _held = backups.lock()?;
        let copy = backups.keep(&self.file, now)?;
        let old = backups.read_record();
        // Before the change, so that a crash in between loses nothing; a record
        // of a change that was not made matches no file and so does nothing.
        backups.write_record(&self.record(old.as_ref(), allow, found))?;
        if let Err(error) = replace(&self.file, &self.after) {
            match old {
                Some(old) => backups.write_record(&old)?,
                None => backups.forget(),
            }
            return Err(error);
        }
        let mut notes = Vec::new();
        if self.private && self.file.text.is_none() {
            let made = std::fs::set_permissions(&self.file.target, Permissions::from_mode(0o600));
            notes.extend(made.err().map(|error| {
                format!("{0} can be read by others ({error}): `chmod 600 {0}`", self.file.target.display())
            }));
        }
        Ok(Installed { copy, notes })
    }

    fn apply_uninstall(&self, backups: &Backups, state: &Path, now: Ms) -> Result<Installed, SettingsFileError> {
        let mut done = Installed::default();
        // A state folder that is full or gone must not keep anyone from leaving.
        if let Err(error) = intent::declare(state, now) {
            done.notes.push(format!(
                "could not note the uninstall in {} ({error}): agents that run now keep their hooks until they end",
                state.display()
            ));
        }
        let _held = match backups.lock() {
            Ok(held) => Some(held),
            Err(busy @ SettingsFileError::Busy { .. }) => return Err(busy),
            Err(_) => None,
        };
        match backups.keep(&self.file, now) {
            Ok(copy) => done.copy = copy,
            Err(error) => done.notes.push(format!("no copy of the file was kept: {error}")),
        }
        let record = backups.read_record();
        replace(&self.file, &self.after)?;
        if let (SettingsFileChange::Gone, Some(folder)) = (&self.after, record.and_then(|record| record.made_folder)) {
            remove_empty(self.file.target.parent(), &folder);
        }
        backups.forget();
        Ok(done)
    }

    fn record(&self, old: Option<&Record>, allow: &[String], found: ExistingHooks) -> Record {
        let after = match &self.after {
            SettingsFileChange::Text(text) => text.clone(),
            SettingsFileChange::Gone => String::new(),
        };
        let missing = self.file.target.ancestors().skip(1).take_while(|folder| !folder.exists());
        let folder = missing.last().map(Path::to_path_buf);
        let (allow, before) = (allow.to_vec(), self.file.text.clone());
        match (found, old) {
            (ExistingHooks::NoneOfOurs, _) => {
                Record { existed: before.is_some(), made_folder: folder, before, after, allow }
            }
            (ExistingHooks::Ours, None) => Record { existed: true, made_folder: None, before: None, after, allow },
            (ExistingHooks::Ours, Some(old)) => {
                let untouched = self.file.text.as_ref() == Some(&old.after);
                Record {
                    existed: old.existed || !untouched,
                    made_folder: old.made_folder.clone(),
                    before: if untouched { old.before.clone() } else { None },
                    after,
                    allow: old.allow.iter().cloned().chain(allow).collect(),
                }
            }
        }
    }
}

fn what_is_left(path: &Path, without: UninstallRequest, record: Option<&Record>) -> SettingsFileChange {
    let blank = without.text.trim_start_matches('\u{feff}').trim().is_empty();
    match (without.left, record) {
        (LeftBehind::NoFile, _) => SettingsFileChange::Gone,
        (LeftBehind::Settings, _) => SettingsFileChange::Text(without.text),
        (LeftBehind::Nothing, _) if !blank => SettingsFileChange::Text(without.text),
        (LeftBehind::Nothing, Some(record)) if !record.existed => SettingsFileChange::Gone,
        (LeftBehind::Nothing, Some(record)) if record.before.as_ref() == Some(&without.text) => {
            SettingsFileChange::Text(without.text)
        }
        // Someone else may count on the file being there and readable; nothing at all is no JSON.
        _ if path.extension().is_some_and(|kind| kind == "json") => SettingsFileChange::Text("{}\n".to_owned()),
        _ => SettingsFileChange::Text(without.text),
    }
}

/// Only empty folders go, and only those that were made by us: from the file's own up to the first that was made.
fn remove_empty(from: Option<&Path>, first: &Path) {
    let made = from.into_iter().flat_map(Path::ancestors).take_while(|folder| folder.starts_with(first));
    for folder in made {
        let _ = std::fs::remove_dir(folder);
    }
}
