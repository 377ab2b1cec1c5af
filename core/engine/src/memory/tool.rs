//! PreToolUse: the gates judge the call; what passes is counted, and a plain
//! `taut` line is carried out here, because this hook stands outside the
//! client's sandbox and its permission prompts.

use super::execute::execute;
use super::{Memory, begin, mail, note, reading};
use crate::event_context::EventContext;
use crate::gates::{self, GatedCall, directives, heartbeat, overflow, permission_modes};
use crate::leases::Holding;
use grammar::AgentLine;
use model::effort::{Counters, Directive, Effort, MemoryWrite, PreExecuted, Refused};
use model::tool::ToolCall;
use model::{Level, RuleKind};

pub fn step(event: &EventContext<'_>, holding: &Holding, call: &ToolCall, memory: &mut Memory) {
    let mode = event.session().and_then(|session| session.mode.as_deref()).or(event.who.mode.as_deref());
    memory.findings.extend(permission_modes::judge(call, mode, event.policy));
    let gated = GatedCall::of(event, call);
    let mut told = Vec::new();
    if any_gate(event) {
        let judged = gates::judge(event, &gated);
        memory.report.fired_rules = judged.fired;
        memory.findings.extend(judged.findings);
        told = judged.told;
        memory.report.overflow_warning = overflow::warns(event, &gated);
        if memory.findings.iter().any(|finding| finding.rule == overflow::RULE && finding.kind == RuleKind::Deny) {
            note::at_the_limit(event, memory);
        }
    }
    if event.paused() {
        memory.findings.iter_mut().for_each(|finding| finding.kind = RuleKind::Noted);
    }
    let stopped = memory.findings.iter().any(|finding| finding.kind.level() == Level::Deny);
    let denied = holding.halted || event.findings.level() == Level::Deny;
    if denied || stopped || event.places.blind {
        return;
    }
    if let Some(effort) = gated.effort {
        count(event, &gated, effort, told, memory);
    }
    if let Some(name) = begin::invoked_skill(call) {
        begin::invoked(event, name, memory);
    }
    if let Some(line) = event.line {
        pre_execute(event, line, memory);
    }
}

/// Whether any gate can be closed here. This is what keeps the default quiet.
fn any_gate(event: &EventContext<'_>) -> bool {
    let sections = &event.policy.sections;
    let configured = sections.overflow.is_some() || !sections.workflow.rule.is_empty();
    !event.places.blind && (event.effort().is_some() || configured || sections.session.required)
}

fn count(event: &EventContext<'_>, gated: &GatedCall<'_>, effort: &Effort, told: Vec<String>, memory: &mut Memory) {
    let mut after = heartbeat::count(event, gated);
    if !gated.reads.read.is_empty() {
        after.unread_calls = 0;
        let read = gated.reads.read.iter().map(|one| Directive { read: true, ..(*one).clone() });
        memory.keeps.extend(read.map(MemoryWrite::Directive));
    } else if directives::unread(event, gated).next().is_some() && directives::counts(event, gated) {
        after.unread_calls = after.unread_calls.saturating_add(1);
    }
    after.told.extend(told);
    if after != gated.counters || effort.session != event.session().map(|session| session.id.clone()) {
        memory.keeps.push(MemoryWrite::Counters(after));
    }
}

/// Done here and now; the process of the line finds it done.
fn pre_execute(event: &EventContext<'_>, line: &AgentLine, memory: &mut Memory) {
    let Some(parsed) = line.command.clone() else { return };
    let outcome = parsed.map_err(Refused::from).and_then(|command| execute(command, event));
    let (said, refused) = match &outcome {
        Ok(done) => (done.output.clone(), None),
        Err(why) => (String::new(), Some(why.clone())),
    };
    let pre_executed = PreExecuted {
        agent: event.agent().to_string(),
        project: event.who.project.clone(),
        words: line.key(),
        session: event.envelope.host_session.clone(),
        at: event.now,
        output: said,
        refused,
    };
    memory.keeps.push(MemoryWrite::PreExecuted(pre_executed.clone()));
    if let Ok(mut done) = outcome {
        // Listed is not yet read: the user may still say no to the call.
        let listed = mail::listed(&mut done);
        if let Some(words) = reading(event).filter(|_| !listed.is_empty()) {
            memory.keeps.push(MemoryWrite::PreExecuted(PreExecuted {
                words,
                session: None,
                output: listed.join("\n"),
                ..pre_executed
            }));
        }
        // What its skill wants read is shown to whoever began an effort by hand too.
        if let Some(effort) = done.effort.as_ref().filter(|effort| effort.id == event.ids.event) {
            begin::preload(event, &event.skill(effort), memory);
        }
        memory.take(done);
        // What the line did to the counters stands, whatever the call itself counted.
        let last = memory.keeps.iter().rposition(|keep| matches!(keep, MemoryWrite::Counters(_)));
        let mut at = 0;
        memory.keeps.retain(|keep| {
            at += 1;
            !matches!(keep, MemoryWrite::Counters(Counters { .. })) || Some(at - 1) == last
        });
    }
}
