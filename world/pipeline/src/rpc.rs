//! Hooks as methods: `hooks.<event>` takes what the hook takes on stdin, in
//! snake or camel case, and gives what was decided as data.

use crate::way::{Served, Way};
use model::reply::{ByFamily, Reply};
use model::{Call, Environment, Kind, Level};
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
pub struct Caller {
    pub cwd: String,
    pub env: Environment,
    pub parent: Option<u32>,
}

/// Every method there is.
pub fn methods() -> Vec<String> {
    let hooks = Kind::ALL.iter().filter_map(|kind| kind.rpc()).map(|name| format!("hooks.{name}"));
    hooks.chain(["hooks.userPromptSubmit".to_string()]).collect()
}

pub fn rpc(way: &mut Way, method: &str, params: Value, caller: Caller) -> Result<Value, RpcError> {
    let kind = hook(method).ok_or_else(|| RpcError::UnknownMethod(method.to_string()))?;
    let Value::Object(mut payload) = params else { return Err(RpcError::NotAnObject(method.to_string())) };
    payload.insert("hook_event_name".into(), json!(kind.name()));
    let env = environment(&mut payload, caller.env);
    let at = host::clock::now();
    let served = way.handle(Call {
        request: host::clock::uuid(at),
        agent: agents::claude_code::NAME.to_string(),
        stdin: Value::Object(payload).to_string().into_bytes(),
        cwd: caller.cwd,
        env,
        parent: caller.parent,
        at,
    });
    Ok(result(kind, &served))
}

/// `hooks.userPrompt` and `hooks.userPromptSubmit` are one.
fn hook(method: &str) -> Option<Kind> {
    let name = method.strip_prefix("hooks.")?;
    if name == "userPromptSubmit" {
        return Some(Kind::UserPromptSubmit);
    }
    Kind::ALL.iter().copied().find(|kind| kind.rpc() == Some(name))
}

/// A caller over the socket has no environment of its own to read; it may send
/// the allowed names as `env`.
fn environment(payload: &mut Map<String, Value>, mut env: Environment) -> Environment {
    if let Some(Value::Object(sent)) = payload.remove("env") {
        let texts = sent.into_iter().filter_map(|(name, value)| Some((name, value.as_str()?.to_string())));
        env.0.extend(texts.filter(|(name, _)| Environment::allows(name)));
    }
    env
}

fn result(kind: Kind, served: &Served) -> Value {
    let mut out = Map::new();
    let event = served.event.as_ref();
    if matches!(Reply::nothing(kind.family()).answer, ByFamily::Gate(_)) {
        out.insert("allow".into(), json!(event.is_none_or(|event| event.verdict < Level::Deny)));
    }
    if let Some(event) = event {
        out.insert("eventId".into(), json!(event.id));
        out.insert("sessionId".into(), json!(event.session));
        out.insert("verdict".into(), json!(event.verdict.name()));
        out.insert("rules".into(), json!(event.rules));
        if let Some(reason) = &event.reason {
            out.insert("reason".into(), json!(reason));
        }
    }
    Value::Object(out)
}
