//! What an event makes of its agent's status. Each event sets it; order of
//! urgency matters only where many are shown as one.

use model::event::{Body, Envelope, Kind};
use model::row::Status;

/// The status the event sets, or `None` when it leaves it as it was.
pub fn status(envelope: &Envelope) -> Option<Status> {
    match (envelope.kind, &envelope.body) {
        (Kind::UserPromptSubmit | Kind::PreToolUse | Kind::PostToolUse | Kind::SessionStart, _) => {
            Some(Status::Working)
        }
        (Kind::PostToolUseFailure | Kind::StopFailure, _) => Some(Status::Error),
        (Kind::PermissionRequest, _) => Some(Status::Attention),
        (Kind::Notification, Body::Notification { kind, .. }) => notified(kind),
        (Kind::Stop, Body::Stop { background, .. }) => {
            Some(if *background > 0 { Status::Working } else { Status::Done })
        }
        (Kind::SessionEnd, _) => Some(Status::Done),
        _ => None,
    }
}

fn notified(kind: &str) -> Option<Status> {
    match kind {
        "permission_prompt" | "agent_needs_input" => Some(Status::Attention),
        "idle_prompt" => Some(Status::Done),
        _ if kind.starts_with("elicitation_") => Some(Status::Attention),
        _ => None,
    }
}
