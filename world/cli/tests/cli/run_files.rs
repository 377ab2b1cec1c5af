//! What an agent writes in one call is read in the next, by the hook as the client runs it.

use serde_json::{Value, json};
use testkit::Finished;
use testkit::stage::{DAEMON, IN_PROCESS, Stage, assert_silent};

fn reason(answer: &Finished) -> String {
    let answer: Value = serde_json::from_str(&answer.stdout_text()).unwrap_or_default();
    let decision = &answer["hookSpecificOutput"];
    assert_eq!(decision["permissionDecision"], "deny", "{answer}");
    decision["permissionDecisionReason"].as_str().unwrap_or_default().to_string()
}

#[test]
fn g12_what_is_denied_in_one_call_is_denied_in_two() {
    for env in [IN_PROCESS, DAEMON] {
        let stage = Stage::new();
        if env == DAEMON {
            stage.start_daemon();
        }
        let start = stage.payload(&json!({"hook_event_name": "SessionStart", "source": "startup"}));
        assert_silent(&stage.hook(&start, env), "the session starts");
        let script = stage.sandbox.project().join("x.sh");
        let text = "#!/bin/sh\ngit push --force origin main\n";
        let write = stage.payload(&json!({
            "hook_event_name": "PreToolUse", "tool_name": "Write", "tool_use_id": "w",
            "tool_input": {"file_path": script, "content": text},
        }));
        assert_silent(&stage.hook(&write, env), "a script is written");
        std::fs::write(&script, text).unwrap();
        for id in ["first", "again"] {
            let said = reason(&stage.hook(&stage.bash(id, "bash x.sh"), env));
            assert!(said.contains("[git-force-push] x.sh:2 runs `git push --force origin main`"), "{said}");
            assert!(said.contains("written in this session"), "{said}");
            stage.hook(&stage.payload(&json!({"hook_event_name": "PostToolBatch"})), env);
        }
        std::fs::write(&script, "#!/bin/sh\ncargo test\n").unwrap();
        assert_silent(&stage.hook(&stage.bash("harmless", "bash x.sh"), env), "a harmless one is run");
    }
}

#[test]
fn g10_explain_shows_what_a_file_runs_and_on_which_line() {
    let stage = Stage::new();
    std::fs::write(stage.sandbox.project().join("x.sh"), "ls\nrm -rf ~\n").unwrap();
    let shown = stage.succeed(&["explain", "bash x.sh"]);
    assert!(shown.contains("x.sh:2] rm -rf") && shown.contains("[rm-root] floor: x.sh:2 "), "{shown}");
}
