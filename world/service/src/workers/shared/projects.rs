//! What is shared, by the user's own file as it stands now: which server, and what the queue of a project is called there.
//! Where the file says nothing of it, one look at its date is all that this costs.

use pipeline::{
    PipelineSetup, PolicyCache, SettingsSource, SharedServer, SharedSettings, shared_server, shared_settings,
};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What a variable says to whoever asks; nothing to the daemon.
pub(crate) type Variable = fn(&str) -> Option<String>;

/// Projects of which the name is remembered within one round.
const MOST_KNOWN: usize = 512;

pub(crate) struct SharedProjects {
    setting: PipelineSetup,
    said: Variable,
    policies: PolicyCache,
    file: FileLook,
    /// Where the command is at work, for which alone its environment names a server.
    own: Option<String>,
    /// Names of queues by the paths of projects, for one round.
    known: HashMap<String, Option<String>>,
}

/// A file is another when this is.
pub(crate) type FileStamp = (SystemTime, u64);

/// Whether the user's file speaks of sharing at all.
pub(crate) struct FileLook {
    path: PathBuf,
    seen: Option<FileStamp>,
    says: bool,
}

/// A larger configuration is none.
const LARGEST: u64 = 1024 * 1024;

impl FileLook {
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_path_buf(), seen: None, says: false }
    }

    pub fn stamp(&self) -> Option<FileStamp> {
        self.seen
    }

    /// The word is looked for only in a file that is another than at the last look.
    pub fn says_shared(&mut self) -> bool {
        let found = std::fs::metadata(&self.path).ok();
        let seen = found.as_ref().and_then(|found| Some((found.modified().ok()?, found.len())));
        if seen != self.seen {
            let text = sys::outside::read_text(&self.path, &sys::outside::Rules::up_to(LARGEST));
            self.says = match text {
                Ok(text) => text.contains("shared"),
                // One that cannot be read now may say what it said before; one that is gone says nothing.
                Err(_) => found.is_some() && (self.says || self.seen.is_none()),
            };
            self.seen = seen;
        }
        self.says
    }
}

impl SharedProjects {
    pub fn new(setting: &PipelineSetup, said: Variable) -> Self {
        let policies = PolicyCache::new(setting.user_config.clone(), setting.state.clone());
        let file = FileLook::new(&setting.user_config);
        Self { setting: setting.clone(), said, policies, file, own: None, known: HashMap::new() }
    }

    /// Of a command in this folder.
    pub fn in_folder(self, folder: Option<PathBuf>) -> Self {
        let own = folder.map(|folder| host::probe::project(&folder, &self.setting.home).root);
        Self { own, ..self }
    }

    /// The server that is configured now. Names of projects are looked up anew from here on.
    pub fn server(&mut self) -> Option<SharedServer> {
        self.known.clear();
        let named = ["TAUT_DATABASE_URL", "RALPH_DB_URL"].iter().any(|name| (self.said)(name).is_some());
        if !named && !self.file.says_shared() {
            return None;
        }
        let policy = self.policies.of("/", &self.setting.home);
        shared_server(&policy.policy.sections.shared, &self.setting.user_config, &self.said)
    }

    /// Whether the user's file names a server, whatever the environment says.
    pub fn names_server(&mut self) -> bool {
        let policy = self.policies.of("/", &self.setting.home);
        shared_server(&policy.policy.sections.shared, &self.setting.user_config, &|_| None).is_some()
    }

    /// Of the user's file as it was looked at for [`Self::server`].
    pub fn stamp(&self) -> Option<FileStamp> {
        self.file.stamp()
    }

    /// Whether the user's file has to be mended before anybody knows what it says of sharing.
    pub fn is_unclear(&mut self) -> bool {
        let policy = self.policies.of("/", &self.setting.home);
        let file = self.setting.user_config.to_string_lossy();
        let is_about = |section: &Option<String>| section.as_ref().is_none_or(|section| section == "shared");
        policy.diagnostics.iter().any(|found| found.file == file && found.is_mistake() && is_about(&found.section))
    }

    /// Whether its repository names any queue now.
    pub fn names_queue(&mut self, project: &str) -> bool {
        self.policies.of(project, &self.setting.home).policy.sections.shared.project.is_some()
    }

    /// What the queue of a project is called; `None` where the project is not shared.
    pub fn queue(&mut self, project: &str) -> Option<String> {
        if let Some(known) = self.known.get(project) {
            return known.clone();
        }
        let policy = self.policies.of(project, &self.setting.home);
        let section = &policy.policy.sections.shared;
        let settings = shared_settings(section, &self.setting.user_config, &self.said);
        let takes_part = |settings: &SharedSettings| {
            settings.server.from == SettingsSource::Config
                || settings.server.projects.contains(&settings.queue)
                || self.own.as_deref() == Some(project)
        };
        let queue = settings.filter(takes_part).map(|settings| settings.queue);
        if self.known.len() < MOST_KNOWN {
            self.known.insert(project.to_string(), queue.clone());
        }
        queue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x3_a_file_that_is_there_and_cannot_be_read_may_speak_of_sharing() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("config.toml");
        let mut look = FileLook::new(&file);
        assert!(!look.says_shared(), "there is none");
        std::fs::create_dir(&file).unwrap();
        assert!(FileLook::new(&file).says_shared());
    }
}
