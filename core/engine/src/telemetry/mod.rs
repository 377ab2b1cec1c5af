//! What a collector is told: what agents cannot report of themselves. From stored rows to log records, redacted again.

mod otlp;
mod pairs;

pub use model::work_change::{WorkChange, WorkChangeKind};
pub use otlp::{TelemetrySource, body, rejected};
pub use pairs::{attribute_pairs, header_pairs};

use crate::leaving;
use crate::redact::text_without_secrets;
use model::row::Event;
use model::{Level, Ms};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Longer texts are cut.
const LONGEST: usize = 2_000;
const LONGEST_DETAIL: usize = 6_000;
/// So many agents wait at once; of more, who has waited longest was killed and never goes on.
const MOST_WAITS: usize = 1_000;

/// One record of a log.
#[derive(Debug, Clone, PartialEq)]
pub struct TelemetryRecord {
    /// The same thing sent twice has the same one.
    pub id: String,
    pub at: Ms,
    pub name: &'static str,
    pub severity: TelemetrySeverity,
    pub attributes: Vec<(&'static str, Value)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TelemetrySeverity {
    Info,
    Warn,
}

/// How much is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TelemetryLevel {
    Summary,
    /// Besides why a rule stopped something, and commands and paths.
    Full,
}

/// Since when agents wait for a person, and in which session: by agent.
pub type OpenWaits = BTreeMap<String, (String, i64)>;

/// What there is to tell of an event. Waits that begin are kept, for when they end.
pub fn of_event(
    event: &Event,
    project: Option<&str>,
    level: TelemetryLevel,
    waits: &mut OpenWaits,
) -> Vec<TelemetryRecord> {
    if event.host_session.as_deref().is_some_and(|session| session.starts_with("taut-proof-")) {
        return Vec::new();
    }
    [verdict(event, project, level), waited(event, project, waits)].into_iter().flatten().collect()
}

/// What there is to tell of a task or a run.
pub fn of_moment(moment: &WorkChange, level: TelemetryLevel) -> TelemetryRecord {
    let (name, severity) = match (moment.kind, moment.outcome.as_deref()) {
        (WorkChangeKind::Claimed, _) => ("taut.lease.claimed", TelemetrySeverity::Info),
        (WorkChangeKind::Ended, Some("released")) => ("taut.handover", TelemetrySeverity::Info),
        (WorkChangeKind::Ended, Some("expired")) => ("taut.lease.lapsed", TelemetrySeverity::Warn),
        (WorkChangeKind::Ended, Some("failed")) => ("taut.lease.ended", TelemetrySeverity::Warn),
        (WorkChangeKind::Ended, _) => ("taut.lease.ended", TelemetrySeverity::Info),
        (WorkChangeKind::Lost, _) => ("taut.lease.lost", TelemetrySeverity::Warn),
        (WorkChangeKind::LoopEnded, _) => ("taut.loop.ended", TelemetrySeverity::Info),
    };
    let subject = if moment.kind == WorkChangeKind::LoopEnded { "taut.run" } else { "taut.task" };
    let mut attributes = common(&moment.agent, Some(&moment.project), moment.host_session.as_deref());
    attributes.push((subject, text(&moment.subject)));
    attributes.extend(moment.attempt.map(|number| ("taut.attempt", json!(number))));
    attributes.extend(moment.outcome.as_deref().map(|outcome| ("taut.outcome", text(outcome))));
    attributes.extend(moment.length_ms.map(|ms| ("taut.length_ms", json!(ms.max(0)))));
    if level == TelemetryLevel::Full {
        attributes.extend(moment.why.as_deref().map(|why| ("taut.reason", text(why))));
    }
    TelemetryRecord { id: moment.id.clone(), at: Ms(moment.at), name, severity, attributes }
}

fn verdict(event: &Event, project: Option<&str>, level: TelemetryLevel) -> Option<TelemetryRecord> {
    let rules_of = |name: &str| -> Vec<String> {
        let all = event.detail.get(name).and_then(Value::as_array).into_iter().flatten();
        all.filter_map(|one| one.as_str().or_else(|| one.get("rule")?.as_str()).map(str::to_owned)).collect()
    };
    let (said_again, allowed) = (rules_of("said_again"), rules_of("allowed"));
    if event.verdict == Level::Pass && said_again.is_empty() && allowed.is_empty() {
        return None;
    }
    let names = |names: &[String]| Value::Array(names.iter().map(|name| text(name)).collect());
    let mut attributes = common(&event.agent, project, event.host_session.as_deref());
    attributes.push(("taut.verdict", text(event.verdict.name())));
    attributes.push(("taut.rules", names(&event.rules)));
    attributes.push(("taut.event", text(&event.event)));
    attributes.extend(event.tool.as_deref().map(|tool| ("taut.tool", json!(leaving::tool(tool)))));
    attributes.extend(event.sub_agent.as_deref().map(|id| ("taut.sub_agent", text(id))));
    attributes.push(("taut.micros", json!(event.micros)));
    // A strike that was said again passed, and so did what a person let through.
    attributes.extend((!said_again.is_empty()).then(|| ("taut.strike.said_again", names(&said_again))));
    attributes.extend((!allowed.is_empty()).then(|| ("taut.allowed", names(&allowed))));
    if level == TelemetryLevel::Full {
        attributes.extend(leaving::reason(event).map(|reason| ("taut.reason", text(reason))));
        let detail = leaving::detail(&event.detail).map(|detail| detail.to_string());
        attributes.extend(detail.map(|detail| ("taut.detail", json!(model::text::line(&detail, LONGEST_DETAIL)))));
    }
    let severity = if event.verdict == Level::Pass { TelemetrySeverity::Info } else { TelemetrySeverity::Warn };
    Some(TelemetryRecord { id: event.id.clone(), at: event.at, name: "taut.verdict", severity, attributes })
}

/// From the event that made somebody needed to the one after which the same session goes on.
fn waited(event: &Event, project: Option<&str>, waits: &mut OpenWaits) -> Option<TelemetryRecord> {
    let status = event.detail.get("status")?;
    let needs_person = |status: &str| matches!(status, "attention" | "checked");
    let said = |name: &str| status.get(name).and_then(Value::as_str);
    let (was, is) = (said("from").is_some_and(needs_person), needs_person(said("to")?));
    let session = event.session.clone().unwrap_or_default();
    match (was, is) {
        (false, true) => {
            waits.insert(event.agent.clone(), (session, event.at.0));
            if waits.len() > MOST_WAITS {
                forget_oldest(waits);
            }
            None
        }
        (true, false) => {
            let (_, since) = waits.remove(&event.agent).filter(|(waiting, _)| *waiting == session)?;
            let mut attributes = common(&event.agent, project, event.host_session.as_deref());
            attributes.push(("taut.status", text(said("from").unwrap_or_default())));
            attributes.push(("taut.length_ms", json!(event.at.0.saturating_sub(since).max(0))));
            let id = format!("{}/wait", event.id);
            Some(TelemetryRecord { id, at: event.at, name: "taut.wait", severity: TelemetrySeverity::Info, attributes })
        }
        _ => None,
    }
}

fn forget_oldest(waits: &mut OpenWaits) {
    let oldest = waits.iter().min_by_key(|(_, (_, since))| *since).map(|(agent, _)| agent.clone());
    oldest.and_then(|agent| waits.remove(&agent));
}

/// By `session.id`, as the client spells it, it joins the client's own telemetry. Of a folder only the name leaves.
fn common(agent: &str, project: Option<&str>, host_session: Option<&str>) -> Vec<(&'static str, Value)> {
    let folder = project.and_then(|path| path.trim_end_matches('/').rsplit('/').next()).filter(|name| !name.is_empty());
    let mut attributes = vec![("taut.agent", text(agent))];
    attributes.extend(folder.map(|name| ("taut.project", text(name))));
    attributes.extend(host_session.map(|session| ("session.id", text(session))));
    attributes
}

fn text(text: &str) -> Value {
    json!(model::text::line(&text_without_secrets(text), LONGEST))
}

#[cfg(test)]
mod tests;
