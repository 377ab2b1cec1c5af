//! What clients say of themselves is seen without a daemon too (F1).

use serde_json::json;
use std::fs;
use testkit::poll;
use testkit::stage::{LIMIT, Stage};

#[test]
fn f1_without_a_daemon_whoever_lists_agents_sees_an_answer_no_hook_told_of() {
    let stage = Stage::without_daemon();
    let folder = stage.sandbox.root().join("own");
    let transcript = folder.join("projects/-p/one.jsonl");
    let pid = std::process::id();
    let env: &[(&str, &str)] = &[("TAUT_AGENT_ID", "ada"), ("CLAUDE_PID", &pid.to_string())];
    let call = json!({"hook_event_name": "PermissionRequest", "session_id": "one", "transcript_path": transcript,
        "tool_name": "Bash", "tool_input": {"command": "make"}});
    let failed = json!({"hook_event_name": "PostToolUseFailure", "session_id": "one", "transcript_path": transcript,
        "tool_name": "Bash", "tool_input": {"command": "cargo test"}, "tool_use_id": "t", "error": "exit 101"});
    stage.hook(&stage.payload(&failed), env);
    stage.hook(&stage.payload(&call), env);
    let row = || stage.list(&["agents", "--json"]).into_iter().find(|row| row["id"] == "ada").unwrap();
    assert_eq!(
        (row()["status"].as_str(), row()["why"].as_str()),
        (Some("attention"), Some("permission for Bash (make)"))
    );
    let answered = json!({"pid": pid, "sessionId": "one", "kind": "interactive", "status": "busy",
        "statusUpdatedAt": host::clock::now().0});
    fs::create_dir_all(folder.join("sessions")).unwrap();
    fs::write(folder.join(format!("sessions/{pid}.json")), answered.to_string()).unwrap();
    let seen = poll::until("the answer to be seen", LIMIT, || Some(row()).filter(|row| row["status"] == "working"));
    assert_eq!(seen.unwrap()["failed_tool"], "Bash (cargo test): exit 101");
    let table = stage.succeed(&["agents"]);
    assert!(table.contains("✗ Bash (cargo test): exit 101"), "{table}");
}
