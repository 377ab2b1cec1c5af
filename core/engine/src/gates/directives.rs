//! Directives: files a skill requires to be read where they are found. A few
//! calls may be made before; then nothing but reading them.

use super::{GateOpinion, GatedCall, finding, is_line};
use crate::event_context::EventContext;
use crate::memory::path::normal;
use model::effort::Directive;
use model::{RuleKind, ToolKind};

pub const RULE: &str = "directives";

pub fn word(event: &EventContext<'_>, gated: &GatedCall<'_>) -> GateOpinion {
    let unread: Vec<&str> = unread(event, gated).map(|directive| directive.path.as_str()).collect();
    if unread.is_empty() || !counts(event, gated) {
        return GateOpinion::Open;
    }
    let made = gated.counters.unread_calls;
    let limit = event.policy.sections.directives.block;
    let list = unread.join(", ");
    if made >= limit {
        let reason = format!(
            "{made} tool calls were made while required directives wait. Read them now with the Read tool: {list}"
        );
        return GateOpinion::Deny(finding(RULE, RuleKind::Deny, gated, reason));
    }
    if made == 0 {
        let reason = format!(
            "this skill requires these directives to be read; after {limit} more calls nothing else runs: {list}"
        );
        return GateOpinion::Warn(finding(RULE, RuleKind::Warn, gated, reason));
    }
    GateOpinion::Open
}

pub fn unread<'a>(event: &EventContext<'a>, gated: &GatedCall<'a>) -> impl Iterator<Item = &'a Directive> {
    let effort = gated.effort.map(|effort| effort.id.as_str());
    event.rows().directives.iter().filter(move |one| one.required && !one.read && Some(one.effort.as_str()) == effort)
}

/// The directive this call reads, if it reads one that waits.
pub fn reads<'a>(event: &EventContext<'a>, gated: &GatedCall<'a>) -> Option<&'a Directive> {
    let path = normal(gated.call.read_file()?, event.cwd(), &event.places.home);
    let effort = gated.effort.map(|effort| effort.id.as_str());
    event.rows().directives.iter().find(|one| one.path == path && !one.read && Some(one.effort.as_str()) == effort)
}

/// Whether the call counts against those that wait. The check for a read of one
/// comes first: a directive may lie among the standards.
pub fn counts(event: &EventContext<'_>, gated: &GatedCall<'_>) -> bool {
    let helper = matches!(gated.call.kind, ToolKind::Task | ToolKind::Ask);
    reads(event, gated).is_none() && !helper && !is_line(event, &["log", "status", "session", "effort", "task"])
}
