//! What tests of one agent's dialect ask of it.

use agents::Dialect;
use agents::settings::{GuardFailure, KnownClient, SettingsPlan};
use model::event::Envelope;
use model::reply::{ByFamily, Reply};
use model::run::AgentOutput;
use model::tool::ToolCall;
use serde_json::Value;
use std::path::PathBuf;

/// A captured payload, as an event.
pub fn decoded(dialect: &'static Dialect, name: &str) -> Envelope {
    dialect.read(&captured(dialect, &format!("{name}.json"))).unwrap()
}

/// What is heard of a captured stream, and the tools it named on the way.
pub fn heard(dialect: &'static Dialect, name: &str) -> (AgentOutput, Vec<String>) {
    let (mut heard, mut tools) = (AgentOutput::default(), Vec::new());
    for line in String::from_utf8(captured(dialect, name)).unwrap().lines() {
        (dialect.launch.hear)(line, &mut heard);
        tools.extend(heard.tool.clone().filter(|tool| tools.last() != Some(tool)));
    }
    (heard, tools)
}

fn captured(dialect: &'static Dialect, file: &str) -> Vec<u8> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus")).join(dialect.id());
    std::fs::read(folder.join(file)).unwrap_or_else(|why| panic!("{file}: {why}"))
}

pub fn event(dialect: &'static Dialect, payload: Value) -> Envelope {
    dialect.read(payload.to_string().as_bytes()).unwrap()
}

pub fn tool(envelope: &Envelope) -> ToolCall {
    envelope.tool().unwrap_or_else(|| panic!("{} is about no tool", envelope.name)).clone()
}

/// What is printed for a reply, at exit 0 and with nothing on stderr; `Null` for silence.
pub fn answer(dialect: &'static Dialect, envelope: &Envelope, answer: ByFamily) -> Value {
    let said = (dialect.encode)(envelope, &Reply { answer, ..Reply::default() });
    assert_eq!((said.exit, said.stderr.as_str()), (0, ""), "{}", envelope.name);
    if said.stdout.is_empty() { Value::Null } else { serde_json::from_str(&said.stdout).unwrap() }
}

/// The settings that are made of none, once they were seen to come out again byte for byte, also of somebody's own.
pub fn settings_round_trip(dialect: &'static Dialect) -> String {
    let plan = SettingsPlan {
        command: "/opt/taut".into(),
        client: KnownClient::Unknown,
        on_failure: GuardFailure::Continue,
        allow: Vec::new(),
        results: model::session::ResultsBy::Hooks,
    };
    let settings = &dialect.settings;
    for own in ["", "{}\n", "{\n  // mine\n  \"hooks\": { \"Stop\": [] },\n  \"a\": 1\n}\n"] {
        let edited = (settings.edit)(own, &plan).unwrap().text;
        assert_eq!((settings.edit)(&edited, &plan).unwrap().text, edited, "{own}");
        let found = (settings.inspect)(&edited).unwrap();
        assert_eq!(found.entries.len(), settings.registered.len(), "{edited}");
        assert!(!found.hooks_disabled, "{edited}");
        assert_eq!((settings.remove)(&edited, &[]).unwrap().text, own);
    }
    (settings.edit)("", &plan).unwrap().text
}
