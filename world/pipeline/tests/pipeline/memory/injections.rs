//! S14: what is stored to be told is told once, at the next chance.

use super::{Play, told};
use crate::home::PipelineHome;
use model::effect::{Audience, Injection, Write};
use serde_json::json;
use store::Durability;

#[test]
fn s14_what_waits_for_the_model_comes_with_the_next_tool_result_and_what_is_the_users_with_the_prompt() {
    let mut stage = PipelineHome::new();
    let client = stage.client("s1");
    let session = stage.start(&client, "startup").id;
    let note =
        |audience, text: &str| Write::Injection(Injection { session: session.clone(), audience, text: text.into() });
    let writes = [note(Audience::Model, "mind the gap"), note(Audience::User, "your hooks are gone")];
    stage.pipeline.store().unwrap().transact(Durability::Normal, |tx| tx.apply(&writes)).unwrap();
    assert_eq!(stage.line(&client, "ls").answer.stdout, "");
    let helper = json!({"tool_name": "Bash", "tool_use_id": "h", "agent_id": "h1", "agent_type": "Explore"});
    assert_eq!(stage.send(&client, "PostToolUse", helper).answer.stdout, "", "a sub-agent is not who it waits for");
    assert!(told(&stage.came_back(&client, "Bash", json!({"command": "ls"}))).contains("mind the gap"));
    assert_eq!(stage.came_back(&client, "Bash", json!({"command": "pwd"})).answer.stdout, "", "once");
    let prompt = stage.send(&client, "UserPromptSubmit", json!({"prompt": "x"})).answer.stdout;
    assert!(prompt.contains("your hooks are gone") && !prompt.contains("mind the gap"), "{prompt}");
}

/// S14: the host's own tasks are kept with the effort, a waiting teammate is shown as done.
#[test]
fn s14_host_tasks_and_waiting_teammates_are_recorded() {
    let mut stage = super::configured(super::IMPLEMENT);
    let client = stage.client("s1").with("TAUT_AGENT_ID", "ann");
    let bob = stage.client("s2").with("TAUT_AGENT_ID", "bob");
    stage.start(&bob, "startup");
    stage.send(&bob, "UserPromptSubmit", json!({"prompt": "go"}));
    stage.start(&client, "startup");
    stage.send(&client, "UserPromptSubmit", json!({"prompt": "go"}));
    stage.invoke(&client, "implement");
    stage.send(&client, "TaskCreated", json!({"task_id": "7", "task_subject": "lay a stone"}));
    let effort = stage.efforts().remove(0).id;
    let kept = stage.pipeline.store().unwrap().messages("host_task").unwrap();
    assert!(kept[0].body.contains("lay a stone") && kept[0].body.contains(&effort));
    assert_eq!(stage.agent("bob").status.name(), "working");
    stage.send(&client, "TeammateIdle", json!({"teammate_name": "bob"}));
    assert_eq!((stage.agent("bob").status.name(), stage.agent("ann").status.name()), ("done", "working"));
}
