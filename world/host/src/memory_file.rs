//! Changes a file of lasting facts. It is read again under a lock, so that two
//! who note something at the same moment lose nothing, and replaced in one step.

use crate::artifacts;
use crate::settings_file::{self, SettingsFileChange, SettingsFileError, SettingsSnapshot};
use model::memory_file::{self, FactChange, LARGEST_FILE};
use std::fs::{File, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};
use sys::outside;

/// Whoever holds the lock reads and writes one small file.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often a file that an editor saves meanwhile is read again.
const TRIES: usize = 5;

/// Makes the change where the file really lies inside one of the roots.
pub fn change(path: &Path, change: &FactChange, roots: &[String]) -> io::Result<()> {
    artifacts::room(path, roots)?;
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let _held = hold(folder)?;
    for attempt in 1.. {
        let before = SettingsSnapshot::read(path).map_err(io::Error::other)?;
        inside(&before.target, roots)?;
        if before.text().len() > LARGEST_FILE {
            return Err(io::Error::other(format!("it is larger than {} KB; shorten it", LARGEST_FILE / 1024)));
        }
        let after = memory_file::changed(before.text(), change).map_err(io::Error::other)?;
        if after == before.text() {
            return Ok(());
        }
        match settings_file::replace(&before, &SettingsFileChange::Text(after)) {
            Err(SettingsFileError::Changed { .. }) if attempt < TRIES => {}
            done => {
                done.map_err(io::Error::other)?;
                return if before.text.is_none() { keep_private(&before.target, folder) } else { Ok(()) };
            }
        }
    }
    Ok(())
}

/// A new file is as private as the folder it lies in.
fn keep_private(file: &Path, folder: &Path) -> io::Result<()> {
    let private = std::fs::metadata(folder)?.permissions().mode() & 0o077 == 0;
    if private { std::fs::set_permissions(file, Permissions::from_mode(0o600)) } else { Ok(()) }
}

/// The folder itself is the lock, so that none lies about in somebody's project.
/// The kernel lets go of it however its holder dies.
fn hold(folder: &Path) -> io::Result<Option<File>> {
    let lock = outside::open_folder(folder)?;
    let began = Instant::now();
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(Some(lock)),
            Err(TryLockError::WouldBlock) if began.elapsed() < PATIENCE => sleep(Duration::from_millis(1)),
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::other("another process holds it; run the command again"));
            }
            // A file system without locks: the file is still replaced in one step.
            Err(TryLockError::Error(_)) => return Ok(None),
        }
    }
}

/// A link may lead to another file of the same roots, and nowhere else.
fn inside(target: &Path, roots: &[String]) -> io::Result<()> {
    let folder = target.parent().unwrap_or(Path::new("/")).canonicalize()?;
    let real = |root: &String| Path::new(root).canonicalize().unwrap_or_else(|_| PathBuf::from(root));
    if roots.iter().filter(|root| !root.is_empty()).any(|root| folder.starts_with(real(root))) {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::PermissionDenied,
        "it is a link that leads outside the project and Taut's own folder",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(text: &str) -> FactChange {
        FactChange::Keep { text: text.into(), date: "2026-11-16".into(), by: "ann".into() }
    }

    #[test]
    fn m4_many_writers_at_once_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let roots = [folder.path().to_string_lossy().into_owned()];
        let path = folder.path().join("projects/p/memory.md");
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let (path, roots) = (&path, &roots);
                scope.spawn(move || {
                    for n in 0..12 {
                        change(path, &keep(&format!("fact {writer} {n}")), roots).unwrap();
                    }
                    change(path, &FactChange::Forget { text: format!("fact {writer} 0"), by_agent: true }, roots)
                        .unwrap();
                });
            }
        });
        assert_eq!(memory_file::facts(&std::fs::read_to_string(&path).unwrap()).len(), 4 * 11);
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing is left beside it");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "nobody else's business");
    }

    #[test]
    fn m4_a_link_that_leads_out_is_not_written_and_one_that_stays_is_followed() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let roots = [folder.path().to_string_lossy().into_owned()];
        let link = |to: &Path, from: &str| std::os::unix::fs::symlink(to, folder.path().join(from)).unwrap();
        std::fs::create_dir(folder.path().join(".taut")).unwrap();
        std::fs::write(other.path().join("theirs.md"), "- theirs\n").unwrap();
        link(&other.path().join("theirs.md"), ".taut/memory.md");
        link(&other.path().join("not-there.md"), ".taut/new.md");
        link(other.path(), "out");
        for name in [".taut/memory.md", ".taut/new.md", "out/memory.md"] {
            let why = change(&folder.path().join(name), &keep("x"), &roots).unwrap_err();
            assert_eq!(why.kind(), io::ErrorKind::PermissionDenied, "{name}: {why}");
        }
        assert_eq!(std::fs::read_to_string(other.path().join("theirs.md")).unwrap(), "- theirs\n");
        assert_eq!(std::fs::read_dir(other.path()).unwrap().count(), 1);
        std::fs::write(folder.path().join("docs.md"), "- ours\n").unwrap();
        link(Path::new("../docs.md"), ".taut/stays.md");
        change(&folder.path().join(".taut/stays.md"), &keep("x"), &roots).unwrap();
        assert!(std::fs::read_to_string(folder.path().join("docs.md")).unwrap().starts_with("- ours\n- x "));
    }
}
