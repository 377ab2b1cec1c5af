//! The texts the docs show are those the model reads.

use super::{Play, configured, denial, told};
use crate::home::{Client, PipelineHome};
use serde_json::json;

pub fn page(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/");
    std::fs::read_to_string(format!("{folder}{name}.md")).unwrap()
}

/// The text as a page shows it: without what differs from day to day and from machine to machine.
fn general(stage: &mut PipelineHome, text: &str) -> String {
    let mut text = text.to_owned();
    for effort in stage.efforts() {
        text = text.replace(&effort.folder, "<folder>").replace(&effort.task, "taut/2026-11-15-implement");
    }
    text.replace(&*stage.folder("acme/src/TESTING.md").to_string_lossy(), "<path>")
}

fn assert_shown(stage: &mut PipelineHome, page_name: &str, text: &str) {
    let text = general(stage, text);
    assert!(!text.is_empty() && page(page_name).contains(&text), "docs/{page_name}.md does not show:\n{text}");
}

fn begin(config: &str) -> (PipelineHome, Client) {
    let mut stage = configured(config);
    let client = stage.client("s1").with("TAUT_AGENT_ID", "ann");
    stage.start(&client, "startup");
    (stage, client)
}

const SKILL: &str = "[skills.implement]\nphases = [\"1: Plan\", \"2: Build\", \"3: Close\"]\nlog = true\n";

#[test]
fn the_pages_show_what_an_effort_its_gates_and_its_helpers_are_told() {
    let (mut stage, client) = begin(SKILL);
    let said = told(&stage.invoke(&client, "implement"));
    assert_shown(&mut stage, "memory", &said);
    stage.line(&client, "taut effort phase '1: Plan'");
    stage.line(&client, "taut effort phase '2: Build'");
    let helper = told(&stage.send(&client, "SubagentStart", json!({"agent_id": "h", "agent_type": "x"})));
    assert_shown(&mut stage, "memory", &helper);
    let said: Vec<String> = (0..9).map(|n| told(&stage.line(&client, &format!("make {n}")))).collect();
    assert_shown(&mut stage, "gates", &said[2]);
    let stopped = denial(&stage.line(&client, "make"));
    assert_shown(&mut stage, "gates", &stopped);
    stage.line(&client, "taut log x");
    let left = told(&stage.send(&client, "SessionStart", json!({"source": "clear"})));
    for line in left.lines().take(4) {
        assert_shown(&mut stage, "memory", line);
    }
    let introduced = left.lines().find(|line| line.contains("Effort:")).unwrap().to_owned();
    assert_shown(&mut stage, "memory", &introduced);
}

#[test]
fn the_pages_show_what_closed_gates_and_directives_say() {
    let (mut stage, client) =
        begin(&format!("{SKILL}[session]\nrequired = true\nstandards = [\"docs/standards.md\"]\n"));
    let closed = denial(&stage.line(&client, "ls"));
    assert_shown(&mut stage, "gates", &closed);
    let (mut stage, client) = begin(&format!("{SKILL}directives = [\"TESTING\"]\n"));
    stage.write("acme/src/TESTING.md", "x");
    stage.line(&client, "taut session activate implement");
    let found = told(&stage.came_back(&client, "Read", json!({"file_path": "src/a.rs"})));
    assert_shown(&mut stage, "gates", &found);
    let said: Vec<String> = (0..4).map(|n| denial(&stage.line(&client, &format!("make {n}")))).collect();
    assert_shown(&mut stage, "gates", &said[3]);
}
