//! Questions that stand before the user: which of a session's helpers has put
//! them, and what answers them.

use crate::status;
use model::event::{Body, Envelope, EventKind};
use model::row::AgentStatus;
use model::session::{Ask, ContextMemo};
use model::tool::{ToolCall, ToolKind};
use model::{Level, Ms};

/// More questions than this at once are not told apart.
const MOST_ASKS: usize = 16;

const ELICITATION: &str = "elicitation";

/// What a dialog is about that the client alone tells of.
const OF_CLIENT: &str = "dialog of the client";

/// The client waits for a prompt.
const IDLE: &str = "idle_prompt";

/// Keeps what is asked of the user, and what the status depends on besides.
pub fn remember(memo: &mut ContextMemo, envelope: &Envelope, verdict: Level, now: Ms) {
    questions(memo, envelope, verdict, now);
    // A question of which nothing but a notification tells.
    let told = memo.asks.is_empty() && status::word(envelope) == Some(AgentStatus::Attention);
    if told && verdict < Level::Deny {
        memo.asked_at = Some(now);
    }
    how_it_went(memo, envelope);
}

fn questions(memo: &mut ContextMemo, envelope: &Envelope, verdict: Level, now: Ms) {
    let by = envelope.sub_agent.as_ref().map_or("", |sub| &sub.id);
    let goes_on = |memo: &mut ContextMemo| memo.asks.retain(|ask| ask.by != by);
    match (envelope.kind, &envelope.body) {
        (EventKind::PreToolUse, Body::Tool(call)) => {
            goes_on(memo);
            let question = call.kind == ToolKind::Ask && verdict < Level::Deny;
            if question || verdict == Level::Ask {
                ask(memo, by, about(call), now);
            }
        }
        (EventKind::PermissionRequest, Body::Tool(call)) if verdict < Level::Deny => ask(memo, by, about(call), now),
        (EventKind::Elicitation, _) => ask(memo, by, ELICITATION.to_string(), now),
        (EventKind::ElicitationResult, _) => memo.asks.retain(|ask| ask.by != by || ask.about != ELICITATION),
        (
            EventKind::PostToolUse | EventKind::PostToolUseFailure | EventKind::PermissionDenied,
            Body::Tool(call) | Body::ToolDone { call, .. } | Body::ToolFailed { call, .. },
        ) if !memo.asks.is_empty() => {
            let about = about(call);
            memo.asks.retain(|ask| ask.by != by || ask.about != about);
        }
        (EventKind::Stop, Body::Stop { background: 0, .. }) => memo.asks.clear(),
        (EventKind::Notification, Body::Notification { kind, .. }) if kind == IDLE => memo.asks.clear(),
        // A question takes the keyboard: who can submit a prompt has none before them.
        (EventKind::UserPromptSubmit, _) if by.is_empty() => memo.asks.clear(),
        (EventKind::UserPromptSubmit | EventKind::PostToolBatch | EventKind::Stop | EventKind::SubagentStop, _) => {
            goes_on(memo)
        }
        _ => {}
    }
}

/// Whether the last turn failed, whether tasks of it run on, and whether the last tool failed.
fn how_it_went(memo: &mut ContextMemo, envelope: &Envelope) {
    match (envelope.kind, &envelope.body) {
        (EventKind::StopFailure, _) => memo.failed = true,
        // What a sub-agent goes on with is not the turn that failed.
        (EventKind::UserPromptSubmit | EventKind::PreToolUse | EventKind::PostToolUse | EventKind::Stop, _)
            if envelope.sub_agent.is_none() =>
        {
            memo.failed = false
        }
        _ => {}
    }
    match (envelope.kind, &envelope.body) {
        (EventKind::Stop, Body::Stop { background, .. }) => memo.background = *background > 0,
        (EventKind::UserPromptSubmit, _) => memo.background = false,
        (EventKind::Notification, Body::Notification { kind, .. }) if kind == IDLE => memo.background = false,
        _ => {}
    }
    match (envelope.kind, &envelope.body) {
        // Whoever pressed Esc knows of it.
        (EventKind::PostToolUseFailure, Body::ToolFailed { interrupted: true, .. }) => {}
        (EventKind::PostToolUseFailure, _) => memo.failed_tool = true,
        // A turn that failed says why itself.
        (EventKind::PostToolUse | EventKind::UserPromptSubmit | EventKind::Stop | EventKind::StopFailure, _) => {
            memo.failed_tool = false;
        }
        _ => {}
    }
}

/// A dialog stands in the client of which no hook has told.
pub fn ask_by_client(memo: &mut ContextMemo, since: Ms) {
    ask(memo, "", OF_CLIENT.to_string(), since);
}

/// Events that set nothing, and after which a question may no longer stand.
pub fn may_answer(envelope: &Envelope) -> bool {
    matches!(
        envelope.kind,
        EventKind::PostToolBatch
            | EventKind::PostToolUseFailure
            | EventKind::PermissionDenied
            | EventKind::SubagentStop
    )
}

fn ask(memo: &mut ContextMemo, by: &str, about: String, at: Ms) {
    let ask = Ask { by: by.to_string(), about };
    if memo.asks.contains(&ask) {
        return;
    }
    memo.asked_at = Some(at);
    if memo.asks.len() < MOST_ASKS {
        memo.asks.push(ask);
    }
}

/// A mark of a call. Permission requests have no id, and the answers to a
/// question come back in its input: so the one goes by its input, the other by its name.
fn about(call: &ToolCall) -> String {
    if call.kind == ToolKind::Ask {
        return call.name.clone();
    }
    let text = format!("{}\n{}", call.name, call.input);
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("{hash:016x}")
}
