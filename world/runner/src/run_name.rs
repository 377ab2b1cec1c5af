//! The name of the agent that `taut run` supervises: the same for the same place,
//! and another while somebody has it.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// More at once in one folder and terminal are not told apart any more.
const MOST: usize = 64;
const MOST_SWEPT: usize = 4_096;

/// A name, and the lock that keeps others from it; the kernel lets go of it however its holder dies.
#[derive(Debug)]
pub struct RunName {
    pub name: String,
    lock: Option<(File, PathBuf)>,
}

impl Drop for RunName {
    /// The file goes while its lock is held: whoever waits for it sees that it is another by then.
    fn drop(&mut self) {
        if let Some((file, path)) = self.lock.take() {
            let _ = std::fs::remove_file(path);
            let _ = file.unlock();
        }
    }
}

impl RunName {
    /// The first name of this place that nobody has. Where no lock can be had, as
    /// on a full disk, the plain name does: a second client under it is a child.
    #[must_use]
    pub fn take(state: &Path, plain: &str) -> Self {
        let folder = folder(state);
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
        let locked = made.and_then(|()| first(plain, |name| lock(&path(&folder, name))));
        sweep(&folder);
        match locked {
            Ok(Some((name, lock))) => {
                let path = path(&folder, &name);
                Self { name, lock: Some((lock, path)) }
            }
            Ok(None) | Err(_) => Self { name: plain.to_string(), lock: None },
        }
    }

    /// The name that would be taken now.
    #[must_use]
    pub fn free(state: &Path, plain: &str) -> String {
        let folder = folder(state);
        let is_free = |name: &str| match OpenOptions::new().write(true).open(path(&folder, name)) {
            Ok(file) => is_had(file.try_lock()).map(|had| had.then_some(())),
            Err(_) => Ok(Some(())),
        };
        first(plain, is_free).ok().flatten().map_or_else(|| plain.to_string(), |(name, ())| name)
    }
}

fn folder(state: &Path) -> PathBuf {
    state.join("supervised")
}

fn path(folder: &Path, name: &str) -> PathBuf {
    let file: String = name.chars().map(|c| if c == '/' { '_' } else { c }).collect();
    folder.join(format!("{file}.lock"))
}

fn first<T>(plain: &str, have: impl Fn(&str) -> io::Result<Option<T>>) -> io::Result<Option<(String, T)>> {
    for number in 1..=MOST {
        let name = if number == 1 { plain.to_string() } else { format!("{plain}-{number}") };
        if let Some(had) = have(&name)? {
            return Ok(Some((name, had)));
        }
    }
    Ok(None)
}

/// Takes away the files of those who were killed.
fn sweep(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_SWEPT);
    for path in entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "lock")) {
        // Dropped, it is unlocked and removed.
        let lock = lock(&path).ok().flatten().map(|file| (file, path));
        drop(RunName { name: String::new(), lock });
    }
}

/// A lock on a file that was removed meanwhile is worth nothing: then the new one is looked at.
fn lock(path: &Path) -> io::Result<Option<File>> {
    for _ in 0..MOST {
        let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
        if !is_had(file.try_lock())? {
            return Ok(None);
        }
        let held = file.metadata()?.ino();
        if std::fs::symlink_metadata(path).is_ok_and(|now| now.ino() == held) {
            return Ok(Some(file));
        }
    }
    Ok(None)
}

fn is_had(tried: Result<(), TryLockError>) -> io::Result<bool> {
    match tried {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(cause)) => Err(cause),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m1_a_name_is_had_by_one_at_a_time_and_is_free_again_afterwards() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(RunName::free(home.path(), "acme-run-x"), "acme-run-x");
        let one = RunName::take(home.path(), "acme-run-x");
        assert_eq!(RunName::free(home.path(), "acme-run-x"), "acme-run-x-2");
        let two = RunName::take(home.path(), "acme-run-x");
        assert_eq!((one.name.as_str(), two.name.as_str()), ("acme-run-x", "acme-run-x-2"));
        drop(one);
        assert_eq!(RunName::take(home.path(), "acme-run-x").name, "acme-run-x");
        assert_eq!(RunName::take(home.path(), "a/b").name, "a/b", "a name leads into no other folder");
        let left = |home: &Path| {
            std::fs::read_dir(folder(home)).unwrap().flatten().map(|entry| entry.file_name()).collect::<Vec<_>>()
        };
        assert_eq!(left(home.path()), ["acme-run-x-2.lock"], "only who is there has a file");
        std::fs::write(folder(home.path()).join("killed.lock"), "").unwrap();
        let three = RunName::take(home.path(), "acme-run-y");
        assert_eq!(left(home.path()).len(), 2, "what was left behind is gone");
        drop((two, three));
        assert_eq!(left(home.path()), Vec::<std::ffi::OsString>::new());
    }
}
