//! What is known of a session besides its row.

use crate::home::PipelineHome;
use model::fact::UNBORN;
use model::session_facts::SessionFacts;
use serde_json::json;

const COMMIT: &str = "0123456789012345678901234567890123456789";

fn facts(stage: &mut PipelineHome, session: &str) -> SessionFacts {
    stage.pipeline.store().unwrap().session_facts(session).unwrap()
}

#[test]
fn f4_a_stop_and_a_failed_turn_leave_the_agents_last_words_whole_and_a_sub_agent_none() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    let session = stage.start(&client, "startup").id;
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let said = format!("\nAll done.\n\n- one\n- two\n\nThe token was {token}.");
    stage.send(&client, "Stop", json!({"last_assistant_message": said}));
    let words = facts(&mut stage, &session).last_words.unwrap();
    assert!(words.starts_with("All done.\n\n- one\n- two\n\nThe token was ") && !words.contains(&token), "{words}");
    let sub = json!({"agent_id": "a1", "agent_type": "Explore", "last_assistant_message": "found it"});
    stage.send(&client, "SubagentStop", sub);
    stage.send(&client, "Stop", json!({"stop_hook_active": false}));
    stage.send(&client, "Stop", json!({"last_assistant_message": " \n"}));
    assert_eq!(facts(&mut stage, &session).last_words.as_deref(), Some(words.as_str()), "nothing newer was said");
    let failed = json!({"error": "rate_limit", "last_assistant_message": "Half of it stands."});
    stage.send(&client, "StopFailure", failed);
    assert_eq!(facts(&mut stage, &session).last_words.as_deref(), Some("Half of it stands."));
    stage.send(&client, "Stop", json!({"last_assistant_message": "word ".repeat(1_000_000)}));
    let kept = facts(&mut stage, &session).last_words.unwrap();
    assert!((15_000..17_000).contains(&kept.len()) && kept.ends_with("bytes in all]"), "{}", kept.len());
}

#[test]
fn f4_each_agent_that_tells_its_last_words_is_heard() {
    for (agent, payload) in [
        ("codex", json!({"hook_event_name": "Stop", "last_assistant_message": "bye"})),
        ("gemini", json!({"hook_event_name": "AfterAgent", "prompt": "p", "prompt_response": "bye"})),
        ("qwen", json!({"hook_event_name": "Stop", "last_assistant_message": "bye"})),
        ("pi", json!({"hook_event_name": "Stop", "last_assistant_message": "bye"})),
        ("opencode", json!({"hook_event_name": "Stop", "last_assistant_message": "bye"})),
        ("droid", json!({"hook_event_name": "Stop", "task_result": "bye"})),
    ] {
        let mut stage = PipelineHome::new();
        let client = stage.client("one");
        let mut payload = payload;
        payload["session_id"] = json!("one");
        payload["cwd"] = json!(client.cwd);
        stage.send_as(agent, &client, payload.to_string().into_bytes());
        let session = stage.current(&client).id;
        assert_eq!(facts(&mut stage, &session).last_words.as_deref(), Some("bye"), "{agent}");
    }
}

#[test]
fn f4_a_session_remembers_where_its_work_tree_stood_when_it_began() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    let session = stage.start(&client, "startup").id;
    let begun = facts(&mut stage, &session);
    let tree = stage.folder("acme").to_string_lossy().into_owned();
    assert_eq!((begun.tree.as_deref(), begun.base_commit.as_deref()), (Some(tree.as_str()), Some(UNBORN)));
    assert_eq!(begun.branch.as_deref(), Some("main"));
    stage.write("acme/.git/refs/heads/main", COMMIT);
    stage.send(&client, "SessionStart", json!({"source": "compact"}));
    let later = stage.current(&client).id;
    assert_ne!(later, session, "a compaction opens another");
    assert_eq!(facts(&mut stage, &later).base_commit.as_deref(), Some(UNBORN), "which goes on with the same work");
    let other = stage.client("two");
    let session = stage.start(&other, "startup").id;
    assert_eq!(facts(&mut stage, &session).base_commit.as_deref(), Some(COMMIT));
}
