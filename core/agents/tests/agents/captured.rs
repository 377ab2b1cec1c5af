//! Reading what was captured of a real agent.

use agents::Dialect;
use model::Envelope;
use model::run::AgentOutput;
use std::fs;
use std::path::PathBuf;

pub fn file(dialect: &Dialect, name: &str) -> Vec<u8> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus"));
    let path = folder.join(dialect.id()).join(name);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The event of the file `<name>.json`.
pub fn event(dialect: &Dialect, name: &str) -> Envelope {
    let envelope = dialect.read(&file(dialect, &format!("{name}.json"))).unwrap();
    assert!(envelope.notes.is_empty(), "{name}: {:?}", envelope.notes);
    envelope
}

/// What is heard of a whole stream, and the tools it named on the way.
pub fn heard(dialect: &Dialect, name: &str) -> (AgentOutput, Vec<String>) {
    let (mut heard, mut tools) = (AgentOutput::default(), Vec::new());
    for line in String::from_utf8(file(dialect, name)).unwrap().lines() {
        (dialect.launch.hear)(line, &mut heard);
        tools.extend(heard.tool.clone().filter(|tool| tools.last() != Some(tool)));
    }
    (heard, tools)
}
