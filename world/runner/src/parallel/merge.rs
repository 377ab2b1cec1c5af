//! Bringing a branch together with the loop's own, in the work tree of the branch.

use super::git::Git;
use crate::RunnerError;
use engine::loops::MergeStyle;

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Joined {
    /// All of it is in the loop's branch already.
    Inside,
    /// The branch can be gone forward to from the loop's.
    Ready {
        tip: String,
        /// Its files are others than those that were proven.
        changed: bool,
    },
    /// Both sides changed the same lines of these files. The branch is as it was.
    Conflict { files: Vec<String> },
}

/// Afterwards the branch goes on from `head`, and the work tree shows it.
pub(super) fn join(tree: &Git, branch: &str, head: &str, how: &Style<'_>) -> Result<Joined, RunnerError> {
    let tip = tree.must(&["rev-parse", "--verify", "-q", &format!("refs/heads/{branch}^{{commit}}")])?;
    if tree.is_ancestor(&tip, head) {
        return Ok(Joined::Inside);
    }
    if tree.is_ancestor(head, &tip) {
        let tip = if how.style == MergeStyle::Merge && !is_merge(tree, &tip, head) {
            let tree_of = format!("{tip}^{{tree}}");
            let made = tree.must(&["commit-tree", &tree_of, "-p", head, "-p", &tip, "-m", how.message])?;
            tree.must(&["checkout", "-q", "-B", branch, &made])?;
            made
        } else {
            tip
        };
        return Ok(Joined::Ready { tip, changed: false });
    }
    // A merge that an agent made solved something that a replay of its commits would meet again.
    let merges = tree.text(&["rev-list", "--merges", "-n", "1", &format!("{head}..{tip}")]).unwrap_or_default();
    let done = if how.style == MergeStyle::Rebase && merges.is_empty() {
        rebase(tree, branch, head)?
    } else {
        merge(tree, branch, head, (&tip, how.message))?
    };
    match done {
        None => {
            let tip = tree.must(&["rev-parse", "--verify", "-q", "HEAD"])?;
            Ok(if tip == head { Joined::Inside } else { Joined::Ready { tip, changed: true } })
        }
        Some(files) => Ok(Joined::Conflict { files }),
    }
}

/// How branches join.
pub(super) struct Style<'a> {
    pub style: MergeStyle,
    /// Of a merge commit.
    pub message: &'a str,
}

fn rebase(tree: &Git, branch: &str, head: &str) -> Result<Option<Vec<String>>, RunnerError> {
    let git = tree.run(&["rebase", "-q", "--no-fork-point", "--onto", head, head, branch])?;
    if git.ok {
        return Ok(None);
    }
    let files = in_conflict(tree);
    // Where it did not even begin there is nothing to break off.
    let _ = tree.run(&["rebase", "--abort"]);
    if files.is_empty() {
        Err(RunnerError::Git { what: "rebase".to_string(), said: git.error })
    } else {
        Ok(Some(files))
    }
}

fn merge(
    tree: &Git,
    branch: &str,
    head: &str,
    (tip, message): (&str, &str),
) -> Result<Option<Vec<String>>, RunnerError> {
    tree.must(&["checkout", "-q", "--detach", head])?;
    let git = tree.run(&["merge", "-q", "--no-ff", "--no-edit", "--no-verify", "-m", message, tip])?;
    if git.ok {
        tree.must(&["checkout", "-q", "-B", branch])?;
        return Ok(None);
    }
    let files = in_conflict(tree);
    let _ = tree.run(&["merge", "--abort"]);
    tree.must(&["checkout", "-q", "--force", branch])?;
    if files.is_empty() {
        Err(RunnerError::Git { what: "merge".to_string(), said: git.error })
    } else {
        Ok(Some(files))
    }
}

/// Takes the commits of another branch into this one, where that makes no conflict; else says which files do.
pub(super) fn take_in(tree: &Git, commit: &str, message: &str) -> Result<Option<Vec<String>>, RunnerError> {
    let git = tree.run(&["merge", "-q", "--no-edit", "--no-verify", "-m", message, commit])?;
    if git.ok {
        return Ok(None);
    }
    let files = in_conflict(tree);
    let _ = tree.run(&["merge", "--abort"]);
    if files.is_empty() {
        Err(RunnerError::Git { what: "merge".to_string(), said: git.error })
    } else {
        Ok(Some(files))
    }
}

fn in_conflict(tree: &Git) -> Vec<String> {
    let listed = tree.text(&["diff", "--name-only", "--diff-filter=U"]).unwrap_or_default();
    listed.lines().map(String::from).collect()
}

/// Whether the tip is a merge that was made for this very head.
fn is_merge(tree: &Git, tip: &str, head: &str) -> bool {
    tree.commit(&format!("{tip}^1")).as_deref() == Some(head) && tree.commit(&format!("{tip}^2")).is_some()
}
