//! Whether the client still waits for its person, by the file in which it says what it does.

use agents::Dialect;
use host::client_state::{self, SessionFileStamp};
use model::client_state::ClientState;
use model::{ClientProcess, Ms};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The file can be gone or half written for a moment; after so many looks it is taken for gone.
const LOOKS_WITHOUT_A_FILE: u32 = 20;

/// It is read again after so many looks, even where it seems to be the same.
const READ_EVERY: u32 = 20;

/// The file lags behind the dialogs: so soon after one was answered it may still tell of that one, and then says
/// something else. One that goes on telling of it means this call too: calls that ask at once stand behind one another.
const LAGS_FOR: Duration = Duration::from_millis(700);

/// A dialog comes up to so long before its hook.
const BEFORE_ITS_HOOK_MS: i64 = 1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientWaits {
    Yes,
    /// The file says that it does something else, or it is of another session by now.
    No,
    /// It cannot be read just now.
    Unknown,
    /// It could not be read for a while.
    Lost,
}

pub struct DialogWatch {
    pub client: ClientProcess,
    dialect: &'static Dialect,
    folder: PathBuf,
    session: String,
    stamp: Option<SessionFileStamp>,
    state: Option<ClientState>,
    looks: u32,
    unread: u32,
}

impl DialogWatch {
    pub fn new(dialect: &'static Dialect, folder: &Path, client: ClientProcess, session: String) -> Self {
        let folder = folder.to_path_buf();
        Self { client, dialect, folder, session, stamp: None, state: None, looks: 0, unread: 0 }
    }

    /// Reads the file where it is another than at the last look.
    pub fn look(&mut self) -> ClientWaits {
        let stamp = client_state::stamp(self.dialect, &self.folder, self.client);
        let same = stamp.is_some() && stamp == self.stamp && self.state.is_some();
        self.looks = self.looks.wrapping_add(1);
        if same && !self.looks.is_multiple_of(READ_EVERY) {
            return self.waits();
        }
        // What is written after this stamp was taken has another one.
        self.stamp = stamp;
        self.look_again()
    }

    /// Reads the file whatever it seems to be.
    pub fn look_again(&mut self) -> ClientWaits {
        self.state = client_state::look(self.dialect, &self.folder, self.client);
        self.unread = if self.state.is_some() { 0 } else { self.unread.saturating_add(1) };
        self.waits()
    }

    pub fn is_of_another_session(&self) -> bool {
        self.state.as_ref().is_some_and(|state| !state.is_of(self.client, &self.session))
    }

    /// Whether what the client waits for can be this call's dialog.
    pub fn is_of_call(&self, asked: Ms, for_so_long: Duration) -> bool {
        is_new(self.state.as_ref().and_then(|state| state.since), asked) || for_so_long >= LAGS_FOR
    }

    fn waits(&self) -> ClientWaits {
        match &self.state {
            Some(state) if state.is_of(self.client, &self.session) && state.interactive && state.is_waiting() => {
                ClientWaits::Yes
            }
            Some(_) => ClientWaits::No,
            None if self.unread > LOOKS_WITHOUT_A_FILE => ClientWaits::Lost,
            None => ClientWaits::Unknown,
        }
    }
}

/// A client that does not say since when is taken at its word.
fn is_new(since: Option<Ms>, asked: Ms) -> bool {
    since.is_none_or(|since| since >= asked.plus(-BEFORE_ITS_HOOK_MS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f4_a_file_that_still_tells_of_the_dialog_before_is_not_taken_for_this_one() {
        let asked = Ms(1_763_210_000_000);
        assert!(is_new(None, asked));
        for (of_hook, new) in [(-60_000, false), (-1_001, false), (-370, true), (0, true), (400, true)] {
            assert_eq!(is_new(Some(asked.plus(of_hook)), asked), new, "{of_hook} ms");
        }
    }
}
