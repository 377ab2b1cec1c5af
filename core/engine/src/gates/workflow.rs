//! Workflow rules: a trigger, a payload, and how urgent it is. Of all that
//! hold, those that block pool their whitelists: a call on any of them passes
//! all of them. Taut's own plain lines and reads of waiting directives always
//! pass, so no rule can lock an agent in.

use super::{GateResult, GatedCall, directives, finding, is_line};
use crate::event_context::EventContext;
use crate::memory::path::matches;
use crate::memory::settings;
use model::{RuleKind, ToolKind};
use policy::config::sections::{
    InjectOften, NumberOrText, PayloadMode, RuleUrgency, Trigger, TriggerCondition, TriggerType, WorkflowRule,
};
use policy::config::types::TextOr;

/// A rule that holds now.
struct Firing<'a> {
    id: &'a str,
    priority: i64,
    blocks: bool,
    once: bool,
    text: String,
    whitelist: Vec<&'a str>,
}

pub fn fire(event: &EventContext<'_>, gated: &GatedCall<'_>, judged: &mut GateResult) {
    let rules = &event.policy.sections.workflow.rule;
    let mut firing: Vec<Firing<'_>> = rules.iter().filter_map(|rule| firing(rule, event, gated)).collect();
    firing.sort_by_key(|rule| rule.priority);
    judged.fired.extend(firing.iter().map(|rule| rule.id.to_string()));
    let (blocking, telling): (Vec<_>, Vec<_>) = firing.into_iter().partition(|rule| rule.blocks);
    let passes = always_passes(event, gated)
        || blocking.iter().flat_map(|rule| &rule.whitelist).any(|entry| listed(entry, event, gated));
    if !blocking.is_empty() && !passes {
        let ids: Vec<&str> = blocking.iter().map(|rule| rule.id).collect();
        let texts: Vec<&str> = blocking.iter().map(|rule| rule.text.as_str()).filter(|text| !text.is_empty()).collect();
        judged.findings.push(finding(&ids.join("+"), RuleKind::Deny, gated, texts.join("\n")));
    }
    for rule in telling {
        let known = rule.once && gated.counters.told.iter().any(|known| known == rule.id);
        if !known && !rule.text.is_empty() {
            judged.told.extend(rule.once.then(|| rule.id.to_string()));
            judged.findings.push(finding(rule.id, RuleKind::Warn, gated, rule.text));
        }
    }
}

fn always_passes(event: &EventContext<'_>, gated: &GatedCall<'_>) -> bool {
    is_line(event, &["log", "status", "session", "effort"]) || gated.reads.alone
}

fn firing<'a>(rule: &'a WorkflowRule, event: &EventContext<'_>, gated: &GatedCall<'_>) -> Option<Firing<'a>> {
    let named = |names: &[String]| names.contains(&gated.call.name);
    let filter = rule.tool_filter.as_ref().or(rule.tool_filter_too.as_ref());
    let concerned =
        filter.is_none_or(|filter| (filter.include.is_empty() || named(&filter.include)) && !named(&filter.exclude));
    if !concerned || !holds(&rule.trigger, event, gated) {
        return None;
    }
    Some(Firing {
        id: &rule.id,
        priority: rule.priority,
        blocks: matches!(rule.urgency, RuleUrgency::Block | RuleUrgency::Interrupt),
        once: rule.inject == InjectOften::Once,
        text: payload(rule, gated),
        whitelist: rule.whitelist.iter().map(String::as_str).collect(),
    })
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

/// The name of a limit stands for where the heartbeat stops an agent: a limit that is not a number is not no limit.
fn reached(condition: &TriggerCondition, before: u32, event: &EventContext<'_>, gated: &GatedCall<'_>) -> bool {
    let count = f64::from(before + 1);
    match &condition.gte {
        Some(NumberOrText::Number(limit)) => count >= *limit,
        Some(NumberOrText::Text(_)) => {
            let bare = crate::memory::skill::Skill::default();
            count >= f64::from(settings::heartbeat(event.policy, gated.skill.as_ref().unwrap_or(&bare)).block)
        }
        None => false,
    }
}

/// As a share of the raw window, or where the overflow gate closes.
fn over(condition: &TriggerCondition, event: &EventContext<'_>, gated: &GatedCall<'_>) -> bool {
    let Some(session) = event.session() else { return false };
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

/// What the model is told, with `$names` of the moment put in.
fn payload(rule: &WorkflowRule, gated: &GatedCall<'_>) -> String {
    let body = match &rule.payload {
        Some(TextOr::Text(text)) => text.clone(),
        Some(TextOr::Table(payload)) => {
            let text = payload.text.clone().unwrap_or_default();
            match payload.files.is_empty() {
                true => text,
                false => format!("{text} Read: {}", payload.files.join(", ")).trim_start().to_string(),
            }
        }
        None => String::new(),
    };
    let body = match rule.mode {
        Some(PayloadMode::Read | PayloadMode::Preload) if !body.contains("Read") && !body.is_empty() => {
            format!("Read: {body}")
        }
        Some(PayloadMode::Paste) if !body.is_empty() => format!("Run: {body}"),
        _ => body,
    };
    let effort = gated.effort;
    let shown = [
        ("$toolCallsSinceLastLog", gated.counters.since_log.to_string()),
        ("$currentPhase", effort.and_then(|effort| effort.phase.clone()).unwrap_or_default()),
        ("$skill", effort.map(|effort| effort.skill.clone()).unwrap_or_default()),
        ("$logFile", effort.map(|effort| effort.artifact("LOG")).unwrap_or_default()),
    ];
    shown.into_iter().fold(body, |text, (name, value)| text.replace(name, &value))
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
