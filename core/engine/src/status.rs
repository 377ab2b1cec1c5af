//! What an event makes of its agent's status. Each event sets it; order of
//! urgency matters only where many are shown as one.
//!
//! Sub-agents count towards their parent, and one of them going on does not
//! answer the question another has put to the user: so the session remembers
//! what is asked, and by whom.

use crate::asks::{QUESTIONS, may_answer};
use model::Level;
use model::event::{Body, Envelope, Kind, Source};
use model::row::Status;
use model::session::{Memo, Session, State};

/// What the next status depends on.
pub struct Scene<'a> {
    pub envelope: &'a Envelope,
    /// What was answered.
    pub verdict: Level,
    /// As it is after the event.
    pub session: &'a Session,
    /// The status before the event.
    pub known: Option<Status>,
}

/// The status after the event, or `None` where there was none and the event says nothing of it.
pub fn next(scene: &Scene<'_>) -> Option<Status> {
    let Scene { envelope, verdict, session, known } = scene;
    if !session.open() {
        return Some(Status::Done);
    }
    let memo = &session.memo;
    let asked = matches!(known, Some(Status::Attention | Status::Checked));
    match answered_word(envelope, *verdict) {
        // A stop that was refused leaves the agent at work.
        Some(Status::Done) if envelope.kind == Kind::Stop && session.state != State::Idle => {
            Some(at_work(memo, *known))
        }
        // Waiting for a prompt says nothing new of a turn that has failed.
        Some(Status::Done) if memo.failed => Some(Status::Error),
        Some(Status::Working) if envelope.kind == Kind::PreToolUse && *known == Some(Status::Error) => *known,
        Some(Status::Working) => Some(at_work(memo, *known)),
        Some(status) => Some(status),
        None if asked && memo.asks.is_empty() && may_answer(envelope) => Some(Status::Working),
        None => *known,
    }
}

/// The status of an agent that is met for the first time in an event that sets none.
pub fn first(envelope: &Envelope) -> Status {
    if crate::state::speaks_of_work(envelope.kind) || source(envelope) == Some(Source::Compact) {
        Status::Working
    } else {
        Status::Done
    }
}

/// What an event alone says of the status.
pub fn word(envelope: &Envelope) -> Option<Status> {
    match (envelope.kind, &envelope.body) {
        (Kind::PreToolUse, Body::Tool(call)) if QUESTIONS.contains(&call.name.as_str()) => Some(Status::Attention),
        // A session that has just begun waits for its first prompt; a compaction is part of the work.
        (Kind::SessionStart, _) => (source(envelope) != Some(Source::Compact)).then_some(Status::Done),
        (Kind::UserPromptSubmit | Kind::PreToolUse | Kind::PostToolUse | Kind::ElicitationResult, _) => {
            Some(Status::Working)
        }
        // Whoever pressed Esc knows of it.
        (Kind::PostToolUseFailure, Body::ToolFailed { interrupted: true, .. }) => None,
        (Kind::PostToolUseFailure | Kind::StopFailure, _) => Some(Status::Error),
        (Kind::PermissionRequest | Kind::Elicitation, _) => Some(Status::Attention),
        (Kind::Notification, Body::Notification { kind, .. }) => notified(kind),
        (Kind::Stop, Body::Stop { background, .. }) => {
            Some(if *background > 0 { Status::Working } else { Status::Done })
        }
        (Kind::SessionEnd, _) => Some(Status::Done),
        _ => None,
    }
}

/// What our own answer makes of the event's word: what we deny is asked of
/// nobody, and what we want confirmed is.
fn answered_word(envelope: &Envelope, verdict: Level) -> Option<Status> {
    match (envelope.kind, verdict) {
        (Kind::PreToolUse | Kind::PermissionRequest, Level::Deny) => Some(Status::Working),
        (Kind::PreToolUse, Level::Ask) => Some(Status::Attention),
        _ => word(envelope),
    }
}

/// At work, unless a question still stands before the user. One they have
/// looked at stays looked at.
fn at_work(memo: &Memo, known: Option<Status>) -> Status {
    match known {
        _ if memo.asks.is_empty() => Status::Working,
        Some(Status::Checked) => Status::Checked,
        _ => Status::Attention,
    }
}

fn notified(kind: &str) -> Option<Status> {
    match kind {
        "permission_prompt" | "agent_needs_input" => Some(Status::Attention),
        "idle_prompt" => Some(Status::Done),
        // These tell that the user has answered; what the answer changed was told before.
        "elicitation_response" | "elicitation_complete" => None,
        _ if kind.starts_with("elicitation_") => Some(Status::Attention),
        _ => None,
    }
}

fn source(envelope: &Envelope) -> Option<Source> {
    match &envelope.body {
        Body::SessionStart(start) => Some(start.source),
        _ => None,
    }
}
