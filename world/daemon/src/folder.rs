//! The private folder of a daemon: its socket, its locks, and whether all of it is still the same.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_millis(5);

/// Longest path of a local socket on every system we run on.
const SOCKET_PATH_BYTES: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error("cannot make or open {path} for the daemon: check that the disk is writable, or set TAUT_HOME")]
    Io { path: PathBuf, source: io::Error },
    #[error("{path} belongs to user {owner}, not to you: set TAUT_HOME to a folder of your own")]
    Foreign { path: PathBuf, owner: u32 },
    #[error("{path} is not a folder: move it away, or set TAUT_HOME")]
    NotAFolder { path: PathBuf },
}

/// The lock that only one process at a time can have; the system releases it when that process dies.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
    path: PathBuf,
}

/// Which file a path named at some moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    path: PathBuf,
    device: u64,
    inode: u64,
}

/// Held for the life of a daemon: the one source of "a daemon exists".
pub(crate) fn lifetime_lock(folder: &Path) -> PathBuf {
    folder.join("daemon.lock")
}

/// Held while a daemon is looked for, replaced or started.
pub(crate) fn startup_lock(folder: &Path) -> PathBuf {
    folder.join("start.lock")
}

/// Where the daemon of a state folder listens. A path too long for a socket is replaced by a short one made from it.
#[must_use]
pub fn socket_path(folder: &Path) -> PathBuf {
    let path = folder.join(fast_client::wire::SOCKET_NAME);
    let bytes = path.as_os_str().as_encoded_bytes();
    if bytes.len() <= SOCKET_PATH_BYTES {
        return path;
    }
    let hash = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    PathBuf::from(format!("/tmp/taut-{}/{hash:016x}.sock", sys::outside::user()))
}

/// Makes the folder of the socket and the state folder private to this user, or says why not.
pub(crate) fn prepare(folder: &Path) -> Result<(), FolderError> {
    private(folder)?;
    match socket_path(folder).parent() {
        Some(parent) if parent != folder => private(parent),
        _ => Ok(()),
    }
}

fn private(path: &Path) -> Result<(), FolderError> {
    let failed = |source| FolderError::Io { path: path.to_owned(), source };
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)?;
    let found = fs::symlink_metadata(path).map_err(failed)?;
    let found = if found.is_symlink() && path.starts_with("/tmp") {
        return Err(FolderError::NotAFolder { path: path.to_owned() });
    } else {
        fs::metadata(path).map_err(failed)?
    };
    if !found.is_dir() {
        return Err(FolderError::NotAFolder { path: path.to_owned() });
    }
    if found.uid() != sys::outside::user() {
        return Err(FolderError::Foreign { path: path.to_owned(), owner: found.uid() });
    }
    if found.mode() & 0o077 != 0 {
        fs::set_permissions(path, Permissions::from_mode(0o700)).map_err(failed)?;
    }
    Ok(())
}

impl Lock {
    /// Waits for the lock until `deadline`; `None` when somebody else has it all the time.
    pub fn take(path: &Path, deadline: Instant) -> io::Result<Option<Self>> {
        loop {
            if let Some(lock) = Self::try_take(path)? {
                return Ok(Some(lock));
            }
            if Instant::now() >= deadline {
                return Ok(None);
            }
            thread::sleep(PAUSE);
        }
    }

    /// A lock on a file that was removed or replaced meanwhile is worth nothing, so the path is looked at again.
    pub fn try_take(path: &Path) -> io::Result<Option<Self>> {
        let file = OpenOptions::new().create(true).truncate(false).write(true).read(true).mode(0o600).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(cause)) => return Err(cause),
        }
        let same = fs::metadata(path).is_ok_and(|now| file.metadata().is_ok_and(|held| is_same(&now, &held)));
        Ok(same.then(|| Self { file, path: path.to_owned() }))
    }

    /// Whether somebody holds the lock. A missing file is held by nobody.
    pub fn is_held(path: &Path) -> io::Result<bool> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(false),
            Err(cause) => return Err(cause),
        };
        match file.try_lock_shared() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(cause)) => Err(cause),
        }
    }

    /// Waits until nobody holds the lock; false when the time is over first.
    pub fn wait_until_free(path: &Path, deadline: Instant) -> io::Result<bool> {
        while Self::is_held(path)? {
            if Instant::now() >= deadline {
                return Ok(false);
            }
            thread::sleep(PAUSE);
        }
        Ok(true)
    }

    /// Leaves a line in the file for people who look at it.
    pub fn note(&mut self, text: &str) -> io::Result<()> {
        use std::io::{Seek, Write};
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.file.write_all(text.as_bytes())
    }

    pub fn release(&self) {
        // Where that fails the end of the process does it.
        let _ = self.file.unlock();
    }

    pub fn identity(&self) -> io::Result<Identity> {
        Ok(Identity::of(&self.path, &self.file.metadata()?))
    }
}

impl Identity {
    pub fn read(path: &Path) -> io::Result<Self> {
        Ok(Self::of(path, &fs::symlink_metadata(path)?))
    }

    /// Whether the path still names the same file. What cannot be looked at for another reason than being gone is
    /// taken to be there.
    pub fn still_holds(&self) -> bool {
        match Self::read(&self.path) {
            Ok(now) => now == *self,
            Err(cause) => !matches!(cause.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
        }
    }

    /// Removes the file if it is still the same.
    pub fn remove(&self) {
        if Self::read(&self.path).is_ok_and(|now| now == *self) {
            // Failing leaves a stale socket, which the next starter recognises.
            let _ = fs::remove_file(&self.path);
        }
    }

    fn of(path: &Path, found: &Metadata) -> Self {
        Self { path: path.to_owned(), device: found.dev(), inode: found.ino() }
    }
}

fn is_same(a: &Metadata, b: &Metadata) -> bool {
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(test)]
mod tests {
    use super::{Identity, Lock, prepare, socket_path};
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::path::Path;

    #[test]
    fn a_short_folder_holds_its_socket_and_a_long_one_is_hashed() {
        assert_eq!(socket_path(Path::new("/a")), Path::new("/a/taut.sock"));
        let long = |end: &str| socket_path(Path::new(&format!("/{}{end}", "x".repeat(120))));
        assert!(long("a").as_os_str().len() < 60);
        assert_ne!(long("a"), long("b"));
    }

    #[test]
    fn d9_the_folder_is_made_private_even_if_it_was_not() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("deep/state");
        prepare(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        prepare(&folder).unwrap();
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_lock_is_had_once_and_a_left_over_file_locks_nobody_out() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("x.lock");
        fs::write(&path, "pid 1, long dead").unwrap();
        assert!(!Lock::is_held(&path).unwrap());
        let first = Lock::try_take(&path).unwrap();
        assert!(first.is_some() && Lock::try_take(&path).unwrap().is_none() && Lock::is_held(&path).unwrap());
        drop(first);
        assert!(Lock::try_take(&path).unwrap().is_some());
    }

    #[test]
    fn a_replaced_file_is_not_the_same_and_is_not_removed() {
        let home = tempfile::tempdir().unwrap();
        let (path, other) = (home.path().join("a"), home.path().join("b"));
        fs::write(&path, "").unwrap();
        fs::write(&other, "").unwrap();
        let identity = Identity::read(&path).unwrap();
        assert!(identity.still_holds());
        fs::rename(&other, &path).unwrap();
        assert!(!identity.still_holds());
        identity.remove();
        assert!(path.exists());
    }
}
