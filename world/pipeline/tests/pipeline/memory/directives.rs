//! Directives are found where work happens, announced once, and required ones read.

use super::{Play, configured, denial, told};
use crate::home::{Client, PipelineHome};
use serde_json::json;

const SKILL: &str = "[skills.x]\ndirectives = [\"TESTING\"]\n";

fn at_work(config: &str) -> (PipelineHome, Client) {
    let mut stage = configured(config);
    for file in ["acme/AGENTS.md", "acme/src/TESTING.md", "acme/src/AGENTS.md", "acme/src/notes.md"] {
        stage.write(file, "x");
    }
    let client = stage.client("s1");
    stage.start(&client, "startup");
    stage.invoke(&client, "x");
    (stage, client)
}

fn path(stage: &PipelineHome, file: &str) -> String {
    stage.folder("acme").join(file).to_string_lossy().into_owned()
}

/// G6, ORIGINS §3.2: de-dup is by full path, not by name.
#[test]
fn g6_directives_on_the_way_up_are_announced_once_each_by_full_path() {
    let (mut stage, client) = at_work(SKILL);
    let said = told(&stage.came_back(&client, "Read", json!({"file_path": "src/main.rs"})));
    for file in ["src/TESTING.md", "src/AGENTS.md", "AGENTS.md"] {
        assert!(said.contains(&path(&stage, file)), "{file}: {said}");
    }
    for tool in ["Edit", "Write", "Read"] {
        assert_eq!(told(&stage.came_back(&client, tool, json!({"file_path": "src/main.rs"}))), "", "{tool}");
    }
    assert_eq!(told(&stage.came_back(&client, "Grep", json!({"pattern": "x", "path": "."}))), "", "all of it is known");
    assert_eq!(told(&stage.came_back(&client, "WebFetch", json!({"url": "x"}))), "");
    assert_eq!(told(&stage.came_back(&client, "Read", json!({"file_path": "/etc/hosts"}))), "", "outside the project");
}

#[test]
fn g6_a_required_directive_stops_work_after_three_calls_and_reading_it_clears() {
    let (mut stage, client) = at_work(SKILL);
    stage.came_back(&client, "Read", json!({"file_path": "src/main.rs"}));
    assert!(told(&stage.line(&client, "make 0")).contains("[directives]"));
    assert_eq!(stage.line(&client, "make 1").answer.stdout, "");
    assert_eq!(stage.line(&client, "make 2").answer.stdout, "");
    let reason = denial(&stage.line(&client, "make 3"));
    assert!(reason.contains(&path(&stage, "src/TESTING.md")) && !reason.contains("AGENTS"), "{reason}");
    // Even a read that will fail opens the gate: the file may be gone.
    std::fs::remove_file(path(&stage, "src/TESTING.md")).unwrap();
    assert_eq!(denial(&stage.call(&client, "Read", json!({"file_path": "src/TESTING.md"}))), "");
    assert_eq!(denial(&stage.line(&client, "make 4")), "");
}

#[test]
fn g6_reading_a_directive_at_once_is_enough_and_a_skill_without_them_finds_none() {
    let (mut stage, client) = at_work(SKILL);
    stage.came_back(&client, "Read", json!({"file_path": "src/TESTING.md"}));
    for n in 0..6 {
        assert_eq!(denial(&stage.line(&client, &format!("make {n}"))), "");
    }
    let (mut stage, client) = at_work("[skills.x]\nlog = false\n");
    assert_eq!(told(&stage.came_back(&client, "Read", json!({"file_path": "src/main.rs"}))), "");
}

/// G6: wherever work happens, whatever does it.
#[test]
fn g6_every_tool_that_touches_a_folder_finds_its_directives_and_none_outside_the_project() {
    for (tool, input) in [
        ("Read", json!({"file_path": "src/main.rs"})),
        ("Edit", json!({"file_path": "src/main.rs"})),
        ("Write", json!({"file_path": "src/new.rs"})),
        ("Glob", json!({"pattern": "*.rs", "path": "src"})),
        ("Grep", json!({"pattern": "x", "path": "src"})),
    ] {
        let (mut stage, client) = at_work(SKILL);
        let said = told(&stage.came_back(&client, tool, input));
        assert!(said.contains(&path(&stage, "src/TESTING.md")), "{tool}: {said}");
    }
    let (mut stage, client) = at_work(SKILL);
    let inside = client.clone().in_folder(&stage.folder("acme/src"));
    let said = told(&stage.came_back(&inside, "Bash", json!({"command": "cd src"})));
    assert!(said.contains(&path(&stage, "src/TESTING.md")), "a cd: {said}");
    stage.write("other/TESTING.md", "x");
    let foreign = stage.folder("other/main.rs");
    assert_eq!(told(&stage.came_back(&client, "Read", json!({"file_path": foreign}))), "");
    for n in 0..4 {
        let reason = denial(&stage.line(&client, &format!("make {n}")));
        assert!(!reason.contains("other"), "{reason}");
    }
}

/// G6: reading one of two gives time for the other.
#[test]
fn g6_each_directive_that_is_read_gives_three_more_calls() {
    let (mut stage, client) = at_work("[skills.x]\ndirectives = [\"TESTING\", \"PITFALLS\"]\n");
    stage.write("acme/src/PITFALLS.md", "x");
    stage.came_back(&client, "Read", json!({"file_path": "src/main.rs"}));
    for n in 0..3 {
        assert_eq!(denial(&stage.line(&client, &format!("make {n}"))), "");
    }
    assert!(denial(&stage.line(&client, "make 3")).contains("PITFALLS.md"));
    stage.call(&client, "Read", json!({"file_path": "src/TESTING.md"}));
    for n in 4..7 {
        assert_eq!(denial(&stage.line(&client, &format!("make {n}"))), "");
    }
    let reason = denial(&stage.line(&client, "make 7"));
    assert!(reason.contains("PITFALLS.md") && !reason.contains("TESTING.md"), "{reason}");
}
