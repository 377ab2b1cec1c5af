//! How an event moves its session: created → active ⇄ tool_active ⇄ idle → ended.

use model::event::{Body, Envelope, EventKind};
use model::session::{Session, SessionState};
use model::{Level, Ms};

/// More calls than this at once are not remembered one by one.
const MOST_IN_FLIGHT: usize = 256;

/// The session after the event. `verdict` is what was said to a tool call.
pub fn step(session: Session, envelope: &Envelope, verdict: Level, now: Ms) -> Session {
    let mut session = Session { last_seen_at: now.max(session.last_seen_at), ..session };
    if let Some(cwd) = &envelope.cwd {
        session.cwd = Some(cwd.clone());
    }
    if session.transcript.is_none() {
        session.transcript.clone_from(&envelope.transcript);
    }
    match &envelope.body {
        Body::SessionEnd { reason } => return end(session, reason, now),
        Body::Tool(call) if envelope.kind == EventKind::PreToolUse && verdict < Level::Deny => {
            launch(&mut session, call.use_id.as_deref());
        }
        Body::Tool(call) | Body::ToolDone { call, .. } | Body::ToolFailed { call, .. }
            if envelope.kind != EventKind::PermissionRequest =>
        {
            land(&mut session, call.use_id.as_slice());
        }
        Body::ToolBatch { calls, .. } => land(&mut session, calls),
        Body::Prompt { .. } => rest(&mut session, SessionState::Active),
        // A stop that was refused is none, and a sub-agent's is not its parent's.
        Body::Stop { background: 0, .. }
            if envelope.kind == EventKind::Stop && verdict == Level::Pass && envelope.sub_agent.is_none() =>
        {
            rest(&mut session, SessionState::Idle);
        }
        Body::Notification { kind, .. } if kind == "idle_prompt" => rest(&mut session, SessionState::Idle),
        _ => {}
    }
    if session.state == SessionState::Created && speaks_of_work(envelope.kind) {
        session.state = SessionState::Active;
    }
    session
}

pub fn end(session: Session, reason: &str, now: Ms) -> Session {
    Session {
        state: SessionState::Ended,
        ended_at: Some(now),
        end_reason: Some(reason.to_string()),
        in_flight: Vec::new(),
        ..session
    }
}

fn launch(session: &mut Session, use_id: Option<&str>) {
    session.state = SessionState::ToolActive;
    let Some(id) = use_id else { return };
    if session.in_flight.len() < MOST_IN_FLIGHT && !session.in_flight.iter().any(|known| known == id) {
        session.in_flight.push(id.to_string());
    }
}

/// Calls came back or were denied: active again once none is out any more.
fn land(session: &mut Session, ids: &[String]) {
    session.in_flight.retain(|known| !ids.contains(known));
    session.state = if session.in_flight.is_empty() { SessionState::Active } else { SessionState::ToolActive };
}

/// A turn began or ended: whatever was out will not come back (Esc fires nothing).
fn rest(session: &mut Session, state: SessionState) {
    session.in_flight.clear();
    session.state = state;
}

/// The session at the end of a turn of which no hook has told.
pub fn rested(mut session: Session) -> Session {
    rest(&mut session, SessionState::Idle);
    session
}

pub fn speaks_of_work(kind: EventKind) -> bool {
    !matches!(
        kind,
        EventKind::SessionStart | EventKind::Setup | EventKind::InstructionsLoaded | EventKind::ConfigChange
    )
}
