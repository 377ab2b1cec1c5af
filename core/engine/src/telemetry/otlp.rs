//! Log records in the JSON of OpenTelemetry's protocol, and what a collector answers.

use super::{TelemetryRecord, TelemetrySeverity};
use serde_json::{Value, json};

/// Who sends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TelemetrySource {
    pub service: String,
    pub version: String,
    /// This machine's own id, which is nobody's name.
    pub machine: String,
    pub attributes: Vec<(String, String)>,
}

/// The body of a request: these records.
pub fn body(source: &TelemetrySource, records: &[TelemetryRecord]) -> Value {
    json!({"resourceLogs": [{
        "resource": {"attributes": resource(source)},
        "scopeLogs": [{
            "scope": {"name": "taut", "version": source.version},
            "logRecords": records.iter().map(record).collect::<Vec<_>>(),
        }],
    }]})
}

/// How many a collector would not keep of what it took, by its own word; `None` where it says nothing readable.
pub fn rejected(answer: &str) -> Option<u64> {
    let answer: Value = serde_json::from_str(answer).ok()?;
    let count = answer.get("partialSuccess")?.get("rejectedLogRecords")?;
    // The protocol's JSON writes 64 bits as a text, and not everybody does.
    count.as_u64().or_else(|| count.as_str()?.parse().ok())
}

fn resource(source: &TelemetrySource) -> Vec<Value> {
    let own = [
        ("service.name", &source.service),
        ("service.version", &source.version),
        ("service.instance.id", &source.machine),
    ];
    let said = |name: &str| source.attributes.iter().any(|(own, _)| own == name);
    let own = own.into_iter().filter(|(name, value)| !value.is_empty() && (*name == "service.name" || !said(name)));
    let mut all: Vec<Value> = own.map(|(name, value)| attribute(name, &json!(value))).collect();
    let more = source.attributes.iter().filter(|(name, _)| name != "service.name");
    all.extend(more.map(|(name, value)| attribute(name, &json!(value))));
    all
}

fn record(one: &TelemetryRecord) -> Value {
    let (number, word) = match one.severity {
        TelemetrySeverity::Info => (9, "INFO"),
        TelemetrySeverity::Warn => (13, "WARN"),
    };
    let nanos = format!("{}000000", one.at.0.max(0));
    let mut attributes = vec![attribute("event.name", &json!(one.name)), attribute("taut.id", &json!(one.id))];
    attributes.extend(one.attributes.iter().map(|(name, value)| attribute(name, value)));
    json!({
        "timeUnixNano": nanos,
        "observedTimeUnixNano": nanos,
        "severityNumber": number,
        "severityText": word,
        "eventName": one.name,
        "body": {"stringValue": one.name},
        "attributes": attributes,
    })
}

fn attribute(name: &str, of: &Value) -> Value {
    json!({"key": name, "value": value(of)})
}

fn value(of: &Value) -> Value {
    match of {
        Value::Bool(truth) => json!({"boolValue": truth}),
        Value::Number(number) if number.is_f64() => json!({"doubleValue": number}),
        Value::Number(number) => json!({"intValue": number.to_string()}),
        Value::String(text) => json!({"stringValue": text}),
        Value::Array(items) => json!({"arrayValue": {"values": items.iter().map(value).collect::<Vec<_>>()}}),
        other => json!({"stringValue": other.to_string()}),
    }
}
