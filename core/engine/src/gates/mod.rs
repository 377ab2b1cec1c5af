//! The workflow gates on tool calls. They stand in a row, overflow > session >
//! heartbeat > directives, and a closed gate puts those behind it to sleep: so
//! the way out of the first is never blocked by the next. The guard is not one
//! of them and never sleeps.

mod contacts;
pub mod directives;
pub mod guards;
pub mod heartbeat;
pub mod overflow;
mod payload;
pub mod permission_modes;
pub mod session;
pub mod standards;
pub mod workflow;

#[cfg(test)]
mod tests;

use crate::event_context::EventContext;
use crate::gates::directives::DirectiveReads;
use crate::memory::skill::Skill;
use model::effort::{Counters, Effort};
use model::tool::ToolCall;
use model::{Finding, RuleKind};

/// A call before the gates, and what its session works on.
pub struct GatedCall<'a> {
    pub call: &'a ToolCall,
    pub effort: Option<&'a Effort>,
    pub skill: Option<Skill>,
    pub counters: Counters,
    /// What the call shows of the directives that wait.
    pub reads: DirectiveReads<'a>,
}

impl<'a> GatedCall<'a> {
    pub fn of(event: &EventContext<'a>, call: &'a ToolCall) -> Self {
        let effort = event.effort();
        let skill = effort.map(|effort| event.skill(effort));
        let reads = DirectiveReads::of(event, effort, call);
        Self { call, effort, skill, counters: event.counters(), reads }
    }
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

type Gate = fn(&EventContext<'_>, &GatedCall<'_>) -> GateOpinion;

const ROW: &[Gate] = &[overflow::word, session::word, heartbeat::word, directives::word];

/// What the gates say of a call: at most one denial, and no warning of a gate
/// that sleeps.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GateResult {
    pub findings: Vec<Finding>,
    /// Rules that fired, whether they block or not.
    pub fired: Vec<String>,
    /// Rules that are told once and were told now, and files that rules want read and the call reads.
    pub told: Vec<String>,
    /// Those that are told with the denial.
    pub told_denying: Vec<String>,
    /// Files whose contents a rule wants shown.
    pub preloads: Vec<String>,
}

pub fn judge(event: &EventContext<'_>, gated: &GatedCall<'_>) -> GateResult {
    let mut judged = GateResult::default();
    let mut asleep = false;
    for gate in ROW {
        match gate(event, gated) {
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
    guards::fire(event, gated, &mut judged);
    if !asleep {
        workflow::fire(event, gated, &mut judged);
    }
    judged
}

/// Whether the call is a plain line of one of these verbs.
pub(crate) fn is_line(event: &EventContext<'_>, verbs: &[&str]) -> bool {
    let own = event.envelope.tool().and_then(|call| call.subject.own);
    event.line.is_some_and(|line| verbs.contains(&line.verb())) || own.is_some_and(|verb| verbs.contains(&verb))
}

pub(crate) fn finding(rule: &str, kind: RuleKind, gated: &GatedCall<'_>, reason: String) -> Finding {
    let subject = gated.call.name.clone();
    Finding {
        rule: rule.to_string(),
        kind,
        reason,
        subject,
        instead: None,
        intent: None,
        file: None,
        writes_only: Vec::new(),
    }
}
