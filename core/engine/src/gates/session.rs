//! The session gate: where a session is required, only the way to one is open.
//! `taut log` is not on it: it let agents around the gate.

use super::{GateOpinion, Snapshot, finding, is_line, standards};
use crate::memory::settings::{self, Section};
use model::{RuleKind, ToolKind};

pub const RULE: &str = "session-gate";

pub fn word(snapshot: &Snapshot<'_>) -> GateOpinion {
    if !settings::session_required(snapshot.policy) || snapshot.effort.is_some() {
        return GateOpinion::Open;
    }
    if leads_to_one(snapshot) {
        return GateOpinion::WayOut;
    }
    GateOpinion::Deny(finding(RULE, RuleKind::Deny, snapshot, how(snapshot)))
}

fn leads_to_one(snapshot: &Snapshot<'_>) -> bool {
    let starts = snapshot
        .plain
        .is_some_and(|plain| plain.verb() == "effort" && matches!(plain.part(), "start" | "list" | "show"));
    let call = snapshot.call;
    // What only looks and is of no kind looks at the client itself: at the tools it has.
    let tool = call.subject.skill.is_some() || call.kind == ToolKind::Other && !call.acts();
    tool || call.kind == ToolKind::Ask || starts || is_line(snapshot, &["session"]) || standards::reads(snapshot)
}

fn how(snapshot: &Snapshot<'_>) -> String {
    let section = Section::of(snapshot.policy, "session");
    let mut how =
        "no session is active, and this project requires one. Run `taut session activate <skill>` first".to_string();
    let skills = snapshot.policy.section("skills").and_then(toml::Value::as_table);
    let skills: Vec<&str> = skills.into_iter().flat_map(|skills| skills.keys()).map(String::as_str).collect();
    if !skills.is_empty() {
        how.push_str(&format!(" (skills here: {})", skills.join(", ")));
    }
    let standards = section.texts("standards");
    if !standards.is_empty() {
        how.push_str(&format!(", after reading {}", standards.join(", ")));
    }
    how.push_str(". Until then you may read standards (`~/.claude`, CLAUDE.md, memory), ask the user, and use skills.");
    how
}
