//! Effects as data: what a decision wants written, and what it wants done after.

use crate::row::{Agent, Event};
use crate::session::Session;
use crate::time::Ms;
use crate::verdict::Intent;

/// Committed before the reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Write {
    /// Insert or replace the whole row. Safe: the row was read in the same transaction.
    Session(Box<Session>),
    Agent(Agent),
    Event(Box<Event>),
    /// A strike was given.
    Strike(Strike),
    /// The denials given to this one have reached it: its strikes are open from now on.
    StrikesDelivered { session: String, denied_to: String },
    /// Something to tell the model once, at the next chance.
    Injection { session: String, text: String },
}

/// One strike: who meant what, and when it was denied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strike {
    /// The root host session, so that sub-agents share it.
    pub session: String,
    pub rule: String,
    pub intent: Intent,
    pub at: Ms,
    /// Who was denied: a sub-agent's id, or empty for the session itself.
    pub denied_to: String,
    /// The denial reached them: a later batch or prompt has begun.
    pub delivered: bool,
}

/// Done after the answer is out; never changes a verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum After {
    /// Start a daemon if none runs.
    EnsureDaemon,
    /// The agent's status changed.
    StatusChanged { agent: String },
}
