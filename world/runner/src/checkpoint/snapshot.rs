//! What a work tree holds, and all of it as one commit.

use super::git::{CheckpointGit, UsedIndex, listed, names};
use super::{Beyond, Bounds, Checkpoint, IndexTree};
use crate::RunnerError;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use sys::outside::{self, Rules};

/// So many names are said.
const NAMED: usize = 3;

/// What `git status` says.
pub(crate) struct Status {
    pub head: Option<String>,
    pub branch: Option<String>,
    pub entries: Vec<StatusEntry>,
    /// Changes with anything that a checkpoint would hold.
    pub mark: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StatusEntry {
    pub path: Vec<u8>,
    pub kind: EntryKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    /// Git knows it; whether something of it is staged.
    Tracked {
        staged: bool,
    },
    /// Two sides of a merge.
    Unmerged,
    Untracked,
}

impl Status {
    pub(crate) fn of(git: &CheckpointGit) -> Result<Self, RunnerError> {
        let asked = [
            "status", "--porcelain=v2", "--branch", "--no-ahead-behind", "-z", "--untracked-files=all",
            "--ignore-submodules=dirty",
        ];
        Ok(Self::read(git.folder(), &git.run(UsedIndex::Real, &asked, None)?))
    }

    fn read(folder: &Path, out: &[u8]) -> Self {
        let mut hash = DefaultHasher::new();
        let mut read = Self { head: None, branch: None, entries: Vec::new(), mark: 0 };
        for line in names(out) {
            if let Some(header) = line.strip_prefix(b"# ") {
                let header = String::from_utf8_lossy(header).into_owned();
                match header.split_once(' ') {
                    Some(("branch.oid", oid)) => read.head = Some(oid.to_string()).filter(|oid| oid != "(initial)"),
                    Some(("branch.head", "(detached)")) => {}
                    Some(("branch.head", name)) => read.branch = Some(format!("refs/heads/{name}")),
                    _ => continue,
                }
                line.hash(&mut hash);
            } else if let Some(entry) = entry(line) {
                line.hash(&mut hash);
                if let Ok(meta) = std::fs::symlink_metadata(on_disk(folder, &entry.path)) {
                    let times = (meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec());
                    (meta.len(), meta.mode(), meta.ino(), times).hash(&mut hash);
                }
                read.entries.push(entry);
            }
        }
        read.mark = hash.finish();
        read
    }

    pub(crate) fn untracked(&self) -> impl Iterator<Item = &[u8]> {
        self.entries.iter().filter(|entry| entry.kind == EntryKind::Untracked).map(|entry| entry.path.as_slice())
    }
}

fn entry(line: &[u8]) -> Option<StatusEntry> {
    let fields = |many: usize| line.splitn(many, |byte| *byte == b' ').nth(many - 1).map(<[u8]>::to_vec);
    let staged = line.get(2).is_some_and(|mark| *mark != b'.');
    let (path, kind) = match line.first()? {
        b'1' => (fields(9)?, EntryKind::Tracked { staged }),
        b'u' => (fields(11)?, EntryKind::Unmerged),
        b'?' => (fields(2)?, EntryKind::Untracked),
        _ => return None,
    };
    Some(StatusEntry { path, kind })
}

pub(crate) fn on_disk(folder: &Path, path: &[u8]) -> PathBuf {
    folder.join(OsStr::from_bytes(path))
}

/// A tree that was taken, and what a person should know of it.
pub(crate) struct Snapshot {
    pub checkpoint: Checkpoint,
    pub notes: Vec<String>,
}

impl Snapshot {
    /// The private index holds the same tree afterwards. `also` are paths that are taken in whatever `.gitignore` says.
    pub(crate) fn take(
        git: &CheckpointGit,
        status: &Status,
        title: &str,
        also: &[Vec<u8>],
    ) -> Result<Self, RunnerError> {
        git.copy_index()?;
        let mut checkpoint = Checkpoint {
            commit: String::new(),
            tree: String::new(),
            head: status.head.clone(),
            branch: status.branch.clone(),
            index: staged(git, status),
            folder: git.folder().to_string_lossy().into_owned(),
            untracked: true,
        };
        let mut chosen = Chosen::of(git, status);
        chosen.add(git.folder(), also);
        checkpoint.untracked = chosen.untracked;
        chosen.write_index(git)?;
        let tree = git.run(UsedIndex::Private, &["write-tree", "--missing-ok"], None)?;
        checkpoint.tree = first_line(&tree);
        checkpoint.commit = commit(git, &checkpoint, title)?;
        Ok(Self { checkpoint, notes: chosen.notes })
    }
}

/// What the user's index holds besides `HEAD`; asked of the copy before anything is added to it.
fn staged(git: &CheckpointGit, status: &Status) -> IndexTree {
    if status.entries.iter().any(|entry| entry.kind == EntryKind::Unmerged) {
        return IndexTree::Unknown;
    }
    if !status.entries.iter().any(|entry| entry.kind == EntryKind::Tracked { staged: true }) {
        return IndexTree::AsHead;
    }
    let tree = git.run(UsedIndex::Private, &["write-tree", "--missing-ok"], None);
    tree.map_or(IndexTree::Unknown, |tree| IndexTree::Tree(first_line(&tree)))
}

fn commit(git: &CheckpointGit, checkpoint: &Checkpoint, title: &str) -> Result<String, RunnerError> {
    let mut parents: Vec<String> = checkpoint.head.iter().cloned().collect();
    if let IndexTree::Tree(tree) = &checkpoint.index {
        // A commit of its own keeps what was staged from being collected as garbage.
        parents.push(commit_tree(git, tree, &parents, "taut: what was staged\n")?);
    }
    commit_tree(git, &checkpoint.tree, &parents, &checkpoint.message(title))
}

fn commit_tree(git: &CheckpointGit, tree: &str, parents: &[String], message: &str) -> Result<String, RunnerError> {
    let mut args = vec!["commit-tree", tree];
    parents.iter().for_each(|parent| args.extend(["-p", parent]));
    let out = git.run(UsedIndex::Real, &args, Some(message.as_bytes()))?;
    Ok(first_line(&out))
}

pub(crate) fn first_line(out: &[u8]) -> String {
    String::from_utf8_lossy(out).lines().next().unwrap_or_default().to_string()
}

/// What is brought into the private index.
struct Chosen {
    there: Vec<Vec<u8>>,
    gone: Vec<Vec<u8>>,
    untracked: bool,
    notes: Vec<String>,
}

impl Chosen {
    fn of(git: &CheckpointGit, status: &Status) -> Self {
        let (folder, bounds) = (git.folder(), git.bounds());
        let mut chosen = Self { there: Vec::new(), gone: Vec::new(), untracked: true, notes: Vec::new() };
        let (mut large, mut unread) = (Vec::new(), Vec::new());
        let left_out = chosen.left_out(folder, status, bounds);
        let mut folders = RealFolders::default();
        for StatusEntry { path, kind } in &status.entries {
            let untracked = *kind == EntryKind::Untracked;
            // A repository inside this one is its own keeper.
            if untracked && (path.ends_with(b"/") || left_out.contains(path.as_slice())) {
                continue;
            }
            match folders.look(folder, path) {
                Found::Gone => chosen.gone.push(path.clone()),
                Found::Unreadable => unread.push(path),
                Found::File(size) if untracked && size > bounds.largest => large.push(path),
                Found::File(_) | Found::Other => chosen.there.push(path.clone()),
            }
        }
        // A loop knows by their size that they may have been there.
        chosen.untracked &= large.is_empty() || bounds.beyond == Beyond::Nothing;
        chosen.note(&large, &format!("larger than {} MB and unknown to git", bounds.largest >> 20));
        chosen.note(&unread, "not readable");
        chosen
    }

    /// Files that git does not know and that are more than may be kept.
    fn left_out<'s>(&mut self, folder: &Path, status: &'s Status, bounds: &Bounds) -> HashSet<&'s [u8]> {
        let size = |path: &[u8]| std::fs::symlink_metadata(on_disk(folder, path)).map_or(0, |meta| meta.len());
        let mut small: Vec<(u64, &[u8])> = status.untracked().map(|path| (size(path), path)).collect();
        small.retain(|(size, _)| *size <= bounds.largest);
        let all: u64 = small.iter().map(|(size, _)| size).sum();
        if all <= bounds.untracked && small.len() <= bounds.files {
            return HashSet::new();
        }
        self.untracked = false;
        let (many, of_loop) = (small.len(), bounds.beyond == Beyond::Nothing);
        if of_loop {
            self.notes.push(format!(
                "{many} files that git does not know take {} MB: they are in no checkpoint, and `taut loop undo` leaves \
                 them where they are; a line in .gitignore says that this is meant",
                all >> 20
            ));
            return status.untracked().collect();
        }
        small.sort_unstable();
        let (mut room, mut kept) = (bounds.untracked, 0);
        let fits = |(size, _): &&(u64, &[u8])| {
            let fits = kept < bounds.files && *size <= room;
            (room, kept) = if fits { (room - size, kept + 1) } else { (room, kept) };
            !fits
        };
        let left: HashSet<&[u8]> = small.iter().filter(fits).map(|(_, path)| *path).collect();
        self.notes
            .push(format!("{} of {many} files that git does not know are not in it: they are too many", left.len()));
        left
    }

    fn add(&mut self, folder: &Path, also: &[Vec<u8>]) {
        let mut folders = RealFolders::default();
        // A folder stands where a file was, unless it is a repository, which git keeps as one entry.
        let is_entry = |path: &[u8]| {
            let path = on_disk(folder, path);
            !std::fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_dir()) || path.join(".git").exists()
        };
        let there = |path: &&Vec<u8>| match folders.look(folder, path) {
            Found::File(_) => true,
            Found::Other => is_entry(path),
            Found::Gone | Found::Unreadable => false,
        };
        self.there.extend(also.iter().filter(there).cloned());
    }

    fn note(&mut self, paths: &[&Vec<u8>], why: &str) {
        if paths.is_empty() {
            return;
        }
        let named: Vec<_> = paths.iter().take(NAMED).map(|path| String::from_utf8_lossy(path)).collect();
        let more = if paths.len() > NAMED { format!(" and {} more", paths.len() - NAMED) } else { String::new() };
        self.notes.push(format!("in no checkpoint, because {why}: {}{more}", named.join(", ")));
    }

    /// What is gone first: a folder may stand where a file was, and the other way round.
    fn write_index(&self, git: &CheckpointGit) -> Result<(), RunnerError> {
        for (paths, how) in [(&self.gone, &["--force-remove"][..]), (&self.there, &["--add", "--remove", "--replace"])]
        {
            if !paths.is_empty() {
                let args = [&["update-index"], how, &["-z", "--stdin"]].concat();
                git.run(UsedIndex::Private, &args, Some(&listed(paths.iter().map(Vec::as_slice))))?;
            }
        }
        Ok(())
    }
}

enum Found {
    File(u64),
    /// A link, or a folder that is a submodule.
    Other,
    /// Also where a link stands in place of its folder: git reads nothing behind it.
    Gone,
    Unreadable,
}

/// Which folders are folders and no links.
#[derive(Default)]
struct RealFolders(HashMap<PathBuf, bool>);

impl RealFolders {
    fn look(&mut self, root: &Path, path: &[u8]) -> Found {
        let file = on_disk(root, path);
        if !file.parent().is_some_and(|parent| self.is_real(root, parent)) {
            return Found::Gone;
        }
        match std::fs::symlink_metadata(&file) {
            Ok(meta) if meta.is_file() && outside::open(&file, &Rules::up_to(u64::MAX)).is_err() => Found::Unreadable,
            Ok(meta) if meta.is_file() => Found::File(meta.len()),
            Ok(meta) if meta.is_symlink() || meta.is_dir() => Found::Other,
            // A pipe or a socket is nothing that git could keep.
            Ok(_) | Err(_) => Found::Gone,
        }
    }

    fn is_real(&mut self, root: &Path, folder: &Path) -> bool {
        if folder == root {
            return true;
        }
        if let Some(known) = self.0.get(folder) {
            return *known;
        }
        let real = std::fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_dir())
            && folder.parent().is_some_and(|parent| self.is_real(root, parent));
        self.0.insert(folder.to_path_buf(), real);
        real
    }
}
