//! Calls that were let through and of which no hook has told how they ended.

use crate::{Error, Store, events, sessions};
use model::row::Event;
use model::session::Session;
use rusqlite::OptionalExtension;

/// The call before which the guard was asked: its key begins so, whatever it asks for.
pub(crate) const ASKED: &str =
    concat!("SELECT ", events::columns!(), " FROM events WHERE key >= ?1 AND key < ?2 LIMIT 1");

impl Store {
    /// The open session of a host's session.
    pub fn open_session(&self, logical_id: &str, host_session: &str) -> Result<Option<Session>, Error> {
        let open = self.read(|conn| sessions::open_of_id(conn, logical_id))?;
        Ok(open.into_iter().find(|session| session.host_session.as_deref() == Some(host_session)))
    }

    /// What was asked before that call of the host's session.
    pub fn asked_call(&self, host_session: &str, call: &str) -> Result<Option<Event>, Error> {
        let begins = format!("{host_session}/PreToolUse/{call}");
        // The character that follows the slash.
        let keys = [format!("{begins}/"), format!("{begins}0")];
        self.read(|conn| conn.prepare_cached(ASKED)?.query_row(keys, events::read).optional())
    }
}
