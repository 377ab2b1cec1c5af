//! PreToolUse: the gates judge the call; what passes is counted, and a plain
//! `taut` line is carried out here, because this hook stands outside the
//! client's sandbox and its permission prompts.

use super::command::{self, AgentCommand};
use super::execute::execute;
use super::line::Plain;
use super::{Memory, Sight, begin, mail, plain, reading, settings};
use crate::gates::{self, Snapshot, directives, heartbeat, overflow, permission_modes};
use model::effort::{Counters, Directive, Effort, MemoryWrite, PreExecuted, Refused};
use model::tool::ToolCall;
use model::{Level, RuleKind};

pub fn step(sight: &Sight<'_>, current: Option<&Effort>, call: &ToolCall, memory: &mut Memory) {
    let plain = plain(call);
    let mode = sight.session.and_then(|session| session.mode.as_deref()).or(sight.who.mode.as_deref());
    memory.findings.extend(permission_modes::judge(call, mode, sight.policy));
    let skill = current.map(|effort| sight.skill(effort));
    let counters = sight.counters();
    let saved = saved(sight);
    let snapshot = Snapshot {
        call,
        plain: plain.as_ref(),
        cwd: sight.cwd(),
        home: sight.ground.home,
        session: sight.session,
        effort: current,
        skill: skill.as_ref(),
        counters: &counters,
        directives: &sight.known().directives,
        by_sub_agent: sight.envelope.sub_agent.is_some(),
        saved,
        policy: sight.policy,
    };
    let mut told = Vec::new();
    if gated(sight, current) {
        let judged = gates::judge(&snapshot);
        memory.report.fired_rules = judged.fired;
        memory.findings.extend(judged.findings);
        told = judged.told;
        memory.report.overflow_warning = overflow::warns(&snapshot);
    }
    if sight.ground.paused {
        memory.findings.iter_mut().for_each(|finding| finding.kind = RuleKind::Noted);
    }
    let stopped = memory.findings.iter().any(|finding| finding.kind.level() == Level::Deny);
    if sight.denied || stopped || sight.ground.blind {
        return;
    }
    if let Some(effort) = current {
        count(&snapshot, effort, told, memory);
    }
    if let Some(name) = begin::invoked_skill(call) {
        begin::invoked(sight, current, name, memory);
    }
    if let Some(plain) = plain {
        pre_execute(sight, current, &plain, memory);
    }
}

/// Whether any gate can be closed here. This is what keeps the default quiet.
fn gated(sight: &Sight<'_>, current: Option<&Effort>) -> bool {
    let configured = ["overflow", "workflow"].iter().any(|name| sight.policy.section(name).is_some());
    !sight.ground.blind && (current.is_some() || configured || settings::session_required(sight.policy))
}

/// An account of this very session waits to be told.
fn saved(sight: &Sight<'_>) -> bool {
    let session = sight.session.map(|session| session.id.as_str());
    sight.known().account.as_ref().is_some_and(|stored| Some(stored.session.as_str()) == session)
}

fn count(snapshot: &Snapshot<'_>, effort: &Effort, told: Vec<String>, memory: &mut Memory) {
    let mut after = heartbeat::count(snapshot);
    if let Some(directive) = directives::reads(snapshot) {
        after.unread_calls = 0;
        memory.keeps.push(MemoryWrite::Directive(Directive { read: true, ..directive.clone() }));
    } else if directives::unread(snapshot).next().is_some() && directives::counts(snapshot) {
        after.unread_calls = after.unread_calls.saturating_add(1);
    }
    after.told.extend(told);
    if after != *snapshot.counters || effort.session != snapshot.session.map(|session| session.id.clone()) {
        memory.keeps.push(MemoryWrite::Counters(after));
    }
}

/// Done here and now; the process of the line finds it done.
fn pre_execute(sight: &Sight<'_>, current: Option<&Effort>, plain: &Plain, memory: &mut Memory) {
    let Some(parsed) = command::parse(plain) else { return };
    let start = match &parsed {
        Ok(AgentCommand::Start(start)) => Some(start),
        _ => None,
    };
    let scene = begin::scene(sight, current, start);
    let outcome = parsed.clone().map_err(Refused::from).and_then(|command| execute(command, &scene));
    let (said, refused) = match &outcome {
        Ok(done) => (done.said.clone(), None),
        Err(why) => (String::new(), Some(why.clone())),
    };
    let pre_executed = PreExecuted {
        agent: scene.agent.to_string(),
        project: sight.who.project.clone(),
        // How the process prints is its own matter.
        words: plain.words.iter().filter(|word| *word != "--json").cloned().collect(),
        at: sight.now,
        output: said,
        refused,
    };
    memory.keeps.push(MemoryWrite::PreExecuted(pre_executed.clone()));
    if let Ok(mut done) = outcome {
        // Listed is not yet read: the user may still say no to the call.
        let listed = mail::listed(&mut done);
        if let Some(words) = reading(sight.envelope).filter(|_| !listed.is_empty()) {
            memory.keeps.push(MemoryWrite::PreExecuted(PreExecuted {
                words,
                output: listed.join("\n"),
                ..pre_executed
            }));
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
