//! Hooks as methods: `hooks.<event>` takes what the hook takes on stdin, in
//! snake or camel case, and gives what was decided as data.

use crate::pipeline::{Pipeline, Response};
use engine::memory::RpcReport;
use model::{Call, Environment, EventKind, Level};
use serde_json::{Map, Value, json};

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

/// The verdict, and what the event's callers know it by.
fn result(kind: EventKind, served: &Response) -> Value {
    let mut out = Map::new();
    let event = served.event.as_ref();
    if let Some(event) = event {
        out.insert("eventId".into(), json!(event.id));
        out.insert("sessionId".into(), json!(event.session));
        out.insert("verdict".into(), json!(event.verdict.name()));
        out.insert("rules".into(), json!(event.rules));
        if let Some(reason) = &event.reason {
            out.insert("reason".into(), json!(reason));
        }
    }
    let allowed = event.is_none_or(|event| event.verdict < Level::Deny);
    let report = served.report.as_deref().cloned().unwrap_or_default();
    if let Value::Object(fields) = fields(kind, allowed, &report, &RpcParams::of(served)) {
        out.extend(fields);
    }
    Value::Object(out)
}

/// What the answer tells the model.
struct RpcParams {
    context: Option<String>,
    session: Option<String>,
    at: String,
}

impl RpcParams {
    fn of(served: &Response) -> Self {
        let said: Value = serde_json::from_str(&served.answer.stdout).unwrap_or_default();
        let context = said["hookSpecificOutput"]["additionalContext"].as_str().map(str::to_string);
        let event = served.event.as_ref();
        Self {
            context,
            session: event.and_then(|event| event.session.clone()),
            at: event.map(|event| event.at.rfc3339()).unwrap_or_default(),
        }
    }

    /// `[Session Context] Time: … | Session: … | Skill: … | Phase: … | Heartbeat: 3/10`, and what else was told.
    fn line(&self, report: &RpcReport) -> String {
        let mut parts = vec![format!("Time: {}", self.at)];
        parts.extend(self.session.as_ref().map(|id| format!("Session: {id}")));
        if let Some(effort) = &report.effort {
            parts.push(format!("Skill: {}", effort.skill));
            parts.push(format!("Phase: {}", effort.phase.as_deref().unwrap_or("loading")));
            parts.push(format!("Heartbeat: {}/{}", report.heartbeat, report.block_after));
        }
        let line = format!("[Session Context] {}", parts.join(" | "));
        match &self.context {
            Some(context) => format!("{line}\n\n{context}"),
            None => line,
        }
    }
}

fn fields(kind: EventKind, allow: bool, report: &RpcReport, told: &RpcParams) -> Value {
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
            "sessionContext": told.line(report),
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
