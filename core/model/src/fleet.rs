//! The fleet: what is seen of an agent from outside.

use crate::row::AgentStatus;
use crate::time::Ms;

/// A turn of an agent that somebody was told of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotifiedTurn {
    pub agent: String,
    pub status: AgentStatus,
    /// When it was told.
    pub at: Ms,
}

/// Who takes messages: an agent, and the conversation its session carries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Taker {
    /// `None` for a second client under a name: what is for the name is the first's.
    pub agent: Option<String>,
    pub conversation: Option<String>,
    /// The dialect it speaks: what was for another agent of that name is not for it.
    pub dialect: Option<String>,
}

/// Kinds of messages that nobody wrote: what came of somebody's workers and helpers.
pub const WORKER_NOTICES: [&str; 7] =
    ["worker_done", "worker_failed", "worker_ended", "task_done", "task_failed", "sub_agent_done", "teammate_idle"];

/// What stands in the input line of a client, as read off its pane.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Prompt {
    /// It waits, and nothing is typed.
    Empty,
    /// Somebody has typed something that was not sent.
    Typed,
    /// Our own line stands there, and nothing else: it was pasted and never entered.
    Ours,
    /// A question of the client's own stands there: a permission, a menu.
    Dialog,
    /// The screen could not be read, or shows something else.
    #[default]
    Unknown,
}
