//! An agent's settings file: found, read, shown as a difference, kept aside and
//! replaced in one step, through symbolic links, with its mode and owner.

mod backup;
mod diff;
mod replace;
#[cfg(test)]
mod tests;

pub use backup::{Backups, Record};
pub(crate) use backup::{make_private, name_for, write_private};
pub use diff::unified;
pub use replace::replace;

use crate::paths::PathVariables;
use agents::Dialect;
use agents::settings::ServerDialect;
use model::AgentProfile;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use sys::outside::{self, Rules};

/// Whose settings are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingsLevel {
    User,
    /// Shared by everyone who works on the project.
    Project(PathBuf),
    /// One person's own in the project.
    Local(PathBuf),
}

/// A settings file as it was when it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsSnapshot {
    /// The path as it is known to the user.
    pub path: PathBuf,
    /// Where the symbolic links lead.
    pub target: PathBuf,
    /// Absent when there is no file.
    pub text: Option<String>,
}

/// What becomes of a settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingsFileChange {
    Text(String),
    /// The file was made by us and goes.
    Gone,
}

#[derive(Debug, thiserror::Error)]
pub enum SettingsFileError {
    #[error("cannot read {}: {source}. `ls -l {}` shows who may", path.display(), path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} is {what}, not a settings file; nothing was changed. Move it away and run the command again", path.display())]
    NotAFile { path: PathBuf, what: &'static str },
    #[error("{} is not UTF-8 text; nothing was changed. `iconv -t UTF-8` can convert it", path.display())]
    NotText { path: PathBuf },
    #[error("{} is read-only; nothing was changed. If you mean it to be changed: `chmod u+w {}`", path.display(), path.display())]
    ReadOnly { path: PathBuf },
    #[error(
        "{} has other names (hard links) that a replacement would cut off; nothing was changed. Give it a copy of its \
         own: `cp {0} {0}.own && mv {0}.own {0}`",
        path.display()
    )]
    HardLinked { path: PathBuf },
    #[error("{} was changed by someone else in the meantime; nothing was changed. Run the command again", path.display())]
    Changed { path: PathBuf },
    #[error("cannot write {}: {source}; the file is as it was. `ls -ld {}` shows who may", path.display(), folder.display())]
    Write { path: PathBuf, folder: PathBuf, source: io::Error },
    #[error("another `taut init` or `taut uninstall` is at work (it holds {}); nothing was changed. Wait for it and run the command again", path.display())]
    Busy { path: PathBuf },
    #[error("cannot keep a copy in {}: {source}; nothing was changed. `taut doctor` shows what is wrong with the folder", path.display())]
    Backup { path: PathBuf, source: io::Error },
}

/// Settings are small; a larger file is something else.
const LARGEST: u64 = 16 * 1024 * 1024;

impl SettingsLevel {
    /// Where an agent has its settings of this level, if it has any.
    pub fn path(&self, places: &PathVariables, dialect: &Dialect) -> Option<PathBuf> {
        let files = &dialect.settings;
        match self {
            Self::User => Some(places.agent_folder(dialect.profile).join(files.user_file)),
            Self::Project(project) => files.project_file.map(|file| project.join(file)),
            Self::Local(project) => files.local_file.map(|file| project.join(file)),
        }
    }

    pub fn name(&self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project(_) => "project",
            Self::Local(_) => "local",
        }
    }
}

/// Where an agent has its list of servers.
pub fn server_file(places: &PathVariables, agent: &AgentProfile, servers: &ServerDialect) -> PathBuf {
    let first = places.agent_folder(agent).join(servers.first_file);
    if first.symlink_metadata().is_ok() { first } else { places.agent_home(agent).join(servers.file) }
}

impl SettingsSnapshot {
    pub fn read(path: &Path) -> Result<Self, SettingsFileError> {
        let failed = |source| SettingsFileError::Read { path: path.to_path_buf(), source };
        let target = resolve(path).map_err(failed)?;
        let text = match std::fs::metadata(&target) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(failed(error)),
            Ok(meta) if meta.is_dir() => {
                return Err(SettingsFileError::NotAFile { path: path.to_path_buf(), what: "a folder" });
            }
            Ok(meta) if !meta.is_file() || meta.size() > LARGEST => {
                let what = if meta.is_file() { "far too large" } else { "a device or pipe" };
                return Err(SettingsFileError::NotAFile { path: path.to_path_buf(), what });
            }
            Ok(_) => {
                let bytes = outside::read(&target, &Rules::up_to(LARGEST)).map_err(|why| failed(why.into()))?;
                let text = String::from_utf8(bytes);
                Some(text.map_err(|_| SettingsFileError::NotText { path: path.to_path_buf() })?)
            }
        };
        Ok(Self { path: path.to_path_buf(), target, text })
    }

    /// The text, empty where there is no file.
    pub fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// The change as people read it; empty when there is none.
    pub fn diff(&self, after: &SettingsFileChange) -> String {
        let new = match after {
            SettingsFileChange::Text(text) => Some(text.as_str()),
            SettingsFileChange::Gone => None,
        };
        unified(&self.path.to_string_lossy(), self.text.as_deref(), new)
    }

    pub fn is_changed_by(&self, after: &SettingsFileChange) -> bool {
        match after {
            SettingsFileChange::Text(text) => self.text.as_ref() != Some(text),
            SettingsFileChange::Gone => self.text.is_some(),
        }
    }
}

/// Follows symbolic links, also to a file that is not there yet.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut at = path.to_path_buf();
    for _ in 0..40 {
        match std::fs::read_link(&at) {
            Ok(link) => at = at.parent().unwrap_or(Path::new("/")).join(link),
            // EINVAL says that it is no link; what else is wrong shows when it is opened.
            Err(_) => return Ok(at),
        }
    }
    Err(io::Error::from_raw_os_error(libc::ELOOP))
}
