//! The workflow gates on tool calls. They stand in a row, overflow > session >
//! heartbeat > directives, and a closed gate puts those behind it to sleep: so
//! the way out of the first is never blocked by the next. The guard is not one
//! of them and never sleeps.

pub mod directives;
pub mod guards;
pub mod heartbeat;
pub mod overflow;
pub mod permission_modes;
pub mod session;
pub mod standards;
pub mod workflow;

#[cfg(test)]
mod tests;

use crate::memory::line::Plain;
use crate::memory::skill::Skill;
use model::effort::{Counters, Directive, Effort};
use model::session::Session;
use model::tool::ToolCall;
use model::{Finding, RuleKind};
use policy::Policy;

/// What every gate sees: one moment of one agent.
#[derive(Clone, Copy)]
pub struct Snapshot<'a> {
    pub call: &'a ToolCall,
    /// The call is a plain `taut` line.
    pub plain: Option<&'a Plain>,
    pub cwd: &'a str,
    pub home: &'a str,
    pub session: Option<&'a Session>,
    pub effort: Option<&'a Effort>,
    pub skill: Option<&'a Skill>,
    pub counters: &'a Counters,
    pub directives: &'a [Directive],
    /// A sub-agent calls, with the parent's transcript and so its context usage.
    pub by_sub_agent: bool,
    /// An account of this session is stored.
    pub saved: bool,
    pub policy: &'a Policy,
}

/// One gate's word on one call.
#[derive(Debug, Clone, PartialEq)]
pub enum GateOpinion {
    Open,
    Warn(Finding),
    /// Closed, and this call is a way out of it.
    WayOut,
    Deny(Finding),
}

type Gate = fn(&Snapshot<'_>) -> GateOpinion;

const ROW: &[Gate] = &[overflow::word, session::word, heartbeat::word, directives::word];

/// What the gates say of a call: at most one denial, and no warning of a gate
/// that sleeps.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GateResult {
    pub findings: Vec<Finding>,
    /// Rules that fired, whether they block or not.
    pub fired: Vec<String>,
    /// Rules that are told once and were told now.
    pub told: Vec<String>,
}

pub fn judge(snapshot: &Snapshot<'_>) -> GateResult {
    let mut judged = GateResult::default();
    let mut asleep = false;
    for gate in ROW {
        match gate(snapshot) {
            GateOpinion::Open => continue,
            GateOpinion::Warn(finding) => {
                judged.findings.push(finding);
                continue;
            }
            GateOpinion::WayOut => {}
            GateOpinion::Deny(finding) => judged.findings.push(finding),
        }
        asleep = true;
        break;
    }
    guards::fire(snapshot, &mut judged);
    if !asleep {
        workflow::fire(snapshot, &mut judged);
    }
    judged
}

/// Whether the call is a plain line of one of these verbs.
pub(crate) fn is_line(snapshot: &Snapshot<'_>, verbs: &[&str]) -> bool {
    snapshot.plain.is_some_and(|plain| verbs.contains(&plain.verb()))
}

pub(crate) fn finding(rule: &str, kind: RuleKind, snapshot: &Snapshot<'_>, reason: String) -> Finding {
    Finding { rule: rule.to_string(), kind, reason, subject: snapshot.call.name.clone(), instead: None, intent: None }
}
