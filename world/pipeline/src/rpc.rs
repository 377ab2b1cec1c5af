//! Hooks as methods: `hooks.<event>` takes what the hook takes on stdin, in
//! snake or camel case, and gives what was decided as data.

mod told;

use crate::pipeline::{Pipeline, Response};
use engine::memory::RpcReport;
use model::{Call, Environment, EventKind, Level};
use serde_json::{Map, Value, json};
use told::Told;

/// Why a method has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RpcError {
    #[error("there is no method {0}; the methods are {list}", list = methods().join(", "))]
    UnknownMethod(String),
    #[error("{0} takes a JSON object: what the hook takes on stdin")]
    NotAnObject(String),
}

/// Who calls, where the caller is known: a hook called by hand has both.
#[derive(Debug, Clone, Default)]
pub struct RpcCaller {
    pub cwd: String,
    pub env: Environment,
    pub parent: Option<u32>,
}

/// Every method there is.
pub fn methods() -> Vec<String> {
    let hooks = EventKind::ALL.iter().filter_map(|kind| kind.rpc()).map(|name| format!("hooks.{name}"));
    hooks.chain(["hooks.userPromptSubmit".to_string()]).collect()
}

pub fn rpc(pipeline: &mut Pipeline, method: &str, params: Value, caller: RpcCaller) -> Result<Value, RpcError> {
    let kind = hook(method).ok_or_else(|| RpcError::UnknownMethod(method.to_string()))?;
    let Value::Object(mut payload) = params else { return Err(RpcError::NotAnObject(method.to_string())) };
    let dialect = agents::DEFAULT;
    payload.extend(dialect.event_fields.first().map(|field| (field.to_string(), json!(kind.name()))));
    let env = environment(&mut payload, caller.env);
    let at = host::clock::now();
    let served = pipeline.handle(Call {
        request: host::clock::uuid(at),
        agent: dialect.id().to_string(),
        stdin: Value::Object(payload).to_string().into_bytes(),
        cwd: caller.cwd,
        env,
        parent: caller.parent,
        at,
    });
    Ok(result(kind, &served))
}

/// `hooks.userPrompt` and `hooks.userPromptSubmit` are one.
fn hook(method: &str) -> Option<EventKind> {
    let name = method.strip_prefix("hooks.")?;
    if name == "userPromptSubmit" {
        return Some(EventKind::UserPromptSubmit);
    }
    EventKind::ALL.iter().copied().find(|kind| kind.rpc() == Some(name))
}

/// A caller over the socket has no environment of its own to read; it may send
/// the allowed names as `env`.
fn environment(payload: &mut Map<String, Value>, mut env: Environment) -> Environment {
    if let Some(Value::Object(sent)) = payload.remove("env") {
        let texts = sent.into_iter().filter_map(|(name, value)| Some((name, value.as_str()?.to_string())));
        env.0.extend(texts.filter(|(name, _)| agents::is_allowed(name)));
    }
    env
}

/// What every hook gives, and what the event's callers know it by.
fn result(kind: EventKind, served: &Response) -> Value {
    let event = served.event.as_ref();
    let told = Told::of(&served.answer);
    // A call that had been answered before has its answer left, and nothing else.
    let verdict = event.map_or(told.level, |event| event.verdict);
    let report = served.report.as_deref().cloned().unwrap_or_default();
    let mut out = told.fields(&served.answer);
    out.insert("eventId".into(), json!(event.map(|event| &event.id)));
    out.insert("sessionId".into(), json!(event.and_then(|event| event.session.as_ref())));
    out.insert("logicalId".into(), json!(report.logical_id));
    out.insert("verdict".into(), json!(verdict.name()));
    out.insert("rules".into(), json!(event.map(|event| event.rules.as_slice()).unwrap_or_default()));
    out.insert("repeated".into(), json!(event.is_none()));
    out.insert("troubles".into(), json!(served.troubles));
    if let Value::Object(fields) = fields(kind, verdict < Level::Deny, &report, &told) {
        out.extend(fields);
    }
    Value::Object(out)
}

fn fields(kind: EventKind, allow: bool, report: &RpcReport, told: &Told) -> Value {
    let effort = report.effort.as_ref();
    let id = effort.map(|effort| &effort.id);
    let (skill, phase) = (effort.map(|effort| &effort.skill), effort.and_then(|effort| effort.phase.as_ref()));
    match kind {
        EventKind::SessionStart => json!({
            "found": effort.is_some(),
            "effortId": id,
            "skill": skill,
            "phase": phase,
            "filesToPreload": report.pending_preloads,
            "dehydratedContext": report.account,
            "skillConfig": report.skill.as_ref().map(|skill| &skill.config),
            "context": told.context,
        }),
        EventKind::PreToolUse => json!({
            "allow": allow,
            "heartbeatCount": report.heartbeat,
            "contextUsage": report.context_usage,
            "overflowWarning": report.overflow_warning,
            "pendingPreloads": report.pending_preloads,
            "firedRules": report.fired_rules,
        }),
        EventKind::PostToolUse => json!({
            "heartbeatCount": report.heartbeat,
            "pendingInjections": told.context.iter().collect::<Vec<_>>(),
            "dialogueEntry": report.dialogue,
        }),
        EventKind::UserPromptSubmit => json!({
            "sessionContext": told.session_context(&report.session_line),
            "effortId": id,
            "taskDir": effort.map(|effort| &effort.folder),
            "skill": skill,
            "phase": phase,
            "heartbeat": report.heartbeat,
        }),
        EventKind::SubagentStart => json!({
            "effortId": id,
            "logTemplate": report.skill.as_ref().and_then(|skill| skill.template.as_ref()),
            "directives": report.directives,
            "metadata": effort.map(|effort| &effort.metadata),
            "context": told.context,
        }),
        EventKind::SubagentStop => {
            json!({"effortId": id, "loadedFiles": effort.map(|effort| &effort.files), "status": report.status})
        }
        EventKind::TaskCompleted => json!({"allow": allow, "effortId": id}),
        EventKind::TeammateIdle => json!({"allow": allow, "status": "done"}),
        EventKind::PreCompact | EventKind::ConfigChange => json!({"allow": allow, "status": report.status}),
        _ => json!({"status": report.status}),
    }
}
