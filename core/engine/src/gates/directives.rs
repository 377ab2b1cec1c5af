//! Directives: files a skill requires to be read where they are found. A few
//! calls may be made before; then nothing but reading them.

use super::{GateOpinion, Snapshot, finding, is_line};
use crate::memory::path::normal;
use crate::memory::settings;
use model::effort::Directive;
use model::{RuleKind, ToolKind};

pub const RULE: &str = "directives";

pub fn word(snapshot: &Snapshot<'_>) -> GateOpinion {
    let unread: Vec<&str> = unread(snapshot).map(|directive| directive.path.as_str()).collect();
    if unread.is_empty() || !counts(snapshot) {
        return GateOpinion::Open;
    }
    let made = snapshot.counters.unread_calls;
    let limit = settings::unread_after(snapshot.policy);
    let list = unread.join(", ");
    if made >= limit {
        let reason = format!(
            "{made} tool calls were made while required directives wait. Read them now with the Read tool: {list}"
        );
        return GateOpinion::Deny(finding(RULE, RuleKind::Deny, snapshot, reason));
    }
    if made == 0 {
        let reason = format!(
            "this skill requires these directives to be read; after {limit} more calls nothing else runs: {list}"
        );
        return GateOpinion::Warn(finding(RULE, RuleKind::Warn, snapshot, reason));
    }
    GateOpinion::Open
}

pub fn unread<'a>(snapshot: &Snapshot<'a>) -> impl Iterator<Item = &'a Directive> {
    let effort = snapshot.effort.map(|effort| effort.id.as_str());
    snapshot.directives.iter().filter(move |one| one.required && !one.read && Some(one.effort.as_str()) == effort)
}

/// The directive this call reads, if it reads one that waits.
pub fn reads<'a>(snapshot: &Snapshot<'a>) -> Option<&'a Directive> {
    let path = normal(snapshot.call.read_file()?, snapshot.cwd, snapshot.home);
    let effort = snapshot.effort.map(|effort| effort.id.as_str());
    snapshot.directives.iter().find(|one| one.path == path && !one.read && Some(one.effort.as_str()) == effort)
}

/// Whether the call counts against those that wait. The check for a read of one
/// comes first: a directive may lie among the standards.
pub fn counts(snapshot: &Snapshot<'_>) -> bool {
    let helper = matches!(snapshot.call.kind, ToolKind::Task | ToolKind::Ask);
    reads(snapshot).is_none() && !helper && !is_line(snapshot, &["log", "status", "session", "effort", "task"])
}
