//! The tree before and after each iteration, kept as commits under refs that no branch shows. Neither index nor `HEAD`,
//! neither branch nor hooks are touched by that; a repository that does not let itself be read costs the way back, never
//! the run.

mod bounds;
mod git;
mod prune;
mod restore;
mod snapshot;

pub(crate) use bounds::{Beyond, Bounds};
pub(crate) use git::{CheckpointGit, UsedIndex};
pub(crate) use prune::clear_folder;
pub use restore::{ChangeKind, PathChange};
pub(crate) use restore::{Goal, missing_paths, set_back, set_files, with};
pub(crate) use snapshot::{Snapshot, Status};

use crate::RunnerError;
use model::Ms;
use std::path::{Path, PathBuf};

/// Where all refs of the loop stand.
pub(crate) const REFS: &str = "refs/taut";

/// Which of the two trees of an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Before,
    After,
}

impl Side {
    fn name(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
        }
    }
}

pub(crate) fn ref_of(run: &str, iteration: u64, side: Side) -> String {
    format!("{REFS}/{run}/{iteration}/{}", side.name())
}

/// A work tree as it was once: its files, and where its branch and its index stood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    pub commit: String,
    pub tree: String,
    /// `None` where the branch had no commit yet.
    pub head: Option<String>,
    /// `None` where `HEAD` was on no branch.
    pub branch: Option<String>,
    pub index: IndexTree,
    /// The work tree it was taken of.
    pub folder: String,
    /// Whether files that git did not know are in it.
    pub untracked: bool,
}

/// What was staged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum IndexTree {
    /// Nothing.
    AsHead,
    Tree(String),
    /// A merge was under way.
    Unknown,
}

impl Checkpoint {
    /// The words of the commit that holds it.
    pub(crate) fn message(&self, title: &str) -> String {
        let none = || "none".to_string();
        let index = match &self.index {
            IndexTree::AsHead => "head",
            IndexTree::Tree(tree) => tree,
            IndexTree::Unknown => "unknown",
        };
        format!(
            "taut: {title}\n\nfolder: {}\nhead: {}\nbranch: {}\nindex: {index}\nuntracked: {}\n",
            self.folder.replace('\n', " "),
            self.head.clone().unwrap_or_else(none),
            self.branch.clone().unwrap_or_else(none),
            if self.untracked { "all" } else { "some" },
        )
    }

    pub(crate) fn read(git: &CheckpointGit, commit: &str) -> Result<Self, RunnerError> {
        let text = git.text(&["show", "-s", "--format=%H%n%T%n%B", commit, "--"])?;
        let (mut lines, mut fields) = (text.lines(), std::collections::BTreeMap::new());
        let (commit, tree) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        fields.extend(lines.filter_map(|line| line.split_once(": ")));
        let field = |name: &str| fields.get(name).map(ToString::to_string);
        let some = |name: &str| field(name).filter(|value| value != "none");
        // Whoever can write a ref can write these words: no option of git's, no place that is no branch.
        let is_object = |text: &String| text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let lawful = some("head").is_none_or(|head| is_object(&head))
            && some("branch").is_none_or(|branch| branch.starts_with("refs/heads/"))
            && field("index").is_some_and(|index| matches!(index.as_str(), "head" | "unknown") || is_object(&index));
        let (Some(folder), Some(index), true) = (field("folder"), field("index"), lawful) else {
            return Err(RunnerError::Git {
                what: "show".to_string(),
                said: format!("{commit} is no tree that was kept"),
            });
        };
        Ok(Self {
            commit: commit.to_string(),
            tree: tree.to_string(),
            head: some("head"),
            branch: some("branch"),
            index: match index.as_str() {
                "head" => IndexTree::AsHead,
                "unknown" => IndexTree::Unknown,
                _ => IndexTree::Tree(index),
            },
            folder,
            untracked: field("untracked").is_some_and(|kept| kept == "all"),
        })
    }
}

/// The commit a tree is on, and the mark of its files.
type SeenTree = (Option<String>, u64);

/// The last that was taken.
struct Last {
    checkpoint: Checkpoint,
    mark: u64,
    seen: Option<SeenTree>,
}

/// The checkpoints of one run.
pub(crate) struct Checkpoints {
    git: Option<CheckpointGit>,
    run: String,
    last: Option<Last>,
    /// What the loop itself saw of the tree, as long as nobody it knows of has been at it since.
    seen: Option<SeenTree>,
    /// The first "before" of the iteration that was begun last.
    first: Option<(u64, String)>,
    said: Vec<String>,
}

impl Checkpoints {
    /// None are taken where there is no work tree of git's.
    pub(crate) fn of(folder: &Path, state: &Path, run: &str) -> Self {
        let git = CheckpointGit::open(folder, private_index(state, run), Bounds::default());
        Self { git, run: run.to_string(), last: None, seen: None, first: None, said: Vec::new() }
    }

    /// Drops the refs of runs that are forgotten.
    pub(crate) fn prune(&self, is_known: impl Fn(&str) -> bool, now: Ms) {
        if let Some(git) = &self.git {
            prune::drop_forgotten(git, is_known, now);
        }
    }

    /// The loop has looked at the tree, so nothing is asked of git where that is what the last checkpoint holds.
    pub(crate) fn looked(&mut self, head: Option<String>, tree: u64) {
        // Without a mark of its files nothing is known of a tree.
        self.seen = (tree != 0).then_some((head, tree));
    }

    /// Somebody else may change it from now on.
    pub(crate) fn looked_away(&mut self) {
        self.seen = None;
    }

    /// The commit that holds the tree as it stands; `None` where none could be made. What is left out is said once.
    pub(crate) fn take(&mut self, iteration: u64, side: Side, say: &mut dyn FnMut(String)) -> Option<String> {
        let git = self.git.take()?;
        let taken = self.taken(&git, iteration, side);
        self.git = Some(git);
        let (commit, notes) = match taken {
            Ok((commit, notes)) => (Some(commit), notes),
            Err(error) => {
                let note = format!("no checkpoint of this tree could be taken, so there is no way back to it: {error}");
                (None, vec![note])
            }
        };
        for note in notes {
            if !self.said.contains(&note) {
                self.said.push(note.clone());
                say(note);
            }
        }
        commit
    }

    /// Takes what a failed iteration left out of the way. Gives what was done, in words.
    pub(crate) fn put_aside(&mut self, iteration: u64, before: Option<&str>) -> Option<Result<String, RunnerError>> {
        let git = self.git.as_ref()?;
        let before = before?;
        let first = self.first.as_ref().filter(|(number, _)| *number == iteration);
        let before = first.map_or(before, |(_, commit)| commit).to_string();
        self.last = None;
        let name = ref_of(&self.run, iteration, Side::After);
        Some(restore::aside(git, &before, &name, iteration))
    }

    /// A commit of its own only where something changed since the last.
    fn taken(&mut self, git: &CheckpointGit, iteration: u64, side: Side) -> Result<(String, Vec<String>), RunnerError> {
        let (same, last, notes) = self.newest(git, iteration, side)?;
        let commit = last.checkpoint.commit.clone();
        self.last = Some(last);
        if side == Side::Before {
            // One that is tried again goes back to where it was first begun, unless somebody else was there since.
            match &self.first {
                Some((number, first)) if same && *number == iteration => return Ok((first.clone(), notes)),
                _ => self.first = Some((iteration, commit.clone())),
            }
        }
        // A tree that did not change since "before" is kept by that name already, and one more process would be asked for it.
        if !(same && side == Side::After) {
            git.set_ref(&ref_of(&self.run, iteration, side), &commit)?;
        }
        Ok((commit, notes))
    }

    /// The last one where it still holds, else a new one.
    fn newest(
        &mut self,
        git: &CheckpointGit,
        iteration: u64,
        side: Side,
    ) -> Result<(bool, Last, Vec<String>), RunnerError> {
        let seen = self.seen.clone();
        let last = match self.last.take() {
            Some(last) if seen.is_some() && last.seen == seen => return Ok((true, last, Vec::new())),
            last => last,
        };
        let status = Status::of(git)?;
        if let Some(last) = last.filter(|last| last.mark == status.mark) {
            return Ok((true, Last { seen, ..last }, Vec::new()));
        }
        let title = format!("the tree {} iteration {iteration} of run {}", side.name(), self.run);
        let Snapshot { checkpoint, notes } = Snapshot::take(git, &status, &title, &[])?;
        Ok((false, Last { checkpoint, mark: status.mark, seen }, notes))
    }
}

pub(crate) fn private_index(state: &Path, name: &str) -> PathBuf {
    state.join("checkpoints").join(format!("{name}.index"))
}
