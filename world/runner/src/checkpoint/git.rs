//! Git on one work tree, told to do one thing and nothing besides, with no index but the named.

use super::Bounds;
use crate::RunnerError;
use crate::git_command::{LIST_PROGRAMS, ProgramsOff, git_command};
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Instant;

/// What a repository or its user may have set and would get in the way of keeping a tree: refusals, other files.
const OF_CHECKPOINTS: [&str; 6] = [
    "core.safecrlf=false", "core.splitIndex=false", "core.logAllRefUpdates=false", "status.renames=false",
    "advice.addEmbeddedRepo=false", "core.looseCompression=1",
];

/// More of what git complains of is not read.
const ERROR_BYTES: u64 = 64 << 10;

/// One work tree.
pub(crate) struct CheckpointGit {
    folder: PathBuf,
    dir: PathBuf,
    index: PathBuf,
    private: PathBuf,
    off: ProgramsOff,
    bounds: Bounds,
}

/// Which index a command reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UsedIndex<'p> {
    /// The user's.
    Real,
    /// Our own copy of it.
    Private,
    Named(&'p Path),
}

impl CheckpointGit {
    /// `None` where the folder is no work tree of its own: no repository, a bare one, or a folder inside another's tree.
    pub(crate) fn open(folder: &Path, private: PathBuf, bounds: Bounds) -> Option<Self> {
        let folder = folder.canonicalize().ok()?;
        let asked = ["rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-path", "index"];
        let mut command = plain(&folder);
        command.args(asked);
        let out = finish(command, "rev-parse", None, &bounds).ok()?;
        let lines: Vec<&OsStr> =
            out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(OsStr::from_bytes).collect();
        let &[top, dir, index] = lines.as_slice() else { return None };
        if Path::new(top).canonicalize().ok()? != folder {
            return None;
        }
        let (dir, index, off) = (PathBuf::from(dir), folder.join(index), ProgramsOff::default());
        let mut git = Self { dir, index, folder, private, off, bounds };
        // It ends with 1 where there are none.
        git.off = ProgramsOff::read(&git.text(&LIST_PROGRAMS).unwrap_or_default());
        Some(git)
    }

    pub(crate) fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn private(&self) -> &Path {
        &self.private
    }

    /// The private index becomes a copy of the user's.
    pub(crate) fn copy_index(&self) -> Result<(), RunnerError> {
        let failed = |source| RunnerError::Write { path: self.private.clone(), source };
        if let Some(folder) = self.private.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        // A lock is what a killed run left; nobody else uses this file.
        for old in [self.private.clone(), lock_of(&self.private)] {
            let _ = std::fs::remove_file(old);
        }
        match std::fs::copy(&self.index, &self.private) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            copied => copied.map(drop).map_err(failed),
        }
    }

    /// Somebody else writes the user's index, or was killed while doing so: nothing that ends with writing it may begin.
    pub(crate) fn free_index(&self) -> Result<(), RunnerError> {
        let path = lock_of(&self.index);
        if path.symlink_metadata().is_ok() { Err(RunnerError::IndexLocked { path }) } else { Ok(()) }
    }

    /// A rebase that is not over, which nobody but its owner can end.
    pub(crate) fn is_rebasing(&self) -> bool {
        ["rebase-merge", "rebase-apply"].iter().any(|name| self.dir.join(name).exists())
    }

    pub(crate) fn command(&self, index: UsedIndex<'_>) -> Command {
        let mut command = plain(&self.folder);
        self.off.apply(&mut command);
        match index {
            UsedIndex::Real => {}
            UsedIndex::Private => {
                command.env("GIT_INDEX_FILE", &self.private);
            }
            UsedIndex::Named(path) => {
                command.env("GIT_INDEX_FILE", path);
            }
        }
        command
    }

    /// What it prints.
    pub(crate) fn run(
        &self,
        index: UsedIndex<'_>,
        args: &[&str],
        stdin: Option<&[u8]>,
    ) -> Result<Vec<u8>, RunnerError> {
        let mut command = self.command(index);
        command.args(args);
        self.finish(command, args.first().copied().unwrap_or_default(), stdin)
    }

    pub(crate) fn finish(&self, command: Command, what: &str, stdin: Option<&[u8]>) -> Result<Vec<u8>, RunnerError> {
        finish(command, what, stdin, &self.bounds)
    }

    /// What it prints, of the user's own index, without the last line break.
    pub(crate) fn text(&self, args: &[&str]) -> Result<String, RunnerError> {
        let out = self.run(UsedIndex::Real, args, None)?;
        Ok(String::from_utf8_lossy(&out).trim_end_matches('\n').to_string())
    }

    pub(crate) fn set_ref(&self, name: &str, commit: &str) -> Result<(), RunnerError> {
        self.run(UsedIndex::Real, &["update-ref", "--no-deref", name, commit], None).map(drop)
    }
}

impl Drop for CheckpointGit {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.private);
    }
}

/// Names that end in a NUL.
pub(crate) fn names(out: &[u8]) -> impl Iterator<Item = &[u8]> {
    out.split(|byte| *byte == 0).filter(|name| !name.is_empty())
}

/// The same the other way round.
pub(crate) fn listed<'n>(names: impl Iterator<Item = &'n [u8]>) -> Vec<u8> {
    let mut list = Vec::new();
    for name in names {
        list.extend_from_slice(name);
        list.push(0);
    }
    list
}

fn finish(mut command: Command, what: &str, stdin: Option<&[u8]>, bounds: &Bounds) -> Result<Vec<u8>, RunnerError> {
    let unstarted = |source| RunnerError::Start { program: "git".to_string(), source };
    let failed = |said: String| RunnerError::Git { what: what.to_string(), said };
    let late = || failed("it took too long and was ended".to_string());
    if bounds.until.is_some_and(|until| Instant::now() >= until) {
        return Err(late());
    }
    command.stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::null() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(unstarted)?;
    let (mut out, mut error) = (Vec::new(), Vec::new());
    let in_time = converse(&mut child, stdin, (&mut out, &mut error), bounds);
    let status = child.wait().map_err(unstarted)?;
    if !in_time {
        return Err(late());
    }
    if status.success() {
        return Ok(out);
    }
    let said = String::from_utf8_lossy(&error).lines().next_back().unwrap_or_default().chars().take(300).collect();
    Err(failed(said))
}

/// Writes what it reads and reads what it prints, both at once, until it ends. Whether it did so in its time; it is not
/// reaped yet, so that its number is its own for as long as it may be signalled.
fn converse(
    child: &mut Child,
    stdin: Option<&[u8]>,
    (out, error): (&mut Vec<u8>, &mut Vec<u8>),
    bounds: &Bounds,
) -> bool {
    let (pid, most) = (child.id(), bounds.output);
    let (to, from, complaints) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        let (ended, wait) = channel::<()>();
        let watch = bounds.until.map(|until| {
            scope.spawn(move || {
                let left = until.saturating_duration_since(Instant::now());
                let late = wait.recv_timeout(left) == Err(RecvTimeoutError::Timeout);
                late && sys::process::signal_group(pid, libc::SIGKILL)
            })
        });
        scope.spawn(move || {
            if let (Some(mut pipe), Some(bytes)) = (to, stdin) {
                // One that ended early says why itself.
                let _ = pipe.write_all(bytes);
            }
        });
        scope.spawn(move || complaints.map(|pipe| pipe.take(ERROR_BYTES).read_to_end(error)));
        let whole = from.is_none_or(|pipe| {
            let read = pipe.take(most).read_to_end(out);
            read.is_ok_and(|bytes| u64::try_from(bytes).is_ok_and(|bytes| bytes < most))
        });
        sys::process::wait_unreaped(pid);
        drop(ended);
        let late = watch.is_some_and(|watch| watch.join().unwrap_or(false));
        whole && !late
    })
}

fn plain(folder: &Path) -> Command {
    let mut command = git_command(folder, OF_CHECKPOINTS);
    // What is not here is not fetched: that would be a network, and programs of the repository's choice.
    command.env("GIT_NO_LAZY_FETCH", "1");
    for (name, value) in [("GIT_AUTHOR", "taut"), ("GIT_COMMITTER", "taut")] {
        command.env(format!("{name}_NAME"), value).env(format!("{name}_EMAIL"), "taut@localhost");
    }
    command
}

fn lock_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(".lock");
    PathBuf::from(name)
}
