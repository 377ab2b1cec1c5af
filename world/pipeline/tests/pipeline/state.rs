//! How events move a session (S8) and its agent's status (F1).

use crate::home::{Client, PipelineHome, decision};
use serde_json::{Value, json};

fn state(stage: &mut PipelineHome, client: &Client) -> &'static str {
    stage.current(client).state.name()
}

#[test]
fn s8_parallel_calls_are_active_only_when_the_last_is_back_in_any_order() {
    for order in [["a", "b", "c"], ["c", "b", "a"], ["b", "a", "c"], ["c", "a", "b"]] {
        let mut stage = PipelineHome::new();
        let client = stage.client("one");
        assert_eq!(stage.start(&client, "startup").state.name(), "created");
        stage.send(&client, "UserPromptSubmit", json!({"prompt": "go"}));
        assert_eq!(state(&mut stage, &client), "active");
        for id in ["a", "b", "c"] {
            stage.bash(&client, id, "ls");
            assert_eq!(state(&mut stage, &client), "tool_active");
        }
        for (back, id) in order.iter().enumerate() {
            stage.done(&client, id);
            assert_eq!(state(&mut stage, &client), if back == 2 { "active" } else { "tool_active" }, "{order:?}");
        }
    }
}

/// S5: a prompt makes an idle session active, and every event is a sign of life.
#[test]
fn s5_a_prompt_wakes_an_idle_session_and_each_event_is_a_heartbeat() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    let mut last = stage.start(&client, "startup").last_seen_at;
    for (event, fields, state) in [
        ("UserPromptSubmit", json!({"prompt": "go"}), "active"),
        ("Stop", json!({"stop_hook_active": false}), "idle"),
        ("UserPromptSubmit", json!({"prompt": "go on"}), "active"),
        ("Notification", json!({"notification_type": "idle_prompt", "message": "x"}), "idle"),
    ] {
        stage.send(&client, event, fields);
        let session = stage.current(&client);
        assert_eq!(session.state.name(), state, "{event}");
        assert!(session.last_seen_at > last, "{event}");
        last = session.last_seen_at;
    }
}

#[test]
fn s8_a_failed_call_is_back_as_well() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    stage.bash(&client, "a", "false");
    let failed = json!({"tool_name": "Bash", "tool_input": {}, "tool_use_id": "a", "error": "exit 1"});
    stage.send(&client, "PostToolUseFailure", failed);
    assert_eq!(state(&mut stage, &client), "active");
}

#[test]
fn s8_our_own_denial_sets_active_unless_another_call_is_out() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    assert_eq!(decision(&stage.bash(&client, "a", "rm -rf /")).as_deref(), Some("deny"));
    assert_eq!(state(&mut stage, &client), "active");
    stage.bash(&client, "b", "ls");
    stage.bash(&client, "c", "rm -rf /");
    assert_eq!(state(&mut stage, &client), "tool_active");
    stage.done(&client, "b");
    assert_eq!(state(&mut stage, &client), "active");
}

/// A call the user refused at the prompt never comes back by itself; the batch does.
#[test]
fn s8_a_batch_that_is_back_lands_every_call_in_it() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    stage.bash(&client, "a", "ls");
    stage.bash(&client, "b", "ls");
    let calls = json!([{"tool_name": "Bash", "tool_use_id": "a"}, {"tool_name": "Bash", "tool_use_id": "b"}]);
    stage.send(&client, "PostToolBatch", json!({"tool_calls": calls}));
    assert_eq!(state(&mut stage, &client), "active");
}

#[test]
fn s8_stop_is_idle_unless_background_tasks_run() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    stage.send(&client, "UserPromptSubmit", json!({"prompt": "go"}));
    let busy = json!({"stop_hook_active": false, "background_tasks": [{"id": "x", "status": "running"}]});
    stage.send(&client, "Stop", busy);
    assert_eq!(state(&mut stage, &client), "active");
    let over = json!({"stop_hook_active": false, "background_tasks": [{"id": "x", "status": "completed"}]});
    stage.send(&client, "Stop", over);
    assert_eq!(state(&mut stage, &client), "idle");
}

/// Esc fires no Stop: the prompt that waits is the first word of it, and the cancelled call is forgotten.
#[test]
fn s8_a_prompt_that_waits_is_idle_and_forgets_what_was_out() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    stage.bash(&client, "a", "sleep 100");
    stage.send(&client, "Notification", json!({"notification_type": "idle_prompt", "message": "waiting"}));
    let session = stage.current(&client);
    assert_eq!((session.state.name(), session.in_flight.len()), ("idle", 0));
    stage.bash(&client, "b", "ls");
    stage.done(&client, "b");
    assert_eq!(state(&mut stage, &client), "active");
}

#[test]
fn s8_the_end_of_a_session_has_its_reason() {
    for reason in ["clear", "resume", "logout", "prompt_input_exit", "other"] {
        let mut stage = PipelineHome::new();
        let client = stage.client("one");
        stage.start(&client, "startup");
        stage.end(&client, reason);
        let session = stage.current(&client);
        assert_eq!((session.state.name(), session.end_reason.as_deref()), ("ended", Some(reason)));
        assert!(session.ended_at.is_some());
    }
}

/// A sub-agent's calls keep the session busy, and its end does not end the session.
#[test]
fn s10_a_sub_agent_never_ends_its_parents_session() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    stage.start(&client, "startup");
    stage.send(&client, "SubagentStart", json!({"agent_id": "a1", "agent_type": "Explore"}));
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "s1", "agent_id": "a1"});
    stage.send(&client, "PreToolUse", call);
    stage.send(&client, "SubagentStop", json!({"agent_id": "a1", "agent_type": "Explore"}));
    let session = stage.current(&client);
    assert!(session.open());
    assert_eq!(stage.sessions().len(), 1);
}

#[test]
fn f1_each_event_sets_the_agents_status() {
    let tool = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t", "error": "no"});
    let notified = |kind: &str| json!({"notification_type": kind, "message": "m"});
    let stopped = |tasks: Value| json!({"stop_hook_active": false, "background_tasks": tasks});
    let table: Vec<(&str, Value, &str)> = vec![
        // It waits for its first prompt: nobody works yet.
        ("SessionStart", json!({"source": "startup"}), "done"),
        ("Notification", notified("permission_prompt"), "attention"),
        ("UserPromptSubmit", json!({"prompt": "go"}), "working"),
        ("PermissionRequest", tool.clone(), "attention"),
        ("PreToolUse", tool.clone(), "working"),
        ("PostToolUseFailure", tool.clone(), "working"),
        ("MessageDisplay", json!({}), "working"),
        ("PostToolUse", tool, "working"),
        ("Notification", notified("elicitation_dialog"), "attention"),
        ("Stop", stopped(json!([])), "done"),
        ("Notification", notified("agent_needs_input"), "attention"),
        ("Notification", notified("auth_success"), "attention"),
        ("Notification", notified("idle_prompt"), "done"),
        ("Stop", stopped(json!([{"status": "running"}])), "working"),
        ("StopFailure", json!({"error": "rate_limit"}), "error"),
        ("Stop", stopped(json!([])), "done"),
        ("UserPromptSubmit", json!({"prompt": "more"}), "working"),
        ("SessionEnd", json!({"reason": "other"}), "done"),
    ];
    let mut stage = PipelineHome::new();
    let client = stage.client("one").with("TAUT_AGENT_ID", "worker");
    for (event, fields, expected) in table {
        stage.send(&client, event, fields.clone());
        assert_eq!(stage.agent("worker").status.name(), expected, "{event} {fields}");
    }
    assert_eq!(stage.agent("worker").session, None);
}

#[test]
fn f1_a_status_that_stays_keeps_its_moment() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one").with("TAUT_AGENT_ID", "worker");
    stage.start(&client, "startup");
    stage.send(&client, "UserPromptSubmit", json!({"prompt": "go"}));
    let since = stage.agent("worker").since;
    stage.bash(&client, "a", "ls");
    assert_eq!(stage.agent("worker").since, since);
    stage.send(&client, "Stop", json!({}));
    assert!(stage.agent("worker").since > since);
}
