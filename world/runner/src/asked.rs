//! What was asked for at the start of a run, kept with it as JSON, so that going on keeps every limit.

use engine::loops::{Flags, WorkSource};
use model::run::Permissions;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Everything that was typed, and the variables of the environment that had a say.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Asked {
    pub flags: Flags,
    pub prompt: Option<PathBuf>,
    pub environment: BTreeMap<String, String>,
    /// For so long the run was not under way; no limit counts that.
    pub away_ms: i64,
}

impl Asked {
    pub(crate) fn json(&self) -> String {
        let flags = &self.flags;
        let all = json!({
            "agent": flags.agent,
            "model": flags.model,
            "max_iterations": flags.max_iterations,
            "max_ms": flags.max_ms,
            "max_cost": flags.max_cost,
            "max_failures": flags.max_failures,
            "idle_iterations": flags.idle_iterations,
            "agent_args": (!flags.agent_args.is_empty()).then_some(&flags.agent_args),
            "source": flags.source.map(WorkSource::name),
            "permissions": flags.permissions.map(name),
            "verify": flags.verify,
            "workers": flags.workers,
            "push": flags.push,
            "max_silence": flags.max_silence,
            "max_iteration_time": flags.max_iteration_time,
            "no_ceiling": flags.no_ceiling.then_some(true),
            "prompt": self.prompt,
            "environment": (!self.environment.is_empty()).then_some(&self.environment),
            "away_ms": (self.away_ms > 0).then_some(self.away_ms),
        });
        let said = |(key, value): (String, Value)| (!value.is_null()).then_some((key, value));
        let all: Map<String, Value> = match all {
            Value::Object(all) => all.into_iter().filter_map(said).collect(),
            _ => Map::new(),
        };
        Value::Object(all).to_string()
    }

    /// A row of an older version says less, and what cannot be read was never said.
    pub(crate) fn read(text: &str) -> Self {
        let all: Value = serde_json::from_str(text).unwrap_or_default();
        let text = |key: &str| all[key].as_str().map(String::from);
        let count = |key: &str| all[key].as_u64();
        let words =
            |list: &Value| list.as_array().into_iter().flatten().filter_map(Value::as_str).map(String::from).collect();
        let environment = all["environment"].as_object().into_iter().flatten();
        Self {
            flags: Flags {
                agent: text("agent"),
                model: text("model"),
                max_iterations: count("max_iterations"),
                max_ms: all["max_ms"].as_i64(),
                max_cost: all["max_cost"].as_f64(),
                max_failures: count("max_failures"),
                idle_iterations: count("idle_iterations"),
                agent_args: words(&all["agent_args"]),
                source: text("source").as_deref().and_then(WorkSource::parse),
                permissions: text("permissions").as_deref().and_then(permissions),
                verify: text("verify"),
                workers: count("workers").and_then(|workers| usize::try_from(workers).ok()),
                push: text("push"),
                max_silence: all["max_silence"].as_i64(),
                max_iteration_time: all["max_iteration_time"].as_i64(),
                no_ceiling: all["no_ceiling"].as_bool().unwrap_or_default(),
            },
            prompt: text("prompt").map(PathBuf::from),
            environment: environment
                .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_string())))
                .collect(),
            away_ms: all["away_ms"].as_i64().unwrap_or_default().max(0),
        }
    }

    /// What is typed now wins; the rest is as it was.
    pub(crate) fn under(self, now: &Flags, prompt: Option<&PathBuf>) -> Self {
        let was = self.flags;
        let flags = Flags {
            agent: now.agent.clone().or(was.agent),
            model: now.model.clone().or(was.model),
            max_iterations: now.max_iterations.or(was.max_iterations),
            max_ms: now.max_ms.or(was.max_ms),
            max_cost: now.max_cost.or(was.max_cost),
            max_failures: now.max_failures.or(was.max_failures),
            idle_iterations: now.idle_iterations.or(was.idle_iterations),
            agent_args: if now.agent_args.is_empty() { was.agent_args } else { now.agent_args.clone() },
            source: now.source.or(was.source),
            permissions: now.permissions.or(was.permissions),
            verify: now.verify.clone().or(was.verify),
            workers: now.workers.or(was.workers),
            push: now.push.clone().or(was.push),
            max_silence: now.max_silence.or(was.max_silence),
            max_iteration_time: now.max_iteration_time.or(was.max_iteration_time),
            no_ceiling: now.no_ceiling || was.no_ceiling,
        };
        Self { flags, prompt: prompt.cloned().or(self.prompt), ..self }
    }
}

/// As `--permissions` takes it.
pub(crate) fn name(permissions: Permissions) -> &'static str {
    match permissions {
        Permissions::Asked => "ask",
        Permissions::Edits => "edits",
        Permissions::Skipped => "all",
    }
}

pub(crate) fn permissions(name: &str) -> Option<Permissions> {
    match name {
        "ask" => Some(Permissions::Asked),
        "edits" => Some(Permissions::Edits),
        "all" => Some(Permissions::Skipped),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn everything() -> Asked {
        Asked {
            flags: Flags {
                agent: Some("codex".into()),
                model: Some("m".into()),
                max_iterations: Some(7),
                max_ms: Some(90_000),
                max_cost: Some(2.5),
                max_failures: Some(4),
                idle_iterations: Some(0),
                agent_args: vec!["--debug".into(), "a b".into()],
                source: Some(WorkSource::Queue),
                permissions: Some(Permissions::Edits),
                verify: Some("make \"check\"".into()),
                workers: Some(2),
                push: Some("origin".into()),
                max_silence: Some(60_000),
                max_iteration_time: Some(3_600_000),
                no_ceiling: true,
            },
            prompt: Some("/p/PROMPT.md".into()),
            environment: BTreeMap::from([("FRESHER_MAX_TURNS".into(), "9".into())]),
            away_ms: 5,
        }
    }

    #[test]
    fn l9_every_flag_and_every_variable_is_kept_and_read_back() {
        assert_eq!(Asked::read(&everything().json()), everything());
        assert_eq!(Asked::default().json(), "{}");
        assert_eq!(Asked::read("no json"), Asked::default());
    }

    #[test]
    fn l9_what_is_typed_now_wins_and_the_rest_stays() {
        let now = Flags { max_iterations: Some(2), agent_args: vec!["x".into()], ..Flags::default() };
        let both = everything().under(&now, None);
        let expected = Flags { max_iterations: Some(2), agent_args: vec!["x".into()], ..everything().flags };
        assert_eq!((both.flags, both.prompt), (expected, everything().prompt));
    }
}
