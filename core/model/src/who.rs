//! Who an event is about, as far as the payload and the environment tell, and
//! what the store knows of them.

use crate::call::ClientProcess;
use crate::card::Card;
use crate::effect::{Allowance, Injection, Strike};
use crate::effort::{EffortRows, WaitingMessages};
use crate::row::Agent;
use crate::session::Session;
use crate::task::Queued;

/// The identity of an event, before anything stored is looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Who {
    /// The agent's id: its name, or project and place for an unnamed one.
    pub agent: String,
    pub named: bool,
    /// The agent whose dialect it speaks; empty where that is not known.
    pub dialect: String,
    /// The session's id as users and scripts know it.
    pub logical_id: String,
    pub host_session: Option<String>,
    /// The host's id of the session whose context goes on in this one.
    pub previous: Option<String>,
    /// The id of a helper with a session of its own that the event tells of.
    pub helper: Option<String>,
    pub project: String,
    /// tmux socket and pane.
    pub pane: Option<String>,
    pub client: Option<ClientProcess>,
    pub conversation: Option<String>,
    pub role: Option<String>,
    pub mode: Option<String>,
    pub mission: Option<String>,
    /// The session that started this worker, as its environment tells.
    pub started_by: Option<String>,
    pub standing: Supervision,
}

/// A helper with a session of its own, as an earlier event told.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownHelper {
    /// Its id, which is that of its session.
    pub id: String,
    pub kind: String,
    /// The session that started it, or the one that has followed since.
    pub parent: Session,
    /// Its end was told.
    pub ended: bool,
}

/// Who could take over when the agent is stopped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Supervision {
    /// A person sits in front of it.
    #[default]
    Attended,
    /// Nobody answers: it prints, or works in the background.
    Unattended,
    /// A loop runs it (`RALPH_AGENT_ID`) and goes on with the next.
    Looped,
    /// `taut run` started it (`TAUT_SUPERVISED`) and starts it again when its context is full.
    Supervised,
    /// `taut loop` started it for one iteration, and starts the next.
    Iteration,
}

impl Supervision {
    /// Taut itself starts the agent again.
    pub fn is_supervised(self) -> bool {
        matches!(self, Self::Supervised | Self::Iteration)
    }

    /// What begins next under this name is work of its own.
    pub fn is_loop(self) -> bool {
        matches!(self, Self::Looped | Self::Iteration)
    }
}

/// What the store knows when an event arrives. All of it is read in the
/// transaction that also writes what is decided.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Loaded {
    pub agent: Option<Agent>,
    /// What the agent is called; read only where a person may be told of it now.
    pub agent_name: Option<String>,
    /// The agent an event speaks of that is not its own: a teammate that waits.
    pub teammate: Option<Agent>,
    /// Open sessions of this logical id, of this pane or of this agent, newest first.
    pub open: Vec<Session>,
    /// The newest ended session of this logical id, else of this agent.
    pub last_ended: Option<Session>,
    /// Open sessions of the conversations that one which begins may go on with.
    pub sharing: Vec<Session>,
    /// Strikes of this root host session that have not expired.
    pub strikes: Vec<Strike>,
    /// What people let through once; read only where something stands against the call.
    pub allowances: Vec<Allowance>,
    /// Active tasks of these sessions, and of this agent where no session was known.
    pub held: Vec<Queued>,
    /// What this session asked of a person, as far as it is not over; read only for events that tell how that ended.
    pub cards: Vec<Card>,
    /// The digest of the event's own call, and of the same as it was before it was answered; only beside cards.
    pub card_digests: Vec<String>,
    /// What waits to be told in this session; read only for events that can tell it.
    pub waiting: Vec<Injection>,
    /// Messages that a `taut inbox` has listed to this agent.
    pub listed: Vec<String>,
    /// Messages for this agent or its conversation; read only for events that can tell them.
    pub messages: WaitingMessages,
    /// Efforts and what belongs to them.
    pub efforts: EffortRows,
}

impl Who {
    /// The session is known by the same id, bound to the same client and of the same agent.
    pub fn carries(&self, session: &Session) -> bool {
        session.logical_id == self.logical_id && session.client == self.client && self.speaks_as(session)
    }

    /// Not another agent's, as far as both are known. Sessions from before it was noted say nothing of it.
    pub fn speaks_as(&self, session: &Session) -> bool {
        let theirs = session.memo.dialect.as_deref();
        self.dialect.is_empty() || theirs.is_none_or(|theirs| theirs == self.dialect)
    }
}
