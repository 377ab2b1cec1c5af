//! A forget that a person agreed to, on record until all of it is done: what was deleted first is what would have to be
//! known to find the rest, so whoever comes after a forget that stopped half-way finishes it by this.

use super::memory::is_below;
use crate::error::CliError;
use engine::memory::hand_over;
use model::Ms;
use serde_json::{Value, json};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use store::recall::RecallIndex;
use store::{ForgetCount, ForgetScope, Store};
use sys::outside::{self, Rules};

const FILE: &str = "forget.json";

/// A name for each of many thousand entries.
const LARGEST: u64 = 64 * 1024 * 1024;

pub struct PendingForget {
    /// What was asked for, as the command says it.
    pub asked: String,
    scopes: Vec<ForgetScope>,
    folders: Vec<PathBuf>,
    /// Folders that stay, without the note for the next session that lies there.
    shared: Vec<PathBuf>,
    entries: Vec<String>,
}

impl PendingForget {
    pub fn new(asked: String, scopes: Vec<ForgetScope>, count: &ForgetCount, folders: Vec<PathBuf>) -> Self {
        Self { asked, scopes, folders, shared: count.shared_folders.clone(), entries: count.entries.clone() }
    }

    /// `None` where nothing waits to be finished.
    pub fn read(state: &Path) -> Result<Option<Self>, CliError> {
        let path = state.join(FILE);
        let text = match outside::read_text(&path, &Rules::obeyed(LARGEST)) {
            Err(why) if why.is_missing() => return Ok(None),
            // What is not read says nothing, and that is told below.
            text => text.unwrap_or_default(),
        };
        let found = serde_json::from_str(&text).ok().and_then(|value: Value| Self::parse(&value));
        found.map(Some).ok_or_else(|| {
            CliError::failed(format!("{} does not say what was to be forgotten", path.display()))
                .hint(format!("rm '{}', then run the command again", path.display()))
        })
    }

    pub fn write(&self, state: &Path) -> Result<(), CliError> {
        let scope = |scope: &ForgetScope| match scope {
            ForgetScope::Project(path) => json!({"project": path}),
            ForgetScope::Session(id) => json!({"session": id}),
            ForgetScope::Before(at) => json!({"before": at.0}),
        };
        let value = json!({
            "asked": self.asked, "scopes": self.scopes.iter().map(scope).collect::<Vec<_>>(), "folders": self.folders,
            "shared": self.shared, "entries": self.entries,
        });
        let new = state.join("forget.json.new");
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW)
            .open(&new)?;
        file.write_all(value.to_string().as_bytes())?;
        file.sync_all()?;
        Ok(std::fs::rename(new, state.join(FILE))?)
    }

    /// Each part is tried, whatever became of the others. Only when all is done it is off the record.
    pub fn carry_out(&self, store: &mut Store, index: &mut RecallIndex, state: &Path) -> Result<(), CliError> {
        let mut done: Vec<Result<(), CliError>> = Vec::new();
        for scope in &self.scopes {
            done.push(store.forget(scope).map(drop).map_err(CliError::from));
            done.push(index.forget(scope, &self.entries).map(drop).map_err(CliError::from));
        }
        let ours = state.join("projects");
        for folder in self.folders.iter().filter(|folder| is_below(folder, &ours)) {
            done.push(removed(folder, std::fs::remove_dir_all(folder)));
        }
        for file in self.note_files(&ours) {
            done.push(removed(&file, std::fs::remove_file(&file)));
        }
        done.into_iter().collect::<Result<(), _>>()?;
        Ok(std::fs::remove_file(state.join(FILE))?)
    }

    pub fn note_files(&self, ours: &Path) -> Vec<PathBuf> {
        let shared = self.shared.iter().filter(|folder| is_below(folder, ours));
        shared.map(|folder| folder.join(hand_over::FILE)).filter(|file| file.symlink_metadata().is_ok()).collect()
    }

    fn parse(value: &Value) -> Option<Self> {
        let scope = |value: &Value| {
            let text = |name: &str| value.get(name)?.as_str().map(str::to_string);
            let before = || Some(ForgetScope::Before(Ms(value.get("before")?.as_i64()?)));
            text("project")
                .map(ForgetScope::Project)
                .or_else(|| text("session").map(ForgetScope::Session))
                .or_else(before)
        };
        let texts = |name: &str| serde_json::from_value::<Vec<String>>(value.get(name)?.clone()).ok();
        let paths = |name: &str| Some(texts(name)?.into_iter().map(PathBuf::from).collect());
        Some(Self {
            asked: value.get("asked")?.as_str()?.to_string(),
            scopes: value.get("scopes")?.as_array()?.iter().map(scope).collect::<Option<_>>()?,
            folders: paths("folders")?,
            shared: paths("shared")?,
            entries: texts("entries")?,
        })
    }
}

fn removed(path: &Path, result: std::io::Result<()>) -> Result<(), CliError> {
    match result {
        Err(cause) if cause.kind() != ErrorKind::NotFound => {
            Err(CliError::failed(format!("the rows are forgotten, but {} could not be removed", path.display()))
                .because(&cause)
                .hint("remove it by hand, then run the same command again"))
        }
        _ => Ok(()),
    }
}
