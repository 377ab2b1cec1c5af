//! One event as a line, and as an object.

use crate::commands::allow::{code_of, let_pass_by};
use crate::printer::{Printer, Text, text};
use dash::view_model;
use model::row::Event;
use model::{Level, Ms};
use serde_json::{Value, json};

pub(super) fn line(number: i64, (event, name): (&Event, &str), used: bool, now: Ms, printer: &Printer) -> Text {
    let about = Some(short(&view_model::about(event))).filter(|about| !about.is_empty());
    let about = event.tool.iter().cloned().chain(about).collect::<Vec<_>>().join("  ");
    let rules = if event.rules.is_empty() { String::new() } else { format!("  [{}]", event.rules.join(", ")) };
    let late = if is_delivered(event) { "" } else { "  (not delivered)" };
    let spent = if used { " (used)" } else { "" };
    let code = code_of(event).map(|code| format!("  code {code}{spent}")).unwrap_or_default();
    let allowed = let_pass_by(event).map(|by| format!("  ({by})")).unwrap_or_default();
    let number = format!("#{number}");
    let line = text!(
        "{}  {}  {}  {:<16}  {:<18}  {}{}{}{}{}",
        printer.dim(host::clock::shown_at(event.at, now)),
        printer.dim(format!("{number:>5}")),
        verdict(event, printer),
        name,
        event.event,
        about,
        rules,
        code,
        allowed,
        late
    );
    line.trimmed()
}

pub(super) fn verdict(event: &Event, printer: &Printer) -> Text {
    let verdict = format!("{:<4}", event.verdict.name());
    match event.verdict {
        Level::Pass => printer.dim(verdict),
        Level::Warn | Level::Ask => printer.yellow(verdict),
        Level::Deny => printer.red(verdict),
    }
}

/// So many lines of a reason stand under an event; `taut events show` has all of them.
const REASON_LINES: usize = 8;

/// Why, without the code, which stands on the line itself.
pub(super) fn reason(event: &Event) -> impl Iterator<Item = &str> {
    let lines = event.reason.as_deref().unwrap_or_default().lines();
    lines.filter(|line| !line.trim().is_empty() && !line.starts_with("(code ")).take(REASON_LINES)
}

/// A verdict that came too late for whoever asked was not answered.
fn is_delivered(event: &Event) -> bool {
    event.detail.get("delivered") != Some(&Value::Bool(false))
}

/// The end of a path tells more than its beginning, the beginning of a command more than its end.
fn short(about: &str) -> String {
    const MOST: usize = 72;
    let count = about.chars().count();
    match count {
        ..=MOST => about.to_string(),
        _ if about.starts_with('/') && !about.contains(' ') => {
            format!("…{}", about.chars().skip(count + 1 - MOST).collect::<String>())
        }
        _ => format!("{}…", about.chars().take(MOST - 1).collect::<String>()),
    }
}

pub(super) fn object(number: i64, (event, name): (&Event, &str), used: bool) -> Value {
    let mut value = json!({
        "id": event.id,
        "number": number,
        "at": event.at.rfc3339(),
        "agent": event.agent,
        "agent_name": name,
        "session": event.session,
        "event": event.event,
        "verdict": event.verdict.name(),
        "rules": event.rules,
        "ms": event.micros as f64 / 1000.0,
    });
    if let Some(fields) = value.as_object_mut() {
        fields.extend(event.tool.as_ref().map(|tool| ("tool".to_string(), json!(tool))));
        fields.extend(event.reason.as_ref().map(|reason| ("reason".to_string(), json!(reason))));
        fields.extend(code_of(event).map(|code| ("code".to_string(), json!(code))));
        fields.extend(event.sub_agent.as_ref().map(|id| ("sub_agent".to_string(), json!(id))));
        if used {
            fields.insert("code_used".into(), json!(true));
        }
        if !is_delivered(event) {
            fields.insert("delivered".into(), json!(false));
        }
        fields.insert("host_session_id".into(), json!(event.host_session));
        fields.insert("detail".into(), event.detail.clone());
    }
    value
}
