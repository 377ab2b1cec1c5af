//! Where the memory lies: the names in its folder, their private modes, and
//! whether the file opened is still the one at its path.

use crate::Error;
use std::fs::{DirBuilder, OpenOptions, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The database's file name in its folder.
pub const DATABASE: &str = "taut.db";

/// The folder and the names in it.
#[derive(Debug, Clone)]
pub(crate) struct StoreFolder {
    pub folder: PathBuf,
    pub database: PathBuf,
}

/// A file, told apart from another one at the same path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
}

/// Whether an open connection still stands on the file at its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionState {
    Same,
    /// Another file is at the path: open again.
    Replaced,
    /// The file or its folder is gone.
    Vanished,
}

impl StoreFolder {
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf(), database: folder.join(DATABASE) }
    }

    /// A sibling of the database: `taut.db` followed by `suffix`.
    pub fn beside(&self, suffix: &str) -> PathBuf {
        self.folder.join(format!("{DATABASE}{suffix}"))
    }

    pub fn wal(&self) -> PathBuf {
        self.beside("-wal")
    }

    pub fn has_log(&self) -> bool {
        std::fs::metadata(self.wal()).is_ok_and(|log| log.len() > 0)
    }

    /// The file's identity, or `None` when there is none at the path.
    pub fn identity(&self) -> Option<Identity> {
        let found = std::fs::metadata(&self.database).ok()?;
        Some(Identity { device: found.dev(), inode: found.ino() })
    }

    /// The same, and a mode that lets others read is tightened: a copy put back
    /// by hand has one.
    pub fn private_identity(&self) -> Option<Identity> {
        let found = std::fs::metadata(&self.database).ok()?;
        if found.mode() & 0o077 != 0 {
            // A file of somebody else's cannot be tightened; `check` reports it.
            let _ = std::fs::set_permissions(&self.database, Permissions::from_mode(0o600));
        }
        Some(Identity { device: found.dev(), inode: found.ino() })
    }

    /// Makes the folder and an empty private file where they are missing. The
    /// mode of an existing folder is left alone: it may be a shared one.
    pub fn make(&self) -> Result<(), Error> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)
            .map_err(|cause| Error::file("make the folder", &self.folder, cause))?;
        match private_file(&self.database) {
            Ok(_) => Ok(()),
            Err(cause) if cause.kind() == ErrorKind::AlreadyExists => Ok(()),
            Err(cause) => Err(Error::file("make the file", &self.database, cause)),
        }
    }

    pub fn standing(&self, opened: Identity) -> ConnectionState {
        match self.identity() {
            Some(now) if now == opened => ConnectionState::Same,
            Some(_) => ConnectionState::Replaced,
            None => ConnectionState::Vanished,
        }
    }
}

/// A new empty file that only its owner may read.
pub(crate) fn private_file(path: &Path) -> std::io::Result<std::fs::File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}
