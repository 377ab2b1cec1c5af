//! Workflow rules: a trigger, a payload, and how urgent it is. Of all that
//! hold, those that block pool their whitelists: a call on any of them passes
//! all of them. Taut's own plain lines and reads of waiting directives always
//! pass, so no rule can lock an agent in.

use super::{GateResult, Snapshot, directives, finding, is_line};
use crate::memory::path::matches;
use crate::memory::settings;
use model::RuleKind;
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

pub fn fire(snapshot: &Snapshot<'_>, judged: &mut GateResult) {
    let rules = &snapshot.policy.sections.workflow.rule;
    let mut firing: Vec<Firing<'_>> = rules.iter().filter_map(|rule| firing(rule, snapshot)).collect();
    firing.sort_by_key(|rule| rule.priority);
    judged.fired.extend(firing.iter().map(|rule| rule.id.to_string()));
    let (blocking, telling): (Vec<_>, Vec<_>) = firing.into_iter().partition(|rule| rule.blocks);
    let passes = always_passes(snapshot)
        || blocking.iter().flat_map(|rule| &rule.whitelist).any(|entry| listed(entry, snapshot));
    if !blocking.is_empty() && !passes {
        let ids: Vec<&str> = blocking.iter().map(|rule| rule.id).collect();
        let texts: Vec<&str> = blocking.iter().map(|rule| rule.text.as_str()).filter(|text| !text.is_empty()).collect();
        judged.findings.push(finding(&ids.join("+"), RuleKind::Deny, snapshot, texts.join("\n")));
    }
    for rule in telling {
        let known = rule.once && snapshot.counters.told.iter().any(|known| known == rule.id);
        if !known && !rule.text.is_empty() {
            judged.told.extend(rule.once.then(|| rule.id.to_string()));
            judged.findings.push(finding(rule.id, RuleKind::Warn, snapshot, rule.text));
        }
    }
}

fn always_passes(snapshot: &Snapshot<'_>) -> bool {
    is_line(snapshot, &["log", "status", "session", "effort"]) || directives::reads(snapshot).is_some()
}

fn firing<'a>(rule: &'a WorkflowRule, snapshot: &Snapshot<'_>) -> Option<Firing<'a>> {
    let named = |names: &[String]| names.contains(&snapshot.call.name);
    let filter = rule.tool_filter.as_ref().or(rule.tool_filter_too.as_ref());
    let concerned =
        filter.is_none_or(|filter| (filter.include.is_empty() || named(&filter.include)) && !named(&filter.exclude));
    if !concerned || !holds(&rule.trigger, snapshot) {
        return None;
    }
    Some(Firing {
        id: &rule.id,
        priority: rule.priority,
        blocks: matches!(rule.urgency, RuleUrgency::Block | RuleUrgency::Interrupt),
        once: rule.inject == InjectOften::Once,
        text: payload(rule, snapshot),
        whitelist: rule.whitelist.iter().map(String::as_str).collect(),
    })
}

fn holds(trigger: &Trigger, snapshot: &Snapshot<'_>) -> bool {
    let Some(kind) = trigger.kind else { return false };
    let condition = &trigger.condition;
    match kind {
        TriggerType::ContextThreshold => over(condition, snapshot),
        TriggerType::Lifecycle => match condition.no_active_session {
            Some(wanted) => snapshot.effort.is_none() == wanted,
            None => condition.eq.as_ref().and_then(NumberOrText::text) == Some(lifecycle(snapshot)),
        },
        TriggerType::Phase => condition.matches.as_deref().is_some_and(|part| {
            snapshot.effort.and_then(|effort| effort.phase.as_deref()).is_some_and(|phase| phase.contains(part))
        }),
        TriggerType::ToolCount => {
            snapshot.effort.is_some() && reached(condition, snapshot.counters.since_log, snapshot)
        }
        TriggerType::Discovery => condition.non_empty == Some(directives::unread(snapshot).next().is_some()),
        TriggerType::PerTranscriptToolCount => {
            let calls = f64::from(snapshot.counters.calls + 1);
            let exactly = condition.eq.as_ref().and_then(NumberOrText::number);
            reached(condition, snapshot.counters.calls, snapshot)
                || exactly.is_some_and(|limit| (calls - limit).abs() < 0.5)
        }
    }
}

/// The name of a limit stands for where the heartbeat stops an agent: a limit that is not a number is not no limit.
fn reached(condition: &TriggerCondition, before: u32, snapshot: &Snapshot<'_>) -> bool {
    let count = f64::from(before + 1);
    match &condition.gte {
        Some(NumberOrText::Number(limit)) => count >= *limit,
        Some(NumberOrText::Text(_)) => {
            let bare = crate::memory::skill::Skill::default();
            count >= f64::from(settings::heartbeat(snapshot.policy, snapshot.skill.unwrap_or(&bare)).block)
        }
        None => false,
    }
}

/// As a share of the raw window, or where the overflow gate closes.
fn over(condition: &TriggerCondition, snapshot: &Snapshot<'_>) -> bool {
    let Some(session) = snapshot.session else { return false };
    match &condition.gte {
        Some(NumberOrText::Text(_)) => {
            let overflow = settings::overflow(snapshot.policy, snapshot.skill);
            overflow.is_some_and(|overflow| {
                super::overflow::percent(snapshot, overflow).is_some_and(|now| now >= overflow.at)
            })
        }
        Some(NumberOrText::Number(limit)) => session
            .raw_context_percent()
            .is_some_and(|percent| percent >= if *limit <= 1.0 { limit * 100.0 } else { *limit }),
        None => false,
    }
}

fn lifecycle(snapshot: &Snapshot<'_>) -> &'static str {
    match snapshot.effort {
        None => "idle",
        Some(_) if snapshot.saved => "dehydrating",
        Some(effort) if effort.loading => "loading",
        Some(_) => "active",
    }
}

/// What the model is told, with `$names` of the moment put in.
fn payload(rule: &WorkflowRule, snapshot: &Snapshot<'_>) -> String {
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
    let effort = snapshot.effort;
    let shown = [
        ("$toolCallsSinceLastLog", snapshot.counters.since_log.to_string()),
        ("$currentPhase", effort.and_then(|effort| effort.phase.clone()).unwrap_or_default()),
        ("$skill", effort.map(|effort| effort.skill.clone()).unwrap_or_default()),
        ("$logFile", effort.map(|effort| effort.artifact("LOG")).unwrap_or_default()),
    ];
    shown.into_iter().fold(body, |text, (name, value)| text.replace(name, &value))
}

/// `Tool` or `Tool(pattern)` against what the tool is mainly about.
pub fn listed(entry: &str, snapshot: &Snapshot<'_>) -> bool {
    let call = snapshot.call;
    let Some((tool, pattern)) = entry.split_once('(') else { return entry == call.name };
    let pattern = pattern.strip_suffix(')').unwrap_or(pattern);
    if tool != call.name {
        return false;
    }
    // A shell line that chains commands is not the command its beginning looks like.
    let subject = match tool {
        "Bash" => call
            .text("command")
            .filter(|line| snapshot.plain.is_some() || !line.contains([';', '&', '|', '`', '$', '\n', '<', '>'])),
        "Skill" => call.text("skill"),
        "Glob" | "Grep" => call.text("pattern"),
        _ => call.text("file_path").or_else(|| call.text("notebook_path")),
    };
    let pattern =
        pattern.strip_prefix("~/").map_or_else(|| pattern.to_string(), |rest| format!("{}/{rest}", snapshot.home));
    subject.is_some_and(|subject| matches(&pattern, subject) && !subject.contains("/../"))
}
