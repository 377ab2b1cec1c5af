//! Helpers that have sessions of their own: one event tells whose helper a session is, and from then on what happens
//! in it is that helper's. Nothing of it begins, ends or interrupts anything of the parent's.

use crate::event_context::EventContext;
use crate::state::end;
use model::agent::HelperSessions;
use model::event::{Body, Envelope, EventKind, SubAgent};
use model::session::{ContextMemo, Session};
use model::who::{KnownHelper, Who};

/// Why the session ended that a helper's first events had opened.
const FOLDED: &str = "helper";

/// The session that an earlier event may have told to be a helper's.
pub fn session_of(envelope: &Envelope) -> Option<&str> {
    envelope.host_session.as_deref().filter(|_| envelope.agent.helpers == HelperSessions::Own)
}

/// The event as what it is: a helper's, told in a session of its own. A helper of that helper stays its own.
pub fn as_helpers(envelope: &Envelope, helper: &KnownHelper) -> Envelope {
    let told = envelope.sub_agent.clone().filter(|sub| sub.id != helper.id);
    let own = || SubAgent { id: helper.id.clone(), kind: helper.kind.clone() };
    let (kind, body) = meaning(envelope, helper.ended && told.is_none());
    Envelope {
        kind,
        body,
        host_session: helper.parent.host_session.clone(),
        sub_agent: Some(told.unwrap_or_else(own)),
        ..envelope.clone()
    }
}

/// Its beginning and end are a helper's; its prompt is its task, and its context is not the parent's.
fn meaning(envelope: &Envelope, ended: bool) -> (EventKind, Body) {
    let stop = |last_message: Option<String>| Body::Stop { hook_active: false, last_message, background: 0 };
    match (envelope.kind, &envelope.body) {
        (EventKind::SessionStart, _) => (EventKind::SubagentStart, Body::Plain),
        // It has stopped before: it was told by then.
        (EventKind::Stop | EventKind::SubagentStop | EventKind::StopFailure | EventKind::SessionEnd, _) if ended => {
            (EventKind::Unknown, Body::Plain)
        }
        (EventKind::Stop, body) => (EventKind::SubagentStop, body.clone()),
        (EventKind::StopFailure, Body::Failure { last_message, .. }) => {
            (EventKind::SubagentStop, stop(last_message.clone()))
        }
        (EventKind::SessionEnd, _) => (EventKind::SubagentStop, stop(None)),
        (EventKind::Notification, Body::Notification { kind, .. }) if kind == "idle_prompt" => {
            (EventKind::Unknown, Body::Plain)
        }
        (
            EventKind::UserPromptSubmit
            | EventKind::UserPromptExpansion
            | EventKind::PreCompact
            | EventKind::PostCompact
            | EventKind::PostModelSwitch,
            _,
        ) => (EventKind::Unknown, Body::Plain),
        (kind, body) => (kind, body.clone()),
    }
}

/// Who such an event is about: the agent whose helper it is.
pub fn who_of(who: &Who, parent: &Session) -> Who {
    let Session { agent, logical_id, host_session, client, pane, .. } = parent.clone();
    Who { agent, logical_id, host_session, client, pane, ..who.clone() }
}

/// An event of a helper whose parent has no session that is known, or none yet: it opens none.
pub fn is_stray(envelope: &Envelope) -> bool {
    let begins = envelope.kind == EventKind::SubagentStart;
    session_of(envelope).is_some() && envelope.sub_agent.is_some() && !begins
}

/// The id of a helper that this event tells of: what it did before opened a session.
pub fn told_of(envelope: &Envelope) -> Option<&str> {
    let begins = envelope.kind == EventKind::SubagentStart && session_of(envelope).is_some();
    envelope.sub_agent.as_ref().filter(|_| begins).map(|sub| sub.id.as_str())
}

/// That session, ended: the helper is no agent of its own.
pub fn folded(event: &EventContext<'_>, parent: &Session) -> Option<Session> {
    let id = told_of(event.envelope)?;
    let is_early = |session: &&Session| {
        session.host_session.as_deref() == Some(id) && session.id != parent.id && event.who.speaks_as(session)
    };
    let early = event.loaded.open.iter().find(is_early)?.clone();
    // Nobody waits for a word of it.
    let memo = ContextMemo { reports_to: None, ..early.memo.clone() };
    Some(end(Session { parent: Some(parent.id.clone()), memo, ..early }, FOLDED, event.now))
}
