//! Workflow rules: a trigger, a payload, and how urgent it is. Of all that
//! hold, those that block pool their whitelists: a call on any of them passes
//! all of them. Taut's own plain lines and reads of waiting directives always
//! pass, so no rule can lock an agent in.

use super::{GateResult, Snapshot, directives, finding, is_line};
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

pub fn fire(snapshot: &Snapshot<'_>, judged: &mut GateResult) {
    let rules = snapshot.policy.section("workflow").and_then(|section| section.get("rule")).and_then(Value::as_array);
    let mut firing: Vec<Firing<'_>> = rules.into_iter().flatten().filter_map(|rule| firing(rule, snapshot)).collect();
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

fn firing<'a>(rule: &'a Value, snapshot: &Snapshot<'_>) -> Option<Firing<'a>> {
    let text = |name: &str| rule.get(name).and_then(Value::as_str);
    let id = text("id")?;
    let trigger = rule.get("trigger")?;
    let filter =
        |name: &str| rule.get("toolFilter").or_else(|| rule.get("tool_filter")).map(|filter| texts(filter.get(name)));
    let included =
        filter("include").is_none_or(|names| names.is_empty() || names.iter().any(|name| *name == snapshot.call.name));
    let excluded = filter("exclude").is_some_and(|names| names.iter().any(|name| *name == snapshot.call.name));
    if !included || excluded || !holds(trigger, snapshot) {
        return None;
    }
    Some(Firing {
        id,
        priority: rule.get("priority").and_then(Value::as_integer).unwrap_or(100),
        blocks: matches!(text("urgency"), Some("block" | "interrupt")),
        once: text("inject") == Some("once"),
        text: payload(rule, snapshot),
        whitelist: texts(rule.get("whitelist")),
    })
}

fn holds(trigger: &Value, snapshot: &Snapshot<'_>) -> bool {
    let Some(condition) = trigger.get("condition") else { return false };
    let at_least = |field: &str, value: f64| condition.get(field).and_then(number).is_some_and(|limit| value >= limit);
    match trigger.get("type").and_then(Value::as_str) {
        Some("contextThreshold") => over(condition, snapshot),
        Some("lifecycle") => match condition.get("noActiveSession").and_then(Value::as_bool) {
            Some(wanted) => snapshot.effort.is_none() == wanted,
            None => condition.get("eq").and_then(Value::as_str) == Some(lifecycle(snapshot)),
        },
        Some("phase") => condition.get("matches").and_then(Value::as_str).is_some_and(|part| {
            snapshot.effort.and_then(|effort| effort.phase.as_deref()).is_some_and(|phase| phase.contains(part))
        }),
        Some("toolCount") => snapshot.effort.is_some() && at_least("gte", f64::from(snapshot.counters.since_log + 1)),
        Some("discovery") => {
            let waits = directives::unread(snapshot).next().is_some();
            condition.get("nonEmpty").and_then(Value::as_bool) == Some(waits)
        }
        Some("perTranscriptToolCount") => {
            let calls = f64::from(snapshot.counters.calls + 1);
            at_least("gte", calls)
                || condition.get("eq").and_then(number).is_some_and(|limit| (calls - limit).abs() < 0.5)
        }
        _ => false,
    }
}

/// As a share of the raw window, or where the overflow gate closes.
fn over(condition: &Value, snapshot: &Snapshot<'_>) -> bool {
    let Some(session) = snapshot.session else { return false };
    match condition.get("gte") {
        Some(Value::String(_)) => {
            let overflow = settings::overflow(snapshot.policy, snapshot.skill);
            overflow.is_some_and(|overflow| {
                super::overflow::percent(snapshot, overflow).is_some_and(|now| now >= overflow.at)
            })
        }
        Some(value) => number(value)
            .zip(session.raw_context_percent())
            .is_some_and(|(limit, percent)| percent >= if limit <= 1.0 { limit * 100.0 } else { limit }),
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
fn payload(rule: &Value, snapshot: &Snapshot<'_>) -> String {
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
    let about = &call.subject;
    let subject = match call.kind {
        ToolKind::Shell => call
            .command()
            .filter(|line| snapshot.plain.is_some() || !line.contains([';', '&', '|', '`', '$', '\n', '<', '>'])),
        ToolKind::Search => about.pattern.as_deref(),
        _ => about.skill.as_deref().or(about.paths.first().map(String::as_str)),
    };
    let pattern =
        pattern.strip_prefix("~/").map_or_else(|| pattern.to_string(), |rest| format!("{}/{rest}", snapshot.home));
    subject.is_some_and(|subject| matches(&pattern, subject) && !subject.contains("/../"))
}

fn texts(value: Option<&Value>) -> Vec<&str> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

fn number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|n| n as f64))
}
