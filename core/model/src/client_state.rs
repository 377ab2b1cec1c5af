//! What a client itself says of its state, beside its hooks.

use crate::call::ClientProcess;
use crate::time::Ms;

/// A client's own word on what it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientState {
    pub pid: u32,
    /// The client's session id.
    pub session: String,
    pub doing: ClientDoing,
    /// When it began to do that, by the client's clock; unknown where it does not say.
    pub since: Option<Ms>,
    /// Where nobody sits in front of it there is no dialog.
    pub interactive: bool,
    /// When its process was started, as the system counts it, where it says so in that way.
    pub started: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientDoing {
    Idle,
    Busy,
    /// A dialog stands before its user.
    Waiting(WaitingFor),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitingFor {
    /// A permission or a plan.
    Permission,
    /// A question or a form.
    Input,
    /// Something of its own.
    Dialog,
}

impl ClientState {
    /// A file that was left behind, or that is another session's, says nothing of this one.
    pub fn is_of(&self, client: ClientProcess, session: &str) -> bool {
        let same_start = self.started.is_none_or(|started| client.started == 0 || client.started == started);
        self.pid == client.pid && self.session == session && same_start
    }

    pub fn is_waiting(&self) -> bool {
        matches!(self.doing, ClientDoing::Waiting(_))
    }
}
