//! Reading what was captured of a real agent.

use agents::Dialect;
use agents::settings::{GuardFailure, KnownClient, SettingsPlan};
use model::Envelope;
use model::run::AgentOutput;
use std::fs;
use std::path::PathBuf;

pub fn file(dialect: &'static Dialect, name: &str) -> Vec<u8> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus"));
    let path = folder.join(dialect.id()).join(name);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The event of the file `<name>.json`.
pub fn event(dialect: &'static Dialect, name: &str) -> Envelope {
    let envelope = dialect.read(&file(dialect, &format!("{name}.json"))).unwrap();
    assert!(envelope.notes.is_empty(), "{name}: {:?}", envelope.notes);
    envelope
}

/// What is heard of a whole stream, and the tools it named on the way.
pub fn heard(dialect: &'static Dialect, name: &str) -> (AgentOutput, Vec<String>) {
    let (mut heard, mut tools) = (AgentOutput::default(), Vec::new());
    for line in String::from_utf8(file(dialect, name)).unwrap().lines() {
        (dialect.launch.hear)(line, &mut heard);
        tools.extend(heard.tool.clone().filter(|tool| tools.last() != Some(tool)));
    }
    (heard, tools)
}

pub fn plan() -> SettingsPlan {
    SettingsPlan {
        command: "/opt/taut".into(),
        client: KnownClient::Unknown,
        on_failure: GuardFailure::Continue,
        allow: Vec::new(),
    }
}

/// Our hooks are put into the text, found there, put in only once, and taken out to the last byte.
pub fn comes_and_goes(dialect: &'static Dialect, before: &str) -> String {
    let settings = &dialect.settings;
    let after = (settings.edit)(before, &plan()).unwrap().text;
    assert_eq!((settings.edit)(&after, &plan()).unwrap().text, after, "{before}");
    let found = (settings.inspect)(&after).unwrap();
    let mut events: Vec<&str> = found.entries.iter().map(|entry| entry.event.as_str()).collect();
    let mut wanted: Vec<&str> = settings.registered.iter().map(|event| event.name).collect();
    (events.sort_unstable(), wanted.sort_unstable());
    assert_eq!(events, wanted, "{before}");
    assert!(found.entries.iter().all(|entry| entry.program == "/opt/taut" && entry.matcher.is_none()), "{before}");
    assert_eq!((settings.remove)(&after, &[]).unwrap().text, before);
    after
}
