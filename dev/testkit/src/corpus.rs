//! The captured input of real clients, as the tests feed it.

use std::fs;
use std::io;
use std::path::PathBuf;

/// One captured hook input: file `<event>[.<what is special>].json`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The file's name without `.json`.
    pub name: String,
    pub event: String,
    pub bytes: Vec<u8>,
}

/// All cases of Claude Code, sorted by name.
///
/// # Errors
/// When the folder cannot be read, or is empty: a test over no cases would prove nothing.
pub fn claude_code() -> io::Result<Vec<Case>> {
    cases("claude-code")
}

/// All cases of one agent, sorted by name.
///
/// # Errors
/// When the folder cannot be read, or is empty.
pub fn cases(agent: &str) -> io::Result<Vec<Case>> {
    let folder = folder(agent);
    let mut cases = Vec::new();
    for entry in fs::read_dir(&folder).map_err(|cause| named(&folder, &cause))? {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            continue;
        };
        let Some(name) = name.strip_suffix(".json") else {
            continue;
        };
        cases.push(Case {
            name: name.to_owned(),
            event: name.split('.').next().unwrap_or(name).to_owned(),
            bytes: fs::read(&path)?,
        });
    }
    if cases.is_empty() {
        let none = io::Error::new(io::ErrorKind::NotFound, "no captured cases");
        return Err(named(&folder, &none));
    }
    cases.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(cases)
}

/// Where the captured input of an agent lies.
#[must_use]
pub fn folder(agent: &str) -> PathBuf {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus");
    PathBuf::from(root).join(agent)
}

fn named(folder: &std::path::Path, cause: &io::Error) -> io::Error {
    io::Error::new(cause.kind(), format!("{}: {cause}", folder.display()))
}
