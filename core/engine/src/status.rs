//! What an event makes of its agent's status. Each event sets it; order of
//! urgency matters only where many are shown as one.
//!
//! Sub-agents count towards their parent, and one of them going on does not
//! answer the question another has put to the user: so the session remembers
//! what is asked, and by whom.

use crate::asks::may_answer;
use model::event::{Body, Envelope, EventKind, StartSource};
use model::row::AgentStatus;
use model::session::{ContextMemo, Session, SessionState};
use model::{Level, ToolKind};

/// What the next status depends on.
pub struct StatusInput<'a> {
    pub envelope: &'a Envelope,
    /// What was answered.
    pub verdict: Level,
    /// As it is after the event.
    pub session: &'a Session,
    /// The status before the event.
    pub known: Option<AgentStatus>,
    /// The event asks something of the user that was not asked before.
    pub asks_anew: bool,
}

/// The status after the event, or `None` where there was none and the event says nothing of it.
pub fn next(scene: &StatusInput<'_>) -> Option<AgentStatus> {
    let StatusInput { envelope, verdict, session, known, asks_anew } = scene;
    if !session.open() {
        return Some(AgentStatus::Done);
    }
    let memo = &session.memo;
    let asked = matches!(known, Some(AgentStatus::Attention | AgentStatus::Checked));
    match answered_word(envelope, *verdict) {
        // A stop that was refused leaves the agent at work.
        Some(AgentStatus::Done) if envelope.kind == EventKind::Stop && session.state != SessionState::Idle => {
            Some(at_work(memo, *known))
        }
        // Neither waiting for a prompt nor what a sub-agent does says anything new of a turn that has failed.
        Some(AgentStatus::Done | AgentStatus::Working) if memo.failed => Some(AgentStatus::Error),
        Some(AgentStatus::Working) => Some(at_work(memo, *known)),
        // The client tells once more of what its user has looked at.
        Some(AgentStatus::Attention) if *known == Some(AgentStatus::Checked) && !asks_anew => *known,
        Some(status) => Some(status),
        None if asked && memo.asks.is_empty() && may_answer(envelope) => Some(AgentStatus::Working),
        None => *known,
    }
}

/// The teammate an event speaks of, by the name its client gives it: one that waits, or one at work within its
/// lead's session, whose id is made of its name.
pub fn teammate(envelope: &Envelope) -> Option<String> {
    let name = match (&envelope.body, &envelope.sub_agent) {
        (Body::Teammate { name }, _) => name,
        (_, Some(sub)) if sub.id.contains(&sub.kind) => &sub.kind,
        _ => return None,
    };
    (!name.is_empty()).then(|| name.clone())
}

/// What an event makes of that teammate.
pub fn of_teammate(envelope: &Envelope) -> Option<AgentStatus> {
    match envelope.kind {
        EventKind::TeammateIdle | EventKind::SubagentStop => Some(AgentStatus::Done),
        _ => word(envelope).filter(|status| *status == AgentStatus::Working),
    }
}

/// The status of an agent that is met for the first time in an event that sets none.
pub fn first(envelope: &Envelope) -> AgentStatus {
    if crate::state::speaks_of_work(envelope.kind) || source(envelope) == Some(StartSource::Compact) {
        AgentStatus::Working
    } else {
        AgentStatus::Done
    }
}

/// What an event alone says of the status.
pub fn word(envelope: &Envelope) -> Option<AgentStatus> {
    match (envelope.kind, &envelope.body) {
        (EventKind::PreToolUse, Body::Tool(call)) if call.kind == ToolKind::Ask => Some(AgentStatus::Attention),
        // A session that has just begun waits for its first prompt; a compaction is part of the work.
        (EventKind::SessionStart, _) => (source(envelope) != Some(StartSource::Compact)).then_some(AgentStatus::Done),
        (
            EventKind::UserPromptSubmit | EventKind::PreToolUse | EventKind::PostToolUse | EventKind::ElicitationResult,
            _,
        ) => Some(AgentStatus::Working),
        // What the turn was interrupted in is not gone on with.
        (EventKind::PostToolUseFailure, Body::ToolFailed { interrupted: true, .. }) => None,
        // An agent goes on after a tool that failed: nobody has to look.
        (EventKind::PostToolUseFailure, _) => Some(AgentStatus::Working),
        (EventKind::StopFailure, _) => Some(AgentStatus::Error),
        (EventKind::PermissionRequest | EventKind::Elicitation, _) => Some(AgentStatus::Attention),
        (EventKind::Notification, Body::Notification { kind, .. }) => notified(kind),
        (EventKind::Stop, Body::Stop { background, .. }) => {
            Some(if *background > 0 { AgentStatus::Working } else { AgentStatus::Done })
        }
        (EventKind::SessionEnd, _) => Some(AgentStatus::Done),
        _ => None,
    }
}

/// What our own answer makes of the event's word: what we deny is asked of
/// nobody, and what we want confirmed is.
fn answered_word(envelope: &Envelope, verdict: Level) -> Option<AgentStatus> {
    match (envelope.kind, verdict) {
        (EventKind::PreToolUse | EventKind::PermissionRequest, Level::Deny) => Some(AgentStatus::Working),
        (EventKind::PreToolUse, Level::Ask) => Some(AgentStatus::Attention),
        _ => word(envelope),
    }
}

/// At work, unless a question still stands before the user. One they have
/// looked at stays looked at.
fn at_work(memo: &ContextMemo, known: Option<AgentStatus>) -> AgentStatus {
    match known {
        _ if memo.asks.is_empty() => AgentStatus::Working,
        Some(AgentStatus::Checked) => AgentStatus::Checked,
        _ => AgentStatus::Attention,
    }
}

fn notified(kind: &str) -> Option<AgentStatus> {
    match kind {
        "permission_prompt" | "agent_needs_input" => Some(AgentStatus::Attention),
        "idle_prompt" => Some(AgentStatus::Done),
        // These tell that the user has answered; what the answer changed was told before.
        "elicitation_response" | "elicitation_complete" => None,
        _ if kind.starts_with("elicitation_") => Some(AgentStatus::Attention),
        _ => None,
    }
}

fn source(envelope: &Envelope) -> Option<StartSource> {
    match &envelope.body {
        Body::SessionStart(start) => Some(start.source),
        _ => None,
    }
}
