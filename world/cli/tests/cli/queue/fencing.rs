//! Q3 and Q4: only the live attempt may act.

use serde_json::json;
use testkit::stage::Stage;

#[test]
fn q3_a_late_done_fail_and_renew_are_refused_with_their_own_message() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a"]);
    stage.task_ok("old", &["claim", "--lease", "0"]);
    assert_eq!(stage.claim("new")["attempt"], 2);
    for args in [&["done", "a"][..], &["fail", "a", "--reason", "x"], &["renew", "a"]] {
        let late = stage.task_by("old", args);
        assert_eq!(late.code(), Some(2), "{args:?}");
        assert!(late.stderr_text().contains("attempt 1 of task 'a' lapsed at"), "{}", late.stderr_text());
        assert!(late.stderr_text().contains("attempt 2 of agent new"), "{}", late.stderr_text());
    }
    assert_eq!(stage.task_ok("new", &["done", "a"]), "done a\n");
    let outcomes: Vec<_> = stage.history("a").into_iter().map(|attempt| attempt["outcome"].clone()).collect();
    assert_eq!(outcomes, [json!("expired"), json!("done")]);
}

#[test]
fn q3_a_lapsed_attempt_is_refused_even_where_nobody_took_the_task() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a"]);
    stage.task_ok("w", &["claim", "--lease", "0"]);
    let late = stage.task_by("w", &["done", "a"]);
    assert_eq!(late.code(), Some(2));
    assert!(late.stderr_text().contains("lapsed"), "{}", late.stderr_text());
    assert_eq!(stage.show("a")["retry_count"], 1);
}

#[test]
fn q3_the_attempt_number_acts_for_its_attempt_alone_and_proves_nothing() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a"]);
    assert_eq!(stage.claim("w")["attempt"], 1);
    assert_eq!(stage.task_by("other", &["done", "a"]).code(), Some(2));
    assert_eq!(stage.task_by("other", &["done", "a", "--attempt", "7"]).code(), Some(2));
    assert_eq!(stage.task_by("other", &["done", "a", "--attempt", "1"]).code(), Some(2));
    assert_eq!(stage.task_by("w", &["done", "a", "--attempt", "7"]).code(), Some(2));
    assert_eq!(stage.task_ok("w", &["renew", "a", "--attempt", "1"]), "renewed a\n");
    assert_eq!(stage.task_ok("w", &["done", "a", "--attempt", "1"]), "done a\n");
}

#[test]
fn q3_the_same_agent_cannot_finish_with_the_word_of_an_earlier_attempt() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a"]);
    stage.task_ok("w", &["claim", "--lease", "0"]);
    assert_eq!(stage.claim("w")["attempt"], 2);
    assert_eq!(stage.task_by("w", &["done", "a", "--attempt", "1"]).code(), Some(2));
    assert_eq!(stage.show("a")["s"], "active");
}

#[test]
fn q5_failing_or_finishing_twice_is_success_with_a_note() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a", "b"]);
    stage.claim("w");
    stage.task_ok("w", &["fail", "a", "--reason", "context limit reached"]);
    let again = stage.task_by("w", &["fail", "a", "--reason", "session ended unexpectedly"]);
    assert!(
        again.success() && again.stderr_text().contains("note: task 'a' was left as it is"),
        "{}",
        again.stderr_text()
    );
    assert_eq!((&stage.show("a")["retry_count"], stage.history("a").len()), (&json!(1), 1));
    stage.task_ok("w", &["claim", "b"]);
    stage.task_ok("w", &["done", "b"]);
    assert!(stage.task_by("w", &["done", "b"]).stderr_text().contains("had finished it already"));
    assert!(stage.task_by("w", &["fail", "b"]).success());
    assert_eq!(stage.show("b")["s"], "done");
}

#[test]
fn q4_a_renewed_lease_counts_from_the_renewal() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a"]);
    stage.task_ok("w", &["claim", "--lease", "60"]);
    let before = stage.show("a")["lease_expires_at"].clone();
    stage.task_ok("w", &["renew", "a", "--lease", "900"]);
    assert!(stage.show("a")["lease_expires_at"].as_str() > before.as_str());
    stage.task_ok("w", &["renew", "a", "--lease", "0"]);
    assert_eq!(stage.claim("other")["attempt"], 2);
}
