//! One branch on its way into the loop's: gathered, brought together, proven as
//! it will land, and landed. Done in a thread of its own; it decides nothing of the queue.

use super::bounded::Cancel;
use super::checks::{Check, Checked};
use super::git::Git;
use super::land::{Landing, LoopBranch};
use super::merge::{self, Joined, Style};
use super::remote::{Pushed, Refusal, Remote};
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
    /// Where several machines work on the project.
    pub remote: Option<Remote>,
    pub style: MergeStyle,
    pub verify: Option<Check>,
    pub setup: Option<Check>,
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
    /// It is done, and nobody committed anything for it; what else it left.
    Nothing {
        left: Vec<String>,
    },
    Conflict(Box<Conflict>),
    /// What the agent left, or what became of it, does not pass; why.
    Refuted(String),
    /// Git could not; nobody's work is at fault.
    Failed(RunnerError),
    /// The remote cannot be reached: it is merged later.
    Unreached(RunnerError),
    /// Nothing can be merged before a person does something.
    Stuck(RunnerError),
    Cancelled,
}

impl From<Refusal> for MergeEnd {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Unreached(error) => Self::Unreached(error),
            Refusal::Final(error) => Self::Stuck(error),
            Refusal::Failed(error) => Self::Failed(error),
            Refusal::Cancelled => Self::Cancelled,
        }
    }
}

impl MergeJob {
    pub(super) fn run(&self, cancel: &Cancel, mut hear: impl FnMut(&[u8])) -> MergeEnd {
        self.steps(cancel, &mut hear).unwrap_or_else(MergeEnd::from)
    }

    fn steps(&self, cancel: &Cancel, hear: &mut dyn FnMut(&[u8])) -> Result<MergeEnd, Refusal> {
        let tree = self.main.of(&self.folder);
        if let Err(words) = tree::gather(&tree, &self.branch, &self.slug) {
            return Ok(MergeEnd::Refuted(words));
        }
        // Of a coordinator that was killed while it landed this, or of an earlier round.
        let mut landed = tree::landing(&tree).filter(|tip| tree.commit(&self.branch).as_deref() == Some(tip));
        tree::mark_gathered(&tree, "");
        let message = format!("Merge task {}: {}", self.slug, model::text::line(&self.title, 100));
        let style = Style { style: self.style, message: &message };
        let mut proven = self.proven.then(|| tree.commit("HEAD")).flatten();
        for round in 0..MOST_ROUNDS {
            if round > 0 {
                // A verification may write into tracked files; what it wrote is nobody's work.
                tree.must(&["reset", "-q", "--hard"])?;
            }
            self.target.catch_up(&tree, &self.branch)?;
            if let Some(remote) = &self.remote {
                remote.take_in((&self.main, &tree), &self.target, &self.branch, cancel)?;
            }
            let head = self.target.head(&tree);
            let tip = match merge::join(&tree, &self.branch, &head, &style)? {
                // Nobody has pushed what is inside here, or what somebody committed here since.
                Joined::Inside if self.pushed(&head, cancel)? == Pushed::Overtaken => continue,
                Joined::Inside if landed.is_some() => {
                    return Ok(MergeEnd::Merged { commit: landed.unwrap_or(head), aside: None });
                }
                Joined::Inside => return self.nothing(&tree, (&head, proven.is_some()), cancel, hear),
                Joined::Conflict { files } => {
                    return Ok(MergeEnd::Conflict(Box::new(self.conflict(&tree, head, files))));
                }
                Joined::Ready { tip, changed } => {
                    if changed {
                        proven = None;
                    }
                    if let Some(words) = tree::bare_links(&tree, &[&head, &tip]) {
                        return Ok(MergeEnd::Refuted(words));
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
            tree::mark_gathered(&tree, &tip);
            if self.pushed(&tip, cancel)? == Pushed::Overtaken {
                continue;
            }
            landed = Some(tip.clone());
            match self.target.land(&self.main, &head, &tip)? {
                Landing::OnBranch => return Ok(MergeEnd::Merged { commit: tip, aside: None }),
                Landing::Aside(why) => return Ok(MergeEnd::Merged { commit: tip, aside: Some(why) }),
                Landing::Moved => {}
            }
        }
        let said = "its branch moved again and again while this work was merged".to_string();
        Err(RunnerError::Git { what: "merge".to_string(), said }.into())
    }

    /// Before anybody is told that it is done: whoever waits for it on another machine must find it there.
    fn pushed(&self, tip: &str, cancel: &Cancel) -> Result<Pushed, Refusal> {
        self.remote.as_ref().map_or(Ok(Pushed::There), |remote| remote.push(tip, cancel))
    }

    /// Nobody committed anything: what passes must do so without what only this work tree has.
    fn nothing(
        &self,
        tree: &Git,
        (head, proven): (&str, bool),
        cancel: &Cancel,
        hear: &mut dyn FnMut(&[u8]),
    ) -> Result<MergeEnd, Refusal> {
        let left = tree::overlooked(tree);
        let checked = match &self.verify {
            None => Checked::Passed,
            Some(_) if left.is_empty() && tree.commit("HEAD").as_deref() == Some(head) => match proven {
                true => Checked::Passed,
                false => self.prove(tree, cancel, hear),
            },
            Some(verify) => {
                let clean = tree::clean_beside(&self.main, &self.folder, head)?;
                let set_up = self.setup.as_ref().map_or(Checked::Passed, |setup| setup.run(&clean, cancel, &mut *hear));
                let checked = if set_up == Checked::Passed { verify.run(&clean, cancel, hear) } else { set_up };
                tree::put_away(&self.main, &clean);
                checked
            }
        };
        Ok(match checked {
            Checked::Passed => MergeEnd::Nothing { left },
            Checked::Cancelled => MergeEnd::Cancelled,
            Checked::Failed(words) => MergeEnd::Refuted(format!(
                "nothing was committed, and without what git does not look at{} it does not pass: {words}",
                named(&left)
            )),
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

/// The files in brackets.
pub(super) fn named(files: &[String]) -> String {
    if files.is_empty() { String::new() } else { format!(" ({})", files.join(", ")) }
}
