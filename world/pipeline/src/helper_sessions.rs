//! Events of helpers that have sessions of their own: whose they are is known only to the store, so they become what
//! they are inside the transaction.

use crate::prepare::{Prepared, PreparedCall, PreparedEvent};
use engine::helper_sessions;
use model::Answer;
use model::reply::Reply;
use store::{Error, Tx};

impl Prepared {
    /// Makes the event its helper's, where an earlier one told whose session this is. Doing it again changes nothing.
    pub fn find_helper(&mut self, tx: &Tx<'_>) -> Result<(), Error> {
        let PreparedCall::Event(event) = &mut self.parsed_call else { return Ok(()) };
        if helper_sessions::session_of(&event.envelope).is_none() {
            return Ok(());
        }
        let Some(helper) = tx.helper(&event.who)? else {
            // The helper may be another process, and tells of itself.
            if let Some(parent) = tx.parent_of_helper(&event.who)? {
                event.who = helper_sessions::who_of(&event.who, &parent);
            }
            return Ok(());
        };
        let envelope = helper_sessions::as_helpers(&event.envelope, &helper);
        event.who = helper_sessions::who_of(&event.who, &helper.parent);
        event.as_sent = Some(Box::new(std::mem::replace(&mut event.envelope, envelope)));
        event.set_digest(&self.call);
        Ok(())
    }

    /// The answer to an event, in the form that the agent takes for what it sent.
    pub fn answer(&self, event: &PreparedEvent, reply: Reply) -> Answer {
        match &event.as_sent {
            Some(sent) if sent.kind.family() != event.envelope.kind.family() => Answer::default(),
            Some(sent) => self.encode(sent, reply),
            None => self.encode(&event.envelope, reply),
        }
    }
}
