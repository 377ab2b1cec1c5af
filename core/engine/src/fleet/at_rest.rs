//! Whether an agent waits for its user's next words, by what is stored of it and
//! by its client's own word. Where either is missing nothing is taken for rest.

use model::Ms;
use model::client_state::{ClientDoing, ClientState};
use model::session::SessionState;

/// What is known of an agent at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentDoing<'a> {
    /// As stored, by its hooks.
    pub state: SessionState,
    /// When its hooks were last heard of.
    pub last_seen: Ms,
    /// What its client says; `None` where it says nothing.
    pub client: Option<&'a ClientState>,
}

/// Why an agent is not at rest, or cannot be stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotNow {
    /// No session is open.
    Ended,
    Busy,
    /// A dialog stands before its user.
    Waits,
    /// There is nothing to stop.
    Idle,
    /// Nobody sits in front of it.
    Unattended,
    /// Its client does not say what it does.
    Unknown,
}

impl NotNow {
    /// After "because ".
    pub fn words(self) -> &'static str {
        match self {
            Self::Ended => "it has no session now",
            Self::Busy => "it is busy",
            Self::Waits => "it waits for an answer to a question of its own",
            Self::Idle => "it is at rest: there is nothing to stop",
            Self::Unattended => "nobody sits in front of it: it has no prompt",
            Self::Unknown => "its client does not say whether it is at rest",
        }
    }
}

/// Whether it waits for its user's next words. Hooks and the client's own word must agree; where no hook tells of the end of
/// a turn, as after Esc, the client's word counts if it is the newer one.
pub fn at_rest(agent: AgentDoing<'_>) -> Result<(), NotNow> {
    if agent.state == SessionState::Ended {
        return Err(NotNow::Ended);
    }
    let client = agent.client.ok_or(NotNow::Unknown)?;
    match client.doing {
        _ if !client.interactive => Err(NotNow::Unattended),
        ClientDoing::Busy => Err(NotNow::Busy),
        ClientDoing::Waiting(_) => Err(NotNow::Waits),
        ClientDoing::Idle if is_stored_at_rest(agent.state) => Ok(()),
        ClientDoing::Idle if client.since.is_some_and(|since| since > agent.last_seen) => Ok(()),
        ClientDoing::Idle => Err(NotNow::Busy),
    }
}

/// Whether it does something that Esc would stop. At a dialog Esc would be an answer.
pub fn can_be_stopped(agent: AgentDoing<'_>) -> Result<(), NotNow> {
    match agent.client.ok_or(NotNow::Unknown)? {
        client if !client.interactive => Err(NotNow::Unattended),
        ClientState { doing: ClientDoing::Busy, .. } => Ok(()),
        ClientState { doing: ClientDoing::Waiting(_), .. } => Err(NotNow::Waits),
        ClientState { doing: ClientDoing::Idle, .. } => Err(NotNow::Idle),
    }
}

/// One that has just begun waits for its first prompt.
fn is_stored_at_rest(state: SessionState) -> bool {
    matches!(state, SessionState::Idle | SessionState::Created)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::client_state::WaitingFor;

    const SEEN: Ms = Ms(1_000);

    fn client(doing: ClientDoing, since: Option<i64>) -> ClientState {
        ClientState { pid: 7, session: "s".into(), doing, since: since.map(Ms), interactive: true, started: None }
    }

    fn of(state: SessionState, client: Option<&ClientState>) -> AgentDoing<'_> {
        AgentDoing { state, last_seen: SEEN, client }
    }

    #[test]
    fn f3_an_agent_is_at_rest_only_where_its_hooks_and_its_client_agree() {
        let idle = client(ClientDoing::Idle, Some(900));
        let waits = client(ClientDoing::Waiting(WaitingFor::Dialog), Some(900));
        let print = ClientState { interactive: false, ..idle.clone() };
        let table = [
            (SessionState::Idle, Some(&idle), Ok(())),
            (SessionState::Created, Some(&idle), Ok(())),
            (SessionState::Active, Some(&idle), Err(NotNow::Busy)),
            (SessionState::ToolActive, Some(&idle), Err(NotNow::Busy)),
            (SessionState::Ended, Some(&idle), Err(NotNow::Ended)),
            (SessionState::Idle, None, Err(NotNow::Unknown)),
            (SessionState::Idle, Some(&waits), Err(NotNow::Waits)),
            (SessionState::Idle, Some(&print), Err(NotNow::Unattended)),
        ];
        for (state, client, expected) in table {
            assert_eq!(at_rest(of(state, client)), expected, "{state:?} {client:?}");
        }
        let busy = client(ClientDoing::Busy, Some(2_000));
        assert_eq!(at_rest(of(SessionState::Idle, Some(&busy))), Err(NotNow::Busy));
    }

    /// No hook tells of the end of a turn that Esc stopped.
    #[test]
    fn f3_the_clients_word_counts_alone_only_where_it_is_newer_than_every_hook() {
        for (since, expected) in [(Some(1_001), Ok(())), (Some(1_000), Err(NotNow::Busy)), (None, Err(NotNow::Busy))] {
            let idle = client(ClientDoing::Idle, since);
            assert_eq!(at_rest(of(SessionState::Active, Some(&idle))), expected, "{since:?}");
        }
    }

    #[test]
    fn f3_only_what_is_busy_is_stopped_and_a_dialog_is_not_answered_by_it() {
        let table = [
            (Some(client(ClientDoing::Busy, None)), Ok(())),
            (Some(client(ClientDoing::Idle, None)), Err(NotNow::Idle)),
            (Some(client(ClientDoing::Waiting(WaitingFor::Permission), None)), Err(NotNow::Waits)),
            (Some(ClientState { interactive: false, ..client(ClientDoing::Busy, None) }), Err(NotNow::Unattended)),
            (None, Err(NotNow::Unknown)),
        ];
        for (doing, expected) in table {
            assert_eq!(can_be_stopped(of(SessionState::Active, doing.as_ref())), expected, "{doing:?}");
        }
    }
}
