//! One branch on its way into the loop's: gathered, brought together, proven as
//! it will land, and landed. Done in a thread of its own; it decides nothing of the queue.

use super::bounded::Cancel;
use super::checks::{Check, Checked};
use super::git::Git;
use super::land::{Landing, LoopBranch};
use super::merge::{self, Joined, Style};
use super::tree;
use crate::RunnerError;
use engine::loops::{Conflict, MergeStyle};
use std::path::PathBuf;

/// Somebody who commits faster than that is not raced on.
const MOST_ROUNDS: usize = 8;

/// What is to be merged.
#[derive(Debug, Clone)]
pub(super) struct MergeJob {
    pub slug: String,
    pub title: String,
    pub branch: String,
    pub folder: PathBuf,
    pub main: Git,
    pub target: LoopBranch,
    pub style: MergeStyle,
    pub verify: Option<Check>,
    /// The worker has proven its tree as it left it.
    pub proven: bool,
}

/// What came of it.
#[derive(Debug)]
pub(super) enum MergeEnd {
    Merged {
        /// The commit it became.
        commit: String,
        /// Why it does not stand on the person's branch yet.
        aside: Option<String>,
    },
    Conflict(Box<Conflict>),
    /// What the agent left, or what became of it, does not pass; why.
    Refuted(String),
    /// Git could not; nobody's work is at fault.
    Failed(RunnerError),
    Cancelled,
}

impl MergeJob {
    pub(super) fn run(&self, cancel: &Cancel, mut hear: impl FnMut(&[u8])) -> MergeEnd {
        self.steps(cancel, &mut hear).unwrap_or_else(MergeEnd::Failed)
    }

    fn steps(&self, cancel: &Cancel, hear: &mut dyn FnMut(&[u8])) -> Result<MergeEnd, RunnerError> {
        let tree = self.main.of(&self.folder);
        if let Err(words) = tree::gather(&tree, &self.branch, &self.slug) {
            return Ok(MergeEnd::Refuted(words));
        }
        let message = format!("Merge task {}: {}", self.slug, model::text::line(&self.title, 100));
        let style = Style { style: self.style, message: &message };
        let mut proven = self.proven.then(|| tree.commit("HEAD")).flatten();
        for round in 0..MOST_ROUNDS {
            if round > 0 {
                // A verification may write into tracked files; what it wrote is nobody's work.
                tree.must(&["reset", "-q", "--hard"])?;
            }
            self.target.catch_up(&tree, &self.branch)?;
            let head = self.target.head(&tree);
            let tip = match merge::join(&tree, &self.branch, &head, &style)? {
                Joined::Inside => return self.inside(&tree, head, proven.is_some(), cancel, hear),
                Joined::Conflict { files } => {
                    return Ok(MergeEnd::Conflict(Box::new(self.conflict(&tree, head, files))));
                }
                Joined::Ready { tip, changed } => {
                    if changed {
                        proven = None;
                    }
                    tip
                }
            };
            if proven.is_none() {
                match self.prove(&tree, cancel, hear) {
                    Checked::Passed => proven = Some(tip.clone()),
                    Checked::Failed(words) => return Ok(MergeEnd::Refuted(words)),
                    Checked::Cancelled => return Ok(MergeEnd::Cancelled),
                }
            }
            if cancel.is_set() {
                return Ok(MergeEnd::Cancelled);
            }
            match self.target.land(&self.main, &head, &tip)? {
                Landing::OnBranch => return Ok(MergeEnd::Merged { commit: tip, aside: None }),
                Landing::Aside(why) => return Ok(MergeEnd::Merged { commit: tip, aside: Some(why) }),
                Landing::Moved => {}
            }
        }
        let said = "its branch moved again and again while this work was merged".to_string();
        Err(RunnerError::Git { what: "merge".to_string(), said })
    }

    /// Nothing of it is missing: it was landed before somebody was killed, or there was nothing to do.
    fn inside(
        &self,
        tree: &Git,
        head: String,
        proven: bool,
        cancel: &Cancel,
        hear: &mut dyn FnMut(&[u8]),
    ) -> Result<MergeEnd, RunnerError> {
        let checked = if proven { Checked::Passed } else { self.prove(tree, cancel, hear) };
        Ok(match checked {
            Checked::Passed => MergeEnd::Merged { commit: head, aside: None },
            Checked::Failed(words) => MergeEnd::Refuted(words),
            Checked::Cancelled => MergeEnd::Cancelled,
        })
    }

    fn prove(&self, tree: &Git, cancel: &Cancel, hear: &mut dyn FnMut(&[u8])) -> Checked {
        match &self.verify {
            Some(check) => check.run(&tree.folder, cancel, hear),
            None => Checked::Passed,
        }
    }

    fn conflict(&self, tree: &Git, head: String, files: Vec<String>) -> Conflict {
        let base = tree.text(&["merge-base", &head, &self.branch]).unwrap_or_default();
        Conflict {
            slug: self.slug.clone(),
            title: self.title.clone(),
            branch: self.branch.clone(),
            commits: tree.log(&format!("{base}..{}", self.branch)),
            onto: self.target.shown(tree),
            their_commits: tree.log(&format!("{base}..{head}")),
            head,
            files,
        }
    }
}
