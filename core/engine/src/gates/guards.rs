//! An effort's own guards: conditions on its counters that are reported and
//! told when they hold. They never block by themselves.

use super::{GateResult, GatedCall, finding};
use crate::event_context::EventContext;
use crate::memory::skill::as_toml;
use model::RuleKind;
use policy::config::declare::ConfigType;
use policy::config::sections::{GuardCondition, GuardField, GuardOperator, SkillGuard};
use serde_json::Value;

pub fn fire(event: &EventContext<'_>, gated: &GatedCall<'_>, judged: &mut GateResult) {
    let Some(effort) = gated.effort else { return };
    let declared = gated.skill.as_ref().map(|skill| skill.guards.as_slice()).unwrap_or_default();
    let stored = effort.metadata.get("guards").and_then(Value::as_array).into_iter().flatten();
    let stored: Vec<SkillGuard> = stored.filter_map(|guard| SkillGuard::read(&as_toml(guard)?)).collect();
    for guard in declared.iter().chain(&stored) {
        let Some(id) = guard.rule_id.as_ref().or(guard.rule_id_too.as_ref()) else { continue };
        if !holds(&guard.condition, event, gated) {
            continue;
        }
        judged.fired.push(id.to_string());
        if let Some(text) = guard
            .payload
            .as_ref()
            .and_then(|payload| payload.words())
            .map(str::to_string)
            .filter(|_| !gated.counters.told.iter().any(|known| known == id))
        {
            judged.told.push(id.to_string());
            judged.findings.push(finding(id, RuleKind::Warn, gated, text));
        }
    }
}

fn holds(condition: &GuardCondition, event: &EventContext<'_>, gated: &GatedCall<'_>) -> bool {
    let value = match condition.field {
        Some(GuardField::HeartbeatCounter | GuardField::HeartbeatCounterToo) => {
            Some(f64::from(gated.counters.since_log + 1))
        }
        Some(GuardField::ContextUsage | GuardField::ContextUsageToo) => {
            // A sub-agent's context is not its parent's.
            let session = event.session().filter(|_| event.envelope.sub_agent.is_none());
            session.and_then(|session| session.raw_context_percent()).map(|percent| percent / 100.0)
        }
        None => None,
    };
    let (Some(value), Some(than), Some(op)) = (value, condition.value, condition.op) else { return false };
    match op {
        GuardOperator::AtLeast => value >= than,
        GuardOperator::Above => value > than,
        GuardOperator::AtMost => value <= than,
        GuardOperator::Below => value < than,
        GuardOperator::Equal => (value - than).abs() < f64::EPSILON,
    }
}
