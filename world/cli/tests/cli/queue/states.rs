//! What a list, a count and a refusal say of where a task stands.

use serde_json::json;
use testkit::process;
use testkit::stage::Stage;

#[test]
fn q7_a_list_tells_open_blocked_resting_held_and_quarantined_apart_and_the_counts_agree() {
    let stage = Stage::without_daemon();
    stage.sync(&[
        json!({"id": "held", "t": "H", "p": 0}),
        json!({"id": "rests", "t": "R", "p": 1}),
        json!({"id": "open", "t": "O", "p": 2}),
        json!({"id": "waits", "t": "W", "p": 2, "deps": ["open"]}),
        json!({"id": "odd", "t": "Q", "p": 3}),
    ]);
    stage.claim("w");
    stage.claim("w");
    stage.task_ok("w", &["fail", "rests", "--reason", "broken"]);
    stage.task_ok("", &["update", "odd", "--status", "quarantined"]);
    let listed = stage.task_list(&["list", "--json"]);
    let states: Vec<_> = listed.iter().map(|task| task["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["active", "resting", "open", "blocked", "quarantined"]);
    let left = listed[1]["ready_in"].as_i64().unwrap();
    assert!((1..=13).contains(&left), "{left}");
    assert!(listed.iter().enumerate().all(|(at, task)| at == 1 || task.get("ready_in").is_none()));
    let table = stage.task_ok("", &["list"]);
    for words in ["active", "resting, ", " s left", "open", "blocked", "quarantined"] {
        assert!(table.contains(words), "{words}: {table}");
    }
    assert_eq!(stage.plan_status(), "2 open, 1 active, 0 done, 1 blocked, 0 deleted, 1 quarantined");
    let counts = &stage.task_list(&["plan-status", "--json"])[0];
    assert_eq!((&counts["resting"], &counts["proposed"], &counts["open"]), (&json!(1), &json!(0), &json!(2)));
}

#[test]
fn q2_a_task_that_nobody_can_have_is_refused_with_2_and_named_for_what_it_is() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a", "b", "c"]);
    stage.claim("w");
    stage.task_ok("w", &["done", "a"]);
    stage.task_ok("", &["delete", "b"]);
    stage.task_ok("", &["update", "c", "--status", "quarantined"]);
    for (slug, word) in [("a", "is done"), ("b", "is deleted"), ("c", "is quarantined")] {
        let refused = stage.task(&["claim", slug]);
        assert_eq!(refused.code(), Some(2), "{slug}");
        assert!(refused.stderr_text().contains(word) && refused.stdout.is_empty(), "{}", refused.stderr_text());
    }
}

#[test]
fn q5_a_task_that_was_deleted_and_is_made_again_begins_afresh() {
    let stage = Stage::without_daemon();
    stage.sync(&[json!({"id": "a", "t": "A", "steps": ["one"]})]);
    for _ in 0..4 {
        stage.claim("w");
        stage.task_ok("w", &["fail", "a", "--reason", "broken"]);
        stage.task_ok("", &["requeue", "a"]);
    }
    stage.task_ok("", &["step-done", "a", "1"]);
    stage.claim("w");
    stage.task_ok("w", &["done", "a", "--result", r#"{"commit":"old"}"#]);
    stage.task_ok("", &["delete", "a"]);
    stage.task_ok("", &["create", "a", "A again", "-s", r#"["one"]"#]);
    let shown = stage.show("a");
    for key in ["retry_count", "failures", "releases"] {
        assert_eq!(shown[key], 0, "{key}");
    }
    assert_eq!((&shown["fail_reason"], &shown["result"]), (&json!(null), &json!(null)));
    assert_eq!(shown["steps"][0]["status"], "pending");
    assert_eq!(stage.claim("w")["attempt"], 6, "numbers rise on, so that what is left of its former life is refused");
    assert_eq!(stage.history("a").len(), 6, "the history stays");
    stage.task_ok("w", &["done", "a"]);
    stage.check_is_clean();
}

#[test]
fn q5_failing_what_is_over_is_success_and_is_not_called_failed() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a", "b"]);
    stage.claim("w");
    stage.task_ok("w", &["done", "a"]);
    for slug in ["a", "b"] {
        let failed = stage.task_by("w", &["fail", slug, "--reason", "late"]);
        assert_eq!((failed.code(), failed.stdout_text()), (Some(0), format!("unchanged {slug}\n")));
        assert!(failed.stderr_text().contains("left as it is"), "{}", failed.stderr_text());
    }
    assert_eq!((&stage.show("a")["s"], &stage.show("b")["retry_count"]), (&json!("done"), &json!(0)));
}

#[test]
fn q1_usage_names_a_command_that_can_be_typed() {
    let stage = Stage::without_daemon();
    for (alias, args, usage) in [
        ("task", &["claim", "--help"][..], "Usage: taut task claim"),
        ("task", &["no-such"], "Usage: taut task"),
        ("fresher", &["build", "--help"], "Usage: taut loop build"),
    ] {
        let link = stage.sandbox.root().join("bin").join(alias);
        let _ = std::os::unix::fs::symlink(stage.sandbox.bin(), &link);
        let mut command = stage.sandbox.command(&link);
        command.args(args);
        let said = process::run(command, b"", testkit::stage::PLENTY).unwrap();
        let text = format!("{}{}", said.stdout_text(), said.stderr_text());
        assert!(text.contains(usage), "{text}");
    }
}
