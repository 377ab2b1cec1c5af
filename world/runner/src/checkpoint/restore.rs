//! Files, branch and index brought back to a tree that was kept. Whatever is written over or removed stands in the tree
//! that was taken just before; git itself refuses where that is not so.

use super::git::{CheckpointGit, UsedIndex, listed, names};
use super::snapshot::{Snapshot, Status, first_line, on_disk};
use super::{Checkpoint, IndexTree};
use crate::RunnerError;
use std::collections::HashSet;
use std::path::PathBuf;

/// What the files are to become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Goal {
    pub tree: String,
    pub changes: Vec<PathChange>,
    /// Not in the tree, and left alone all the same.
    pub stays: Vec<String>,
}

/// What happens to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathChange {
    pub how: ChangeKind,
    pub path: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    BroughtBack,
    Changed,
    Removed,
}

impl Goal {
    /// From the tree that stands in the private index to another. What nobody could have kept then stays: files that were
    /// too large or too many, and those that are ignored once the old `.gitignore` is back.
    pub(crate) fn of(
        git: &CheckpointGit,
        now: &Checkpoint,
        then: &Checkpoint,
        status: &Status,
    ) -> Result<Self, RunnerError> {
        let diff = ["diff-tree", "-r", "-z", "--no-renames", "--name-status", &now.tree, &then.tree];
        let out = git.run(UsedIndex::Real, &diff, None)?;
        let mut fields = names(&out);
        let mut found: Vec<(u8, Vec<u8>)> = Vec::new();
        while let (Some(how), Some(path)) = (fields.next(), fields.next()) {
            found.push((how.first().copied().unwrap_or_default(), path.to_vec()));
        }
        let untracked: HashSet<&[u8]> = status.untracked().collect();
        let removed = found.iter().filter(|(how, path)| *how == b'D' && untracked.contains(path.as_slice()));
        let removed: Vec<&[u8]> = removed.map(|(_, path)| path.as_slice()).collect();
        let rules_change = found.iter().any(|(_, path)| path.ends_with(b".gitignore"));
        let ignored = if rules_change { ignored(git, &then.tree, &removed)? } else { HashSet::new() };
        let stays = |path: &[u8]| {
            let size = std::fs::symlink_metadata(on_disk(git.folder(), path)).map_or(0, |meta| meta.len());
            !then.untracked || size > git.bounds().largest || ignored.contains(path)
        };
        let stays: HashSet<Vec<u8>> = removed.into_iter().filter(|path| stays(path)).map(<[u8]>::to_vec).collect();
        let tree = if stays.is_empty() { then.tree.clone() } else { with(git, &then.tree, &now.tree, &stays)? };
        let shown = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
        let change = |(how, path): &(u8, Vec<u8>)| PathChange {
            how: match how {
                b'A' => ChangeKind::BroughtBack,
                b'D' => ChangeKind::Removed,
                _ => ChangeKind::Changed,
            },
            path: shown(path),
        };
        let changes = found.iter().filter(|(_, path)| !stays.contains(path)).map(change).collect();
        let mut stays: Vec<String> = stays.iter().map(|path| shown(path)).collect();
        stays.sort();
        Ok(Self { tree, changes, stays })
    }
}

/// A tree, and besides it some files of another.
pub(crate) fn with(
    git: &CheckpointGit,
    tree: &str,
    other: &str,
    paths: &HashSet<Vec<u8>>,
) -> Result<String, RunnerError> {
    let scratch = Scratch::of(git);
    let index = UsedIndex::Named(&scratch.0);
    git.run(index, &["read-tree", other], None)?;
    let all = git.run(index, &["ls-files", "-s", "-z"], None)?;
    let own = names(&all).filter(|line| {
        let path = line.splitn(2, |byte| *byte == b'\t').nth(1);
        path.is_some_and(|path| paths.contains(path))
    });
    let own = listed(own);
    git.run(index, &["read-tree", tree], None)?;
    git.run(index, &["update-index", "--add", "-z", "--index-info"], Some(&own))?;
    Ok(first_line(&git.run(index, &["write-tree", "--missing-ok"], None)?))
}

/// Which of these paths a tree's own `.gitignore` files leave out.
fn ignored(git: &CheckpointGit, tree: &str, paths: &[&[u8]]) -> Result<HashSet<Vec<u8>>, RunnerError> {
    if paths.is_empty() {
        return Ok(HashSet::new());
    }
    let scratch = Scratch::of(git);
    let rules = scratch.0.with_extension("rules");
    let failed = |source| RunnerError::Write { path: rules.clone(), source };
    std::fs::create_dir_all(&rules).map_err(failed)?;
    let index = UsedIndex::Named(&scratch.0);
    git.run(index, &["read-tree", tree], None)?;
    let all = git.run(index, &["ls-files", "-z", "--", ":(top,glob)**/.gitignore"], None)?;
    let mut command = git.command(index);
    let mut prefix = std::ffi::OsString::from("--prefix=");
    prefix.push(&rules);
    prefix.push("/");
    command.args(["checkout-index", "-q", "-z", "--stdin"]).arg(prefix);
    git.finish(command, "checkout-index", Some(&all))?;
    let mut command = git.command(index);
    command.arg("--work-tree").arg(&rules).args(["check-ignore", "--no-index", "-z", "--stdin"]);
    // It ends with 1 where nothing is ignored.
    let found = git.finish(command, "check-ignore", Some(&listed(paths.iter().copied()))).unwrap_or_default();
    Ok(names(&found).map(<[u8]>::to_vec).collect())
}

/// A place for an index of a moment.
struct Scratch(PathBuf);

impl Scratch {
    fn of(git: &CheckpointGit) -> Self {
        Self(git.private().with_extension("scratch"))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
        let _ = std::fs::remove_dir_all(self.0.with_extension("rules"));
    }
}

/// The files of the tree in the private index become those of another. Nothing is touched where one of them changed since.
pub(crate) fn set_files(git: &CheckpointGit, now: &str, goal: &str, head: Option<&str>) -> Result<(), RunnerError> {
    git.run(UsedIndex::Private, &["read-tree", "-m", "-u", now, goal], None)?;
    head.map_or(Ok(()), |head| bring_outside(git, head, goal))
}

/// A sparse tree has no files outside its patterns but those that somebody wrote there, and git brings none of them back.
fn bring_outside(git: &CheckpointGit, head: &str, goal: &str) -> Result<(), RunnerError> {
    let diff = ["diff-tree", "-r", "-z", "--no-renames", "--name-only", "--diff-filter=AM", head, goal];
    let written = git.run(UsedIndex::Real, &diff, None)?;
    let is_missing = |path: &&[u8]| std::fs::symlink_metadata(on_disk(git.folder(), path)).is_err();
    let missing = listed(names(&written).filter(is_missing));
    if missing.is_empty() {
        return Ok(());
    }
    let bring = ["checkout-index", "-q", "--ignore-skip-worktree-bits", "-z", "--stdin"];
    git.run(UsedIndex::Private, &bring, Some(&missing)).map(drop)
}

/// The branch and the index stand where they stood then. A merge that is under way is over by that.
pub(crate) fn set_back(git: &CheckpointGit, then: &Checkpoint, now: &Status) -> Result<(), RunnerError> {
    let run = |args: &[&str]| git.run(UsedIndex::Real, args, None).map(drop);
    match (&then.branch, &then.head) {
        (Some(branch), _) if then.branch != now.branch => {
            run(&["symbolic-ref", "-m", "taut undo", "HEAD", branch])?;
        }
        (None, Some(head)) if now.branch.is_some() => run(&["update-ref", "--no-deref", "HEAD", head])?,
        _ => {}
    }
    match &then.head {
        Some(head) => {
            let mut command = git.command(UsedIndex::Real);
            // This is a move of the user's branch, so it stands in its log.
            command.args(["-c", "core.logAllRefUpdates=true"]).env("GIT_REFLOG_ACTION", "taut undo");
            command.args(["reset", "-q", "--mixed", head]);
            git.finish(command, "reset", None)?;
        }
        None => {
            if git.text(&["rev-parse", "--verify", "-q", "HEAD"]).is_ok() {
                run(&["update-ref", "-d", "HEAD"])?;
            }
            run(&["read-tree", "--empty"])?;
        }
    }
    if let IndexTree::Tree(tree) = &then.index {
        run(&["read-tree", tree])?;
    }
    // Ends with 1 where a file differs from what is staged, which is no failure.
    let _ = run(&["update-index", "-q", "--refresh"]);
    Ok(())
}

/// Takes what an iteration left out of the way: files become what they were before it. Its commits stay, with what was
/// uncommitted before carried over them.
pub(super) fn aside(git: &CheckpointGit, before: &str, after: &str, iteration: u64) -> Result<String, RunnerError> {
    let before = Checkpoint::read(git, before)?;
    let status = Status::of(git)?;
    if status.branch != before.branch || git.is_rebasing() {
        return Ok("what the failed iteration left stays: it went to another branch".to_string());
    }
    git.free_index()?;
    let also = missing_paths(git, &before)?;
    let title = format!("what failed iteration {iteration} left");
    let Snapshot { checkpoint: left, .. } = Snapshot::take(git, &status, &title, &also)?;
    git.set_ref(after, &left.commit)?;
    let target = if status.head == before.head {
        before.clone()
    } else {
        let Some(tree) = carried_over(git, &before, &status) else {
            return Ok(format!("what the failed iteration left stays, since it cannot be told from your own: {after}"));
        };
        Checkpoint { tree, head: status.head.clone(), index: IndexTree::AsHead, ..before.clone() }
    };
    let goal = Goal::of(git, &left, &target, &status)?;
    if goal.changes.is_empty() {
        return Ok("the failed iteration left nothing but its commits".to_string());
    }
    set_files(git, &left.tree, &goal.tree, target.head.as_deref())?;
    set_back(git, &target, &status)?;
    let many = goal.changes.len();
    Ok(format!(
        "what the failed iteration left in {many} files is out of the way; `git diff {} {after}` shows it, \
         `git restore --source={after} -- <file>` brings a file back",
        if status.head == before.head { before.commit.get(..12).unwrap_or_default() } else { "HEAD" }
    ))
}

/// The tree of the present commit with what was uncommitted before the iteration; `None` where the two collide.
fn carried_over(git: &CheckpointGit, before: &Checkpoint, status: &Status) -> Option<String> {
    let (now, then) = (status.head.as_deref()?, before.head.as_deref()?);
    let tree_of = |commit: &str| git.text(&["rev-parse", "--verify", "-q", &format!("{commit}^{{tree}}")]).ok();
    if tree_of(then)? == before.tree {
        return tree_of(now);
    }
    let base = format!("--merge-base={then}");
    let merged = git.text(&["merge-tree", "--write-tree", &base, now, &before.commit]).ok()?;
    merged.lines().next().map(str::to_string)
}

/// Files of a tree that the user's index does not know: they are kept whatever is ignored by now.
pub(crate) fn missing_paths(git: &CheckpointGit, then: &Checkpoint) -> Result<Vec<Vec<u8>>, RunnerError> {
    let known = git.run(UsedIndex::Real, &["ls-files", "-z"], None)?;
    let known: HashSet<&[u8]> = names(&known).collect();
    let all = git.run(UsedIndex::Real, &["ls-tree", "-r", "-z", "--name-only", "--full-tree", &then.tree], None)?;
    Ok(names(&all).filter(|path| !known.contains(path)).map(<[u8]>::to_vec).collect())
}
