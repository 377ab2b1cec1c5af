//! The heartbeat: an agent that works without logging is reminded, then
//! stopped until it logs.

use super::{GateOpinion, GatedCall, finding, is_line, standards};
use crate::event_context::EventContext;
use crate::memory::path::normal;
use crate::memory::settings::{self, Heartbeat};
use model::effort::{Counters, Effort};
use model::{RuleKind, ToolKind};

pub const RULE: &str = "heartbeat";

pub fn word(event: &EventContext<'_>, gated: &GatedCall<'_>) -> GateOpinion {
    let Some((effort, limits)) = beating(event, gated) else { return GateOpinion::Open };
    let count = gated.counters.since_log + 1;
    let closed = count >= limits.block && event.envelope.sub_agent.is_none();
    if !counts(event, gated) {
        return if closed { GateOpinion::WayOut } else { GateOpinion::Open };
    }
    if closed {
        let reason =
            format!("{} tool calls without a log entry, the limit is {}. {}", limits.block, limits.block, how(effort));
        return GateOpinion::Deny(finding(RULE, RuleKind::Deny, gated, reason));
    }
    if count == limits.warn {
        // A sub-agent is never stopped, and is not told that it would be.
        let then = if event.envelope.sub_agent.is_none() {
            format!("; at {} you are stopped", limits.block)
        } else {
            String::new()
        };
        let reason = format!("{count} tool calls without a log entry{then}. {}", how(effort));
        return GateOpinion::Warn(finding(RULE, RuleKind::Warn, gated, reason));
    }
    GateOpinion::Open
}

/// The effort whose skill wants a log, once it is past its loading.
fn beating<'a>(event: &EventContext<'a>, gated: &GatedCall<'a>) -> Option<(&'a Effort, Heartbeat)> {
    let skill = gated.skill.as_ref().filter(|skill| skill.log)?;
    let effort = gated.effort.filter(|effort| !effort.loading)?;
    Some((effort, settings::heartbeat(event.policy, skill)))
}

fn how(effort: &Effort) -> String {
    format!(
        "Write down what you did and found, alone in its line: `taut log \"…\"` (it goes to {}).",
        effort.artifact("LOG")
    )
}

/// Whether the call counts as work.
pub fn counts(event: &EventContext<'_>, gated: &GatedCall<'_>) -> bool {
    let call = gated.call;
    if is_line(
        event,
        &[
            "log", "status", "session", "effort", "task", "sessions", "agents", "events", "send", "inbox", "recall",
            "worker",
        ],
    ) {
        return false;
    }
    // The agent's own plans and helpers, and questions to the user.
    let uncounted = matches!(call.kind, ToolKind::Ask | ToolKind::Plan | ToolKind::Task);
    if uncounted || standards::reads(event, gated) {
        return false;
    }
    match call.written_file().map(|path| normal(path, event.cwd(), &event.places.home)) {
        Some(path) => {
            let log = gated.effort.is_some_and(|effort| effort.artifact("LOG") == path);
            !log && gated.counters.last_edit.as_ref() != Some(&path)
        }
        None => true,
    }
}

/// The counters after a call that was let through.
pub fn count(event: &EventContext<'_>, gated: &GatedCall<'_>) -> Counters {
    let mut counters = gated.counters.clone();
    let written = gated.call.written_file().map(|path| normal(path, event.cwd(), &event.places.home));
    if counts(event, gated) {
        counters.calls = counters.calls.saturating_add(1);
        if beating(event, gated).is_some() {
            counters.since_log = counters.since_log.saturating_add(1);
        }
        counters.last_edit = written;
    }
    counters
}
