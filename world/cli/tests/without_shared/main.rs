//! A program that was built without the shared store (`--no-default-features`): where a project is shared it says so and
//! what helps, and everything else is as ever. Empty in every other build; `.ci/run clippy` runs it.
#![cfg(not(feature = "shared"))]

use serde_json::{Value, json};
use testkit::stage::Stage;

const QUEUE: &str = "acme/shop";

/// A project that names its queue, on a machine whose user shares it.
fn shared() -> Stage {
    let stage = Stage::without_daemon();
    stage.write(".taut/config.toml", &format!("[shared]\nproject = \"{QUEUE}\"\n"));
    stage.configure(&format!("[shared]\nurl = \"postgresql://ada@db.example/taut\"\nprojects = [\"{QUEUE}\"]\n"));
    stage
}

fn hook(stage: &Stage, line: &str) -> Value {
    let call = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": line}, "tool_use_id": line,
        "session_id": "s"});
    let done = stage.hook(&stage.payload(&call), &[("TAUT_NO_DAEMON", "1")]);
    assert_eq!(done.code(), Some(0), "{}", done.stderr_text());
    serde_json::from_str(&done.stdout_text()).unwrap_or_default()
}

#[test]
fn x1_a_shared_project_is_refused_in_words_with_what_helps() {
    let stage = shared();
    for args in [&["task", "list"][..], &["task", "claim"], &["task", "create", "a", "A"], &["shared", "sync"]] {
        let done = stage.taut(args);
        let said = format!("{}{}", done.stdout_text(), done.stderr_text());
        assert!(!done.success(), "{args:?}: {said}");
        assert!(said.contains("this taut was built without the shared store"), "{args:?}: {said}");
        assert!(said.contains("build it with its default features") && said.contains("taut config edit"), "{said}");
    }
    let status = stage.taut(&["shared", "status"]);
    assert!(status.code() == Some(1) && status.stdout_text().contains("built without"), "{}", status.stdout_text());
}

#[test]
fn x1_the_guard_and_the_queue_of_every_other_project_are_as_ever() {
    for stage in [shared(), Stage::without_daemon()] {
        let denied = hook(&stage, "rm -rf ~");
        assert_eq!(denied["hookSpecificOutput"]["permissionDecision"], "deny", "{denied}");
        assert_eq!(hook(&stage, "ls"), Value::Null);
        assert!(stage.succeed(&["sessions"]).contains('s'));
    }
    let alone = Stage::without_daemon();
    alone.succeed(&["task", "create", "a", "A"]);
    assert!(alone.succeed(&["task", "list"]).contains("open"));
    let said = alone.taut(&["shared", "status"]);
    assert!(said.success() && said.stdout_text().starts_with("nothing is shared"), "{}", said.stdout_text());
}
