//! The session gate: where a session is required, only the way to one is open.
//! `taut log` is not on it: it let agents around the gate.

use super::{GateOpinion, GatedCall, finding, is_line, standards};
use crate::event_context::EventContext;
use model::{AgentProfile, RuleKind, ToolKind};

pub const RULE: &str = "session-gate";

pub fn word(event: &EventContext<'_>, gated: &GatedCall<'_>) -> GateOpinion {
    if !event.policy.sections.session.required || gated.effort.is_some() {
        return GateOpinion::Open;
    }
    if leads_to_one(event, gated) {
        return GateOpinion::WayOut;
    }
    GateOpinion::Deny(finding(RULE, RuleKind::Deny, gated, how(event)))
}

fn leads_to_one(event: &EventContext<'_>, gated: &GatedCall<'_>) -> bool {
    let starts =
        event.line.is_some_and(|plain| plain.verb() == "effort" && matches!(plain.part(), "start" | "list" | "show"));
    let call = gated.call;
    // What only looks and is of no kind looks at the client itself: at the tools it has.
    let tool = call.subject.skill.is_some() || call.kind == ToolKind::Other && !call.acts();
    tool || call.kind == ToolKind::Ask
        || starts
        || is_line(event, &["session", "continue"])
        || standards::reads(event, gated)
}

fn how(event: &EventContext<'_>) -> String {
    let sections = &event.policy.sections;
    let mut how =
        "no session is active, and this project requires one. Run `taut session activate <skill>` first".to_string();
    let skills: Vec<&str> = sections.skills.keys().map(String::as_str).collect();
    if !skills.is_empty() {
        how.push_str(&format!(" (skills here: {})", skills.join(", ")));
    }
    let standards = &sections.session.standards;
    if !standards.is_empty() {
        how.push_str(&format!(", after reading {}", standards.join(", ")));
    }
    let AgentProfile { folder, instructions, .. } = event.envelope.agent;
    how.push_str(&format!(
        ". Until then you may read standards (`~/{folder}`, {instructions}, memory), ask the user, and use skills."
    ));
    how
}
