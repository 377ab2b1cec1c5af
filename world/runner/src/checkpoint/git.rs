//! Git on one work tree, told to do one thing and nothing besides, with no index but the named.

use crate::RunnerError;
use crate::git_command::git_command;
use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a repository or its user may have set and would get in the way of keeping a tree: refusals, other files.
const OF_CHECKPOINTS: [&str; 5] = [
    "core.safecrlf=false", "core.splitIndex=false", "core.logAllRefUpdates=false", "status.renames=false",
    "advice.addEmbeddedRepo=false",
];

/// One work tree.
pub(crate) struct Git {
    folder: PathBuf,
    dir: PathBuf,
    index: PathBuf,
    private: PathBuf,
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

impl Git {
    /// `None` where the folder is no work tree of its own: no repository, a bare one, or a folder inside another's tree.
    pub(crate) fn open(folder: &Path, private: PathBuf) -> Option<Self> {
        let folder = folder.canonicalize().ok()?;
        let asked = ["rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-path", "index"];
        let out = plain(&folder).args(asked).stderr(Stdio::null()).output().ok().filter(|out| out.status.success())?;
        let lines: Vec<&OsStr> =
            out.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(OsStr::from_bytes).collect();
        let &[top, dir, index] = lines.as_slice() else { return None };
        (Path::new(top).canonicalize().ok()? == folder).then(|| Self {
            dir: PathBuf::from(dir),
            index: folder.join(index),
            folder,
            private,
        })
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
        finish(command, args.first().copied().unwrap_or_default(), stdin)
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

impl Drop for Git {
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

pub(crate) fn finish(mut command: Command, what: &str, stdin: Option<&[u8]>) -> Result<Vec<u8>, RunnerError> {
    let unstarted = |source| RunnerError::Start { program: "git".to_string(), source };
    command.stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::null() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(unstarted)?;
    let pipe = child.stdin.take();
    // It may print while it reads.
    let out = std::thread::scope(|scope| {
        scope.spawn(move || {
            if let (Some(mut pipe), Some(bytes)) = (pipe, stdin) {
                // One that ended early says why itself.
                let _ = pipe.write_all(bytes);
            }
        });
        child.wait_with_output()
    })
    .map_err(unstarted)?;
    if out.status.success() {
        return Ok(out.stdout);
    }
    let said = String::from_utf8_lossy(&out.stderr).lines().next_back().unwrap_or_default().chars().take(300).collect();
    Err(RunnerError::Git { what: what.to_string(), said })
}

fn plain(folder: &Path) -> Command {
    let mut command = git_command(folder, OF_CHECKPOINTS);
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
