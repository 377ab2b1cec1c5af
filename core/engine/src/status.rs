//! What an event makes of its agent's status. Each event sets it; order of
//! urgency matters only where many are shown as one.
//!
//! Sub-agents count towards their parent, and one of them going on does not
//! answer the question another has put to the user: so the session remembers
//! what is asked, and by whom.

use model::Level;
use model::event::{Body, Envelope, Kind, Source};
use model::row::Status;
use model::session::{Ask, Memo, Session, State};
use model::tool::ToolCall;

/// Tools that are themselves a question to the user.
const QUESTIONS: &[&str] = &["AskUserQuestion"];

/// More questions than this at once are not told apart.
const MOST_ASKS: usize = 16;

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

/// Keeps what is asked of the user, and whether the last turn failed.
pub fn remember(memo: &mut Memo, envelope: &Envelope, verdict: Level) {
    let by = envelope.sub_agent.as_ref().map_or("", |sub| &sub.id);
    let goes_on = |memo: &mut Memo| memo.asks.retain(|ask| ask.by != by);
    match (envelope.kind, &envelope.body) {
        (Kind::PreToolUse, Body::Tool(call)) => {
            goes_on(memo);
            let question = QUESTIONS.contains(&call.name.as_str()) && verdict < Level::Deny;
            if question || verdict == Level::Ask {
                ask(memo, by, about(call));
            }
        }
        (Kind::PermissionRequest, Body::Tool(call)) if verdict < Level::Deny => ask(memo, by, about(call)),
        (Kind::Elicitation, _) => ask(memo, by, ELICITATION.to_string()),
        (Kind::ElicitationResult, _) => memo.asks.retain(|ask| ask.by != by || ask.about != ELICITATION),
        (
            Kind::PostToolUse | Kind::PostToolUseFailure | Kind::PermissionDenied,
            Body::Tool(call) | Body::ToolDone { call, .. } | Body::ToolFailed { call, .. },
        ) if !memo.asks.is_empty() => {
            let about = about(call);
            memo.asks.retain(|ask| ask.by != by || ask.about != about);
        }
        (Kind::Stop, Body::Stop { background: 0, .. }) | (Kind::SessionStart | Kind::SessionEnd, _) => {
            memo.asks.clear();
        }
        (Kind::Notification, Body::Notification { kind, .. }) if kind == "idle_prompt" => memo.asks.clear(),
        (Kind::UserPromptSubmit | Kind::PostToolBatch | Kind::Stop | Kind::SubagentStop, _) => goes_on(memo),
        _ => {}
    }
    match envelope.kind {
        Kind::StopFailure => memo.failed = true,
        Kind::UserPromptSubmit | Kind::PreToolUse | Kind::PostToolUse | Kind::Stop | Kind::SessionStart => {
            memo.failed = false;
        }
        _ => {}
    }
}

const ELICITATION: &str = "elicitation";

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

/// Events that set nothing, and after which a question may no longer stand.
fn may_answer(envelope: &Envelope) -> bool {
    matches!(
        envelope.kind,
        Kind::PostToolBatch | Kind::PostToolUseFailure | Kind::PermissionDenied | Kind::SubagentStop
    )
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

fn ask(memo: &mut Memo, by: &str, about: String) {
    let ask = Ask { by: by.to_string(), about };
    if memo.asks.len() < MOST_ASKS && !memo.asks.contains(&ask) {
        memo.asks.push(ask);
    }
}

/// A mark of a call. Permission requests have no id, and the answers to a
/// question come back in its input: so the one goes by its input, the other by its name.
fn about(call: &ToolCall) -> String {
    if QUESTIONS.contains(&call.name.as_str()) {
        return call.name.clone();
    }
    let text = format!("{}\n{}", call.name, call.input);
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("{hash:016x}")
}
