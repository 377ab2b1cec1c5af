//! Summed once, whoever sums and whenever.

use super::*;
use crate::{ForgetScope, Retention};
use std::time::Duration;

const DAY: i64 = 86_400_000;

fn day_of(at: Ms) -> i64 {
    at.0.div_euclid(DAY)
}

fn put(store: &Store, at: i64, session: &str, event: &str, verdict: &str, rules: &[&str], detail: &Value) {
    const PUT: &str = "INSERT INTO events (id, key, at, agent, session, event, tool, verdict, micros, rules, detail)
        VALUES (?1, ?1, ?2, 'ada', ?3, ?4, 'Bash', ?5, 1, ?6, ?7)";
    let rules = (!rules.is_empty()).then(|| json!(rules).to_string());
    let id = format!("{session}/{event}/{at}");
    store.conn.execute(PUT, params![id, at, session, event, verdict, rules, detail.to_string()]).unwrap();
}

fn week() -> (tempfile::TempDir, Store) {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path(), Duration::ZERO).unwrap();
    put(&store, 5, "s", "UserPromptSubmit", "pass", &[], &json!({}));
    let stop = json!({"stop": {"let_pass": ["rm-project"]}});
    put(&store, 6, "s", "PreToolUse", "deny", &["git-clean", "rm-project"], &stop);
    put(&store, 7, "s", "PreToolUse", "pass", &["git-clean"], &json!({"said_again": ["git-clean"]}));
    put(&store, 8, "s", "PreToolUse", "ask", &["sudo"], &json!({"status": {"from": "working", "to": "attention"}}));
    put(&store, DAY, "s", "Notification", "pass", &[], &json!({"status": {"from": "attention", "to": "checked"}}));
    put(&store, DAY + 8, "s", "PostToolUse", "pass", &[], &json!({"status": {"from": "checked", "to": "working"}}));
    (home, store)
}

fn told(store: &Store) -> Vec<String> {
    let all = store.event_sums(i64::MIN, i64::MAX, &day_of).unwrap().sums;
    let shown = all.iter().filter(|sum| sum.kind != SumKind::Event);
    shown.map(|sum| format!("{} {} {} {} {}", sum.day, sum.kind.name(), sum.name, sum.count, sum.ms)).collect()
}

const TOLD: [&str; 8] = [
    "0 prompt  1 0", "0 call Bash 3 0", "0 denied  1 0", "0 asked  1 0", "0 stopped git-clean 1 0",
    "0 stopped sudo 1 0", "0 said_again git-clean 1 0", "1 wait  1 86400000",
];

#[test]
fn f4_what_is_summed_and_what_is_not_yet_are_told_as_one() {
    let (_home, mut store) = week();
    assert_eq!(told(&store), TOLD, "nothing is summed");
    assert_eq!(store.sum_events(&day_of).unwrap(), SumProgress { summed: 6, left: 0 });
    assert_eq!(told(&store), TOLD, "all of it is");
    assert_eq!(store.sum_events(&day_of).unwrap(), SumProgress { summed: 0, left: 0 }, "and once");
    put(&store, 2 * DAY, "s", "PreToolUse", "pass", &[], &json!({}));
    assert_eq!(told(&store).last().map(String::as_str), Some("2 call Bash 1 0"));
}

#[test]
fn f4_a_wait_that_is_cut_by_a_step_is_told_whole_and_one_that_nobody_ended_is_not() {
    let (_home, mut store) = week();
    store.conn.execute("DELETE FROM events WHERE at > 8", []).unwrap();
    store.sum_events(&day_of).unwrap();
    let goes_on = json!({"status": {"from": "attention", "to": "working"}});
    put(&store, 30, "other", "PostToolUse", "pass", &[], &goes_on);
    assert!(!told(&store).iter().any(|sum| sum.contains("wait")), "another session of the same agent");
    store.conn.execute("DELETE FROM events WHERE at = 30", []).unwrap();
    put(&store, 28, "s", "PostToolUse", "pass", &[], &goes_on);
    assert_eq!(told(&store).last().map(String::as_str), Some("0 wait  1 20"));
}

#[test]
fn f4_sums_are_forgotten_with_what_they_count_and_rows_that_follow_count_anew() {
    let (_home, mut store) = week();
    store.sum_events(&day_of).unwrap();
    store.forget(&ForgetScope::Session("s".into())).unwrap();
    assert_eq!(told(&store), Vec::<String>::new());
    put(&store, 9 * DAY, "t", "PreToolUse", "pass", &[], &json!({}));
    store.sum_events(&day_of).unwrap();
    assert_eq!(told(&store), ["9 call Bash 1 0"], "its row has the number of one that is gone");
    // A clock that leaps is not believed: the age is what is another.
    let keep = Retention { ended_sessions_ms: -3 * DAY, ..Retention::default() };
    store.prune(Ms(9 * DAY + 1), &keep).unwrap();
    assert_eq!(told(&store), Vec::<String>::new(), "and what is old goes by itself");
}
