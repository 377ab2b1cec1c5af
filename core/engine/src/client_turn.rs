//! What a client's own word makes of its agent, beside hooks: no hook tells of a person's answer to a dialog, of a turn
//! that Esc has ended, of a dialog that is the client's own, or of a client that died. A hook that is newer than the
//! client's word has the say.

#[cfg(test)]
mod tests;

use crate::fleet::reports;
use crate::{asks, record, state};
use model::Ms;
use model::client_state::{ClientDoing, ClientState, WaitingFor};
use model::effect::{After, Write};
use model::effort::MemoryWrite;
use model::row::{Agent, AgentStatus, Event};
use model::session::Session;
use model::session_facts::SessionNote;
use serde_json::{Value, json};

/// The names under which such a turn is recorded: by the client's own word, and by its absence.
pub const STATE: &str = "ClientState";
pub const GONE: &str = "ClientGone";

/// Why a session of a client that died has ended.
pub const CLIENT_GONE: &str = "client_gone";

/// A client that was not seen with its dialog may not have shown it yet: what it says must have held so long.
const ANSWERED_MS: i64 = 1_000;

/// A dialog is written down so long before its hook has begun, at most.
const EARLY_DIALOG_MS: i64 = 200;

/// A hook that tells of the same dialog, and of more than the client's file does, comes within this time.
const DIALOG_MS: i64 = 1_000;

/// Between two turns a client may be idle for a moment.
const IDLE_MS: i64 = 2_000;

/// The hook of a tool that was interrupted may come after the turn has ended.
const LATE_HOOK_MS: i64 = 1_000;

/// What is seen of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeenClient {
    pub doing: ClientDoing,
    /// When it began to do that: by its own word, and no later than it was first seen.
    pub since: Ms,
    /// When the dialog came up that was last seen to stand in it.
    pub dialog_since: Option<Ms>,
}

impl SeenClient {
    /// `None` where nobody sits in front of the client: its hooks tell all there is.
    pub fn of(state: &ClientState, first_seen: Ms, dialog_since: Option<Ms>) -> Option<Self> {
        let since = state.since.unwrap_or(first_seen).min(first_seen);
        state.interactive.then_some(Self { doing: state.doing, since, dialog_since })
    }
}

/// Whether an agent may be turned by what its client says of itself, or by its death.
pub fn is_followed(status: AgentStatus) -> bool {
    matches!(status, AgentStatus::Attention | AgentStatus::Checked | AgentStatus::Working)
}

/// The status by the client's own word, where that is another than what hooks have told.
pub fn by_client(agent: &Agent, session: &Session, seen: &SeenClient, now: Ms) -> Option<AgentStatus> {
    let held = now.since(seen.since);
    let rest = if session.memo.background { AgentStatus::Working } else { AgentStatus::Done };
    let turned = match (agent.status, seen.doing) {
        (AgentStatus::Attention | AgentStatus::Checked, ClientDoing::Busy | ClientDoing::Idle) => {
            let asked = session.memo.asked_at.unwrap_or(agent.since);
            // The dialog of an earlier question may still be written down when the next one is put.
            let stood = seen.dialog_since.is_some_and(|came| came.plus(EARLY_DIALOG_MS) >= asked);
            let answered = seen.since > asked && (stood || held >= ANSWERED_MS);
            let status = if seen.doing == ClientDoing::Idle { rest } else { AgentStatus::Working };
            answered.then_some(status)
        }
        (AgentStatus::Working, ClientDoing::Waiting(_)) => {
            (seen.since > agent.since && held >= DIALOG_MS).then_some(AgentStatus::Attention)
        }
        (AgentStatus::Working, ClientDoing::Idle) => {
            let last_hook = session.last_seen_at.0.saturating_sub(LATE_HOOK_MS);
            (seen.since.0 > last_hook && held >= IDLE_MS).then_some(rest)
        }
        _ => None,
    };
    turned.filter(|status| *status != agent.status)
}

/// What is written where the client's own word turns its agent.
pub fn turned(
    (agent, session): (&Agent, &Session),
    seen: &SeenClient,
    now: Ms,
    id: impl FnOnce() -> String,
) -> Vec<Write> {
    let Some(status) = by_client(agent, session, seen, now) else { return Vec::new() };
    // Never before what it follows, nor later than it is known.
    let at = seen.since.max(agent.since).min(now);
    let mut session = session.clone();
    match status {
        AgentStatus::Attention => asks::ask_by_client(&mut session.memo, at),
        _ => session.memo.asks.clear(),
    }
    let mut cleared = None;
    if status == AgentStatus::Done {
        session = Session { last_seen_at: session.last_seen_at.max(at), ..state::rested(session) };
        if std::mem::take(&mut session.memo.failed_tool) {
            let note = SessionNote::FailedTool(None);
            cleared = Some(Write::Fact { session: session.id.clone(), note, at });
        }
    }
    let agent_after = Agent { status, since: at, ..agent.clone() };
    let event = event(STATE, detail(seen.doing), (agent, &agent_after), &session, id());
    let writes = [Write::Session(Box::new(session)), Write::Agent(agent_after), Write::Event(Box::new(event))];
    writes.into_iter().chain(cleared).collect()
}

/// What is written where the client of an agent is there no more, and has not said goodbye. Of one that had nothing to do
/// only the session ends: nothing was lost. It is told of to whom it worked for, as of every session that ends without a
/// word.
pub fn gone((agent, session): (&Agent, &Session), reason: &str, now: Ms, id: impl FnOnce() -> String) -> Vec<Write> {
    let at = now.max(agent.since);
    let mut session = state::end(session.clone(), reason, at);
    session.memo.asks.clear();
    let (status, since) = match agent.status {
        AgentStatus::Done => (AgentStatus::Done, agent.since),
        _ => (AgentStatus::Error, at),
    };
    let agent_after = Agent { status, session: None, since, ..agent.clone() };
    let event = Event { at, ..event(GONE, json!({}), (agent, &agent_after), &session, id()) };
    let report = reports::unreported(&session, now).map(|message| Write::Memory(MemoryWrite::Message(message)));
    let writes = [Write::Session(Box::new(session)), Write::Agent(agent_after), Write::Event(Box::new(event))];
    writes.into_iter().chain(report).collect()
}

fn detail(doing: ClientDoing) -> Value {
    match doing {
        ClientDoing::Idle => json!({"doing": "idle"}),
        ClientDoing::Busy => json!({"doing": "busy"}),
        ClientDoing::Waiting(what) => {
            let what = match what {
                WaitingFor::Permission => "permission",
                WaitingFor::Input => "input",
                WaitingFor::Dialog => "dialog",
            };
            json!({"doing": "waiting", "for": what})
        }
    }
}

fn event(name: &str, detail: Value, agent: (&Agent, &Agent), session: &Session, id: String) -> Event {
    let (before, after) = agent;
    let mut event = Event {
        session: Some(session.id.clone()),
        host_session: session.host_session.clone(),
        detail,
        ..Event::noted(name, &after.id, id, after.since)
    };
    let (agent, from, to) = (after.id.clone(), Some(before.status), after.status);
    record::turn(&mut event, &After::StatusChanged { agent, from, to });
    event
}
