//! A stop that a person may overrule: what tells its call from every other, the code it carries, and what is recorded
//! of who let it pass.

use crate::event_context::EventContext;
use crate::strikes::StrikeResult;
use model::effect::{Allowance, AllowedOnce};
use model::event::{Envelope, EventKind};
use model::row::Event;
use model::{Finding, Findings, Level, RuleKind, Who, stop_code};
use serde_json::{Value, json};

/// Said beside a command; nothing runs it, and an agent words it anew each time.
const ASIDE: &[&str] = &["description", "timeout"];

/// Whose call it is, where, what it would do, and what was found against it: all that must be the same for an
/// allowance of exactly this call. `None` where nothing stands against it. What is found is part of it, since a
/// script may be another by the time it is run again.
pub fn identity(envelope: &Envelope, who: &Who, folder: &str, findings: &Findings) -> Option<String> {
    let call = envelope.tool().filter(|_| envelope.kind == EventKind::PreToolUse)?;
    if findings.level() < Level::Ask {
        return None;
    }
    let mut input = call.input.clone();
    if let Some(fields) = input.as_object_mut() {
        fields.retain(|name, _| call.command().is_none() || !ASIDE.contains(&name.as_str()));
        fields.sort_keys();
    }
    let against = findings.0.iter().filter(|finding| finding.kind.level() >= Level::Ask);
    let against: Vec<[&str; 2]> = against.map(|finding| [finding.rule.as_str(), finding.subject.as_str()]).collect();
    let session = who.host_session.as_deref().unwrap_or(&who.logical_id);
    Some(json!([session, folder, call.name, input, against]).to_string())
}

/// The code a person types to let exactly this pass once. The floor has none, nor has what guards the guard itself.
pub fn code<'a>(event: &EventContext<'a>) -> Option<&'a str> {
    let digest = event.digest.filter(|_| event.findings.level() >= Level::Ask)?;
    (!policy::is_for_nobody(event.findings)).then(|| stop_code::short(digest))
}

fn has_floor(findings: &Findings) -> bool {
    findings.0.iter().any(|finding| finding.kind == RuleKind::Floor)
}

/// Puts on a stopped event what is looked up by its code, and which of its rules did not stop it.
pub fn record(row: &mut Event, event: &EventContext<'_>, gates: &[Finding]) {
    let Some(digest) = event.digest.filter(|_| event.findings.level() >= Level::Ask) else { return };
    let (code, folder) = (digest, event.cwd());
    let mut stop = match (has_floor(event.findings), policy::is_for_nobody(event.findings)) {
        (true, _) => json!({"code": code, "folder": folder, "floor": true}),
        (false, true) => json!({"code": code, "folder": folder, "guards_taut": true}),
        (false, false) => json!({"code": code, "folder": folder}),
    };
    let stops = |rule: &String| {
        let mut found = event.findings.0.iter().chain(gates);
        found.any(|finding| finding.rule == *rule && finding.kind.level() >= Level::Ask)
    };
    let let_pass: Vec<&String> = row.rules.iter().filter(|rule| !stops(rule)).collect();
    if let Some(stop) = stop.as_object_mut().filter(|_| !let_pass.is_empty()) {
        stop.insert("let_pass".into(), json!(let_pass));
    }
    put(row, "stop", stop);
}

/// Puts on an event which rules would have stopped it, and what let it pass: entries of the configuration, and what
/// a person allowed once.
fn record_allowed(row: &mut Event, found: &Findings, once: &[(Finding, Allowance)]) {
    let entries = found.0.iter().filter(|finding| finding.kind == RuleKind::Allowed);
    let entries = entries.map(|finding| json!({"rule": finding.rule, "by": finding.reason}));
    let once = once.iter().map(|(finding, allowance)| match &allowance.what {
        AllowedOnce::Call(digest) => {
            json!({"rule": finding.rule, "code": stop_code::short(digest), "call": digest, "by": allowance.by})
        }
        AllowedOnce::Rule(_) => json!({"rule": finding.rule, "once": true, "by": allowance.by}),
    });
    let allowed: Vec<Value> = entries.chain(once).collect();
    if !allowed.is_empty() {
        put(row, "allowed", Value::Array(allowed));
    }
}

/// Puts on an event that passed what would have stopped it, and why it did not.
pub fn record_let_pass(row: &mut Event, judged: &StrikeResult) {
    record_allowed(row, &judged.findings, &judged.allowed);
    record_said_again(row, &judged.spent);
}

/// Puts on an event which rules stopped the same before, and let it pass now that it was said again.
fn record_said_again(row: &mut Event, spent: &[Finding]) {
    let rules: Vec<&String> = spent.iter().map(|finding| &finding.rule).collect();
    if !rules.is_empty() {
        put(row, "said_again", json!(rules));
    }
}

fn put(row: &mut Event, name: &str, value: Value) {
    if let Some(detail) = row.detail.as_object_mut() {
        detail.insert(name.into(), value);
    }
}
