//! The one way to read a file that a project, an agent or another user controls.
//!
//! Whatever stands at the path, reading it ends: only a regular file is read, it is opened without waiting for anybody
//! at its other end, and no more of it is read than the caller allows. What a stalled file system does to its callers
//! no open flag prevents: whoever must not be held up reads on a thread that may be left behind.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// What may be read.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// A larger file is not read at all.
    pub most_bytes: u64,
    pub links: Links,
    pub owner: Owner,
}

/// What is done where the last part of the path is a symbolic link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    Followed,
    Refused,
}

/// Whose file it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    Anybody,
    /// This user's or the system's: what it says is going to be obeyed.
    OursOrRoot,
}

/// Why a file was not read.
#[derive(Debug)]
pub enum Unread {
    Missing,
    /// A pipe, a socket, a device or a folder.
    NotAFile,
    /// A link where none is followed.
    Link,
    TooLarge {
        bytes: u64,
    },
    NotOurs {
        owner: u32,
    },
    Failed(io::Error),
}

impl Rules {
    /// Anybody's file, links followed.
    #[must_use]
    pub fn up_to(most_bytes: u64) -> Self {
        Self { most_bytes, links: Links::Followed, owner: Owner::Anybody }
    }

    /// A file that is going to be obeyed.
    #[must_use]
    pub fn obeyed(most_bytes: u64) -> Self {
        Self { owner: Owner::OursOrRoot, ..Self::up_to(most_bytes) }
    }
}

/// The whole file.
///
/// # Errors
/// Why it was not read; a file that is there and empty is read.
pub fn read(path: &Path, rules: &Rules) -> Result<Vec<u8>, Unread> {
    let (file, found) = open(path, rules)?;
    if found.len() > rules.most_bytes {
        return Err(Unread::TooLarge { bytes: found.len() });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(found.len()).unwrap_or_default());
    // A file that grows meanwhile is not read further than allowed.
    file.take(rules.most_bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(Unread::Failed)?;
    if bytes.len() as u64 > rules.most_bytes {
        return Err(Unread::TooLarge { bytes: bytes.len() as u64 });
    }
    Ok(bytes)
}

/// The whole file as text, with what is not UTF-8 replaced.
///
/// # Errors
/// Why it was not read.
pub fn read_text(path: &Path, rules: &Rules) -> Result<String, Unread> {
    read(path, rules).map(|bytes| match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

/// The last bytes of a file, at most `last` of them, and its size when it was opened.
///
/// # Errors
/// Why it was not read. A file of any size is: only its end is.
pub fn read_end(path: &Path, last: u64) -> Result<(u64, Vec<u8>), Unread> {
    let (mut file, found) = open(path, &Rules::up_to(u64::MAX))?;
    let size = found.len();
    let wanted = last.min(size);
    let mut bytes = Vec::with_capacity(usize::try_from(wanted).unwrap_or_default());
    if wanted > 0 {
        file.seek(SeekFrom::Start(size - wanted)).map_err(Unread::Failed)?;
        file.take(wanted).read_to_end(&mut bytes).map_err(Unread::Failed)?;
    }
    // A file that was cut short meanwhile ends where it ends.
    Ok((size - wanted + bytes.len() as u64, bytes))
}

/// An open regular file, and what was found out about it.
///
/// # Errors
/// Why it was not opened.
pub fn open(path: &Path, rules: &Rules) -> Result<(File, Metadata), Unread> {
    // Looked at first, because opening a device can do something.
    let found = match rules.links {
        Links::Followed => std::fs::metadata(path),
        Links::Refused => std::fs::symlink_metadata(path),
    };
    permitted(&found.map_err(unread)?, rules)?;
    let links = if rules.links == Links::Refused { libc::O_NOFOLLOW } else { 0 };
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC | links;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(unread)?;
    // And again, because it may have been exchanged in between.
    let found = file.metadata().map_err(Unread::Failed)?;
    permitted(&found, rules)?;
    Ok((file, found))
}

/// An open folder, to lock it; a pipe or a file in its place is none.
///
/// # Errors
/// Where it cannot be opened.
pub fn open_folder(path: &Path) -> io::Result<File> {
    let flags = libc::O_DIRECTORY | libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

fn permitted(found: &Metadata, rules: &Rules) -> Result<(), Unread> {
    if found.file_type().is_symlink() {
        return Err(Unread::Link);
    }
    if !found.is_file() {
        return Err(Unread::NotAFile);
    }
    if rules.owner == Owner::OursOrRoot && !ours_or_root(found) {
        return Err(Unread::NotOurs { owner: found.uid() });
    }
    Ok(())
}

/// Whether a file or folder is this user's or the system's.
#[must_use]
pub fn ours_or_root(found: &Metadata) -> bool {
    found.uid() == 0 || found.uid() == user()
}

/// The user this process acts for.
#[must_use]
pub fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn unread(error: io::Error) -> Unread {
    match (error.kind(), error.raw_os_error()) {
        (io::ErrorKind::NotFound | io::ErrorKind::NotADirectory, _) => Unread::Missing,
        // What a link is called where none is followed, and a circle of them.
        (_, Some(libc::ELOOP)) => Unread::Link,
        // A pipe that nobody reads, a socket.
        (_, Some(libc::ENXIO)) => Unread::NotAFile,
        _ => Unread::Failed(error),
    }
}

impl Unread {
    /// Whether there is simply nothing there.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }
}

impl std::fmt::Display for Unread {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing => out.write_str("there is no such file"),
            Self::NotAFile => out.write_str("it is not a regular file"),
            Self::Link => out.write_str("it is a link that leads nowhere, or where none is followed"),
            Self::TooLarge { bytes } => write!(out, "it is too large ({bytes} bytes)"),
            Self::NotOurs { owner } => write!(out, "it belongs to user {owner}, not to you"),
            Self::Failed(cause) => cause.fmt(out),
        }
    }
}

impl std::error::Error for Unread {}

impl From<Unread> for io::Error {
    fn from(why: Unread) -> Self {
        match why {
            Unread::Missing => io::ErrorKind::NotFound.into(),
            Unread::Failed(cause) => cause,
            other => io::Error::other(other),
        }
    }
}

#[cfg(test)]
mod tests;
