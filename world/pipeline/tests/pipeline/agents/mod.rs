//! More than one agent: whose events they are, what follows what, and what is never another's.

mod answers;
mod apart;
mod captured;
mod helpers;
mod kin;
mod one_fleet;
mod succession;
mod two_files;

use crate::home::{Client, PipelineHome};
use crate::memory::{Play, told};
use model::Ms;
use model::effect::Write;
use model::effort::{Addressee, MemoryWrite, Message};
use serde_json::json;
use store::Durability;

const NOTE: &str = r#"{"summary": "half a bridge", "lastAction": "laid a stone", "nextSteps": ["lay another"]}"#;

/// A home in which the kin are understood, with this configuration.
fn speaking(config: &str) -> PipelineHome {
    let stage = PipelineHome::speaking(kin::KIN);
    stage.write("home/.config/taut/config.toml", config);
    stage
}

/// Has begun an effort and left a note.
fn works(stage: &mut PipelineHome, client: &Client) -> model::session::Session {
    let first = stage.start(client, "startup");
    stage.send(client, "UserPromptSubmit", json!({"prompt": "fix the login"}));
    stage.invoke(client, "implement");
    stage.line(client, &format!("taut session dehydrate <<'EOF'\n{NOTE}\nEOF"));
    first
}

fn begins(stage: &mut PipelineHome, client: &Client, source: &str) -> String {
    told(&stage.send(client, "SessionStart", json!({"source": source})))
}

/// A message that waits for this agent or conversation.
fn writes(stage: &mut PipelineHome, id: &str, to: Addressee) {
    let message = Message {
        id: id.into(),
        at: Ms(1),
        kind: "note".into(),
        from_agent: Some("chief".into()),
        to: Some(to),
        session: None,
        body: format!("word {id}"),
    };
    let write = [Write::Memory(MemoryWrite::Message(message))];
    stage.pipeline.store().unwrap().transact(Durability::Normal, |tx| tx.apply(&write)).unwrap();
}

/// The agents that `taut agents` shows.
fn fleet(stage: &mut PipelineHome) -> Vec<String> {
    let fleet = stage.pipeline.store().unwrap().fleet().unwrap();
    fleet.members.into_iter().map(|row| row.agent.id).collect()
}
