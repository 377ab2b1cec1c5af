//! Agents of other machines, from the local copy of what a server told (F9, F6): seen, written to and answered.

mod answering;
mod daemons;
mod notes;
mod sight;

use serde_json::Value;
use std::time::Duration;
use store::{RemoteAgent, RemoteAgentRow, Store};
use testkit::stage::Stage;

/// Longer than anything that is shown, with everything that a terminal or a page would obey.
const HOSTILE: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}<b>x</b>";

fn store(stage: &Stage) -> Store {
    Store::open_and_migrate(&stage.sandbox.taut_home(), Duration::from_secs(5)).unwrap()
}

fn remote(machine: &str, label: &str, name: &str, status: &str) -> RemoteAgent {
    let now = host::clock::now();
    let told = RemoteAgentRow {
        name: name.into(),
        status: status.into(),
        project: Some("acme/shop".into()),
        since: now.plus(-65_000).0,
        ..RemoteAgentRow::default()
    };
    RemoteAgent { machine: machine.into(), label: label.into(), agent: format!("id-{name}"), told, heard_at: now }
}

fn silent(agent: RemoteAgent) -> RemoteAgent {
    RemoteAgent { heard_at: host::clock::now().plus(-120_000), ..agent }
}

fn put(stage: &Stage, agents: &[RemoteAgent]) {
    store(stage).put_remote_agents("srv", agents).unwrap();
}

fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
