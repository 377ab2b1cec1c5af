//! Q2: many claimers at once.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use testkit::stage::Stage;

const CLAIMERS: usize = 200;
const TASKS: usize = 150;

#[test]
fn q2_two_hundred_claimers_get_no_task_twice_and_see_no_lock() {
    let stage = Stage::without_daemon();
    let plan: Vec<Value> = (0..TASKS).map(|n| json!({"id": format!("t/{n:03}"), "t": "T"})).collect();
    assert!(stage.sync(&plan).success());
    let claimed: Vec<_> = std::thread::scope(|scope| {
        let claim = |n: usize| {
            let stage = &stage;
            move || stage.task_by(&format!("w{n}"), &["claim", "--json"])
        };
        let running: Vec<_> = (0..CLAIMERS).map(|n| scope.spawn(claim(n))).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut got = BTreeSet::new();
    for done in &claimed {
        let talk = done.stderr_text();
        assert!(!talk.contains("lock") && !talk.contains("busy"), "{talk}");
        match done.code() {
            Some(0) => {
                let task: Value = serde_json::from_str(&done.stdout_text()).unwrap();
                assert!(got.insert(task["id"].as_str().unwrap().to_string()), "{} twice", task["id"]);
            }
            code => assert_eq!((code, talk.contains("No eligible tasks")), (Some(2), true), "{talk}"),
        }
    }
    assert_eq!(got.len(), TASKS);
    stage.check_is_clean();
}
