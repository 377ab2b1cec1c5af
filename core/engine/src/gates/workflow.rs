//! Workflow rules: a trigger, a payload, and how urgent it is. Of all that
//! hold, those that block pool their whitelists: a call on any of them passes
//! all of them. Taut's own plain lines and reads of waiting directives always
//! pass, so no rule can lock an agent in.

use super::{GateResult, GatedCall, directives, finding, is_line};
use crate::event_context::EventContext;
use crate::memory::path::matches;
use crate::memory::settings;
use model::{RuleKind, ToolKind};
use toml::Value;

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
    let rules = event.policy.section("workflow").and_then(|section| section.get("rule")).and_then(Value::as_array);
    let mut firing: Vec<Firing<'_>> =
        rules.into_iter().flatten().filter_map(|rule| firing(rule, event, gated)).collect();
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
    is_line(event, &["log", "status", "session", "effort"]) || directives::reads(event, gated).is_some()
}

fn firing<'a>(rule: &'a Value, event: &EventContext<'_>, gated: &GatedCall<'_>) -> Option<Firing<'a>> {
    let text = |name: &str| rule.get(name).and_then(Value::as_str);
    let id = text("id")?;
    let trigger = rule.get("trigger")?;
    let filter =
        |name: &str| rule.get("toolFilter").or_else(|| rule.get("tool_filter")).map(|filter| texts(filter.get(name)));
    let included =
        filter("include").is_none_or(|names| names.is_empty() || names.iter().any(|name| *name == gated.call.name));
    let excluded = filter("exclude").is_some_and(|names| names.iter().any(|name| *name == gated.call.name));
    if !included || excluded || !holds(trigger, event, gated) {
        return None;
    }
    Some(Firing {
        id,
        priority: rule.get("priority").and_then(Value::as_integer).unwrap_or(100),
        blocks: matches!(text("urgency"), Some("block" | "interrupt")),
        once: text("inject") == Some("once"),
        text: payload(rule, gated),
        whitelist: texts(rule.get("whitelist")),
    })
}

fn holds(trigger: &Value, event: &EventContext<'_>, gated: &GatedCall<'_>) -> bool {
    let Some(condition) = trigger.get("condition") else { return false };
    let at_least = |field: &str, value: f64| condition.get(field).and_then(number).is_some_and(|limit| value >= limit);
    match trigger.get("type").and_then(Value::as_str) {
        Some("contextThreshold") => over(condition, event, gated),
        Some("lifecycle") => match condition.get("noActiveSession").and_then(Value::as_bool) {
            Some(wanted) => gated.effort.is_none() == wanted,
            None => condition.get("eq").and_then(Value::as_str) == Some(lifecycle(event, gated)),
        },
        Some("phase") => condition.get("matches").and_then(Value::as_str).is_some_and(|part| {
            gated.effort.and_then(|effort| effort.phase.as_deref()).is_some_and(|phase| phase.contains(part))
        }),
        Some("toolCount") => gated.effort.is_some() && at_least("gte", f64::from(gated.counters.since_log + 1)),
        Some("discovery") => {
            let waits = directives::unread(event, gated).next().is_some();
            condition.get("nonEmpty").and_then(Value::as_bool) == Some(waits)
        }
        Some("perTranscriptToolCount") => {
            let calls = f64::from(gated.counters.calls + 1);
            at_least("gte", calls)
                || condition.get("eq").and_then(number).is_some_and(|limit| (calls - limit).abs() < 0.5)
        }
        _ => false,
    }
}

/// As a share of the raw window, or where the overflow gate closes.
fn over(condition: &Value, event: &EventContext<'_>, gated: &GatedCall<'_>) -> bool {
    let Some(session) = event.session() else { return false };
    match condition.get("gte") {
        Some(Value::String(_)) => {
            let overflow = settings::overflow(event.policy, gated.skill.as_ref());
            overflow
                .is_some_and(|overflow| super::overflow::percent(event, overflow).is_some_and(|now| now >= overflow.at))
        }
        Some(value) => number(value)
            .zip(session.raw_context_percent())
            .is_some_and(|(limit, percent)| percent >= if limit <= 1.0 { limit * 100.0 } else { limit }),
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
fn payload(rule: &Value, gated: &GatedCall<'_>) -> String {
    let body = match rule.get("payload") {
        Some(Value::String(text)) => text.clone(),
        Some(table) => {
            let text = table.get("text").and_then(Value::as_str).unwrap_or_default().to_string();
            let files = texts(table.get("files"));
            if files.is_empty() { text } else { format!("{text} Read: {}", files.join(", ")).trim_start().to_string() }
        }
        None => String::new(),
    };
    let body = match rule.get("mode").and_then(Value::as_str) {
        Some("read" | "preload") if !body.contains("Read") && !body.is_empty() => format!("Read: {body}"),
        Some("paste") if !body.is_empty() => format!("Run: {body}"),
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

fn texts(value: Option<&Value>) -> Vec<&str> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

fn number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|n| n as f64))
}
