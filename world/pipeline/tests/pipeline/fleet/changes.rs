//! When a change of status is told (F1): exactly when the stored row changes.

use crate::home::{Client, PipelineHome};
use model::effect::After;
use model::row::AgentStatus;
use pipeline::Response;
use serde_json::{Value, json};

/// The changes that were told, as `from>to`.
fn told(served: &Response) -> Vec<String> {
    let name = |status: Option<AgentStatus>| status.map_or("new", AgentStatus::name);
    let changes = served.after.iter().filter_map(|after| match after {
        After::StatusChanged { agent, from, to } => {
            assert_eq!(agent, "worker");
            Some(format!("{}>{}", name(*from), to.name()))
        }
        _ => None,
    });
    changes.collect()
}

fn stored(stage: &mut PipelineHome) -> Option<AgentStatus> {
    let agents = stage.pipeline.store().unwrap().agents().unwrap();
    agents.into_iter().find(|agent| agent.id == "worker").map(|agent| agent.status)
}

fn send(stage: &mut PipelineHome, client: &Client, event: &str, fields: Value) -> Vec<String> {
    let before = stored(stage);
    let served = stage.send(client, event, fields);
    let (after, told) = (stored(stage), told(&served));
    let name = |status: Option<AgentStatus>| status.map_or("new", AgentStatus::name);
    let expected = (before != after).then(|| format!("{}>{}", name(before), name(after)));
    assert_eq!(told, Vec::from_iter(expected), "{event}");
    told
}

#[test]
fn f1_a_change_is_told_exactly_when_the_stored_status_changes_whatever_the_verdict() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one").with("TAUT_AGENT_ID", "worker");
    let bash = |id: &str, line: &str| json!({"tool_name": "Bash", "tool_input": {"command": line}, "tool_use_id": id});
    assert_eq!(send(&mut stage, &client, "SessionStart", json!({"source": "startup"})).len(), 1);
    send(&mut stage, &client, "UserPromptSubmit", json!({"prompt": "go"}));
    let asked = json!({"tool_name": "Bash", "tool_input": {"command": "make"}});
    assert_eq!(send(&mut stage, &client, "PermissionRequest", asked.clone()), ["working>attention"]);
    assert_eq!(send(&mut stage, &client, "PermissionRequest", asked), [] as [&str; 0]);
    assert_eq!(send(&mut stage, &client, "PreToolUse", bash("a", "rm -rf /")), ["attention>working"]);
    assert_eq!(send(&mut stage, &client, "MessageDisplay", json!({})), [] as [&str; 0]);
    assert_eq!(send(&mut stage, &client, "Stop", json!({})), ["working>done"]);
    assert_eq!(send(&mut stage, &client, "SessionEnd", json!({"reason": "other"})), [] as [&str; 0]);
}

/// An unnamed client that has gone to another folder is still the agent it was.
#[test]
fn f1_a_change_of_folder_neither_repeats_a_status_nor_moves_its_moment() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    stage.start(&client, "startup");
    stage.send(&client, "UserPromptSubmit", json!({"prompt": "go"}));
    let before = stage.pipeline.store().unwrap().agents().unwrap();
    let elsewhere = client.in_folder(&stage.folder("other"));
    let served = stage.bash(&elsewhere, "a", "ls");
    assert!(!served.after.iter().any(|after| matches!(after, After::StatusChanged { .. })), "{:?}", served.after);
    assert_eq!(stage.pipeline.store().unwrap().agents().unwrap(), before);
}
