//! Questions that stand before the user: which of a session's helpers has put
//! them, and what answers them.

use model::Level;
use model::event::{Body, Envelope, EventKind};
use model::session::{Ask, ContextMemo};
use model::tool::{ToolCall, ToolKind};

/// More questions than this at once are not told apart.
const MOST_ASKS: usize = 16;

const ELICITATION: &str = "elicitation";

/// Keeps what is asked of the user, and whether the last turn failed.
pub fn remember(memo: &mut ContextMemo, envelope: &Envelope, verdict: Level) {
    let by = envelope.sub_agent.as_ref().map_or("", |sub| &sub.id);
    let goes_on = |memo: &mut ContextMemo| memo.asks.retain(|ask| ask.by != by);
    match (envelope.kind, &envelope.body) {
        (EventKind::PreToolUse, Body::Tool(call)) => {
            goes_on(memo);
            let question = call.kind == ToolKind::Ask && verdict < Level::Deny;
            if question || verdict == Level::Ask {
                ask(memo, by, about(call));
            }
        }
        (EventKind::PermissionRequest, Body::Tool(call)) if verdict < Level::Deny => ask(memo, by, about(call)),
        (EventKind::Elicitation, _) => ask(memo, by, ELICITATION.to_string()),
        (EventKind::ElicitationResult, _) => memo.asks.retain(|ask| ask.by != by || ask.about != ELICITATION),
        (
            EventKind::PostToolUse | EventKind::PostToolUseFailure | EventKind::PermissionDenied,
            Body::Tool(call) | Body::ToolDone { call, .. } | Body::ToolFailed { call, .. },
        ) if !memo.asks.is_empty() => {
            let about = about(call);
            memo.asks.retain(|ask| ask.by != by || ask.about != about);
        }
        (EventKind::Stop, Body::Stop { background: 0, .. }) => memo.asks.clear(),
        (EventKind::Notification, Body::Notification { kind, .. }) if kind == "idle_prompt" => memo.asks.clear(),
        // A question takes the keyboard: who can submit a prompt has none before them.
        (EventKind::UserPromptSubmit, _) if by.is_empty() => memo.asks.clear(),
        (EventKind::UserPromptSubmit | EventKind::PostToolBatch | EventKind::Stop | EventKind::SubagentStop, _) => {
            goes_on(memo)
        }
        _ => {}
    }
    match envelope.kind {
        EventKind::StopFailure => memo.failed = true,
        EventKind::UserPromptSubmit | EventKind::PreToolUse | EventKind::PostToolUse | EventKind::Stop => {
            memo.failed = false
        }
        _ => {}
    }
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

fn ask(memo: &mut ContextMemo, by: &str, about: String) {
    let ask = Ask { by: by.to_string(), about };
    if memo.asks.len() < MOST_ASKS && !memo.asks.contains(&ask) {
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
