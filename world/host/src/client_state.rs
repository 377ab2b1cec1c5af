//! What a running client itself says it does, in the file it keeps for that.

use agents::Dialect;
use model::ClientProcess;
use model::client_state::ClientState;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use sys::outside::{self, Rules};

/// Such a file has a few hundred bytes.
const MOST_BYTES: u64 = 64 * 1024;

/// The file of this client, in the agent's own folder.
pub fn path(dialect: &Dialect, folder: &Path, client: ClientProcess) -> Option<PathBuf> {
    Some(folder.join((dialect.session_file.as_ref()?.path)(client.pid)))
}

/// What tells one writing of the file from the next, for whoever looks often and reads only what is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionFileStamp {
    file: (u64, u64),
    bytes: u64,
    changed: (i64, i64),
}

/// `None` where there is no file just now.
pub fn stamp(dialect: &Dialect, folder: &Path, client: ClientProcess) -> Option<SessionFileStamp> {
    let found = std::fs::metadata(path(dialect, folder, client)?).ok()?;
    Some(SessionFileStamp {
        file: (found.dev(), found.ino()),
        bytes: found.len(),
        changed: (found.mtime(), found.mtime_nsec()),
    })
}

/// `None` where there is none, or where it says nothing. It can be missing for a moment while it is written anew, and one
/// that was left behind is told by its process: whose session it is of is for the caller to ask.
pub fn look(dialect: &Dialect, folder: &Path, client: ClientProcess) -> Option<ClientState> {
    let text = outside::read_text(&path(dialect, folder, client)?, &Rules::obeyed(MOST_BYTES)).ok()?;
    (dialect.session_file.as_ref()?.read)(&text)
}

/// The same, and `None` where it is not this client's session.
pub fn read(dialect: &Dialect, folder: &Path, client: ClientProcess, session: &str) -> Option<ClientState> {
    look(dialect, folder, client).filter(|state| state.is_of(client, session))
}
