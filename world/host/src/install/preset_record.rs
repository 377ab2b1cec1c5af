//! What an installation with a preset wrote into a project, kept so that it can be taken back: files as long as nobody
//! has changed them, folders that were made for them, the trust in them, and other names of the program.

use super::preset::NewFile;
use crate::settings_file::{make_private, name_for, write_private};
use crate::trust::ProjectFiles;
use serde_json::{Value, json};
use std::io;
use std::path::{Path, PathBuf};
use sys::outside::{self, Rules};

/// Larger than any file of a preset.
const LARGEST: u64 = 1 << 20;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PresetRecord {
    pub project: PathBuf,
    pub preset: String,
    pub files: Vec<NewFile>,
    /// Folders that were made for the files.
    pub folders: Vec<PathBuf>,
    /// Other names of the program.
    pub aliases: Vec<String>,
}

impl PresetRecord {
    /// Of files that are about to be written.
    pub fn of(project: &Path, preset: &str, files: &[NewFile], aliases: &[&str]) -> Self {
        let above = |file: &NewFile| file.path.ancestors().skip(1).map(Path::to_path_buf).collect::<Vec<_>>();
        let is_made = |folder: &PathBuf| folder.starts_with(project) && folder != project && !folder.exists();
        let mut folders: Vec<PathBuf> = files.iter().flat_map(above).filter(is_made).collect();
        folders.sort();
        folders.dedup();
        Self {
            project: project.to_path_buf(),
            preset: preset.to_owned(),
            files: files.to_vec(),
            folders,
            aliases: aliases.iter().map(ToString::to_string).collect(),
        }
    }

    /// What is known of a project.
    pub fn read(state: &Path, project: &Path) -> Option<Self> {
        Self::at(&file(state, project)).filter(|found| found.project == project)
    }

    /// Every project that there is a record of.
    pub fn all(state: &Path) -> Vec<Self> {
        let entries = std::fs::read_dir(state.join("presets")).into_iter().flatten().flatten();
        let mut found: Vec<Self> = entries.filter_map(|entry| Self::at(&entry.path())).collect();
        found.sort_by(|one, other| one.project.cmp(&other.project));
        found
    }

    /// Keeps it, with what was known before.
    pub fn write(mut self, state: &Path) -> io::Result<()> {
        if let Some(old) = Self::read(state, &self.project) {
            let is_new = |file: &NewFile| !self.files.iter().any(|known| known.path == file.path);
            let kept: Vec<NewFile> = old.files.into_iter().filter(is_new).collect();
            self.files.extend(kept);
            self.folders.extend(old.folders);
            self.aliases.extend(old.aliases);
            self.aliases.sort();
            self.aliases.dedup();
        }
        let files: Vec<Value> = self.files.iter().map(|file| json!([file.path.to_string_lossy(), file.text])).collect();
        let folders: Vec<_> = self.folders.iter().map(|folder| folder.to_string_lossy()).collect();
        let value = json!({
            "project": self.project.to_string_lossy(),
            "preset": self.preset,
            "files": files,
            "folders": folders,
            "aliases": self.aliases,
        });
        make_private(&state.join("presets"))?;
        let (path, next) = (file(state, &self.project), state.join("presets/record.next"));
        write_private(&next, &value.to_string())?;
        std::fs::rename(next, path)
    }

    /// The files that are as they were written, and those that somebody has changed since.
    pub fn by_state(&self) -> (Vec<&NewFile>, Vec<&NewFile>) {
        let is_there = |file: &&NewFile| file.path.symlink_metadata().is_ok();
        self.files.iter().filter(is_there).partition(|file| is_as_written(file))
    }

    /// Takes back what nobody has changed.
    pub fn take_back(&self, state: &Path) -> io::Result<()> {
        let before = ProjectFiles::of(&self.project);
        let (configured, hooks) = (before.configuration_holds(state), before.loop_holds(state));
        for file in self.by_state().0 {
            std::fs::remove_file(&file.path)?;
        }
        let mut folders: Vec<&PathBuf> = self.folders.iter().collect();
        folders.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
        for folder in folders {
            // One that holds something else stays.
            let _ = std::fs::remove_dir(folder);
        }
        let after = ProjectFiles::of(&self.project);
        match after.shown().is_empty() {
            true => after.forget(state),
            // What is left was agreed to with the rest.
            false if configured && hooks => after.grant(state)?,
            false if configured => after.grant_configuration(state)?,
            false => {}
        }
        // A record that stays would only be read again.
        let _ = std::fs::remove_file(file(state, &self.project));
        let others = Self::all(state);
        let is_used = |alias: &String| others.iter().any(|other| other.aliases.contains(alias));
        for alias in self.aliases.iter().filter(|alias| !is_used(alias)) {
            let path = state.join("bin").join(alias);
            if path.is_symlink() {
                std::fs::remove_file(path)?;
            }
        }
        Ok(())
    }

    fn at(path: &Path) -> Option<Self> {
        let value: Value = serde_json::from_str(&outside::read_text(path, &Rules::up_to(LARGEST)).ok()?).ok()?;
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let list = |key: &str| value.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
        let words =
            |key: &str| list(key).iter().filter_map(|word| word.as_str().map(str::to_owned)).collect::<Vec<_>>();
        let new_file = |pair: &Value| {
            let (path, text) = (pair.get(0)?.as_str()?, pair.get(1)?.as_str()?);
            Some(NewFile { path: path.into(), text: text.to_owned() })
        };
        Some(Self {
            project: text("project")?.into(),
            preset: text("preset")?,
            files: list("files").iter().filter_map(new_file).collect(),
            folders: words("folders").into_iter().map(PathBuf::from).collect(),
            aliases: words("aliases"),
        })
    }
}

fn file(state: &Path, project: &Path) -> PathBuf {
    state.join("presets").join(format!("{}.json", name_for(project)))
}

fn is_as_written(file: &NewFile) -> bool {
    outside::read(&file.path, &Rules::up_to(LARGEST)).is_ok_and(|bytes| bytes == file.text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::super::preset;
    use super::*;

    const FILES: preset::Files<'static> =
        &[(".taut/config.toml", "[session]\nrequired = true\n"), (".loop/hooks/started", "#!/bin/sh\n")];

    struct Written {
        folder: tempfile::TempDir,
    }

    impl Written {
        fn new() -> Self {
            let written = Self { folder: tempfile::tempdir().unwrap() };
            std::fs::create_dir(written.project()).unwrap();
            let missing = preset::plan(&written.project(), FILES).unwrap();
            let record = PresetRecord::of(&written.project(), "one", &missing, &["engine"]);
            record.write(&written.state()).unwrap();
            preset::write(&missing).unwrap();
            preset::link_aliases(&written.state(), Path::new("/b/taut"), &["engine"]).unwrap();
            ProjectFiles::of(&written.project()).grant(&written.state()).unwrap();
            written
        }

        fn project(&self) -> PathBuf {
            self.folder.path().join("acme")
        }

        fn state(&self) -> PathBuf {
            self.folder.path().join("state")
        }

        fn record(&self) -> PresetRecord {
            PresetRecord::read(&self.state(), &self.project()).unwrap()
        }
    }

    #[test]
    fn i1_what_a_preset_wrote_is_gone_again_with_its_folders_its_trust_and_its_names() {
        let written = Written::new();
        let again = PresetRecord::of(&written.project(), "one", &[], &["engine"]);
        again.write(&written.state()).unwrap();
        assert_eq!(written.record().files.len(), 2, "a second run forgets nothing");
        written.record().take_back(&written.state()).unwrap();
        assert_eq!(std::fs::read_dir(written.project()).unwrap().count(), 0);
        assert!(!written.state().join("bin/engine").is_symlink());
        assert_eq!(PresetRecord::read(&written.state(), &written.project()), None);
        std::fs::create_dir(written.project().join(".taut")).unwrap();
        std::fs::write(written.project().join(".taut/config.toml"), FILES[0].1).unwrap();
        assert!(!ProjectFiles::of(&written.project()).configuration_holds(&written.state()), "trust went with it");
    }

    #[test]
    fn i1_what_somebody_changed_since_stays() {
        let written = Written::new();
        std::fs::write(written.project().join(".taut/config.toml"), "mine").unwrap();
        let record = written.record();
        assert_eq!(record.by_state().1.len(), 1);
        record.take_back(&written.state()).unwrap();
        assert_eq!(std::fs::read_to_string(written.project().join(".taut/config.toml")).unwrap(), "mine");
        assert!(!written.project().join(".loop").exists());
    }

    #[test]
    fn i1_a_name_that_another_project_uses_stays() {
        let written = Written::new();
        let other = PresetRecord::of(Path::new("/other"), "one", &[], &["engine"]);
        other.write(&written.state()).unwrap();
        written.record().take_back(&written.state()).unwrap();
        assert!(written.state().join("bin/engine").is_symlink());
    }
}
