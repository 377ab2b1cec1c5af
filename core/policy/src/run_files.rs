//! Files that a line runs: what the reader wants to know of them, asked of the world and given back.

use bash::{Command, KnownContent, KnownFile, KnownFiles, WantedFile};
use model::FoundInFile;
use model::fact::{Facts, FileContent, FileFact, Probe};
use std::sync::Arc;

/// What the reader wants, as a question to the world.
pub(crate) fn probe(wanted: &WantedFile) -> Probe {
    match wanted {
        WantedFile::At(path) => Probe::RunFile { path: path.clone() },
        WantedFile::Nearest { folder, names } => Probe::NearestFile { folder: folder.clone(), names: names.clone() },
    }
}

/// The answers, as the reader takes them.
pub(crate) fn known(facts: &Facts) -> KnownFiles {
    facts.files.iter().filter_map(|(asked, fact)| Some((wanted(asked)?, Arc::new(file(fact))))).collect()
}

fn wanted(asked: &Probe) -> Option<WantedFile> {
    match asked {
        Probe::RunFile { path } => Some(WantedFile::At(path.clone())),
        Probe::NearestFile { folder, names } => {
            Some(WantedFile::Nearest { folder: folder.clone(), names: names.clone() })
        }
        _ => None,
    }
}

fn file(fact: &FileFact) -> KnownFile {
    let content = match &fact.content {
        FileContent::Text(text) => KnownContent::Text(text.clone()),
        FileContent::Program(tool) => KnownContent::Program(tool.clone()),
        FileContent::Missing => KnownContent::Missing,
        FileContent::Unread(why) => KnownContent::Unread(why.clone()),
    };
    KnownFile { path: fact.path.as_str().into(), real: fact.real.as_str().into(), content }
}

/// Where a command stands, when it stands in a file. The path is told as seen from the folder of the call.
pub(crate) fn found_in(command: &Command, folder: Option<&str>, facts: &Facts) -> Option<FoundInFile> {
    let (path, line) = command.file()?;
    let fact = facts.files.iter().map(|(_, fact)| fact).find(|fact| fact.path == **path)?;
    let (changed, as_committed) = (fact.changed, fact.as_committed);
    let below = folder.and_then(|folder| path.strip_prefix(folder)?.strip_prefix('/'));
    Some(FoundInFile { path: below.unwrap_or(path).to_string(), line, changed, as_committed })
}
