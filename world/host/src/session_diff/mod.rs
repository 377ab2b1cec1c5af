//! What has changed in a work tree since a session began: commits, what is not committed, and files that git does not
//! know. Read from git's objects and the files themselves; the repository's index is copied and never written, and
//! nothing that a repository can set is run: [`private_git`].

mod bounded_run;
mod numstat;
mod private_git;
mod scratch;
#[cfg(test)]
mod tests;

use model::session_facts::DiffSize;
use private_git::PrivateGit;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What is asked.
#[derive(Debug, Clone)]
pub struct DiffRequest<'a> {
    /// The top of the work tree.
    pub tree: &'a Path,
    /// The commit or tree that it is compared with, or [`model::fact::UNBORN`].
    pub base: &'a str,
    /// What was not committed when the session began: as long as it is as it was then, it is none of its changes.
    pub before: &'a [UncommittedFile],
    /// Of the user whose files these are: what their own settings say of files on the disk counts.
    pub home: &'a Path,
    /// Taut's own folder, where git's scratch files lie meanwhile.
    pub state: &'a Path,
    pub limits: DiffLimits,
}

/// How much is read and told.
#[derive(Debug, Clone, Copy)]
pub struct DiffLimits {
    pub time: Duration,
    /// Of the diff itself; without any only its size is found out.
    pub patch_bytes: usize,
}

/// What has changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionDiff {
    pub size: DiffSize,
    pub files: Vec<FileDiff>,
    /// As `git diff` prints it, as far as it was asked for. As hostile as what an agent writes.
    pub patch: String,
    /// What is not in it, in plain words.
    pub notes: Vec<String>,
}

/// One file of it; `None` for one that is not text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff {
    pub path: String,
    pub added: Option<u64>,
    pub removed: Option<u64>,
}

/// Why nothing can be told.
#[derive(Debug, thiserror::Error)]
pub enum NoDiff {
    #[error("it works in no repository of git's, so what changed is not known")]
    NoRepository,
    #[error("the commit it began at is not in the repository any more")]
    BaseGone,
    #[error("git was not found, so what changed is not known")]
    NoGit,
    #[error("the repository is too large for its changes to be found out within {} s", limit.as_secs())]
    TooSlow { limit: Duration },
    #[error("git could not tell what changed: {said}")]
    Failed { said: String },
    #[error("cannot write in {}: check that it is yours and not full", folder.display())]
    Scratch { folder: PathBuf, source: std::io::Error },
}

impl DiffLimits {
    /// For a row: how much, and no more.
    pub const SIZE: Self = Self { time: Duration::from_secs(10), patch_bytes: 0 };
    /// For somebody who wants to read it.
    pub const WHOLE: Self = Self { time: Duration::from_secs(10), patch_bytes: 1 << 20 };
}

/// Files are named up to here; all of them count.
const MOST_FILES: usize = 2_000;

const DIFF: &[&str] = &[
    "diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-relative", "--ignore-submodules=dirty",
    "--submodule=short", "--find-renames", "-l400", "--src-prefix=a/", "--dst-prefix=b/", "--diff-algorithm=myers",
    "--unified=3",
];

/// A file as it is now, by the name git would give its content; `None` where there is none any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UncommittedFile(pub String, pub Option<String>);

/// More of them are not remembered.
const MOST_UNCOMMITTED: usize = 500;

/// What differs from the base: asked when a session begins. `None` where that is too much to be kept in mind.
pub fn uncommitted(request: &DiffRequest<'_>) -> Result<Option<Vec<UncommittedFile>>, NoDiff> {
    let mut git = PrivateGit::open(request)?;
    let base = git.base(request.base)?;
    git.take_index(&base)?;
    git.add_untracked()?;
    let asked = [DIFF, &["--name-only", "--no-renames", "-z", &base, "--"]].concat();
    let told = git.run(&asked, None, private_git::MOST_OUTPUT)?.whole("diff")?;
    let names = told.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    // A name that is no text, or has a line's end in it, cannot be asked about: its file counts as changed.
    let names: Vec<String> = names.filter_map(|name| String::from_utf8(name.to_vec()).ok()).collect();
    if names.len() > MOST_UNCOMMITTED {
        return Ok(None);
    }
    git.contents(names).map(Some)
}

/// What has changed since.
pub fn session_diff(request: &DiffRequest<'_>) -> Result<SessionDiff, NoDiff> {
    let mut git = PrivateGit::open(request)?;
    let base = git.base(request.base)?;
    git.take_index(&base)?;
    git.add_untracked()?;
    let (same, others) = git.same_as(request.before)?;
    let paths: Vec<&str> = ["."].into_iter().chain(same.iter().map(String::as_str)).collect();
    let paths = if same.is_empty() { &[] } else { paths.as_slice() };
    let most = private_git::MOST_OUTPUT;
    let told = git.run(&[DIFF, &["--numstat", "-z", &base, "--"], paths].concat(), None, most)?.whole("diff")?;
    let mut files = numstat::read(&told);
    let size = numstat::size(&files);
    let mut notes = std::mem::take(&mut git.notes);
    if others > 0 {
        notes.push(format!(
            "{} had changes that were not committed when it began: they are in it",
            many(others, "file")
        ));
    }
    let binary = files.iter().filter(|file| file.added.is_none()).count();
    if binary > 0 {
        notes.push(format!("{} without lines: not text, or too large", many(binary, "file")));
    }
    if request.tree.join(".gitmodules").exists() {
        notes.push("what changed inside submodules is not in it".to_string());
    }
    if files.len() > MOST_FILES {
        notes.push(format!("{} more files are not named", files.len() - MOST_FILES));
        files.truncate(MOST_FILES);
    }
    let mut patch = String::new();
    if request.limits.patch_bytes > 0 {
        let told = git.run(&[DIFF, &["--patch", &base, "--"], paths].concat(), None, request.limits.patch_bytes)?;
        if told.cut {
            notes.push(format!("only the first {} KiB of the diff are shown", request.limits.patch_bytes / 1024));
        }
        patch = String::from_utf8_lossy(&told.cut_or_whole("diff")?).into_owned();
    }
    Ok(SessionDiff { size, files, patch, notes })
}

pub(crate) fn many(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
