//! Going back to the tree before an iteration: what that would do, and doing it. What is there now is kept first.

use crate::checkpoint::{
    Bounds, ChangeKind, Checkpoint, CheckpointGit, Goal, PathChange, REFS, Side, Snapshot, Status, missing_paths,
    private_index, ref_of, set_back, set_files, with,
};
use crate::kept;
use crate::run_store::RunStore;
use crate::{RunnerError, TreeLock, recover};
use model::run::{Iteration, Run};
use std::collections::HashSet;
use std::path::PathBuf;

/// What is to be undone.
#[derive(Debug, Clone)]
pub struct UndoRequest {
    /// The work tree.
    pub folder: PathBuf,
    pub state: PathBuf,
    pub to: UndoTarget,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UndoTarget {
    /// The tree before an iteration, without a number the last; of a run by its whole id, without one the newest.
    Iteration { number: Option<u64>, run: Option<String> },
    /// The tree before the last undo.
    LastUndo,
    /// A tree that was kept before a command, by the first letters of its id. With paths only the files that they name
    /// come back, and nothing else is touched.
    Kept { id: String, paths: Vec<String> },
}

/// What an undo would do.
pub struct UndoPlan {
    /// The iteration that is taken back, with all after it; `None` where an undo is.
    pub iteration: Option<u64>,
    pub run: Option<String>,
    pub changes: Vec<PathChange>,
    /// Files that are not in the old tree and are left alone all the same.
    pub stays: Vec<String>,
    /// The branch that is set back, where it is.
    pub branch: Option<String>,
    /// The commits that are taken off it, the newest first.
    pub commits: Vec<String>,
    /// The loop was killed in its last iteration, so nobody saw who made them.
    pub unsure: bool,
    git: CheckpointGit,
    status: Status,
    now: Checkpoint,
    then: Checkpoint,
    goal: String,
    reach: Reach,
    /// No loop begins in this tree meanwhile.
    _lock: TreeLock,
}

/// How far an undo goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Of a loop: files, index and branch.
    Loop,
    /// Of a command: the same.
    Command,
    /// Some files.
    Files,
}

/// An undo that is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoDone {
    /// The ref that holds what was there.
    pub kept: String,
    /// What goes back to that.
    pub back: String,
}

impl UndoPlan {
    pub fn make(asked: &UndoRequest) -> Result<Self, RunnerError> {
        let store = RunStore::open(&asked.state)?;
        let folder = asked.folder.to_string_lossy().into_owned();
        if let Some(other) = recover::busy(&store, &folder)? {
            return Err(RunnerError::UndoWhileRunning { folder, pid: Some(other.runner.pid) });
        }
        let lock = TreeLock::take(&asked.state, &asked.folder).map_err(|error| match error {
            RunnerError::Busy { folder, pid, .. } => RunnerError::UndoWhileRunning { folder, pid },
            other => other,
        })?;
        let private = private_index(&asked.state, &format!("undo-{}", std::process::id()));
        let Some(git) = CheckpointGit::open(&asked.folder, private, Bounds::default()) else {
            return Err(RunnerError::NoWorkTree { folder });
        };
        if git.is_rebasing() {
            return Err(RunnerError::UndoInRebase { folder });
        }
        git.free_index()?;
        let status = Status::of(&git)?;
        let Found { then, run, iteration, own, unsure } = match &asked.to {
            UndoTarget::Iteration { number, run } => {
                let run = chosen(&store, &folder, run.as_deref())?;
                of_iteration(&git, &run, &store.store().iterations(&run.id)?, *number, &status)?
            }
            UndoTarget::LastUndo => of_undo(&git)?,
            UndoTarget::Kept { id, .. } => of_kept(&git, id)?,
        };
        let (reach, paths): (_, &[String]) = match &asked.to {
            UndoTarget::Kept { paths, .. } if !paths.is_empty() => (Reach::Files, paths),
            UndoTarget::Kept { .. } => (Reach::Command, &[]),
            UndoTarget::Iteration { .. } | UndoTarget::LastUndo => (Reach::Loop, &[]),
        };
        let (branch, commits) = taken_off(&git, &then, &status)?;
        let others: Vec<&Commit> = commits.iter().filter(|commit| !unsure && !own.contains(&commit.id)).collect();
        if !others.is_empty() && reach != Reach::Files {
            let named = others.iter().take(5).map(|commit| commit.shown.clone()).collect();
            if let UndoTarget::Kept { id, .. } = &asked.to {
                return Err(RunnerError::CommitsSince { commits: named, id: id.clone() });
            }
            return Err(RunnerError::OthersCommits { commits: named, head: then.head.clone().unwrap_or_default() });
        }
        let also = missing_paths(&git, &then)?;
        let Snapshot { checkpoint: now, .. } = Snapshot::take(&git, &status, "the tree before an undo", &also)?;
        let mut goal = Goal::of(&git, &now, &then, &status)?;
        if reach == Reach::Files {
            goal = only(&git, goal, (&now, &then), paths)?;
        }
        let Goal { tree: goal, changes, stays } = goal;
        let commits: Vec<String> = commits.into_iter().map(|commit| commit.shown).collect();
        let moves = then.head != status.head || then.branch != status.branch;
        let branch = branch.filter(|_| moves && reach != Reach::Files);
        let commits = if reach == Reach::Files { Vec::new() } else { commits };
        let unsure = unsure && !commits.is_empty();
        Ok(Self {
            iteration,
            run,
            changes,
            stays,
            branch,
            commits,
            unsure,
            git,
            status,
            now,
            then,
            goal,
            reach,
            _lock: lock,
        })
    }

    /// Whether there is anything to do.
    pub fn is_empty(&self) -> bool {
        let staged = self.then.index != self.now.index;
        let moved = self.then.head != self.status.head || self.then.branch != self.status.branch;
        self.changes.is_empty() && (self.reach == Reach::Files || !staged && !moved)
    }

    /// Keeps what is there and goes back. Nothing is touched where the tree changed since the plan was made.
    pub fn carry_out(self) -> Result<UndoDone, RunnerError> {
        if Status::of(&self.git)?.mark != self.status.mark {
            return Err(RunnerError::ChangedMeanwhile);
        }
        self.git.free_index()?;
        let done = self.keep()?;
        let half = |words| {
            let UndoDone { kept, back } = done.clone();
            move |cause| RunnerError::HalfUndone { cause: Box::new(cause), done: words, kept, back }
        };
        set_files(&self.git, &self.now.tree, &self.goal, self.then.head.as_deref())
            .map_err(half("branch and index stand where they stood, and no file or only some were set back"))?;
        if self.reach != Reach::Files {
            set_back(&self.git, &self.then, &self.status)
                .map_err(half("the files were set back, branch and index were not or not wholly"))?;
        }
        Ok(done)
    }

    /// What is there gets a name.
    fn keep(&self) -> Result<UndoDone, RunnerError> {
        if self.reach != Reach::Loop {
            let kept = kept::hold(&self.git, &self.now)?;
            return Ok(UndoDone { back: format!("taut undo {}", kept.id), kept: kept.name });
        }
        let stamp: String = host::clock::now().rfc3339().chars().filter(char::is_ascii_digit).take(17).collect();
        let kept = format!("{REFS}/undo/{stamp}");
        self.git.set_ref(&kept, &self.now.commit)?;
        Ok(UndoDone { kept, back: "taut loop undo --back".to_string() })
    }
}

/// The files that the paths name, brought back or set back, and nothing removed.
fn only(
    git: &CheckpointGit,
    goal: Goal,
    (now, then): (&Checkpoint, &Checkpoint),
    paths: &[String],
) -> Result<Goal, RunnerError> {
    let named = |path: &str| {
        let below = |wanted: &String| {
            let wanted = wanted.trim_end_matches('/');
            wanted.is_empty() || path.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        paths.iter().any(below)
    };
    let mut changes = goal.changes;
    changes.retain(|change| change.how != ChangeKind::Removed && named(&change.path));
    let chosen = changes.iter().map(|change| change.path.clone().into_bytes()).collect();
    let tree = if changes.is_empty() { now.tree.clone() } else { with(git, &now.tree, &then.tree, &chosen)? };
    Ok(Goal { tree, changes, stays: Vec::new() })
}

/// Where an undo goes, and whose commits it may take off.
struct Found {
    then: Checkpoint,
    run: Option<String>,
    iteration: Option<u64>,
    own: HashSet<String>,
    unsure: bool,
}

struct Commit {
    id: String,
    shown: String,
}

fn chosen(store: &RunStore, folder: &str, named: Option<&str>) -> Result<Run, RunnerError> {
    let runs = store.store().runs_of_folder(folder)?;
    let found = runs.into_iter().find(|run| named.is_none_or(|id| run.id == id));
    found.ok_or_else(|| RunnerError::NothingToUndo { folder: folder.to_string() })
}

fn of_iteration(
    git: &CheckpointGit,
    run: &Run,
    rows: &[Iteration],
    number: Option<u64>,
    status: &Status,
) -> Result<Found, RunnerError> {
    let nothing = || RunnerError::NothingToUndo { folder: git.folder().to_string_lossy().into_owned() };
    let begun = begun(git, run)?;
    let number = number.or(begun.iter().max().copied()).ok_or_else(nothing)?;
    // The row says which commit it was; whoever moved the ref since does not change that.
    let row = rows.iter().find(|row| row.number == number).and_then(|row| row.before.clone());
    let before = row.unwrap_or_else(|| ref_of(&run.id, number, Side::Before));
    let then = Checkpoint::read(git, &before).map_err(|_| RunnerError::NoCheckpoint { number })?;
    let mut own = HashSet::new();
    let (mut last, mut unsure) = (then.clone(), true);
    for row in rows.iter().filter(|row| row.number >= number) {
        let (Some(before), Some(after)) = (&row.before, &row.after) else { continue };
        let (before, after) = (Checkpoint::read(git, before)?, Checkpoint::read(git, after)?);
        if let Some(head) = &after.head {
            own.extend(commits(git, before.head.as_deref(), head)?.into_iter().map(|commit| commit.id));
        }
        (last, unsure) = (after, begun.iter().any(|begun| *begun > row.number));
    }
    if last.branch != status.branch {
        let name = |branch: &Option<String>| branch.as_deref().map(short).unwrap_or("no branch").to_string();
        return Err(RunnerError::OtherBranch { left: name(&last.branch), now: name(&status.branch) });
    }
    Ok(Found { then, run: Some(run.id.clone()), iteration: Some(number), own, unsure })
}

/// The iterations of a run whose tree was kept when they began.
fn begun(git: &CheckpointGit, run: &Run) -> Result<Vec<u64>, RunnerError> {
    let place = format!("{REFS}/{}/", run.id);
    let text = git.text(&["for-each-ref", "--format=%(refname)", &place])?;
    let number = |line: &str| line.strip_prefix(&place)?.strip_suffix("/before")?.parse().ok();
    Ok(text.lines().filter_map(number).collect())
}

fn of_undo(git: &CheckpointGit) -> Result<Found, RunnerError> {
    let place = format!("{REFS}/undo/");
    let text = git.text(&["for-each-ref", "--sort=-refname", "--format=%(objectname)", &place])?;
    let own = git.folder().to_string_lossy();
    let here = |commit: &str| Checkpoint::read(git, commit).ok().filter(|kept| kept.folder == own);
    let then = text.lines().find_map(here).ok_or(RunnerError::NoUndo)?;
    Ok(Found { then, run: None, iteration: None, own: HashSet::new(), unsure: false })
}

/// One that was kept before a command. Commits that an older one stands on were there then, and an undo has taken them
/// off: they are no work that was done since.
fn of_kept(git: &CheckpointGit, id: &str) -> Result<Found, RunnerError> {
    let known = kept::of_tree(git)?;
    let mut found = known.iter().enumerate().filter(|(_, one)| !id.is_empty() && one.commit.starts_with(id));
    let (at, one) = found.next().ok_or_else(|| RunnerError::NoKeptTree { id: id.to_string() })?;
    // The same tree kept twice within a second is one commit.
    if found.any(|(_, other)| other.commit != one.commit) {
        return Err(RunnerError::SeveralKeptTrees { id: id.to_string() });
    }
    let then = Checkpoint::read(git, &one.commit)?;
    let older = known.iter().skip(at + 1).map(|one| one.commit.as_str());
    let without = then.head.iter().flat_map(|head| ["--not", head]);
    let list: Vec<&str> = ["rev-list"].into_iter().chain(older).chain(without).collect();
    let own =
        if at + 1 < known.len() { git.text(&list)?.lines().map(str::to_string).collect() } else { HashSet::new() };
    Ok(Found { then, run: None, iteration: None, own, unsure: false })
}

/// The branch that goes back, and the commits it loses.
fn taken_off(
    git: &CheckpointGit,
    then: &Checkpoint,
    status: &Status,
) -> Result<(Option<String>, Vec<Commit>), RunnerError> {
    let branch = then.branch.as_deref().map(|name| short(name).to_string());
    let now = match &then.branch {
        Some(name) if then.branch != status.branch => {
            git.text(&["rev-parse", "--verify", "-q", &format!("{name}^{{commit}}")]).ok()
        }
        _ => status.head.clone(),
    };
    let lost = now.map(|now| commits(git, then.head.as_deref(), &now)).transpose()?;
    Ok((branch, lost.unwrap_or_default()))
}

fn commits(git: &CheckpointGit, from: Option<&str>, to: &str) -> Result<Vec<Commit>, RunnerError> {
    let range = from.map_or(to.to_string(), |from| format!("{from}..{to}"));
    let text = git.text(&["log", "--format=%H %h %s", &range, "--"])?;
    let commit = |line: &str| {
        let (id, shown) = line.split_once(' ')?;
        Some(Commit { id: id.to_string(), shown: shown.chars().take(200).collect() })
    };
    Ok(text.lines().filter_map(commit).collect())
}

fn short(branch: &str) -> &str {
    branch.strip_prefix("refs/heads/").unwrap_or(branch)
}
