//! An effort's own folder is its agent's to read and write, and nobody else's.

use super::{IMPLEMENT, Play, configured, denial};
use crate::home::{Client, Living, PipelineHome};
use serde_json::json;

fn at_work() -> (PipelineHome, Client, String) {
    let mut stage = configured(IMPLEMENT);
    let client = stage.client("a1").with("TAUT_AGENT_ID", "ann");
    stage.start(&client, "startup");
    stage.invoke(&client, "implement");
    stage.line(&client, "taut log begun");
    let folder = stage.efforts()[0].folder.clone();
    (stage, client, folder)
}

/// What every tool says of one file.
fn denials(stage: &mut PipelineHome, client: &Client, path: &str) -> Vec<String> {
    let mut said = Vec::new();
    for (tool, input) in [
        ("Read", json!({"file_path": path})),
        ("Write", json!({"file_path": path, "content": "x"})),
        ("Edit", json!({"file_path": path, "old_string": "x", "new_string": "y"})),
        ("Bash", json!({"command": format!("cat {path}")})),
        ("Bash", json!({"command": format!("echo x > {path}")})),
        ("Bash", json!({"command": format!("echo x >> '{path}'")})),
        ("Bash", json!({"command": format!("echo x | tee -a {path}")})),
        ("Bash", json!({"command": format!("cp /tmp/a.md {path}")})),
    ] {
        said.push(format!("{tool}: {}", denial(&stage.call(client, tool, input))));
    }
    said
}

fn all_pass(said: &[String]) -> bool {
    said.iter().all(|one| one.ends_with(": "))
}

/// Reading is open to all; of the six ways to write none may pass.
fn no_write_passes(said: &[String]) -> bool {
    said.iter().filter(|one| one.contains("[taut-files]")).count() == 6
}

#[test]
fn m2_an_effort_s_own_folder_is_read_and_written_by_its_agent() {
    let (mut stage, client, folder) = at_work();
    for file in ["1_IMPLEMENT_DEBRIEF.md", "notes/deep/er.md"] {
        let said = denials(&mut stage, &client, &format!("{folder}/{file}"));
        assert!(all_pass(&said), "{said:#?}");
    }
    let helper = json!({"tool_name": "Write", "tool_input": {"file_path": format!("{folder}/x.md"), "content": "x"},
        "tool_use_id": "h1", "agent_id": "h", "agent_type": "Explore"});
    assert_eq!(denial(&stage.send(&client, "PreToolUse", helper)), "", "its helpers work for it");
    stage.line(&client, "taut effort finish");
    let said = denials(&mut stage, &client, &format!("{folder}/1_IMPLEMENT_DEBRIEF.md"));
    assert!(no_write_passes(&said), "an effort that is over is closed: {said:#?}");
}

#[test]
fn g8_nothing_else_of_taut_s_own_is_opened_by_an_effort() {
    let (mut stage, client, folder) = at_work();
    let state = stage.folder("state").to_string_lossy().into_owned();
    let project = folder.rsplit_once('/').unwrap().0.to_owned();
    let outside = stage.folder("other");
    std::os::unix::fs::symlink(format!("{state}/taut.db"), format!("{folder}/link.md")).unwrap();
    std::os::unix::fs::symlink(&state, format!("{folder}/all")).unwrap();
    std::os::unix::fs::symlink(&project, outside.join("way")).unwrap();
    for path in [
        format!("{state}/taut.db"),
        format!("{project}/memory.md"),
        format!("{folder}-2/x.md"),
        format!("{folder}x.md"),
        format!("{project}/another/x.md"),
        format!("{folder}/../memory.md"),
        format!("{folder}/a/../../memory.md"),
        format!("{folder}/link.md"),
        format!("{folder}/all/config.toml"),
        format!("{}/way/memory.md", outside.display()),
        folder.clone(),
    ] {
        let said = denials(&mut stage, &client, &path);
        assert!(no_write_passes(&said), "{path}: {said:#?}");
    }
}

/// One line may write its own file and another's.
#[test]
fn g8_what_a_line_does_besides_is_judged_all_the_same() {
    let (mut stage, client, folder) = at_work();
    let state = stage.folder("state").to_string_lossy().into_owned();
    let many: String = (0..80).map(|n| format!("echo x > {folder}/{n}.md; ")).collect();
    for line in [
        format!("echo x > {folder}/a.md; echo x > {state}/taut.db"),
        format!("echo x | tee {folder}/a.md {state}/taut.db"),
        format!("echo x > {folder}/a.md 2> {state}/taut.db"),
        format!("ln -s {state}/taut.db {folder}/n.md && echo x > {folder}/n.md"),
        format!("rm -rf {folder}"),
        format!("rm -rf {folder}/.."),
        format!("mv {folder}/1_IMPLEMENT_LOG.md {state}/taut.db"),
        format!("echo x > {folder}/$NAME"),
        format!("{many}echo x > {state}/taut.db"),
    ] {
        assert!(denial(&stage.line(&client, &line)).contains("[taut-"), "{line}");
    }
}

#[test]
fn g8_an_effort_s_folder_is_nobody_else_s_and_no_effort_can_be_put_among_taut_s_own_files() {
    let (mut stage, _, folder) = at_work();
    let living = Living::new();
    let bob = stage.client("b1").with("TAUT_AGENT_ID", "bob").of(living.pid());
    stage.start(&bob, "startup");
    let said = denials(&mut stage, &bob, &format!("{folder}/x.md"));
    assert!(no_write_passes(&said), "no effort of his own: {said:#?}");
    let state = stage.folder("state").to_string_lossy().into_owned();
    for own in [state.clone(), folder.clone(), format!("{state}/projects")] {
        stage.line(&bob, &format!("taut session activate implement --folder '{own}'"));
        assert_eq!(stage.efforts().len(), 1, "{own}");
    }
}
