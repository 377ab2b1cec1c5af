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

/// The process whose hook it is: the caller's parent, for who calls by hand.
const PARENT: &str = "parent_pid";
/// Two calls that bear the same one are one.
const REQUEST: &str = "request_id";

/// Every method there is.
pub fn methods() -> Vec<String> {
    let hooks = EventKind::ALL.iter().filter_map(|kind| kind.rpc()).map(|name| format!("hooks.{name}"));
    hooks.chain(["hooks.userPromptSubmit".to_string()]).collect()
}

/// Serves a method. The parameters may say who calls, which a caller over the socket has no other way to.
pub fn rpc(pipeline: &mut Pipeline, method: &str, params: Value, caller: RpcCaller) -> Result<Value, RpcError> {
    let (kind, mut payload) = known(method, params)?;
    let dialect = agents::DEFAULT;
    payload.extend(dialect.event_fields.first().map(|field| (field.to_string(), json!(kind.name()))));
    let env = environment(&mut payload, caller.env);
    let parent = taken(&mut payload, PARENT).and_then(|pid| pid.as_u64()?.try_into().ok());
    let request = taken(&mut payload, REQUEST).and_then(|id| id.as_str().map(str::to_string));
    let at = host::clock::now();
    let served = pipeline.handle(Call {
        request: request.unwrap_or_else(|| host::clock::uuid(at)),
        agent: dialect.id().to_string(),
        stdin: Value::Object(payload).to_string().into_bytes(),
        cwd: caller.cwd,
        env,
        parent: parent.or(caller.parent),
        at,
    });
    Ok(result(kind, &served))
}

/// The parameters of a call by hand that go with it wherever it is served. What they say themselves counts first.
///
/// # Errors
/// Where nobody would serve it.
pub fn with_caller(method: &str, params: Value, caller: RpcCaller) -> Result<Value, RpcError> {
    let (_, mut payload) = known(method, params)?;
    let sent = taken(&mut payload, "env").and_then(|env| env.as_object().cloned()).unwrap_or_default();
    let own = caller.env.0.into_iter().map(|(name, value)| (name, json!(value)));
    payload.insert("env".into(), Value::Object(own.chain(sent).collect()));
    let request = host::clock::uuid(host::clock::now());
    for (name, value) in [("cwd", json!(caller.cwd)), (PARENT, json!(caller.parent)), (REQUEST, json!(request))] {
        let said = taken(&mut payload, name);
        payload.insert(name.into(), said.unwrap_or(value));
    }
    Ok(Value::Object(payload))
}

fn known(method: &str, params: Value) -> Result<(EventKind, Map<String, Value>), RpcError> {
    let kind = hook(method).ok_or_else(|| RpcError::UnknownMethod(method.to_string()))?;
    let Value::Object(payload) = params else { return Err(RpcError::NotAnObject(method.to_string())) };
    Ok((kind, payload))
}

/// `hooks.userPrompt` and `hooks.userPromptSubmit` are one.
fn hook(method: &str) -> Option<EventKind> {
    let name = method.strip_prefix("hooks.")?;
    if name == "userPromptSubmit" {
        return Some(EventKind::UserPromptSubmit);
    }
    EventKind::ALL.iter().copied().find(|kind| kind.rpc() == Some(name))
}

/// The allowed names of what is sent as `env`, over those of the caller.
fn environment(payload: &mut Map<String, Value>, mut env: Environment) -> Environment {
    if let Some(Value::Object(sent)) = taken(payload, "env") {
        let texts = sent.into_iter().filter_map(|(name, value)| Some((name, value.as_str()?.to_string())));
        env.0.extend(texts.filter(|(name, _)| agents::is_allowed(name)));
    }
    env
}

/// A parameter that is about the call, and no part of its event; in snake or camel case, as all of them.
fn taken(payload: &mut Map<String, Value>, name: &str) -> Option<Value> {
    let camel = match name {
        PARENT => "parentPid",
        REQUEST => "requestId",
        one_word => one_word,
    };
    let said = [payload.remove(name), payload.remove(camel)];
    said.into_iter().flatten().find(|value| !value.is_null())
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
