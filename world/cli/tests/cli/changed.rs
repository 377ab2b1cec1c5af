//! What rows, sessions and `taut diff` tell of what an agent said, changed and spent.

use serde_json::{Value, json};
use std::time::Duration;
use testkit::poll;
use testkit::stage::{IN_PROCESS, Stage};

const WORKER: (&str, &str) = ("TAUT_AGENT_ID", "worker");

/// A repository with one commit, and an agent that begins in it.
fn begun(stage: &Stage, env: &[(&str, &str)]) {
    stage.write("one.txt", "1\n2\n3\n");
    stage.git(&["init", "-q", "-b", "main"]);
    stage.git(&["add", "one.txt"]);
    stage.git(&["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-m", "first"]);
    event(stage, env, json!({"hook_event_name": "SessionStart", "source": "startup"}));
}

fn event(stage: &Stage, env: &[(&str, &str)], fields: Value) {
    assert!(stage.hook(&stage.payload(&fields), &[env, &[WORKER]].concat()).success());
}

fn stop(stage: &Stage, env: &[(&str, &str)], words: &str) {
    event(stage, env, json!({"hook_event_name": "Stop", "stop_hook_active": false, "last_assistant_message": words}));
}

#[test]
fn f4_a_person_reads_what_an_agent_changed_without_secrets_and_without_what_a_terminal_obeys() {
    let stage = Stage::new();
    begun(&stage, IN_PROCESS);
    let token = format!("ghp_{}", "a1B2".repeat(9));
    stage.write("one.txt", "1\n2\n3\nfour\u{1b}[2J\n");
    stage.write("new.txt", &format!("token = {token}\n"));
    stop(&stage, IN_PROCESS, "All of it stands.\nNothing is left.");
    let shown = stage.command(&["diff", "worker"]).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&shown.stdout), String::from_utf8_lossy(&shown.stderr));
    assert!(shown.status.success(), "{err}");
    assert!(out.contains("+four") && out.contains("b/new.txt"), "{out}");
    assert!(!out.contains('\u{1b}') && !out.contains(&token), "{out}");
    assert!(err.contains(": 2 files, +2 -0"), "{err}");
    assert_eq!(stage.succeed(&["diff", "worker", "--stat"]), "+1 -0 new.txt\n+1 -0 one.txt\n");
    let told = &stage.list(&["diff", "worker", "--json"])[0];
    assert_eq!(told["diff"], json!({"files": 2, "added": 2, "removed": 0}));
    let other = [IN_PROCESS, &[("TAUT_AGENT_ID", "api")]].concat();
    let start = json!({"hook_event_name": "SessionStart", "source": "startup", "session_id": "other"});
    assert!(stage.hook(&stage.payload(&start), &other).success());
    let notes = stage.list(&["diff", "worker", "--json"])[0]["notes"].clone();
    assert_eq!(notes, json!(["shared with api: what they changed in this work tree is in it"]));
    let unknown = stage.taut(&["diff", "nobody"]);
    assert!(!unknown.success() && unknown.stderr_text().contains("no agent is called so"), "{}", unknown.stderr_text());
}

#[test]
fn f4_what_an_ended_agent_changed_is_read_by_its_name_and_by_the_short_id_of_its_session() {
    let stage = Stage::new();
    begun(&stage, IN_PROCESS);
    stage.write("one.txt", "1\n2\n3\nfour\n");
    std::fs::write(stage.sandbox.project().join("bin.dat"), [0_u8, 1, 2, 0, 255]).unwrap();
    event(&stage, IN_PROCESS, json!({"hook_event_name": "SessionEnd", "reason": "other"}));
    let listed = stage.succeed(&["sessions", "--all"]);
    let short = listed.lines().nth(1).and_then(|line| line.split_whitespace().nth(2)).unwrap().to_owned();
    for called in ["worker", &short] {
        assert_eq!(stage.succeed(&["diff", called, "--stat"]), "binary bin.dat\n+1 -0 one.txt\n", "{called}");
    }
}

#[test]
fn f4_rows_tell_the_first_of_the_last_words_and_sessions_all_of_them() {
    let stage = Stage::new();
    begun(&stage, IN_PROCESS);
    stop(&stage, IN_PROCESS, "All of it stands.\nNothing is left.");
    let row = &stage.list(&["agents", "--json"])[0];
    assert_eq!((&row["last_words"], &row["branch"]), (&json!("All of it stands.…"), &json!("main")));
    let session = &stage.list(&["sessions", "--json"])[0];
    assert_eq!(session["last_words"], "All of it stands.\nNothing is left.");
    assert_eq!((&session["branch"], &session["tree"]), (&json!("main"), &json!(stage.sandbox.project())));
    assert!(stage.succeed(&["agents"]).contains("All of it stands."));
}

/// The daemon finds out what no event tells.
#[test]
fn f4_a_daemon_measures_what_changed_and_what_was_spent_beside_the_hooks() {
    let stage = Stage::with_daemon();
    begun(&stage, &[]);
    let at = "2099-01-01T00:00:00.000Z";
    let usage = json!({"input_tokens": 100, "output_tokens": 20});
    let message = json!({"id": "m", "model": "claude-haiku-4-5", "usage": usage, "content": []});
    let line = json!({"type": "assistant", "timestamp": at, "message": message}).to_string();
    stage.write("../transcript.jsonl", &(line + "\n"));
    let transcript = stage.path("../transcript.jsonl");
    event(&stage, &[], json!({"hook_event_name": "UserPromptSubmit", "prompt": "go", "transcript_path": transcript}));
    event(
        &stage,
        &[],
        json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t"}),
    );
    stage.write("one.txt", "1\n2\n3\nfour\n");
    stop(&stage, &[], "done");
    let row = poll::until("the change to be measured", Duration::from_secs(30), || {
        let row = stage.list(&["agents", "--json"]).remove(0);
        (row["diff"]["files"] == 1 && row["tokens"] == 120).then_some(row)
    });
    let row = row.unwrap();
    assert_eq!(row["diff"], json!({"files": 1, "added": 1, "removed": 0}));
    assert_eq!((&row["cost_estimated"], &row["model"]), (&json!(true), &json!("claude-haiku-4-5")));
    let session = row["session"].as_str().unwrap();
    for told in ["show", "export"] {
        let said = stage.succeed(&["sessions", told, session]);
        assert!(said.contains("≈ $0.00"), "an estimate says that it is one: {said}");
    }
}
