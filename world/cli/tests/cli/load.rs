//! Many hooks at once, with a daemon, without one and with one that dies: nothing answered is lost, nothing stored twice.

use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use testkit::stage::{DAEMON, IN_PROCESS, LIMIT, Stage, signal};
use testkit::{poll, process};

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

/// One load at a time: together they are more than a hook's time allows for on a small machine.
fn alone() -> MutexGuard<'static, ()> {
    static LOADED: Mutex<()> = Mutex::new(());
    LOADED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn fire(stage: &Stage, nth: usize, env: &[(&str, &str)]) {
    let done = stage.hook(&payload(stage, nth), env);
    assert_eq!(done.code(), Some(0), "{nth}: {:?} {}", done.ending, done.stderr_text());
    assert_eq!(done.stdout.is_empty(), nth % 3 != 1, "{nth}: {} {}", done.stdout_text(), done.stderr_text());
}

#[test]
fn d7_sixty_four_hooks_at_once_are_all_recorded_with_and_without_a_daemon() {
    let _alone = alone();
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
    let _alone = alone();
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

/// A later release of the installed program, beside it. It is written by a child, because a file that this process has open for
/// writing may be inherited by a hook and is then "busy" when it is to be run.
fn later_release(stage: &Stage) -> PathBuf {
    let (program, written) = (stage.sandbox.bin(), stage.sandbox.root().join("written"));
    let mut bytes = fs::read(program).unwrap();
    let version = env!("CARGO_PKG_VERSION").as_bytes();
    let places: Vec<_> = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(version)).collect();
    for at in places {
        bytes[at] = b'9';
    }
    fs::write(&written, bytes).unwrap();
    let new = program.with_extension("new");
    for words in [["cp", "written", new.to_str().unwrap()], ["chmod", "755", new.to_str().unwrap()]] {
        let mut command = stage.sandbox.command(words[0]);
        command.args(&words[1..]).current_dir(stage.sandbox.root());
        assert!(process::run(command, b"", LIMIT).unwrap().success(), "{words:?}");
    }
    new
}

#[test]
fn i6_an_upgrade_under_load_replaces_the_daemon_and_loses_no_event() {
    let _alone = alone();
    let stage = Stage::installed().and_daemon();
    let (old, later) = (stage.daemon_pid().unwrap(), later_release(&stage));
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
        poll::until("the load to go on", LIMIT * 3, || (next.load(Ordering::Relaxed) >= UNDER_FIRE / 4).then_some(()))
            .unwrap();
        // As package managers do it.
        fs::rename(&later, stage.sandbox.bin()).unwrap();
        stage.start_daemon();
    });
    assert!(stage.succeed(&["version"]).starts_with("taut 9."));
    assert_ne!(stage.daemon_pid().unwrap(), old);
    assert_each_once(&stage, UNDER_FIRE);
}
