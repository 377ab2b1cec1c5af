//! Many hooks at once, with a daemon, without one and with one that dies: nothing answered is lost, nothing stored twice.

use serde_json::json;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use testkit::poll;
use testkit::stage::{DAEMON, IN_PROCESS, LIMIT, Stage, signal};

const AT_ONCE: usize = 64;
const UNDER_FIRE: usize = 300;
const THREADS: usize = 8;

/// Calls with an id of their own, and prompts, which are told apart by their request alone.
fn payload(stage: &Stage, nth: usize) -> Vec<u8> {
    match nth % 3 {
        0 => stage.payload(&json!({"hook_event_name": "UserPromptSubmit", "prompt": format!("event-{nth}")})),
        1 => stage.bash(&format!("event-{nth}"), "rm -rf /"),
        _ => stage.bash(&format!("event-{nth}"), "ls"),
    }
}

/// How often each numbered event is stored.
fn counted(stage: &Stage) -> BTreeMap<usize, usize> {
    let mut counts = BTreeMap::new();
    for event in stage.events() {
        let detail = &event["detail"];
        let mark = detail["call"].as_str().or(detail["prompt"].as_str()).unwrap_or_default();
        if let Some(nth) = mark.strip_prefix("event-").and_then(|nth| nth.parse().ok()) {
            *counts.entry(nth).or_default() += 1;
        }
    }
    counts
}

fn assert_each_once(stage: &Stage, total: usize) {
    stage.take_in();
    let expected: BTreeMap<usize, usize> = (0..total).map(|nth| (nth, 1)).collect();
    assert_eq!(counted(stage), expected);
}

fn fire(stage: &Stage, nth: usize, env: &[(&str, &str)]) {
    let done = stage.hook(&payload(stage, nth), env);
    assert_eq!(done.code(), Some(0), "{nth}: {:?} {}", done.ending, done.stderr_text());
    assert_eq!(done.stdout.is_empty(), nth % 3 != 1, "{nth}: {} {}", done.stdout_text(), done.stderr_text());
}

#[test]
fn d7_sixty_four_hooks_at_once_are_all_recorded_with_and_without_a_daemon() {
    for (stage, env) in [(Stage::with_daemon(), DAEMON), (Stage::new(), IN_PROCESS)] {
        thread::scope(|scope| {
            for nth in 0..AT_ONCE {
                let stage = &stage;
                scope.spawn(move || fire(stage, nth, env));
            }
        });
        assert_each_once(&stage, AT_ONCE);
    }
}

#[test]
fn a_daemon_killed_under_load_loses_nothing_acknowledged_and_stores_nothing_twice() {
    let stage = Stage::with_daemon();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let nth = next.fetch_add(1, Ordering::Relaxed);
                    if nth >= UNDER_FIRE {
                        break;
                    }
                    fire(&stage, nth, DAEMON);
                }
            });
        }
        for round in 1..=3 {
            let reached = round * UNDER_FIRE / 4;
            poll::until("the load to go on", LIMIT * 3, || (next.load(Ordering::Relaxed) >= reached).then_some(()))
                .unwrap();
            if let Some(pid) = stage.daemon_pid() {
                signal(pid, libc::SIGKILL).unwrap();
            }
            let started = stage.taut(&["daemon", "start"]);
            assert!(started.success(), "{}", started.stderr_text());
        }
    });
    assert_each_once(&stage, UNDER_FIRE);
}

#[test]
fn a_daemon_that_is_stopped_leaves_no_process_behind() {
    let stage = Stage::with_daemon();
    stage.hook(&stage.bash("t", "ls"), DAEMON);
    assert!(!stage.sandbox.leftovers().is_empty());
    assert!(stage.taut(&["daemon", "stop"]).success());
    poll::until("the daemon to be gone", LIMIT, || stage.sandbox.leftovers().is_empty().then_some(())).unwrap();
}

#[test]
fn a_session_that_starts_brings_a_daemon_up_and_does_not_wait_for_it() {
    let stage = Stage::new();
    let done = stage.hook(&stage.payload(&json!({"hook_event_name": "SessionStart", "source": "startup"})), DAEMON);
    assert!(done.success() && done.stdout.is_empty() && !done.pipes_held, "{done:?}");
    poll::until("a daemon", LIMIT, || stage.daemon_pid()).unwrap();
    assert!(stage.taut(&["daemon", "stop"]).success());
}

#[test]
fn the_demo_leaves_no_process_behind() {
    let stage = Stage::new();
    let done = stage.taut(&["demo"]);
    assert!(done.success(), "{}{}", done.stdout_text(), done.stderr_text());
    poll::until("the demo's processes to end", LIMIT, || stage.sandbox.leftovers().is_empty().then_some(())).unwrap();
    assert!(!stage.database().exists(), "the demo keeps to its own home");
}
