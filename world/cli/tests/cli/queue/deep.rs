//! Q7: long chains and wide fans of dependencies.

use serde_json::{Value, json};
use testkit::stage::Stage;

const MANY: usize = 20_000;

fn slug(nth: usize) -> String {
    format!("t/{nth:05}")
}

/// Each waits for the one before it.
fn chain() -> Stage {
    let stage = Stage::without_daemon();
    let deps = |nth: usize| if nth == 0 { Vec::new() } else { vec![slug(nth - 1)] };
    let plan: Vec<Value> = (0..MANY).map(|nth| json!({"id": slug(nth), "t": "T", "deps": deps(nth)})).collect();
    assert!(stage.sync(&plan).success());
    stage
}

#[test]
fn q7_a_chain_of_twenty_thousand_is_shown_to_its_end() {
    let stage = chain();
    let shown = stage.task(&["deps", &slug(MANY - 1)]);
    assert!(shown.success(), "{:?} {}", shown.code(), shown.stderr_text());
    let text = shown.stdout_text();
    assert_eq!(text.lines().count(), MANY);
    assert!(text.lines().last().unwrap().ends_with(&format!("{} open", slug(0))), "{:?}", text.lines().last());
    assert!(text.len() < 200 * MANY, "{} bytes", text.len());
    let lines = stage.task_list(&["deps", &slug(MANY - 1), "--json"]);
    assert_eq!(lines.len(), MANY - 1);
    assert_eq!(lines[0], json!({"id": slug(MANY - 1), "by": slug(MANY - 2), "s": "open", "depth": 1}));
    assert_eq!(lines[MANY - 2], json!({"id": slug(1), "by": slug(0), "s": "open", "depth": MANY - 1}));
}

#[test]
fn q7_a_circle_through_a_chain_of_twenty_thousand_is_refused_in_few_words() {
    let stage = chain();
    let closing: Vec<Value> =
        (0..MANY).map(|nth| json!({"id": slug(nth), "t": "T", "deps": [slug((nth + MANY - 1) % MANY)]})).collect();
    for refused in [stage.task(&["block", &slug(0), "--by", &slug(MANY - 1)]), stage.sync(&closing)] {
        let said = refused.stderr_text();
        assert_eq!(refused.code(), Some(1), "{said}");
        assert!(said.contains("wait for each other") && said.len() < 2_000, "{} bytes", said.len());
    }
    assert_eq!(stage.plan_status(), format!("1 open, 0 active, 0 done, {} blocked, 0 deleted", MANY - 1));
    let why = stage.task_list(&["why", "--json"]);
    assert!(why.len() < 50 && why[0]["kind"] == "claimable", "{why:?}");
}

#[test]
fn q7_a_fan_of_twenty_thousand_is_made_shown_and_freed() {
    let stage = Stage::without_daemon();
    let mut plan: Vec<Value> = (0..MANY).map(|nth| json!({"id": slug(nth), "t": "T", "deps": ["root"]})).collect();
    let all: Vec<String> = (0..MANY).map(slug).collect();
    plan.push(json!({"id": "root", "t": "R"}));
    plan.push(json!({"id": "top", "t": "T", "deps": all}));
    assert!(stage.sync(&plan).success());
    assert_eq!(stage.task_list(&["deps", "top", "--json"]).len(), 2 * MANY);
    assert_eq!(stage.task_ok("", &["deps", "top"]).lines().count(), 2 * MANY + 1);
    stage.task_ok("w", &["claim", "root"]);
    stage.task_ok("w", &["done", "root"]);
    assert_eq!(stage.plan_status(), format!("{MANY} open, 0 active, 1 done, 1 blocked, 0 deleted"));
    stage.task_ok("", &["delete", "--status", "open"]);
    assert_eq!(stage.plan_status(), format!("0 open, 0 active, 1 done, 0 blocked, {} deleted", MANY + 1));
}

/// A circle is named by who really waits for whom; one that goes through what is done holds nobody up.
#[test]
fn q7_a_circle_is_named_as_it_is_and_one_that_holds_nobody_up_is_none() {
    let stage = Stage::without_daemon();
    stage.sync(&[
        json!({"id": "a", "t": "A"}),
        json!({"id": "b", "t": "B", "deps": ["a"]}),
        json!({"id": "c", "t": "C", "deps": ["b"]}),
    ]);
    let said = stage.task(&["block", "a", "--by", "c"]).stderr_text();
    assert!(["a → c → b → a", "b → a → c → b", "c → b → a → c"].iter().any(|round| said.contains(round)), "{said}");
    stage.task_ok("", &["delete", "b"]);
    assert_eq!(stage.task_ok("", &["block", "a", "--by", "c"]), "blocked a by c\n");
    assert_eq!(stage.claim("w")["id"], "c");
    let back = stage.sync(&[json!({"id": "b", "t": "B", "deps": ["a"]})]);
    assert_eq!(back.code(), Some(1), "it would wait for itself again");
}

#[test]
fn q7_a_task_made_again_after_it_was_deleted_does_not_bring_a_circle_back() {
    let stage = Stage::without_daemon();
    stage.sync(&[json!({"id": "a", "t": "A"}), json!({"id": "b", "t": "B", "deps": ["a"]})]);
    stage.task_ok("", &["delete", "b"]);
    assert!(stage.sync(&[json!({"id": "a", "t": "A", "deps": ["b"]})]).success());
    stage.task_ok("", &["create", "b", "B"]);
    assert_eq!(stage.show("b")["deps"], json!([]));
    assert_eq!(stage.claim("w")["id"], "b");
}
