//! Where things are kept: the state folder, the user's configuration, the home.

use model::AgentProfile;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What of a process's environment says where things are kept.
#[derive(Debug, Clone, Default)]
pub struct PathVariables {
    pub taut_home: Option<PathBuf>,
    pub xdg_state: Option<PathBuf>,
    pub xdg_config: Option<PathBuf>,
    pub home: Option<PathBuf>,
    /// The folders of agents that are not in their usual place, by the agent's id.
    pub agent_folders: BTreeMap<&'static str, PathBuf>,
}

impl PathVariables {
    /// Where this process finds things: see [`crate::origin`].
    pub fn from_process() -> Self {
        crate::origin::places_of_command()
    }

    /// As an environment says it.
    pub(crate) fn of_environment(value: impl Fn(&str) -> Option<OsString>) -> Self {
        let folder = |name: &str| value(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let profiles = agents::ALL.0.iter().map(|dialect| dialect.profile);
        let moved = profiles.filter_map(|agent| {
            let (folder, below) = agent.variables.moved(folder)?;
            // Joined with nothing, a path would end in a separator.
            Some((agent.id, if below.is_empty() { folder } else { folder.join(below) }))
        });
        Self {
            taut_home: folder("TAUT_HOME"),
            // The XDG specification says that relative paths are to be ignored.
            xdg_state: folder("XDG_STATE_HOME").filter(|path| path.is_absolute()),
            xdg_config: folder("XDG_CONFIG_HOME").filter(|path| path.is_absolute()),
            home: folder("HOME"),
            agent_folders: moved.collect(),
        }
    }

    /// As the environment says it that a client was started with. A relative path would lead into the folder that the
    /// hook was called in, which is a repository's.
    pub(crate) fn of_start(value: impl Fn(&str) -> Option<OsString>) -> Self {
        Self::of_environment(|name| value(name).filter(|path| Path::new(path).is_absolute()))
    }

    /// The folder of database, socket, locks and logs.
    pub fn state(&self) -> PathBuf {
        if let Some(folder) = &self.taut_home {
            return folder.clone();
        }
        match &self.xdg_state {
            Some(folder) => folder.join("taut"),
            None => self.home().join(".local/state/taut"),
        }
    }

    pub fn home(&self) -> PathBuf {
        self.home.clone().or_else(account_home).unwrap_or_else(|| PathBuf::from("/"))
    }

    /// The user's own `taut/config.toml`.
    pub fn user_config(&self) -> PathBuf {
        match &self.xdg_config {
            Some(folder) => folder.join("taut/config.toml"),
            None => self.home().join(".config/taut/config.toml"),
        }
    }

    /// Where an agent looks for what others have in their home: its own folder, where a variable names that.
    pub fn agent_home(&self, agent: &AgentProfile) -> PathBuf {
        self.agent_folders.get(agent.id).cloned().unwrap_or_else(|| self.home())
    }

    /// An agent's own folder of the user.
    pub fn agent_folder(&self, agent: &AgentProfile) -> PathBuf {
        self.agent_folders.get(agent.id).cloned().unwrap_or_else(|| self.home().join(agent.folder))
    }
}

/// The home folder the account has, whatever the environment says.
#[cfg(not(target_os = "macos"))]
pub fn account_home() -> Option<PathBuf> {
    account_field(5).filter(|home| home.starts_with('/')).map(PathBuf::from)
}

/// What the account is called, whatever the environment says.
#[cfg(target_os = "macos")]
pub fn account_name() -> Option<String> {
    sys::account::name()
}

/// What the account is called, where a file lists it.
#[cfg(not(target_os = "macos"))]
pub fn account_name() -> Option<String> {
    account_field(0).filter(|name| !name.is_empty())
}

#[cfg(not(target_os = "macos"))]
fn account_field(at: usize) -> Option<String> {
    let uid = sys::outside::user().to_string();
    let text = std::fs::read_to_string("/etc/passwd").ok()?;
    let line = text.lines().find(|line| line.split(':').nth(2) == Some(&uid))?;
    line.split(':').nth(at).map(str::to_string)
}

/// Accounts are not listed in a file there; the system's directory knows them.
#[cfg(target_os = "macos")]
pub fn account_home() -> Option<PathBuf> {
    sys::account::home().filter(|home| home.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taut_home_wins_over_xdg_and_home() {
        let mut places = PathVariables {
            taut_home: Some("/t".into()),
            xdg_state: Some("/x".into()),
            home: Some("/h".into()),
            ..PathVariables::default()
        };
        assert_eq!(places.state(), Path::new("/t"));
        places.taut_home = None;
        assert_eq!(places.state(), Path::new("/x/taut"));
        places.xdg_state = None;
        assert_eq!(places.state(), Path::new("/h/.local/state/taut"));
    }
}
