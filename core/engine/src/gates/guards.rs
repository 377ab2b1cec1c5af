//! An effort's own guards: conditions on its counters that are reported and
//! told when they hold. They never block by themselves.

use super::{GateResult, GatedCall, finding};
use crate::event_context::EventContext;
use model::RuleKind;
use serde_json::Value;

pub fn fire(event: &EventContext<'_>, gated: &GatedCall<'_>, judged: &mut GateResult) {
    let Some(effort) = gated.effort else { return };
    let declared = gated.skill.as_ref().map(|skill| skill.guards.as_slice()).unwrap_or_default();
    let stored = effort.metadata.get("guards").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for guard in declared.iter().chain(stored) {
        let Some(id) = guard.get("ruleId").or_else(|| guard.get("rule_id")).and_then(Value::as_str) else { continue };
        if !guard.get("condition").is_some_and(|condition| holds(condition, event, gated)) {
            continue;
        }
        judged.fired.push(id.to_string());
        if let Some(text) = told(guard.get("payload")).filter(|_| !gated.counters.told.iter().any(|known| known == id))
        {
            judged.told.push(id.to_string());
            judged.findings.push(finding(id, RuleKind::Warn, gated, text));
        }
    }
}

fn holds(condition: &Value, event: &EventContext<'_>, gated: &GatedCall<'_>) -> bool {
    let value = match condition.get("field").and_then(Value::as_str) {
        Some("heartbeat_counter" | "heartbeatCounter") => Some(f64::from(gated.counters.since_log + 1)),
        Some("context_usage" | "contextUsage") => {
            event.session().and_then(|session| session.raw_context_percent()).map(|percent| percent / 100.0)
        }
        _ => None,
    };
    let (Some(value), Some(than)) = (value, condition.get("value").and_then(Value::as_f64)) else { return false };
    match condition.get("op").and_then(Value::as_str) {
        Some("gte") => value >= than,
        Some("gt") => value > than,
        Some("lte") => value <= than,
        Some("lt") => value < than,
        Some("eq") => (value - than).abs() < f64::EPSILON,
        _ => false,
    }
}

fn told(payload: Option<&Value>) -> Option<String> {
    match payload? {
        Value::String(text) => Some(text.clone()),
        Value::Object(fields) => {
            ["text", "message"].into_iter().find_map(|name| fields.get(name)?.as_str()).map(str::to_string)
        }
        _ => None,
    }
}
