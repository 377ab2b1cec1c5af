//! An event as one line of the spool or one record of the reserve.

use model::row::Event;
use model::{Answer, Level, Ms};
use serde_json::{Value, json};

/// What a spooled event's detail holds under this name is not part of the
/// event: it is what its effects, which were not carried out, are made of.
pub const PENDING: &str = "pending_effects";

/// A line that was read.
pub(crate) struct SpoolLine {
    pub event: Event,
    /// What its effects are made of, where they are still to be carried out.
    pub pending: Option<Value>,
}

impl SpoolLine {
    /// The event as it was spooled.
    pub fn into_spooled(self) -> Event {
        let mut event = self.event;
        if let (Some(pending), Some(detail)) = (self.pending, event.detail.as_object_mut()) {
            detail.insert(PENDING.into(), pending);
        }
        event
    }
}

/// What must not be dropped for want of space: what was stopped, and what
/// still has to be carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    Ordinary,
    Vital,
}

impl Weight {
    pub fn of(event: &Event) -> Self {
        let vital = event.verdict >= Level::Ask || event.detail.get(PENDING).is_some();
        if vital { Self::Vital } else { Self::Ordinary }
    }
}

/// An event as the spool keeps it.
pub fn write(event: &Event) -> String {
    written(event, &event.detail)
}

/// The same in little space: the detail is left out where the line would be
/// longer than `most`. What was answered is kept whole, or it is not kept.
pub(crate) fn write_short(event: &Event, most: usize) -> String {
    let whole = write(event);
    if whole.len() <= most {
        return whole;
    }
    let mut left = json!({"left_out_bytes": event.detail.to_string().len()});
    if let (Some(pending), Some(fields)) = (event.detail.get(PENDING), left.as_object_mut()) {
        fields.insert(PENDING.into(), pending.clone());
    }
    written(event, &left)
}

fn written(event: &Event, detail: &Value) -> String {
    json!({
        "id": event.id, "at": event.at.0, "key": event.key, "agent": event.agent, "session": event.session,
        "host_session": event.host_session, "sub_agent": event.sub_agent, "event": event.event,
        "tool": event.tool, "verdict": event.verdict.name(), "rules": event.rules, "reason": event.reason,
        "detail": detail, "micros": event.micros, "stdout": event.answer.stdout,
        "stderr": event.answer.stderr, "exit": event.answer.exit,
    })
    .to_string()
}

/// `None` where the line does not say which event it is.
pub(crate) fn read(line: &[u8]) -> Option<SpoolLine> {
    let line: Value = serde_json::from_slice(line).ok()?;
    let text = |name: &str| line.get(name).and_then(Value::as_str).map(str::to_owned);
    let number = |name: &str| line.get(name).and_then(Value::as_u64).unwrap_or_default();
    let rules = line.get("rules").and_then(Value::as_array);
    let mut detail = line.get("detail").cloned().unwrap_or_default();
    let pending = detail.as_object_mut().and_then(|fields| fields.remove(PENDING));
    let event = Event {
        id: text("id")?,
        at: Ms(line.get("at").and_then(Value::as_i64)?),
        key: text("key")?,
        agent: text("agent").unwrap_or_default(),
        session: text("session"),
        host_session: text("host_session"),
        sub_agent: text("sub_agent"),
        event: text("event").unwrap_or_default(),
        tool: text("tool"),
        verdict: text("verdict").and_then(|name| Level::parse(&name)).unwrap_or_default(),
        rules: rules.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect(),
        reason: text("reason"),
        detail,
        micros: number("micros"),
        answer: Answer {
            stdout: text("stdout").unwrap_or_default(),
            stderr: text("stderr").unwrap_or_default(),
            exit: u8::try_from(number("exit")).unwrap_or_default(),
        },
    };
    Some(SpoolLine { event, pending })
}
