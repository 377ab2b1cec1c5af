//! Work trees of tasks: made, set right, put away.

use super::git::Git;
use crate::RunnerError;
use std::path::Path;
use sys::outside::{self, Rules};

/// A larger file is not looked through for the marks of a conflict; the verification sees it.
const LARGEST: u64 = 16 << 20;

/// Makes the work tree of a branch, which begins at `start` where it is new.
pub(super) fn add(main: &Git, folder: &Path, branch: &str, start: &str) -> Result<Git, RunnerError> {
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
    put_away(main, folder);
    // A branch that somebody has checked out meanwhile is theirs.
    let _ = main.run(&["branch", "-q", "-D", "--", branch]);
}

/// The folder alone; the branch keeps the work.
pub(super) fn put_away(main: &Git, folder: &Path) {
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
    commit_rest(tree, slug).map_err(failed)?;
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

/// As its branch has it, whatever a coordinator that was killed was doing with it.
pub(super) fn set_right(tree: &Git, branch: &str) {
    let _ = tree.run(&["rebase", "--abort"]);
    let _ = tree.run(&["merge", "--abort"]);
    let own = format!("refs/heads/{branch}");
    if tree.text(&["symbolic-ref", "-q", "HEAD"]).as_deref() != Some(&own) {
        let _ = tree.run(&["checkout", "-q", "--force", branch]);
    }
}

fn is_checked_out(main: &Git, folder: &Path) -> bool {
    let listed = main.text(&["worktree", "list", "--porcelain"]).unwrap_or_default();
    let real = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
    folder.join(".git").exists()
        && listed.lines().filter_map(|line| line.strip_prefix("worktree ")).any(|path| Path::new(path) == real)
}

fn halfway(tree: &Git) -> Option<&'static str> {
    let inside = |name: &str| tree.text(&["rev-parse", "--git-path", name]).map(|path| tree.folder.join(path));
    let stands = |name: &str| inside(name).is_some_and(|path| path.exists());
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
        let text = outside::read(&tree.folder.join(path), &Rules::up_to(LARGEST)).unwrap_or_default();
        text.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"<<<<<<< "))
    };
    listed.lines().filter(marked).map(String::from).collect()
}

/// In the name of whoever made the commits before, or of whom git is told.
fn commit_rest(tree: &Git, slug: &str) -> Result<(), RunnerError> {
    // A filter that is switched off would let through what it was to keep out.
    let excluded: Vec<String> =
        tree.switched_off().iter().map(|name| format!(":(exclude,attr:filter={name})")).collect();
    let mut add = vec!["add", "-A", "--", "."];
    add.extend(excluded.iter().map(String::as_str));
    tree.must(&add)?;
    let merging = tree.text(&["rev-parse", "--verify", "-q", "MERGE_HEAD"]).is_some();
    if !merging && tree.succeeds(&["diff", "--cached", "--quiet"]) {
        return Ok(());
    }
    let message = format!("{slug}: left uncommitted by the agent");
    tree.must(&["commit", "-q", "--no-verify", "-m", &message]).map(drop)
}
