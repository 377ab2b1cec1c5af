//! One loop per work tree: a lock that the kernel frees however its holder dies, and that no child inherits.
//!
//! It lies in Taut's own folder, so it holds among all loops that share that folder. Loops with another one
//! (`TAUT_HOME`) know nothing of each other, as they know nothing of each other's tasks.

use crate::RunnerError;
use model::fact::Life;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use sys::outside::{self, Rules};

/// Who has just begun says so a moment later.
const NAMED_WITHIN: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(20);
const LONGEST: u64 = 256;

/// Held for as long as it lives; the file stays.
#[derive(Debug)]
pub struct TreeLock {
    /// Rust opens files so that no program that is started gets them.
    file: File,
    path: PathBuf,
}

impl TreeLock {
    /// Takes it at once, or says who has it.
    pub fn take(state: &Path, tree: &Path) -> Result<Self, RunnerError> {
        let path = beside(state, tree, "lock");
        let failed = |source| RunnerError::Lock { path: path.clone(), source };
        let folder = path.parent().unwrap_or(state);
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        let mut open = OpenOptions::new();
        open.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(libc::O_NOFOLLOW);
        let file = open.open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let (pid, run) = holder(&path);
                return Err(RunnerError::Busy { folder: tree.to_string_lossy().into_owned(), pid, run });
            }
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        // What the last holder wrote is not ours.
        file.set_len(0).map_err(failed)?;
        Ok(Self { file, path })
    }

    /// For whoever finds it taken.
    pub(crate) fn name(&self, run: &str) -> Result<(), RunnerError> {
        let line = format!("{} {run}\n", std::process::id());
        self.file
            .write_all_at(line.as_bytes(), 0)
            .map_err(|source| RunnerError::Lock { path: self.path.clone(), source })
    }
}

impl Drop for TreeLock {
    /// Said, not left to the file being closed: a process that another thread is just starting has it too for a moment.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

/// A file of ours about a work tree, whatever path leads to it.
pub(crate) fn beside(state: &Path, tree: &Path, ending: &str) -> PathBuf {
    let tree = std::fs::canonicalize(tree).unwrap_or_else(|_| tree.to_path_buf());
    let name = tree.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).take(24).collect();
    let digest: String = pipeline::sha256(&tree.to_string_lossy()).chars().take(16).collect();
    state.join("loops").join(format!("{name}-{digest}.{ending}"))
}

/// The process and the run that have the lock, as soon as they say so.
fn holder(path: &Path) -> (Option<u32>, Option<String>) {
    let deadline = Instant::now() + NAMED_WITHIN;
    loop {
        if let Some((pid, run)) = named(path) {
            return (Some(pid), Some(run));
        }
        if Instant::now() >= deadline {
            return (None, None);
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

fn named(path: &Path) -> Option<(u32, String)> {
    let text = outside::read_text(path, &Rules::up_to(LONGEST)).ok()?;
    let (pid, run) = text.strip_suffix('\n')?.split_once(' ')?;
    let pid: u32 = pid.parse().ok()?;
    // One who is gone wrote this before the lock was taken anew.
    (!matches!(host::probe::life(pid), Some(Life::Gone))).then(|| (pid, run.to_string()))
}

/// What somebody chose for this work tree, kept with what Taut itself keeps.
pub(crate) fn kept(state: &Path, tree: &Path, what: &str) -> Option<String> {
    let text = outside::read_text(&beside(state, tree, what), &Rules::obeyed(LONGEST)).ok()?;
    Some(text.trim().to_string())
}

pub(crate) fn keep(state: &Path, tree: &Path, what: &str, text: &str) -> io::Result<()> {
    let path = beside(state, tree, what);
    DirBuilder::new().recursive(true).mode(0o700).create(path.parent().unwrap_or(state))?;
    let mut open = OpenOptions::new();
    open.write(true).create(true).truncate(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    io::Write::write_all(&mut open.open(&path)?, format!("{text}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l1_a_work_tree_has_one_lock_whatever_path_leads_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let (state, tree, link) = (folder.path().join("state"), folder.path().join("tree"), folder.path().join("link"));
        std::fs::create_dir(&tree).unwrap();
        std::os::unix::fs::symlink(&tree, &link).unwrap();
        let held = TreeLock::take(&state, &tree).unwrap();
        held.name("the-run").unwrap();
        for again in [&tree, &link] {
            let busy = TreeLock::take(&state, again).unwrap_err();
            let RunnerError::Busy { pid, run, .. } = busy else { panic!("{busy}") };
            assert_eq!((pid, run.as_deref()), (Some(std::process::id()), Some("the-run")));
        }
        assert!(TreeLock::take(&state, folder.path()).is_ok(), "another tree is another's");
        drop(held);
        assert!(TreeLock::take(&state, &link).is_ok());
    }

    #[test]
    fn l1_where_no_lock_can_be_had_nothing_starts_and_the_place_is_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("loops"), "a file").unwrap();
        let failed = TreeLock::take(folder.path(), folder.path()).unwrap_err();
        assert!(matches!(&failed, RunnerError::Lock { path, .. } if path.starts_with(folder.path())), "{failed}");
    }
}
