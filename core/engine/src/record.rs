//! What is stored of an event: enough to recognise, replay and explain it, and
//! nothing that should not be kept.

use crate::event_context::{EventContext, Ids};
use crate::redact::{redact, text_without_secrets};
use model::effect::After;
use model::event::{Body, Envelope, EventKind};
use model::row::{AgentStatus, Event};
use model::session::Session;
use model::session_work::MEMORY_OFF;
use model::tool::MADE_ID;
use model::{Answer, Level, Ms, ToolKind};
use serde_json::{Value, json};

/// The same call has the same key, however often it is told. What it asks for
/// is part of it: some gateways number the calls of every answer from one, and a
/// number used again must not bring back the verdict on something else.
pub fn key(envelope: &Envelope, request: &str) -> String {
    if let Some(begins) = key_without_id(envelope) {
        // Asked for again it is another call, which has a verdict of its own.
        return format!("{begins}{request}");
    }
    let call = envelope.tool().and_then(|call| Some((call, call.use_id.as_deref()?)));
    match (envelope.host_session.as_deref(), call) {
        (Some(session), Some((call, id))) => {
            let asked = mark(mix(0, call.name.as_bytes()), &call.input);
            format!("{session}/{}/{id}/{asked:016x}", stored_name(envelope))
        }
        _ => request.to_string(),
    }
}

/// What the key of a call begins with whose agent gives it no id: all that ask for the same in a session have it in
/// common.
pub fn key_without_id(envelope: &Envelope) -> Option<String> {
    let id = envelope.tool()?.use_id.as_deref().filter(|id| id.starts_with(MADE_ID))?;
    Some(format!("{}/{}/{id}/", envelope.host_session.as_deref()?, stored_name(envelope)))
}

/// An event is stored under the one name it has here, whatever its agent calls it. What is not meant as its name
/// says is under none that means something, and so is what nobody knows.
fn stored_name(envelope: &Envelope) -> &str {
    match (envelope.kind, EventKind::parse(&envelope.name)) {
        (EventKind::Unknown, EventKind::Unknown) => &envelope.name,
        (kind, _) => kind.name(),
    }
}

/// Tells two inputs under one number apart, without writing them out: an input
/// may be megabytes.
fn mark(hash: u64, input: &Value) -> u64 {
    match input {
        Value::String(text) => mix(hash, text.as_bytes()),
        Value::Array(items) => items.iter().fold(mix(hash, b"["), mark),
        Value::Object(fields) => {
            fields.iter().fold(mix(hash, b"{"), |hash, (name, value)| mark(mix(hash, name.as_bytes()), value))
        }
        other => mix(hash, other.to_string().as_bytes()),
    }
}

fn mix(hash: u64, bytes: &[u8]) -> u64 {
    let (eights, rest) = bytes.as_chunks::<8>();
    let tail = rest.iter().fold(bytes.len() as u64, |tail, byte| (tail << 8) ^ u64::from(*byte));
    let step = |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    eights.iter().fold(step(hash, tail), |hash, eight| step(hash, u64::from_le_bytes(*eight)))
}

pub fn event(event: &EventContext<'_>) -> Event {
    let EventContext { envelope, who, now, ids, late, .. } = *event;
    Event {
        id: ids.event.to_string(),
        at: late.unwrap_or(now),
        key: key(envelope, ids.request),
        agent: who.agent.clone(),
        session: None,
        host_session: envelope.host_session.clone(),
        sub_agent: envelope.sub_agent.as_ref().map(|sub| sub.id.clone()),
        event: stored_name(envelope).to_string(),
        tool: envelope.tool().map(|call| call.name.clone()),
        verdict: Level::Pass,
        rules: Vec::new(),
        reason: None,
        detail: redact(&noted(detail(envelope), event.memory_off())),
        micros: 0,
        answer: Answer::default(),
    }
}

/// What happens while memory is off is marked: it is neither noted nor found, also when memory is on again.
fn noted(mut detail: Value, memory_off: bool) -> Value {
    if let Some(detail) = detail.as_object_mut().filter(|_| memory_off) {
        detail.insert(MEMORY_OFF.into(), json!(true));
    }
    detail
}

/// Puts a point of the context's curve on the event: how full the session's
/// context is, where no event before it told this. Who measured it, a hook, the
/// status line or the monitor, does not matter. An empty point is a reset.
pub fn chart(event: &mut Event, session: &mut Session) {
    if session.context_tokens == session.memo.charted {
        return;
    }
    session.memo.charted = session.context_tokens;
    let tenth = |percent: f64| (percent * 10.0).round() / 10.0;
    let point = match (session.context_tokens, session.context_percent()) {
        (Some(tokens), Some(percent)) => json!({"tokens": tokens, "percent": tenth(percent)}),
        (Some(tokens), None) => json!({"tokens": tokens}),
        (None, _) => json!({}),
    };
    if let Some(detail) = event.detail.as_object_mut() {
        detail.insert("context".into(), point);
    }
}

/// Writes on the event what it made of its agent's status.
pub fn turn(event: &mut Event, change: &After) {
    if let (After::StatusChanged { from, to, .. }, Some(detail)) = (change, event.detail.as_object_mut()) {
        detail.insert("status".into(), json!({"from": from.map(AgentStatus::name), "to": to.name()}));
    }
}

/// A payload no event could be made of is an event all the same.
pub fn unreadable(agent: &str, why: &str, bytes: usize, now: Ms, ids: Ids<'_>) -> Event {
    Event {
        key: ids.request.to_string(),
        reason: Some(text_without_secrets(why)),
        detail: json!({"bytes": bytes}),
        ..Event::noted("Unreadable", agent, ids.event.to_string(), now)
    }
}

/// What a call puts before the user by itself, for whoever shows why an agent waits.
fn asks(kind: ToolKind) -> Option<&'static str> {
    match kind {
        ToolKind::Ask => Some("question"),
        ToolKind::Plan => Some("plan"),
        _ => None,
    }
}

fn detail(envelope: &Envelope) -> Value {
    let mut detail = match &envelope.body {
        Body::Tool(call) => json!({"input": call.input, "call": call.use_id, "asks": asks(call.kind)}),
        Body::ToolDone { call, response, duration_ms } => json!({
            "input": call.input,
            "call": call.use_id,
            "wrote": Some(call.written_files()).filter(|files| !files.is_empty()),
            "response": {"bytes": response.bytes, "hash": format!("{:016x}", response.hash)},
            "duration_ms": duration_ms,
        }),
        Body::ToolFailed { call, error, interrupted } => {
            json!({"input": call.input, "call": call.use_id, "error": error, "interrupted": interrupted})
        }
        Body::ToolBatch { calls, .. } => json!({"calls": calls}),
        Body::SessionStart(start) => {
            json!({"source": start.source.name(), "model": start.model, "context_tokens": start.context_tokens})
        }
        Body::Prompt { text } => json!({"prompt": text}),
        Body::Expansion { command, args } => json!({"command": command, "args": args}),
        Body::Stop { hook_active, background, last_message } => {
            json!({"hook_active": hook_active, "background": background, "last_message": last_message})
        }
        Body::Failure { error, details, last_message } => {
            json!({"error": error, "details": details, "last_message": last_message})
        }
        Body::Notification { kind, message } => json!({"kind": kind, "message": message}),
        Body::Compact { trigger, summary } => json!({"trigger": trigger, "summary": summary}),
        Body::SessionEnd { reason } => json!({"reason": reason}),
        Body::ConfigChange { source, file } => json!({"source": source, "file": file}),
        Body::CwdChanged { new } => json!({"new": new}),
        Body::HostTask { id, subject, teammate } => json!({"id": id, "subject": subject, "teammate": teammate}),
        Body::Teammate { name } => json!({"name": name}),
        Body::ModelSwitch { to, context_tokens } => json!({"to": to, "context_tokens": context_tokens}),
        Body::Plain => json!({}),
    };
    if let Some(object) = detail.as_object_mut() {
        object.retain(|_, value| !value.is_null());
        if envelope.name != stored_name(envelope) {
            object.insert("told_as".into(), json!(envelope.name));
        }
        if !envelope.notes.is_empty() {
            object.insert("notes".into(), json!(envelope.notes));
        }
    }
    detail
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::tests::session;

    fn stored(session: &mut Session) -> Value {
        let mut event = unreadable("a", "", 0, Ms(1), Ids { event: "e", session: "s", request: "r" });
        event.detail = json!({});
        chart(&mut event, session);
        event.detail
    }

    fn read(agent: &str, payload: Value) -> Envelope {
        agents::ALL.decode(agent, payload.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn d2_an_event_is_stored_under_one_name_whatever_its_agent_calls_it() {
        let name = |agent: &str, payload| stored_name(&read(agent, payload)).to_string();
        assert_eq!(name("gemini", json!({"hook_event_name": "BeforeTool"})), "PreToolUse");
        assert_eq!(name("gemini", json!({"hook_event_name": "PreCompress"})), "PreCompress");
        assert_eq!(name("qwen", json!({"hook_event_name": "UserPromptSubmit", "prompt": ""})), "Unknown");
    }

    #[test]
    fn a2_a_call_without_an_id_that_is_asked_for_again_is_another_call() {
        let call = json!({"hook_event_name": "BeforeTool", "session_id": "s", "tool_name": "run_shell_command",
            "tool_input": {"command": "make"}});
        let call = read("gemini", call);
        assert_ne!(key(&call, "request-1"), key(&call, "request-2"));
        assert_eq!(key(&call, "request-1"), key(&call, "request-1"), "told twice");
        assert!(key(&call, "request-1").starts_with("s/PreToolUse/"), "{}", key(&call, "request-1"));
    }

    #[test]
    fn s6_f4_an_event_tells_how_full_the_context_is_when_that_is_news() {
        let mut session = session();
        assert_eq!(stored(&mut session), json!({}), "unknown is not a point");
        session.context_tokens = Some(83_500);
        assert_eq!(stored(&mut session), json!({"context": {"tokens": 83_500}}), "a window that is not known");
        session.context_limit = Some(167_000);
        session.context_tokens = Some(100_000);
        assert_eq!(stored(&mut session), json!({"context": {"tokens": 100_000, "percent": 59.9}}));
        assert_eq!(stored(&mut session), json!({}), "told already");
        session.context_tokens = None;
        assert_eq!(stored(&mut session), json!({"context": {}}), "compacted");
        assert_eq!(stored(&mut session), json!({}));
    }
}
