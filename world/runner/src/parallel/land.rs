//! The loop's own branch: where it stands, and how it goes forward. It is the
//! person's; it is never rewritten, and their files are never touched where they
//! changed them.

use super::git::Git;
use super::merge;
use crate::RunnerError;
use std::path::{Path, PathBuf};
use sys::outside::{self, Rules};

/// No name of a branch is longer.
const LONGEST_REF: u64 = 4096;

/// Where the work of a run comes together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LoopBranch {
    /// The branch that was checked out where the loop was started; none with a detached HEAD.
    pub own: Option<String>,
    /// The branch that holds what could not go onto that one yet.
    pub aside: String,
    /// Where it all began.
    pub base: String,
}

/// Where a merge went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Landing {
    OnBranch,
    /// On the branch beside it; why.
    Aside(String),
    /// Somebody was quicker: it has to be brought together once more.
    Moved,
}

impl LoopBranch {
    /// The commit that the next work starts from.
    pub(super) fn head(&self, git: &Git) -> String {
        let own = self.own_head(git);
        let aside = git.commit(&self.aside_ref());
        match (own, aside) {
            // The person took in what was beside it.
            (Some(own), Some(aside)) if git.is_ancestor(&aside, &own) => {
                let _ = git.run(&["update-ref", "-d", &self.aside_ref(), &aside]);
                own
            }
            (_, Some(aside)) => aside,
            (Some(own), None) => own,
            (None, None) => self.base.clone(),
        }
    }

    /// The name a person knows it by.
    pub(super) fn shown(&self, git: &Git) -> String {
        match (&self.own, git.commit(&self.aside_ref())) {
            (Some(own), None) => own.clone(),
            _ => self.aside.clone(),
        }
    }

    /// What the person added to their branch while our work stood beside it is taken in, in a work tree of ours.
    pub(super) fn catch_up(&self, tree: &Git, back_to: &str) -> Result<(), RunnerError> {
        let (Some(own), Some(aside)) = (self.own_head(tree), tree.commit(&self.aside_ref())) else { return Ok(()) };
        if tree.is_ancestor(&own, &aside) || tree.is_ancestor(&aside, &own) {
            return Ok(());
        }
        tree.must(&["checkout", "-q", "--detach", &aside])?;
        let name = self.own.as_deref().unwrap_or_default();
        let taken = merge::take_in(tree, &own, &format!("Merge branch '{name}'"));
        let made = tree.commit("HEAD");
        // Also where that failed: the next attempt begins in this tree.
        tree.must(&["checkout", "-q", "--force", back_to])?;
        if let (None, Some(made)) = (taken?, made) {
            tree.must(&["update-ref", &self.aside_ref(), &made, &aside])?;
        }
        Ok(())
    }

    /// Forward from `from` to `to`, on the person's branch where that can be.
    pub(super) fn land(&self, git: &Git, from: &str, to: &str) -> Result<Landing, RunnerError> {
        let aside = git.commit(&self.aside_ref());
        if let Some(own) = &self.own {
            match forward(git, own, to, &self.word())? {
                Forward::Done => {
                    if let Some(aside) = aside {
                        let _ = git.run(&["update-ref", "-d", &self.aside_ref(), &aside]);
                    }
                    return Ok(Landing::OnBranch);
                }
                Forward::Parted if aside.is_none() => return Ok(Landing::Moved),
                Forward::Parted => return self.beside(git, (from, to), format!("{own} has commits of its own by now")),
                Forward::Not(why) => return self.beside(git, (from, to), why),
            }
        }
        self.beside(git, (from, to), "no branch was checked out where the loop was started".to_string())
    }

    fn beside(&self, git: &Git, (from, to): (&str, &str), why: String) -> Result<Landing, RunnerError> {
        // Nothing where there is none yet: then nobody else may have made it either.
        let old = if git.commit(&self.aside_ref()).is_some() { from } else { "" };
        let word = noted(&self.word(), from, to);
        let moved = git.run(&["update-ref", "--create-reflog", "-m", &word, &self.aside_ref(), to, old])?;
        Ok(if moved.ok { Landing::Aside(why) } else { Landing::Moved })
    }

    /// Once more at the end: what stands beside the person's branch goes onto it, if it can by now.
    pub(super) fn land_aside(&self, git: &Git) -> Result<Option<String>, RunnerError> {
        let Some(aside) = git.commit(&self.aside_ref()) else { return Ok(None) };
        match self.land(git, &aside, &aside)? {
            Landing::OnBranch => Ok(None),
            Landing::Aside(why) => Ok(Some(why)),
            Landing::Moved => Ok(Some("its branch has commits of its own by now".to_string())),
        }
    }

    fn own_head(&self, git: &Git) -> Option<String> {
        self.own.as_ref().and_then(|own| git.commit(&format!("refs/heads/{own}")))
    }

    /// What the log of a branch calls this run.
    fn word(&self) -> String {
        landing_word(self.aside.split('/').nth(1).unwrap_or_default())
    }

    fn aside_ref(&self) -> String {
        format!("refs/heads/{}", self.aside)
    }
}

/// What the log of a branch says where a run moved it; behind it stand the two commits.
pub(crate) fn landing_word(short: &str) -> String {
    format!("taut loop {short}")
}

fn noted(word: &str, from: &str, to: &str) -> String {
    format!("{word} {from}..{to}")
}

enum Forward {
    Done,
    /// It has commits that the new one lacks.
    Parted,
    Not(String),
}

/// Fast-forward alone, with the old value compared; with the files of whoever has the branch checked out.
fn forward(git: &Git, branch: &str, to: &str, word: &str) -> Result<Forward, RunnerError> {
    let full = format!("refs/heads/{branch}");
    let Some(old) = git.commit(&full) else { return Ok(Forward::Not(format!("branch {branch} is gone"))) };
    if old == to {
        return Ok(Forward::Done);
    }
    if !git.is_ancestor(&old, to) {
        return Ok(Forward::Parted);
    }
    let (trees, word) = (trees(git), noted(word, &old, to));
    if trees.iter().any(|tree| tree.rebases.as_deref() == Some(&full)) {
        return Ok(Forward::Not(format!("{branch} is being rebased")));
    }
    let Some(tree) = trees.iter().find(|tree| tree.branch.as_deref() == Some(&full)) else {
        let moved = git.run(&["update-ref", "-m", &word, &full, to, &old])?;
        return Ok(if moved.ok { Forward::Done } else { Forward::Parted });
    };
    // Git itself refuses where a file, staged or not, ignored or not, would be written over.
    let there = git.of(&tree.folder).noting(&word);
    let args = ["merge", "-q", "--ff-only", "--no-stat", "--no-autostash", "--no-overwrite-ignore", to];
    let moved = there.run(&args)?;
    match (moved.ok, git.commit(&full)) {
        (true, Some(now)) if git.is_ancestor(to, &now) => Ok(Forward::Done),
        (false, Some(now)) if now == old => {
            let words = moved.error.lines().map(str::trim).filter(|line| !line.is_empty()).take(6);
            let said = words.collect::<Vec<_>>().join(" ");
            Ok(Forward::Not(format!("the files of {branch} could not be brought forward: {said}")))
        }
        // Somebody moved it, or checked another branch out there, in this very moment.
        (_, Some(_)) => Ok(Forward::Parted),
        (_, None) => Ok(Forward::Not(format!("branch {branch} is gone"))),
    }
}

struct WorkTree {
    folder: PathBuf,
    branch: Option<String>,
    /// The branch that a rebase in it will move.
    rebases: Option<String>,
}

fn trees(git: &Git) -> Vec<WorkTree> {
    let listed = git.text(&["worktree", "list", "--porcelain"]).unwrap_or_default();
    let mut found: Vec<WorkTree> = Vec::new();
    for line in listed.lines() {
        if let Some(path) = line.strip_prefix("worktree ") {
            let folder = PathBuf::from(path);
            let rebases = rebased(git, &folder);
            found.push(WorkTree { folder, branch: None, rebases });
        } else if let (Some(branch), Some(tree)) = (line.strip_prefix("branch "), found.last_mut()) {
            tree.branch = Some(branch.to_string());
        }
    }
    found
}

fn rebased(git: &Git, folder: &Path) -> Option<String> {
    let own = git.of(folder).text(&["rev-parse", "--absolute-git-dir"])?;
    ["rebase-merge", "rebase-apply"]
        .iter()
        .find_map(|state| {
            outside::read_text(&Path::new(&own).join(state).join("head-name"), &Rules::up_to(LONGEST_REF)).ok()
        })
        .map(|name| name.trim().to_string())
}
