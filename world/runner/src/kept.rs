//! Trees that are kept before an agent's command takes something away, for `taut undo`. Made by the hook's own process while
//! its client waits, so everything about it is bounded: time, files, bytes, how many there are and for how long.

use crate::RunnerError;
use crate::checkpoint::{
    Beyond, Bounds, Checkpoint, CheckpointGit, REFS, Snapshot, Status, UsedIndex, clear_folder, private_index,
};
use model::{Ms, text};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The longest that a hook's client is kept waiting for one.
pub const KEEPING_TIME: Duration = Duration::from_millis(1_800);

/// Older ones go, and of all those of a repository the oldest.
const KEPT_FOR_MS: i64 = 14 * 86_400_000;
const MOST_KEPT: usize = 100;

/// So much is said of a command.
const LONGEST: usize = 200;
/// So many letters of a commit name it.
const LETTERS: usize = 8;

/// What is to be kept, and before what.
#[derive(Debug, Clone)]
pub struct KeepRequest {
    /// The work tree.
    pub folder: PathBuf,
    pub state: PathBuf,
    pub agent: String,
    /// The command, as its finding names it.
    pub command: String,
    pub rule: String,
    pub size: KeepSize,
}

/// How large a tree may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepSize {
    /// As much as is not felt.
    Small,
    /// As much as there is time for.
    Any,
}

/// One that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptTree {
    /// What a person types.
    pub id: String,
    pub at: Ms,
    /// Nothing where a person's own undo was about to go over it.
    pub agent: Option<String>,
    pub command: String,
    pub rule: Option<String>,
    /// Whether all files are in it that git did not know.
    pub whole: bool,
    pub(crate) name: String,
    pub(crate) commit: String,
    folder: String,
}

/// Keeps the tree as it stands. Neither files nor index nor branch are touched.
pub fn keep_tree(asked: &KeepRequest) -> Result<KeptTree, RunnerError> {
    let git = open(&asked.folder, &asked.state, bounds(asked.size))?;
    let status = Status::of(&git)?;
    let said = |words: &str| text::line(words, LONGEST);
    let title = format!(
        "before a command of an agent\n\nagent: {}\nrule: {}\ncommand: {}",
        said(&asked.agent),
        said(&asked.rule),
        said(&asked.command)
    );
    let Snapshot { checkpoint, .. } = Snapshot::take(&git, &status, &title, &[])?;
    let kept = hold(&git, &checkpoint)?;
    clear_folder(&git);
    Ok(kept)
}

/// Those of one work tree, the newest first.
pub fn kept_trees(folder: &Path, state: &Path) -> Result<Vec<KeptTree>, RunnerError> {
    let git = open(folder, state, Bounds::default())?;
    of_tree(&git)
}

pub(crate) fn of_tree(git: &CheckpointGit) -> Result<Vec<KeptTree>, RunnerError> {
    let own = git.folder().to_string_lossy();
    let mut kept = listed(git)?;
    kept.retain(|one| one.folder == own);
    Ok(kept)
}

/// Gives a commit a name of its own, and drops the names of those that are too old or too many.
pub(crate) fn hold(git: &CheckpointGit, checkpoint: &Checkpoint) -> Result<KeptTree, RunnerError> {
    let now = host::clock::now();
    let stamp: String = now.rfc3339().chars().filter(char::is_ascii_digit).take(17).collect();
    let id = short(&checkpoint.commit);
    let name = format!("{REFS}/{PLACE}/{stamp}-{id}");
    let make = format!("create {name} {}\n", checkpoint.commit);
    let known = listed(git).unwrap_or_default();
    let (young, old): (Vec<_>, Vec<_>) = known.iter().partition(|one| now.since(one.at) <= KEPT_FOR_MS);
    let gone = old.into_iter().chain(young.into_iter().skip(MOST_KEPT - 1));
    let gone: String = gone.map(|one| format!("delete {} {}\n", one.name, one.commit)).collect();
    let update = |lines: &str| git.run(UsedIndex::Real, &["update-ref", "--stdin"], Some(lines.as_bytes()));
    // Somebody else may drop the same at the same time: then they are gone, and only ours is missing.
    update(&format!("{make}{gone}")).or_else(|_| update(&make))?;
    Ok(KeptTree {
        id,
        at: now,
        agent: None,
        command: String::new(),
        rule: None,
        whole: checkpoint.untracked,
        name,
        commit: checkpoint.commit.clone(),
        folder: checkpoint.folder.clone(),
    })
}

/// Where their names stand.
const PLACE: &str = "kept";

fn open(folder: &Path, state: &Path, bounds: Bounds) -> Result<CheckpointGit, RunnerError> {
    let private = private_index(state, &format!("kept-{}", std::process::id()));
    let none = || RunnerError::NoWorkTree { folder: folder.to_string_lossy().into_owned() };
    CheckpointGit::open(folder, private, bounds).ok_or_else(none)
}

fn bounds(size: KeepSize) -> Bounds {
    let (largest, untracked, files) = match size {
        KeepSize::Small => (4 << 20, 16 << 20, 2_000),
        KeepSize::Any => (32 << 20, 256 << 20, 50_000),
    };
    let until = Some(Instant::now() + KEEPING_TIME);
    Bounds { largest, untracked, files, beyond: Beyond::Smallest, until, output: 32 << 20 }
}

fn short(commit: &str) -> String {
    commit.chars().take(LETTERS).collect()
}

fn listed(git: &CheckpointGit) -> Result<Vec<KeptTree>, RunnerError> {
    let format = "--format=%(refname)%00%(objectname)%00%(committerdate:unix)%00%(contents)%00%00";
    let all = git.text(&["for-each-ref", "--sort=-refname", format, &format!("{REFS}/{PLACE}/")])?;
    Ok(all.split("\0\0").filter_map(read).collect())
}

/// What an agent may have written as well: nothing of it is more than words.
fn read(entry: &str) -> Option<KeptTree> {
    let mut parts = entry.trim_start_matches('\n').splitn(4, '\0');
    let (name, commit, seconds, words) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let fields: Vec<(&str, &str)> = words.lines().filter_map(|line| line.split_once(": ")).collect();
    // The last counts: what describes the tree is written after what describes the command.
    let field = |name: &str| fields.iter().rev().find(|(known, _)| *known == name).map(|(_, value)| value.to_string());
    Some(KeptTree {
        id: short(commit),
        at: Ms(seconds.parse::<i64>().ok()?.saturating_mul(1000)),
        agent: field("agent"),
        command: text::line(
            &field("command").unwrap_or_else(|| words.lines().next().unwrap_or_default().into()),
            LONGEST,
        ),
        rule: field("rule"),
        whole: field("untracked").is_some_and(|kept| kept == "all"),
        name: name.to_string(),
        commit: commit.to_string(),
        folder: field("folder")?,
    })
}

#[cfg(test)]
mod tests;
