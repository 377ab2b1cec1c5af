//! Workflow rules: a trigger, a payload, and how urgent it is. Of all that
//! hold, those that block pool their whitelists: a call on any of them passes
//! all of them. Taut's own plain lines, reads of waiting directives and what a
//! rule itself asks for always pass, so no rule can lock an agent in.

use super::payload::Wanted;
use super::{GateResult, GatedCall, directives, finding, is_line};
use crate::event_context::EventContext;
use crate::memory::path::matches;
use crate::memory::settings;
use model::fact::TextFact;
use model::tool::ToolCall;
use model::{RuleKind, ToolKind};
use policy::ShownFiles;
use policy::config::sections::{
    InjectOften, NumberOrText, PayloadMode, RuleUrgency, Trigger, TriggerCondition, TriggerType, WorkflowRule,
};

/// A rule that holds now.
struct Firing<'a> {
    rule: &'a WorkflowRule,
    wanted: Wanted,
    /// Its files that were not read in this context, as they are written and where they stand.
    unread: Vec<(String, String)>,
    blocks: bool,
    /// It is told once, and was.
    over: bool,
}

pub fn fire(event: &EventContext<'_>, gated: &GatedCall<'_>, judged: &mut GateResult) {
    let firing = firing(event, gated);
    judged.fired.extend(firing.iter().map(|one| one.rule.id.clone()));
    let (blocking, telling): (Vec<_>, Vec<_>) = firing.into_iter().filter(|one| !one.over).partition(|one| one.blocks);
    let wants_files = blocking.iter().chain(&telling).any(|one| !one.unread.is_empty());
    let shown = if wants_files { directives::shown(event, gated.call) } else { ShownFiles::default() };
    let mut read: Vec<&String> =
        blocking.iter().chain(&telling).flat_map(|one| &one.unread).map(|(_, path)| path).collect();
    read.retain(|path| shown.paths.contains(path));
    let passes = always_passes(event, gated)
        || !read.is_empty() && shown.nothing_else
        || blocking.iter().any(|one| one.asks_for(gated.call))
        || blocking.iter().flat_map(|one| &one.rule.whitelist).any(|entry| listed(entry, event, gated));
    judged.told.extend(read.iter().map(|path| format!("{READ}{path}")));
    if !blocking.is_empty() && !passes {
        deny(&blocking, gated, judged);
    }
    for one in telling {
        let text = one.said(event);
        judged.told.extend(one.once().then(|| one.rule.id.clone()));
        judged.preloads.extend(one.unread.iter().filter(|_| one.wanted.preload).map(|(_, path)| path.clone()));
        if !text.is_empty() {
            judged.findings.push(finding(&one.rule.id, RuleKind::Warn, gated, text));
        }
    }
}

/// Before a file that was read, among what was told.
const READ: &str = "read ";

/// What of all that was told stays so when an effort begins: it is the session's.
pub fn lasting(event: &EventContext<'_>, told: &[String]) -> Vec<String> {
    let rules = &event.policy.sections.workflow.rule;
    let ours = |one: &&String| one.starts_with(READ) || rules.iter().any(|rule| rule.id == **one);
    told.iter().filter(ours).cloned().collect()
}

/// The files whose contents the rules want shown with this call.
pub fn preloads(event: &EventContext<'_>, call: &ToolCall) -> Vec<String> {
    let rules = &event.policy.sections.workflow.rule;
    if event.places.blind || !rules.iter().any(|rule| rule.mode == Some(PayloadMode::Preload)) {
        return Vec::new();
    }
    let firing = firing(event, &GatedCall::of(event, call));
    let shown = firing.into_iter().filter(|one| !one.over && one.wanted.preload);
    shown.flat_map(|one| one.unread).map(|(_, path)| path).collect()
}

/// One denial for all of them, that says what passes.
fn deny(blocking: &[Firing<'_>], gated: &GatedCall<'_>, judged: &mut GateResult) {
    let ids: Vec<&str> = blocking.iter().map(|one| one.rule.id.as_str()).collect();
    let texts = blocking.iter().map(|one| {
        let files: Vec<&str> = one.unread.iter().map(|(file, _)| file.as_str()).collect();
        one.wanted.said(&files)
    });
    let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
    let why =
        if texts.is_empty() { "a rule of this project blocks this call now.".to_string() } else { texts.join("\n") };
    let mut open: Vec<&str> = blocking.iter().flat_map(|one| &one.rule.whitelist).map(String::as_str).collect();
    open.extend(["plain `taut log`, `taut status`, `taut session` and `taut effort` lines"]);
    let reason = format!("{why}\nWhat passes: {}.", open.join(", "));
    judged.findings.push(finding(&ids.join("+"), RuleKind::Deny, gated, reason));
    judged.told_denying.extend(blocking.iter().filter(|one| one.once()).map(|one| one.rule.id.clone()));
}

fn always_passes(event: &EventContext<'_>, gated: &GatedCall<'_>) -> bool {
    is_line(event, &["log", "status", "session", "effort"]) || gated.reads.alone
}

impl Firing<'_> {
    /// A file that was shown is in the context.
    fn once(&self) -> bool {
        self.rule.inject == InjectOften::Once || self.wanted.preload
    }

    /// The call is the line that the rule wants run.
    fn asks_for(&self, call: &ToolCall) -> bool {
        self.wanted.command.as_deref().is_some_and(|line| call.command().map(str::trim) == Some(line.trim()))
    }

    fn said(&self, event: &EventContext<'_>) -> String {
        let shown = |path: &str| self.wanted.preload && matches!(event.facts.text(path), Some(TextFact::Text(_)));
        let files = self.unread.iter().filter(|(_, path)| !shown(path)).map(|(file, _)| file.as_str());
        self.wanted.said(&files.collect::<Vec<_>>())
    }
}

/// The rules that hold, the most urgent first.
fn firing<'a>(event: &EventContext<'a>, gated: &GatedCall<'_>) -> Vec<Firing<'a>> {
    let rules = event.policy.sections.workflow.rule.iter();
    let mut firing: Vec<Firing<'a>> = rules
        .filter(|rule| concerns(rule, gated) && holds(&rule.trigger, event, gated))
        .map(|rule| fires(rule, event, gated))
        .collect();
    firing.sort_by_key(|one| one.rule.priority);
    firing
}

fn concerns(rule: &WorkflowRule, gated: &GatedCall<'_>) -> bool {
    let named = |names: &[String]| names.contains(&gated.call.name);
    let filter = rule.tool_filter.as_ref().or(rule.tool_filter_too.as_ref());
    filter.is_none_or(|filter| (filter.include.is_empty() || named(&filter.include)) && !named(&filter.exclude))
}

fn fires<'a>(rule: &'a WorkflowRule, event: &EventContext<'a>, gated: &GatedCall<'_>) -> Firing<'a> {
    let wanted = Wanted::of(rule, gated);
    let told = |what: &str| gated.counters.told.iter().any(|known| known == what);
    let files = wanted.paths(event).into_iter().map(|(file, path)| (file.to_string(), path));
    let unread: Vec<(String, String)> = files.filter(|(_, path)| !told(&format!("{READ}{path}"))).collect();
    // Who has read all that the rule wanted read is done with it.
    let is_read = !wanted.files.is_empty() && unread.is_empty();
    // A sub-agent is reminded of its log, and never stopped for it.
    let spared = event.envelope.sub_agent.is_some() && rule.trigger.kind == Some(TriggerType::ToolCount);
    let blocks = matches!(rule.urgency, RuleUrgency::Block | RuleUrgency::Interrupt) && !spared;
    let mut firing = Firing { rule, wanted, unread, blocks, over: is_read };
    firing.over |= firing.once() && told(&rule.id);
    firing
}

fn holds(trigger: &Trigger, event: &EventContext<'_>, gated: &GatedCall<'_>) -> bool {
    let Some(kind) = trigger.kind else { return false };
    let condition = &trigger.condition;
    match kind {
        TriggerType::ContextThreshold => over(condition, event, gated),
        TriggerType::Lifecycle => match condition.no_active_session {
            Some(wanted) => gated.effort.is_none() == wanted,
            None => condition.eq.as_ref().and_then(NumberOrText::text) == Some(lifecycle(event, gated)),
        },
        TriggerType::Phase => condition.matches.as_deref().is_some_and(|part| {
            gated.effort.and_then(|effort| effort.phase.as_deref()).is_some_and(|phase| phase.contains(part))
        }),
        TriggerType::ToolCount => gated.effort.is_some() && reached(condition, gated.counters.since_log, event, gated),
        TriggerType::Discovery => condition.non_empty == Some(directives::unread(event, gated).next().is_some()),
        TriggerType::PerTranscriptToolCount => {
            let calls = f64::from(gated.counters.calls + 1);
            let exactly = condition.eq.as_ref().and_then(NumberOrText::number);
            reached(condition, gated.counters.calls, event, gated)
                || exactly.is_some_and(|limit| (calls - limit).abs() < 0.5)
        }
    }
}

/// The name of a limit stands for where the heartbeat warns or stops an agent: a limit that is not a number is not no
/// limit.
fn reached(condition: &TriggerCondition, before: u32, event: &EventContext<'_>, gated: &GatedCall<'_>) -> bool {
    let count = f64::from(before + 1);
    match &condition.gte {
        Some(NumberOrText::Number(limit)) => count >= *limit,
        Some(NumberOrText::Text(name)) => {
            let bare = crate::memory::skill::Skill::default();
            let limits = settings::heartbeat(event.policy, gated.skill.as_ref().unwrap_or(&bare));
            count >= f64::from(if name.to_lowercase().contains("warn") { limits.warn } else { limits.block })
        }
        None => false,
    }
}

/// As a share of the raw window, or where the overflow gate closes.
fn over(condition: &TriggerCondition, event: &EventContext<'_>, gated: &GatedCall<'_>) -> bool {
    // A sub-agent carries its parent's numbers.
    let Some(session) = event.session().filter(|_| event.envelope.sub_agent.is_none()) else { return false };
    match &condition.gte {
        Some(NumberOrText::Text(_)) => {
            let overflow = settings::overflow(event.policy, gated.skill.as_ref());
            overflow
                .is_some_and(|overflow| super::overflow::percent(event, overflow).is_some_and(|now| now >= overflow.at))
        }
        Some(NumberOrText::Number(limit)) => session
            .raw_context_percent()
            .is_some_and(|percent| percent >= if *limit <= 1.0 { limit * 100.0 } else { *limit }),
        None => false,
    }
}

fn lifecycle(event: &EventContext<'_>, gated: &GatedCall<'_>) -> &'static str {
    match gated.effort {
        None => "idle",
        Some(_) if event.handed_over() => "dehydrating",
        Some(effort) if effort.loading => "loading",
        Some(_) => "active",
    }
}

/// `Tool` or `Tool(pattern)` against what the tool is mainly about.
pub fn listed(entry: &str, event: &EventContext<'_>, gated: &GatedCall<'_>) -> bool {
    let call = gated.call;
    let Some((tool, pattern)) = entry.split_once('(') else { return entry == call.name };
    let pattern = pattern.strip_suffix(')').unwrap_or(pattern);
    if tool != call.name {
        return false;
    }
    // A shell line that chains commands is not the command its beginning looks like.
    let about = &call.subject;
    let subject = match call.kind {
        ToolKind::Shell => call
            .command()
            .filter(|line| event.line.is_some() || !line.contains([';', '&', '|', '`', '$', '\n', '<', '>'])),
        ToolKind::Search => about.pattern.as_deref(),
        _ => about.skill.as_deref().or(about.paths.first().map(String::as_str)),
    };
    let pattern =
        pattern.strip_prefix("~/").map_or_else(|| pattern.to_string(), |rest| format!("{}/{rest}", &event.places.home));
    subject.is_some_and(|subject| matches(&pattern, subject) && !subject.contains("/../"))
}
