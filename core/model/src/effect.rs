//! Effects as data: what a decision wants written, and what it wants done after.

use crate::agent_name::NameWish;
use crate::card::CardState;
use crate::effort::MemoryWrite;
use crate::memory_file::FactChange;
use crate::row::{Agent, AgentStatus, Event};
use crate::session::Session;
use crate::session_facts::SessionNote;
use crate::task::TaskTransition;
use crate::time::Ms;
use crate::verdict::Intent;

/// Committed before the reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Write {
    /// Insert or replace the whole row. Safe: the row was read in the same transaction.
    Session(Box<Session>),
    Agent(Agent),
    /// An agent that nothing names appears, and is given a name.
    AgentName(NameWish),
    /// A session was ended from outside: an agent that has no other is at rest.
    Rest {
        agent: String,
        session: String,
        at: Ms,
    },
    Event(Box<Event>),
    /// A strike was given.
    Strike(Strike),
    /// A person lets something through once.
    Allowance(Allowance),
    /// It has been let through.
    AllowanceSpent(AllowedOnce),
    /// The denials given to this one have reached it: its strikes are open from now on.
    StrikesDelivered {
        session: String,
        denied_to: String,
        /// Only those that were given until then, where it is known no better.
        until: Option<Ms>,
    },
    /// Something to tell once, at the next chance.
    Injection(Injection),
    /// What waited for this audience, or for anyone, has been shown.
    InjectionsShown {
        session: String,
        audience: Option<Audience>,
    },
    /// A task's turn. Not written when another's came first.
    Task(Box<TaskTransition>),
    /// Of efforts and what belongs to them.
    Memory(MemoryWrite),
    /// A card goes on. Not written when another's step came first.
    Card(CardStep),
    /// What is known of a session besides its row.
    Fact {
        session: String,
        note: SessionNote,
        at: Ms,
    },
}

/// One step of a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardStep {
    pub id: String,
    pub from: CardState,
    pub to: CardState,
    pub at: Ms,
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

/// What a person let through once, at a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowance {
    pub what: AllowedOnce,
    /// Who said so.
    pub by: String,
    pub at: Ms,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllowedOnce {
    /// The next call that this rule would stop, whatever it is.
    Rule(String),
    /// Exactly this call, by what tells it from every other.
    Call(String),
}

/// Something stored to be told once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Injection {
    pub session: String,
    pub audience: Audience,
    pub text: String,
}

/// Who is to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// The model, beside a prompt or a tool's result.
    Model,
    /// The user, at the next prompt.
    User,
}

/// Done after the answer is out; never changes a verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum After {
    /// Start a daemon if none runs.
    EnsureDaemon,
    /// The agent's stored status changed; `from` is `None` for an agent that is new.
    StatusChanged { agent: String, from: Option<AgentStatus>, to: AgentStatus },
    /// A message was stored that waits for somebody: an agent or a conversation.
    Sent { to: String },
    /// An agent has turned to something its user wants to be told of.
    Tell,
    /// Something was written down that a server is to be told.
    Owed,
    /// Text added at the end of a file; the file and its folder are made.
    Append { path: String, text: String },
    /// A file's whole text.
    Replace { path: String, text: String },
    /// A fact of a file, which is read again for it: others may have noted one meanwhile.
    Fact { path: String, change: FactChange },
}
