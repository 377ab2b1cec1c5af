//! Which of our hooks Codex runs: it runs none that its user has not agreed to, and says nothing of it. What was agreed to
//! is kept in its `config.toml`, by the place of a hook in its file, as a hash of all that the hook is.

use crate::hook_file::hook_program;
use crate::settings::HookReview;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use toml::Table;

pub const REVIEW: HookReview = HookReview {
    how: "Start Codex, type `/hooks` and agree to Taut's; `features.hooks = false` in its `config.toml` keeps all hooks off.",
    file: "config.toml",
    waiting,
};

/// The longest that Codex waits at the end of a session or of a turn, whatever it is told.
pub const SHORT: u32 = 3;
/// What it waits at the other events, where it is told nothing.
const LONG: u64 = 600;

fn waiting(record: &str, settings: &str, path: &str) -> Vec<String> {
    let record: Table = toml::from_str(record).unwrap_or_default();
    let settings: Value = serde_json::from_str(settings).unwrap_or_default();
    let features = record.get("features").and_then(toml::Value::as_table);
    let off = |name: &str| features.and_then(|features| features.get(name)?.as_bool()) == Some(false);
    let off = off("hooks") || off("codex_hooks");
    let state = record.get("hooks").and_then(|hooks| hooks.get("state")).and_then(toml::Value::as_table);
    let mut waiting = Vec::new();
    for (event, groups) in settings.get("hooks").and_then(Value::as_object).into_iter().flatten() {
        for (group, entry) in groups.as_array().into_iter().flatten().enumerate() {
            let handlers = entry.get("hooks").and_then(Value::as_array).into_iter().flatten().enumerate();
            for (at, handler) in handlers.filter(|(_, handler)| is_ours(handler)) {
                let known = state.and_then(|state| state.get(&format!("{path}:{}:{group}:{at}", label(event))));
                let agreed = known.and_then(|known| known.get("trusted_hash")?.as_str());
                let stopped = known.and_then(|known| known.get("enabled")?.as_bool()) == Some(false);
                let same = agreed == Some(hash(event, entry.get("matcher"), handler).as_str());
                if (off || stopped || !same) && !waiting.contains(event) {
                    waiting.push(event.clone());
                }
            }
        }
    }
    waiting
}

fn is_ours(handler: &Value) -> bool {
    handler.get("command").and_then(Value::as_str).and_then(hook_program).is_some()
}

/// `PreToolUse` is `pre_tool_use` there.
fn label(event: &str) -> String {
    let mut label = String::new();
    for letter in event.chars() {
        if letter.is_ascii_uppercase() && !label.is_empty() {
            label.push('_');
        }
        label.push(letter.to_ascii_lowercase());
    }
    label
}

/// The hash of a hook: of its event, its matcher where the event takes one, and its fields with what Codex puts in for
/// those that are missing, as JSON without blanks whose keys are in their order.
fn hash(event: &str, matcher: Option<&Value>, handler: &Value) -> String {
    let given = |field: &str| handler.get(field).filter(|value| !value.is_null());
    let told = given("timeout").and_then(Value::as_u64);
    let timeout = match event {
        "SessionEnd" | "Interrupt" => told.unwrap_or(1).clamp(1, u64::from(SHORT)),
        _ => told.unwrap_or(LONG).max(1),
    };
    let mut fields: BTreeMap<&str, Value> = BTreeMap::new();
    for field in ["additionalContextLimit", "command", "commandWindows", "statusMessage", "type"] {
        fields.extend(given(field).map(|value| (field, value.clone())));
    }
    fields.insert("async", given("async").cloned().unwrap_or(json!(false)));
    fields.insert("timeout", json!(timeout));
    let mut hook: BTreeMap<&str, Value> =
        BTreeMap::from([("event_name", json!(label(event))), ("hooks", json!([fields]))]);
    let takes_matcher = !matches!(event, "UserPromptSubmit" | "Stop" | "Interrupt");
    hook.extend(matcher.filter(|given| takes_matcher && given.is_string()).map(|given| ("matcher", given.clone())));
    let digest = Sha256::digest(json!(hook).to_string().as_bytes());
    digest.iter().fold("sha256:".to_string(), |hash, byte| format!("{hash}{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codex::DIALECT;
    use crate::settings::{GuardFailure, KnownClient, SettingsPlan};

    const PATH: &str = "/home/dev/.codex/hooks.json";

    fn installed() -> String {
        let plan = SettingsPlan {
            command: "/opt/taut".into(),
            client: KnownClient::Unknown,
            on_failure: GuardFailure::Continue,
            allow: Vec::new(),
        };
        (DIALECT.settings.edit)("", &plan).unwrap().text
    }

    fn agreed(settings: &str) -> String {
        let settings: Value = serde_json::from_str(settings).unwrap();
        let all = settings["hooks"].as_object().unwrap().iter();
        let line = |(event, groups): (&String, &Value)| {
            let hash = hash(event, None, &groups[0]["hooks"][0]);
            format!("[hooks.state.\"{PATH}:{}:0:0\"]\ntrusted_hash = \"{hash}\"\n", label(event))
        };
        all.map(line).collect()
    }

    /// With this hash in its `config.toml` the real one, 0.166.0, ran this hook, and without it did not.
    #[test]
    fn i2_the_hash_of_a_hook_is_the_one_codex_makes() {
        let handler = json!({"type": "command", "command": "/opt/taut hook --agent codex", "timeout": 10});
        assert_eq!(
            hash("PreToolUse", None, &handler),
            "sha256:e4f3f3b6a606157e5896265c4987504d04716bca7c4ffb68538ed6024fd095ff"
        );
        let end = json!({"type": "command", "command": "/opt/taut hook --agent codex", "timeout": 3});
        assert_eq!(
            hash("SessionEnd", None, &end),
            "sha256:1f448ebed13517cff0674dc7fb2f27dcc2070e43774d04d1e3575b82bc9df692"
        );
    }

    #[test]
    fn i2_what_was_not_agreed_to_was_changed_since_or_is_switched_off_is_waiting() {
        let settings = installed();
        let all: Vec<String> = DIALECT.settings.registered.iter().map(|event| event.name.to_string()).collect();
        let record = agreed(&settings);
        assert_eq!(waiting("", &settings, PATH), all);
        assert_eq!(waiting("no toml [", &settings, PATH), all);
        assert_eq!(waiting(&record, &settings, PATH), Vec::<String>::new());
        assert_eq!(waiting(&record, &settings, "/elsewhere/hooks.json"), all);
        assert_eq!(waiting(&record, &settings.replace("/opt/taut", "/usr/bin/taut"), PATH), all);
        assert_eq!(waiting(&format!("{record}[features]\nhooks = false\n"), &settings, PATH), all);
        let stopped = record.replacen("trusted_hash", "enabled = false\ntrusted_hash", 1);
        assert_eq!(waiting(&stopped, &settings, PATH).len(), 1);
        assert_eq!(waiting(&record, "{}", PATH), Vec::<String>::new());
    }
}
