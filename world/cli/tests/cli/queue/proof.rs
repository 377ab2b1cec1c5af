//! L10: "done" in a loop that proves, as the agent, its hooks and a person meet it.

use model::Ms;
use model::run::Run;
use serde_json::{Value, json};
use std::time::Duration;
use store::Store;
use testkit::AgentStep;
use testkit::stage::Stage;

/// A run of a loop that is not over and works by this agent.
fn run(stage: &Stage, agent: &str, proves: bool) {
    let mut store = Store::open_and_migrate(&stage.sandbox.taut_home(), Duration::from_secs(10)).unwrap();
    let run = Run {
        id: format!("run-{agent}"),
        project: "p".into(),
        folder: "p".into(),
        agent: Some(agent.into()),
        started_at: Ms(1),
        proves,
        ..Run::default()
    };
    store.save_run(&run).unwrap();
}

#[test]
fn l10_done_in_a_proving_loop_is_kept_said_and_shown_as_waiting_for_proof() {
    let stage = Stage::without_daemon();
    stage.sync(&[json!({"id": "a", "t": "A"}), json!({"id": "b", "t": "B", "deps": ["a"]})]);
    stage.claim("w");
    run(&stage, "w", true);
    let done = stage.task_by("w", &["done", "a", "--result", r#"{"commit":"c0ffee"}"#]);
    assert_eq!(done.code(), Some(0));
    assert!(done.stdout_text().starts_with("proposed a: kept, and it counts as done when"), "{}", done.stdout_text());
    let again: Value = serde_json::from_str(&stage.task_ok("w", &["done", "a", "--json"])).unwrap();
    assert_eq!((&again["did"], &again["id"]), (&json!("proposed"), &json!("a")));
    assert_eq!(stage.plan_status(), "0 open, 1 active, 0 done, 1 blocked, 0 deleted");
    let listed = stage.task_list(&["list", "--json"]);
    assert_eq!((&listed[0]["s"], &listed[0]["state"]), (&json!("active"), &json!("proposed")));
    assert!(stage.task_ok("", &["list"]).contains("done, waiting for proof"));
    assert!(stage.task_ok("", &["show", "a"]).contains("\nstate: done, waiting for proof\n"));
    assert!(stage.task_ok("", &["peek"]).contains(r#""state":"proposed""#));
    assert_eq!(stage.show("a")["result"], Value::Null, "it is no result yet");
    let why = stage.task_list(&["why", "--json"]);
    assert!(why.iter().any(|why| why["kind"] == "proposed" && why["tasks"] == json!(["a"])), "{why:?}");
    assert_eq!(stage.task_ok("w", &["fail", "a", "--reason", "not yet"]), "failed a\n");
    assert_eq!((&stage.show("a")["state"], &stage.show("a")["fail_reason"]), (&json!("resting"), &json!("not yet")));
    stage.check_is_clean();
}

#[test]
fn l10_the_end_of_a_session_and_a_full_window_leave_what_was_said_to_be_done() {
    for ending in [AgentStep::End { reason: "other" }, AgentStep::Compact { trigger: "auto" }] {
        let stage = Stage::without_daemon();
        stage.tasks(&["a", "b"]);
        let mut agent = stage.looped("w1");
        agent.play(&[AgentStep::start(), AgentStep::prompt("work")]).unwrap();
        stage.claim("w1");
        stage.claim("w1");
        run(&stage, "w1", true);
        stage.task_ok("w1", &["done", "a"]);
        let call = agent.play(&[ending]).unwrap().remove(0);
        assert_eq!(call.finished.code(), Some(0));
        assert!(!call.finished.stderr_text().contains("failing task a"), "{}", call.finished.stderr_text());
        assert!(call.finished.stderr_text().contains("failing task b"), "{}", call.finished.stderr_text());
        assert_eq!((&stage.show("a")["state"], &stage.show("b")["s"]), (&json!("proposed"), &json!("open")));
    }
}

#[test]
fn l10_an_unproven_done_is_claimable_when_its_lease_lapses_and_says_why() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a"]);
    stage.claim("w");
    run(&stage, "w", true);
    stage.task_ok("w", &["done", "a"]);
    stage.task_ok("w", &["renew", "a", "--lease", "0"]);
    let next = stage.claim("w2");
    assert_eq!((&next["attempt"], &next["fail_reason"]), (&json!(2), &json!("said done, and never proven")));
}

#[test]
fn l10_a_task_with_its_own_command_is_proven_in_any_loop_and_nobody_outside_one_is_asked() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a"]);
    assert!(stage.task(&["create", "b", "B", "--verify", "make check"]).success());
    assert_eq!(stage.show("b")["verify"], "make check");
    stage.claim("person");
    stage.task_ok("person", &["claim", "b"]);
    stage.task_ok("person", &["renew", "b", "--lease", "0"]);
    assert_eq!(stage.task_ok("person", &["done", "a"]), "done a\n");
    run(&stage, "w", false);
    stage.claim("w");
    let told = stage.task_ok("w", &["done", "b"]);
    assert!(told.contains("`make check` passes"), "{told}");
    assert!(stage.task(&["update", "b", "--verify", ""]).success());
    assert_eq!(stage.show("b")["verify"], Value::Null);
}

#[test]
fn l10_an_agent_does_not_say_what_the_loop_runs() {
    let stage = Stage::without_daemon();
    assert!(stage.task(&["create", "a", "A", "--verify", "make check"]).success());
    for args in [
        &["create", "x", "X", "--verify", "true"][..],
        &["update", "a", "--verify", "true"],
        &["update", "a", "--verify", ""],
    ] {
        let refused = stage.task_by("w", args);
        assert_eq!(refused.code(), Some(1), "{args:?}");
        assert!(refused.stderr_text().contains("said by a person"), "{}", refused.stderr_text());
    }
    let plan = "{\"id\":\"a\",\"t\":\"AA\",\"verify\":\"true\"}\n{\"id\":\"c\",\"t\":\"C\",\"verify\":\"true\"}\n";
    let synced = stage.task_with(&["plan-sync"], &[("TAUT_AGENT_ID", "w")], plan);
    assert_eq!(synced.code(), Some(0));
    assert!(
        synced.stderr_text().contains("warning: the key 'verify' was left out for a, c"),
        "{}",
        synced.stderr_text()
    );
    assert_eq!((&stage.show("a")["verify"], &stage.show("c")["verify"]), (&json!("make check"), &Value::Null));
    assert!(stage.task_with(&["plan-sync"], &[], plan).success());
    assert_eq!(stage.show("c")["verify"], "true", "a person's plan says it");
    let secret =
        ["update", "a", "--verify", "curl -H 'Authorization: Bearer ghp_abcdefghijklmnopqrstuvwxyz0123456789' x"];
    let refused = stage.task(&secret);
    assert_eq!(refused.code(), Some(2));
    assert!(!refused.stderr_text().contains("ghp_"), "{}", refused.stderr_text());
}

#[test]
fn l10_in_a_proving_loop_no_agent_makes_a_task_done_by_hand() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a"]);
    run(&stage, "w", true);
    assert_eq!(stage.task_by("w", &["update", "a", "--status", "done"]).code(), Some(1));
    stage.write("plan.md", "- [x] A (id: a)\n");
    assert_eq!(stage.task_by("w", &["import", "plan.md"]).code(), Some(1));
    assert_eq!(stage.show("a")["s"], "open");
    assert_eq!(stage.task_ok("", &["update", "a", "--status", "done"]), "updated a\n");
}

#[test]
fn l10_in_a_proving_loop_no_agent_gets_round_the_proof_by_taking_a_task_away() {
    let stage = Stage::without_daemon();
    stage.sync(&[
        json!({"id": "a", "t": "A", "spec": "s.md"}),
        json!({"id": "b", "t": "B", "spec": "s.md", "deps": ["a"]}),
        json!({"id": "z", "t": "Z", "spec": "s.md"}),
    ]);
    assert!(stage.task(&["update", "z", "--status", "done"]).success());
    run(&stage, "w", true);
    for held in [false, true] {
        if held {
            stage.claim("w");
        }
        for args in [
            &["delete", "a"][..],
            &["delete", "--status", "open,active"],
            &["update", "a", "--status", "deleted"],
            &["update", "b", "--deps", ""],
            &["update", "b", "--deps", "z"],
            &["unblock", "b", "--by", "a"],
        ] {
            let refused = stage.task_by("w", args);
            assert_eq!(refused.code(), Some(1), "{args:?}: {}", refused.stdout_text());
            assert!(!refused.stderr_text().is_empty(), "{args:?}");
        }
        for plan in ["{\"id\":\"b\",\"t\":\"B\",\"spec\":\"s.md\"}\n", "{\"id\":\"y\",\"t\":\"Y\",\"spec\":\"s.md\"}\n"]
        {
            let synced = stage.task_with(&["plan-sync"], &[("TAUT_AGENT_ID", "w")], plan);
            assert!(synced.stderr_text().contains("proven by its loop"), "{plan}: {}", synced.stderr_text());
        }
        stage.write("plan.md", "- [ ] B (id: b)\n");
        stage.task_by("w", &["import", "plan.md"]);
        let standing = if held { "active" } else { "open" };
        assert_eq!((&stage.show("a")["s"], &stage.show("b")["deps"]), (&json!(standing), &json!(["a"])));
        assert_eq!(stage.show("b")["open_blockers"], 1);
    }
    let told = stage.task_by("w", &["delete", "a"]).stderr_text();
    assert!(told.contains("task 'a' is not deleted before it is done") && told.contains("taut task fail a"), "{told}");
    assert_eq!(stage.task_ok("other", &["unblock", "b", "--by", "a"]), "unblocked b from a\n");
    assert_eq!(stage.task_ok("", &["delete", "a"]), "deleted a\n", "a person may");
    stage.check_is_clean();
}

#[test]
fn l10_a_task_with_its_own_command_is_not_taken_away_in_any_loop() {
    let stage = Stage::without_daemon();
    assert!(stage.task(&["create", "a", "A", "--verify", "make check"]).success());
    assert!(stage.task(&["create", "b", "B", "--deps", "a"]).success());
    assert!(stage.task(&["create", "c", "C", "--deps", "b"]).success());
    run(&stage, "w", false);
    assert_eq!(stage.task_by("w", &["delete", "a"]).code(), Some(1));
    assert_eq!(stage.task_by("w", &["update", "b", "--deps", ""]).code(), Some(1));
    assert_eq!(stage.task_ok("w", &["update", "c", "--deps", ""]), "updated c\n", "nothing proves b");
    assert_eq!(stage.task_ok("w", &["delete", "b"]), "deleted b\n");
}
