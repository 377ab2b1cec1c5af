//! The work tree of a task before its worker begins: from the head of the
//! loop's branch, with the commits of its blockers, and set up.

use super::bounded::Cancel;
use super::checks::{Check, Checked};
use super::git::Git;
use super::land::LoopBranch;
use super::remote::{Refusal, Remote};
use super::{merge, tree};
use crate::RunnerError;
use std::path::PathBuf;

#[derive(Debug, Clone)]
pub(super) struct TreeJob {
    pub main: Git,
    pub target: LoopBranch,
    pub remote: Option<Remote>,
    pub folder: PathBuf,
    pub branch: String,
    /// Commits of blockers that were merged elsewhere: task, commit and branch.
    pub blockers: Vec<(String, String, String)>,
    pub setup: Option<Check>,
}

/// Why there is no work tree.
#[derive(Debug)]
pub(super) enum Unprepared {
    /// Words for the task: it comes back with them.
    Task(String),
    /// The task is not at fault.
    Remote(Refusal),
}

impl From<String> for Unprepared {
    fn from(words: String) -> Self {
        Self::Task(words)
    }
}

impl TreeJob {
    pub(super) fn run(&self, cancel: &Cancel, mut hear: impl FnMut(&[u8])) -> Result<(), Unprepared> {
        let failed = |error: RunnerError| format!("no work tree could be made for it: {error}");
        let fresh = self.main.commit(&format!("refs/heads/{}", self.branch)).is_none();
        let made = !self.folder.join(".git").exists();
        if let Some(remote) = &self.remote {
            remote.follow(&self.main, &self.target, cancel).map_err(|refusal| match refusal {
                Refusal::Failed(error) => {
                    Unprepared::Task(format!("what others finished could not be taken in: {error}"))
                }
                refusal => Unprepared::Remote(refusal),
            })?;
        }
        let head = self.target.head(&self.main);
        let tree = tree::add(&self.main, &self.folder, &self.branch, &head).map_err(failed)?;
        tree::unmark_gathered(&tree);
        if fresh {
            self.take_in_blockers(&tree)?;
        }
        match self.setup.as_ref().filter(|_| made).map(|check| check.run(&self.folder, cancel, &mut hear)) {
            None | Some(Checked::Passed) => Ok(()),
            Some(Checked::Cancelled) => Err("the loop was stopped".to_string().into()),
            Some(Checked::Failed(words)) => {
                // The next attempt sets it up again.
                tree::remove(&self.main, &self.folder, &self.branch);
                Err(format!("the setup of its work tree failed: {words}").into())
            }
        }
    }

    /// A blocker that another loop merged into another branch: its commits come along.
    fn take_in_blockers(&self, tree: &Git) -> Result<(), String> {
        for (slug, commit, branch) in &self.blockers {
            let elsewhere = self.target.own.as_deref() != Some(branch);
            // Where they are not on that branch any more, somebody has rewritten it, and they count for nothing.
            let stands = tree.is_ancestor(commit, &format!("refs/heads/{branch}"));
            if !elsewhere || !stands || tree.is_ancestor(commit, "HEAD") {
                continue;
            }
            let message = format!("Merge task {slug} from branch '{branch}'");
            match merge::take_in(tree, commit, &message) {
                Ok(None) => {}
                Ok(Some(files)) => {
                    tree::remove(&self.main, &self.folder, &self.branch);
                    return Err(format!(
                        "it waits for task {slug}, which is done on branch {branch} and conflicts with {} in {}: \
                         merge {branch} first",
                        self.target.shown(tree),
                        files.join(", ")
                    ));
                }
                Err(error) => return Err(format!("task {slug} on branch {branch} could not be taken in: {error}")),
            }
        }
        Ok(())
    }
}
