//! The heartbeat: an agent that works without logging is reminded, then
//! stopped until it logs.

use super::{GateOpinion, Snapshot, finding, is_line, standards};
use crate::memory::path::normal;
use crate::memory::settings::{self, Heartbeat};
use model::effort::{Counters, Effort};
use model::{RuleKind, ToolKind};

pub const RULE: &str = "heartbeat";

pub fn word(snapshot: &Snapshot<'_>) -> GateOpinion {
    let Some((effort, limits)) = beating(snapshot) else { return GateOpinion::Open };
    let count = snapshot.counters.since_log + 1;
    let closed = count >= limits.block && !snapshot.by_sub_agent;
    if !counts(snapshot) {
        return if closed { GateOpinion::WayOut } else { GateOpinion::Open };
    }
    if closed {
        let reason =
            format!("{} tool calls without a log entry, the limit is {}. {}", limits.block, limits.block, how(effort));
        return GateOpinion::Deny(finding(RULE, RuleKind::Deny, snapshot, reason));
    }
    if count == limits.warn {
        let reason =
            format!("{count} tool calls without a log entry; at {} you are stopped. {}", limits.block, how(effort));
        return GateOpinion::Warn(finding(RULE, RuleKind::Warn, snapshot, reason));
    }
    GateOpinion::Open
}

/// The effort whose skill wants a log, once it is past its loading.
fn beating<'a>(snapshot: &Snapshot<'a>) -> Option<(&'a Effort, Heartbeat)> {
    let skill = snapshot.skill.filter(|skill| skill.log)?;
    let effort = snapshot.effort.filter(|effort| !effort.loading)?;
    Some((effort, settings::heartbeat(snapshot.policy, skill)))
}

fn how(effort: &Effort) -> String {
    format!(
        "Write down what you did and found, alone in its line: `taut log \"…\"` (it goes to {}).",
        effort.artifact("LOG")
    )
}

/// Whether the call counts as work.
pub fn counts(snapshot: &Snapshot<'_>) -> bool {
    let call = snapshot.call;
    if is_line(
        snapshot,
        &["log", "status", "session", "effort", "task", "sessions", "agents", "events", "send", "inbox", "worker"],
    ) {
        return false;
    }
    // The agent's own plans and helpers, and questions to the user.
    let uncounted = matches!(call.kind, ToolKind::Ask | ToolKind::Plan | ToolKind::Task);
    if uncounted || standards::reads(snapshot) {
        return false;
    }
    match call.written_file().map(|path| normal(path, snapshot.cwd, snapshot.home)) {
        Some(path) => {
            let log = snapshot.effort.is_some_and(|effort| effort.artifact("LOG") == path);
            !log && snapshot.counters.last_edit.as_ref() != Some(&path)
        }
        None => true,
    }
}

/// The counters after a call that was let through.
pub fn count(snapshot: &Snapshot<'_>) -> Counters {
    let mut counters = snapshot.counters.clone();
    let written = snapshot.call.written_file().map(|path| normal(path, snapshot.cwd, snapshot.home));
    if counts(snapshot) {
        counters.calls = counters.calls.saturating_add(1);
        if beating(snapshot).is_some() {
            counters.since_log = counters.since_log.saturating_add(1);
        }
        counters.last_edit = written;
    }
    counters
}
