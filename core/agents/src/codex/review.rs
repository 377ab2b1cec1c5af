//! Which of our hooks Codex runs: it runs none that its user has not agreed to, and says nothing of it. What was agreed to
//! is kept in its `config.toml`, by the place of a hook in its file, as a hash of all that the hook is.

use super::settings::REGISTERED;
use crate::hook_file::hook_program;
use crate::settings::HookReview;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use toml::Table;

pub const REVIEW: HookReview = HookReview {
    how: "Start Codex, type `/hooks` and agree to Taut's; `features.hooks = false` in its `config.toml` keeps all hooks off.",
    passed: "they were agreed to",
    file: "config.toml",
    waiting,
};

/// The longest that Codex waits at the end of a session or of a turn, whatever it is told.
pub const SHORT: u32 = 3;
/// What it waits at the other events, where it is told nothing.
const LONG: u64 = 600;

fn waiting(record: &str, settings: &str, path: &str, sha256: fn(&str) -> String) -> Vec<String> {
    let record: Table = toml::from_str(record).unwrap_or_default();
    // What cannot be read here is not read there: none of its hooks runs.
    let Ok(settings) = serde_json::from_str::<Value>(settings) else {
        return REGISTERED.iter().map(|event| event.name.to_string()).collect();
    };
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
                let hash = format!("sha256:{}", sha256(&identity(event, entry.get("matcher"), handler)));
                let same = agreed == Some(hash.as_str());
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

/// All that a hook is, of which Codex keeps the hash: its event, its matcher where the event takes one, and its fields
/// with what Codex puts in for those that are missing, as JSON without blanks whose keys are in their order.
fn identity(event: &str, matcher: Option<&Value>, handler: &Value) -> String {
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
    json!(hook).to_string()
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
            results: model::session::ResultsBy::Hooks,
        };
        (DIALECT.settings.edit)("", &plan).unwrap().text
    }

    fn agreed(settings: &str) -> String {
        let settings: Value = serde_json::from_str(settings).unwrap();
        let all = settings["hooks"].as_object().unwrap().iter();
        let line = |(event, groups): (&String, &Value)| {
            let hash = format!("sha256:{}", letters(&identity(event, None, &groups[0]["hooks"][0])));
            format!("[hooks.state.\"{PATH}:{}:0:0\"]\ntrusted_hash = \"{hash}\"\n", label(event))
        };
        all.map(line).collect()
    }

    /// Any other hash does as well here.
    fn letters(text: &str) -> String {
        text.bytes().map(|byte| format!("{byte:02x}")).collect()
    }

    /// With the hash of this text in its `config.toml` the real one, 0.166.0, ran this hook, and without it did not.
    #[test]
    fn i2_what_codex_makes_a_hash_of_is_all_that_a_hook_is() {
        let handler = json!({"timeout": 10, "command": "/opt/taut hook --agent codex", "type": "command"});
        assert_eq!(
            identity("PreToolUse", None, &handler),
            r#"{"event_name":"pre_tool_use","hooks":[{"async":false,"command":"/opt/taut hook --agent codex","timeout":10,"type":"command"}]}"#
        );
        let told = |event: &str, matcher: Option<Value>| {
            identity(event, matcher.as_ref(), &json!({"command": "x", "timeout": 10}))
        };
        assert!(told("SessionEnd", None).contains(r#""timeout":3"#), "it waits no longer there");
        assert!(told("PostToolUse", Some(json!("Bash"))).ends_with(r#"}],"matcher":"Bash"}"#));
        assert!(!told("Stop", Some(json!("Bash"))).contains("matcher"), "that event takes none");
        assert!(identity("Stop", None, &json!({"command": "x"})).contains(r#""timeout":600"#));
    }

    #[test]
    fn i2_what_was_not_agreed_to_was_changed_since_or_is_switched_off_is_waiting() {
        let settings = installed();
        let all: Vec<String> = DIALECT.settings.registered.iter().map(|event| event.name.to_string()).collect();
        let record = agreed(&settings);
        assert_eq!(waiting("", &settings, PATH, letters), all);
        assert_eq!(waiting("no toml [", &settings, PATH, letters), all);
        assert_eq!(waiting(&record, &settings, PATH, letters), Vec::<String>::new());
        assert_eq!(waiting(&record, &settings, "/elsewhere/hooks.json", letters), all);
        assert_eq!(waiting(&record, &settings.replace("/opt/taut", "/usr/bin/taut"), PATH, letters), all);
        assert_eq!(waiting(&format!("{record}[features]\nhooks = false\n"), &settings, PATH, letters), all);
        let stopped = record.replacen("trusted_hash", "enabled = false\ntrusted_hash", 1);
        assert_eq!(waiting(&stopped, &settings, PATH, letters).len(), 1);
        assert_eq!(waiting(&record, "{}", PATH, letters), Vec::<String>::new());
        for unread in [format!("\u{feff}{settings}"), settings.replacen('{', "{ // note\n", 1), "{".to_string()] {
            assert_eq!(waiting(&record, &unread, PATH, letters), all, "{unread}");
        }
    }
}
