//! The name of the agent that `taut run` supervises: the same for the same place,
//! and another while somebody has it.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// More at once in one folder and terminal are not told apart any more.
const MOST: usize = 64;

/// A name, and the lock that keeps others from it; the kernel lets go of it however its holder dies.
#[derive(Debug)]
pub struct RunName {
    pub name: String,
    _lock: Option<File>,
}

impl RunName {
    /// The first name of this place that nobody has. Where no lock can be had, as
    /// on a full disk, the plain name does: a second client under it is a child.
    #[must_use]
    pub fn take(state: &Path, plain: &str) -> Self {
        let folder = folder(state);
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
        let locked = made.and_then(|()| first(plain, |name| lock(&folder, name)));
        match locked {
            Ok(Some((name, lock))) => Self { name, _lock: Some(lock) },
            Ok(None) | Err(_) => Self { name: plain.to_string(), _lock: None },
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

fn lock(folder: &Path, name: &str) -> io::Result<Option<File>> {
    let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path(folder, name))?;
    let had = is_had(file.try_lock())?;
    Ok(had.then_some(file))
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
    }
}
