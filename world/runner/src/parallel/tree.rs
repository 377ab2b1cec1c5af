//! Work trees of tasks: made, set right, put away.

use super::git::Git;
use crate::RunnerError;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use sys::outside::{self, Rules};

/// A larger file of a merge is not looked at for marks, and counts as unsolved.
const LARGEST_MERGED: u64 = 64 << 20;
/// Stands among git's files of a work tree while the coordinator moves it.
const GATHERED: &str = "taut-gathered";
const LONGEST_MARK: u64 = 256;
/// So many files are named where there are many.
const MOST_NAMED: usize = 10;
/// How git writes a commit of another repository in place of a folder.
const LINK: &str = "160000";

/// Git's records of work trees are changed by one at a time: `prune` takes away the record that another `add` is just
/// about to write.
static RECORDS: Mutex<()> = Mutex::new(());

/// Another git of the same repository holds what we need no longer than this, all in all.
const LOCKED: [Duration; 4] =
    [Duration::from_millis(50), Duration::from_millis(200), Duration::from_millis(500), Duration::ZERO];

fn records() -> MutexGuard<'static, ()> {
    RECORDS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes the work tree of a branch, which begins at `start` where it is new.
pub(super) fn add(main: &Git, folder: &Path, branch: &str, start: &str) -> Result<Git, RunnerError> {
    let _alone = records();
    let mut made = add_once(main, folder, branch, start);
    for pause in LOCKED.into_iter().filter(|pause| !pause.is_zero()) {
        if made.is_ok() {
            break;
        }
        // Whoever else works in the repository has a git of their own, which may prune as well.
        std::thread::sleep(pause);
        made = add_once(main, folder, branch, start);
    }
    made
}

fn add_once(main: &Git, folder: &Path, branch: &str, start: &str) -> Result<Git, RunnerError> {
    // What a machine that went down left: a record without a folder, or a folder without a record.
    main.run(&["worktree", "prune"])?;
    let shown = folder.to_string_lossy().into_owned();
    let known = is_checked_out(main, folder);
    if folder.exists() && !known {
        std::fs::remove_dir_all(folder).map_err(|source| RunnerError::Write { path: folder.into(), source })?;
    }
    if let Some(above) = folder.parent() {
        std::fs::create_dir_all(above).map_err(|source| RunnerError::Write { path: above.into(), source })?;
    }
    if !known && main.commit(&format!("refs/heads/{branch}")).is_some() {
        main.must(&["worktree", "add", "-q", "--force", "--", &shown, branch])?;
    } else if !known {
        main.must(&["worktree", "add", "-q", "--no-track", "-b", branch, "--", &shown, start])?;
    }
    Ok(main.of(folder))
}

/// The folder, its record and its branch.
pub(super) fn remove(main: &Git, folder: &Path, branch: &str) {
    // The other checkout first: whoever is killed in between finds by the folder that something is left to do.
    let beside = beside(folder);
    if beside.exists() {
        put_away(main, &beside);
    }
    put_away(main, folder);
    // A branch that somebody has checked out meanwhile is theirs. One that another git holds for a moment is not.
    let is_there = || main.commit(&format!("refs/heads/{branch}")).is_some();
    for pause in LOCKED {
        if main.succeeds(&["branch", "-q", "-D", "--", branch]) || !is_there() {
            return;
        }
        std::thread::sleep(pause);
    }
}

/// The folder alone; the branch keeps the work.
pub(super) fn put_away(main: &Git, folder: &Path) {
    let _alone = records();
    if !main.succeeds(&["worktree", "remove", "--force", "--", &folder.to_string_lossy()]) {
        // Where git does not let go of it, as with submodules in it.
        let _ = std::fs::remove_dir_all(folder);
        let _ = main.run(&["worktree", "prune"]);
    }
    if let Some(above) = folder.parent() {
        // The run's own folder goes with its last tree.
        let _ = std::fs::remove_dir(above);
    }
}

/// A new checkout of a commit, beside the work tree of a task.
pub(super) fn clean_beside(main: &Git, folder: &Path, commit: &str) -> Result<PathBuf, RunnerError> {
    let clean = beside(folder);
    if clean.exists() {
        put_away(main, &clean);
    }
    let _alone = records();
    main.must(&["worktree", "add", "-q", "--force", "--detach", "--", &clean.to_string_lossy(), commit])?;
    Ok(clean)
}

/// No name of a task's own tree has a dot in it.
fn beside(folder: &Path) -> PathBuf {
    folder.with_extension("clean")
}

/// Files that count in a work tree and are in no commit of it: ignored ones, and those git was told to overlook.
pub(super) fn overlooked(tree: &Git) -> Vec<String> {
    let ignored = tree.text(&["ls-files", "--others", "--ignored", "--exclude-standard", "--directory"]);
    let flagged = tree.text(&["ls-files", "-v"]).unwrap_or_default();
    let hidden = flagged.lines().filter_map(|line| line.split_once(' ')).filter(|(flag, _)| {
        // Lower case: assumed to be unchanged; `S`: not looked at in the work tree.
        flag.chars().all(|c| c.is_ascii_lowercase()) || *flag == "S"
    });
    let hidden = hidden.map(|(_, path)| path).filter(|path| tree.folder.join(path).exists());
    let ignored = ignored.unwrap_or_default();
    ignored.lines().chain(hidden).take(MOST_NAMED).map(String::from).collect()
}

/// Words for the next attempt, where a folder would go into the loop's branch as nothing but the name of a commit that
/// only this work tree has.
pub(super) fn bare_links(tree: &Git, compared: &[&str]) -> Option<String> {
    let raw = tree.text(&[&["diff", "--raw", "--no-renames", "--ignore-submodules=none"][..], compared].concat())?;
    let modules = tree.text(&["config", "-f", ".gitmodules", "--get-regexp", r"^submodule\..*\.path$"]);
    let modules = modules.unwrap_or_default();
    let known = |path: &str| modules.lines().filter_map(|line| line.split_once(' ')).any(|(_, module)| module == path);
    let new = raw.lines().filter_map(|line| {
        let (modes, path) = line.strip_prefix(':')?.split_once('\t')?;
        let mut modes = modes.split(' ');
        (modes.next()? != LINK && modes.next()? == LINK && !known(path)).then_some(path)
    });
    let links: Vec<&str> = new.take(MOST_NAMED).collect();
    (!links.is_empty()).then(|| {
        format!(
            "{} is a repository of its own, and its files would not be merged: move its `.git` away and \
             `git rm --cached` it, or make it a submodule, commit, and say done again",
            links.join(", ")
        )
    })
}

/// Everything an agent left is on its branch afterwards: what was proven with its
/// files in place is what is merged. `Err` has words for the next attempt.
pub(super) fn gather(tree: &Git, branch: &str, slug: &str) -> Result<(), String> {
    if let Some(what) = halfway(tree) {
        return Err(format!("the work tree is in the middle of {what}: finish it, commit, and say done again"));
    }
    let marked = unsolved(tree);
    if !marked.is_empty() {
        return Err(format!(
            "conflicts are not solved in {}: solve them, commit, and say done again",
            marked.join(", ")
        ));
    }
    let failed = |error: RunnerError| format!("what was left uncommitted could not be committed: {error}");
    stage_rest(tree).map_err(failed)?;
    if let Some(words) = bare_links(tree, &["--cached", "HEAD"]) {
        return Err(words);
    }
    commit_staged(tree, slug).map_err(failed)?;
    let rest = tree.text(&["diff", "--name-only", "--ignore-submodules=all"]).unwrap_or_default();
    if !rest.is_empty() {
        let files = rest.lines().take(20).collect::<Vec<_>>().join(", ");
        return Err(format!(
            "{files} would go through a filter that the repository names, which the loop does not run: \
             commit them, and say done again"
        ));
    }
    let own = format!("refs/heads/{branch}");
    if tree.text(&["symbolic-ref", "-q", "HEAD"]).as_deref() == Some(&own) {
        return Ok(());
    }
    // The agent went elsewhere with its work; it counts where it goes on from its branch.
    let follows = tree.commit(&own).is_none_or(|tip| tree.is_ancestor(&tip, "HEAD"));
    if !follows {
        return Err(format!(
            "the work is not on branch {branch}: `git checkout {branch}`, bring it there, and say done again"
        ));
    }
    tree.must(&["checkout", "-q", "-B", branch]).map(drop).map_err(failed)
}

/// From here on the coordinator moves the tree: all that its agent left is on the branch. With the commit that it is about
/// to land, where it has come so far.
pub(super) fn mark_gathered(tree: &Git, landing: &str) {
    if let Some(mark) = inside(tree, GATHERED) {
        // Without it a tree that was left halfway is the agent's to finish, and nothing is lost.
        let _ = std::fs::write(mark, landing);
    }
}

/// The commit that was about to go into the loop's branch.
pub(super) fn landing(tree: &Git) -> Option<String> {
    let mark = inside(tree, GATHERED)?;
    outside::read_text(&mark, &Rules::up_to(LONGEST_MARK)).ok().filter(|commit| !commit.is_empty())
}

/// An agent begins in it.
pub(super) fn unmark_gathered(tree: &Git) {
    if let Some(mark) = inside(tree, GATHERED) {
        let _ = std::fs::remove_file(mark);
    }
}

/// As its branch has it, where a coordinator that was killed was moving it. Else it is as its agent left it, and nothing
/// of that is given up.
pub(super) fn set_right(tree: &Git, branch: &str) {
    if !inside(tree, GATHERED).is_some_and(|mark| mark.exists()) {
        return;
    }
    let _ = tree.run(&["rebase", "--abort"]);
    let _ = tree.run(&["merge", "--abort"]);
    let own = format!("refs/heads/{branch}");
    if tree.text(&["symbolic-ref", "-q", "HEAD"]).as_deref() != Some(&own) {
        // Not by force: what somebody changed since stays where it is, and is told of.
        let _ = tree.run(&["checkout", "-q", branch, "--"]);
    }
}

fn is_checked_out(main: &Git, folder: &Path) -> bool {
    let listed = main.text(&["worktree", "list", "--porcelain"]).unwrap_or_default();
    let real = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
    folder.join(".git").exists()
        && listed.lines().filter_map(|line| line.strip_prefix("worktree ")).any(|path| Path::new(path) == real)
}

/// A file among those that git keeps of this work tree.
fn inside(tree: &Git, name: &str) -> Option<PathBuf> {
    tree.text(&["rev-parse", "--git-path", name]).map(|path| tree.folder.join(path))
}

fn halfway(tree: &Git) -> Option<&'static str> {
    let stands = |name: &str| inside(tree, name).is_some_and(|path| path.exists());
    match () {
        () if stands("rebase-merge") || stands("rebase-apply") => Some("a rebase"),
        () if stands("CHERRY_PICK_HEAD") => Some("a cherry-pick"),
        () if stands("REVERT_HEAD") => Some("a revert"),
        () => None,
    }
}

/// Files of a merge that still have its marks in them.
fn unsolved(tree: &Git) -> Vec<String> {
    let listed = tree.text(&["diff", "--name-only", "--diff-filter=U"]).unwrap_or_default();
    let marked = |path: &&str| {
        match outside::read(&tree.folder.join(path), &Rules::up_to(LARGEST_MERGED)) {
            Ok(text) => text.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"<<<<<<< ")),
            // What was deleted is solved; what cannot be read is not known to be.
            Err(unread) => !unread.is_missing(),
        }
    };
    listed.lines().filter(marked).map(String::from).collect()
}

fn stage_rest(tree: &Git) -> Result<(), RunnerError> {
    // A filter that is switched off would let through what it was to keep out.
    let excluded: Vec<String> =
        tree.switched_off().iter().map(|name| format!(":(exclude,attr:filter={name})")).collect();
    let mut add = vec!["add", "-A", "--", "."];
    add.extend(excluded.iter().map(String::as_str));
    tree.must(&add).map(drop)
}

/// In the name of whoever made the commits before, or of whom git is told.
fn commit_staged(tree: &Git, slug: &str) -> Result<(), RunnerError> {
    let merging = tree.text(&["rev-parse", "--verify", "-q", "MERGE_HEAD"]).is_some();
    if !merging && tree.succeeds(&["diff", "--cached", "--quiet"]) {
        return Ok(());
    }
    let message = format!("{slug}: left uncommitted by the agent");
    tree.must(&["commit", "-q", "--no-verify", "-m", &message]).map(drop)
}
