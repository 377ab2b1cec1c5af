//! PreToolUse: the gates judge the call; what passes is counted, and a plain
//! `taut` line is carried out here, because this hook stands outside the
//! client's sandbox and its permission prompts.

use super::execute::execute;
use super::{Memory, begin, mail, note, reading};
use crate::context::Rank;
use crate::event_context::EventContext;
use crate::gates::{self, GateResult, GatedCall, directives, heartbeat, overflow, permission_modes, workflow};
use crate::leases::Holding;
use grammar::AgentLine;
use model::effort::{Directive, MemoryWrite, PreExecuted, Refused};
use model::session::Once;
use model::tool::ToolCall;
use model::{Level, RuleKind};

pub fn step(event: &EventContext<'_>, holding: &Holding, call: &ToolCall, memory: &mut Memory) {
    let mode = event.session().and_then(|session| session.mode.as_deref()).or(event.who.mode.as_deref());
    memory.findings.extend(permission_modes::judge(call, mode, event.policy));
    let gated = GatedCall::of(event, call);
    let judged = if any_gate(event) { gates::judge(event, &gated) } else { GateResult::default() };
    memory.report.fired_rules = judged.fired;
    memory.findings.extend(judged.findings);
    memory.report.overflow_warning =
        any_gate(event) && event.envelope.sub_agent.is_none() && overflow::warns(event, &gated);
    if memory.findings.iter().any(|finding| finding.rule == overflow::RULE && finding.kind == RuleKind::Deny) {
        note::at_the_limit(event, memory);
    }
    if event.paused() {
        memory.findings.iter_mut().for_each(|finding| finding.kind = RuleKind::Noted);
    }
    let stopped = memory.findings.iter().any(|finding| finding.kind.level() == Level::Deny);
    let denied = holding.halted || event.findings.level() == Level::Deny;
    if denied || stopped || event.places.blind {
        if stopped && !holding.halted && !judged.told_denying.is_empty() {
            let mut after = gated.counters.clone();
            after.told.extend(judged.told_denying);
            memory.keeps.push(MemoryWrite::Counters(after));
        }
        return;
    }
    let warned = memory.findings.iter().any(|found| found.rule == overflow::RULE && found.kind == RuleKind::Warn);
    // What is asked is told alone.
    if warned && event.findings.level() < Level::Ask {
        memory.once = Some(Once::OverflowWarning);
    }
    for path in &judged.preloads {
        memory.show(event, Rank::Effort, path, path);
    }
    if gated.effort.is_some() || !event.policy.sections.workflow.rule.is_empty() {
        count(event, &gated, &judged.told, memory);
    }
    if let Some(name) = begin::invoked_skill(call) {
        begin::invoked(event, name, memory);
    }
    if let Some(line) = event.line {
        pre_execute(event, line, memory);
    }
    one_count(event, memory);
}

/// What the line or the skill did to the counters stands, whatever the call itself counted; what was told stays told.
fn one_count(event: &EventContext<'_>, memory: &mut Memory) {
    let counters = memory.keeps.iter().filter_map(|keep| match keep {
        MemoryWrite::Counters(counters) => Some(counters),
        _ => None,
    });
    let Some(mut last) = counters.clone().next_back().cloned() else { return };
    for told in counters.flat_map(|counters| workflow::lasting(event, &counters.told)).collect::<Vec<_>>() {
        if !last.told.contains(&told) {
            last.told.push(told);
        }
    }
    memory.keeps.retain(|keep| !matches!(keep, MemoryWrite::Counters(_)));
    memory.keeps.push(MemoryWrite::Counters(last));
}

/// Whether any gate can be closed here. This is what keeps the default quiet.
fn any_gate(event: &EventContext<'_>) -> bool {
    let sections = &event.policy.sections;
    let configured = sections.overflow.is_some() || !sections.workflow.rule.is_empty();
    !event.places.blind && (event.effort().is_some() || configured || sections.session.required)
}

fn count(event: &EventContext<'_>, gated: &GatedCall<'_>, told: &[String], memory: &mut Memory) {
    let mut after = heartbeat::count(event, gated);
    if !gated.reads.read.is_empty() {
        after.unread_calls = 0;
        let read = gated.reads.read.iter().map(|one| Directive { read: true, ..(*one).clone() });
        memory.keeps.extend(read.map(MemoryWrite::Directive));
    } else if directives::unread(event, gated).next().is_some() && directives::counts(event, gated) {
        after.unread_calls = after.unread_calls.saturating_add(1);
    }
    after.told.extend(told.iter().cloned());
    let session = event.session().map(|session| session.id.as_str());
    if after != gated.counters || gated.effort.is_some_and(|effort| effort.session.as_deref() != session) {
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
    }
}
