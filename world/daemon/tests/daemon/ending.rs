//! A daemon ends when it is told to, when nobody wants it and when it has lost its place; nothing acknowledged is lost.

use crate::home::{DaemonHome, PATIENCE, Quiet, Threaded, call, is_gone, said, signal, until};
use crate::raw::{ANSWER, HOOK, answer, connect, frame};
use daemon::{CallFailure, Client, Service, StopResult};
use model::{Answer, Call};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

#[test]
fn a_signal_lets_what_was_begun_be_finished() {
    for by in [libc::SIGTERM, libc::SIGINT] {
        let stage = DaemonHome::new();
        stage.start();
        let pid = stage.pid();
        let whole = frame(1, HOOK, &[(1, b"last"), (2, b"echo")]);
        let mut begun = connect(&stage.socket());
        begun.write_all(&whole[..10]).unwrap();
        // Once this is answered the half frame is known to have been read.
        stage.client().status().unwrap();
        signal(pid, by);
        until("the socket to be gone", || !stage.socket().exists());
        begun.write_all(&whole[10..]).unwrap();
        assert_eq!(answer(&mut begun).0, ANSWER);
        until("the daemon to be gone", || is_gone(pid));
        assert_eq!(stage.notes(), ["last"]);
    }
}

#[test]
fn stop_waits_for_the_end_and_twice_is_once() {
    let stage = DaemonHome::new();
    stage.start();
    let pid = stage.pid();
    assert_eq!(daemon::stop(&stage.folder(), PATIENCE).unwrap(), StopResult::Ended);
    until("the daemon to be gone", || is_gone(pid));
    assert!(!stage.socket().exists());
    assert_eq!(daemon::stop(&stage.folder(), PATIENCE).unwrap(), StopResult::WasNotRunning);
}

#[test]
fn an_idle_daemon_ends_by_itself() {
    let stage = DaemonHome::new();
    let started = stage.command(&["daemon", "start"]).env("PROBE_IDLE_MS", "300").output().unwrap();
    assert!(said(&started).starts_with("Fresh"));
    until("the daemon to end", || !stage.socket().exists());
    assert!(stage.client().status().unwrap_err().is_absence());
}

/// Asked whether it is needed, it says so; how often is counted.
struct Needed(Arc<AtomicUsize>);

impl Service for Needed {
    fn hook_batch(&mut self, calls: Vec<Call>) -> Vec<Answer> {
        Quiet.hook_batch(calls)
    }

    fn rpc(&mut self, method: &str, params: Value) -> Result<Value, daemon::RpcFault> {
        Quiet.rpc(method, params)
    }

    fn is_needed(&mut self) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed);
        true
    }
}

#[test]
fn a_daemon_that_is_needed_or_has_company_outlasts_its_idle_time() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let daemon = Threaded::serving(
        move || Needed(Arc::clone(&asked)),
        |options| {
            (options.idle_exit, options.look_every) = (Duration::from_millis(10), Duration::from_millis(10));
        },
    );
    let company = UnixStream::connect(daemon.stage.socket()).unwrap();
    until("the company to be let in", || {
        let before = counted.load(Ordering::Relaxed);
        thread::sleep(Duration::from_millis(100));
        counted.load(Ordering::Relaxed) == before
    });
    drop(company);
    let before = counted.load(Ordering::Relaxed);
    until("it to be asked again, and again", || counted.load(Ordering::Relaxed) > before + 3);
    assert!(daemon.stage.client().status().is_ok());
}

#[test]
fn a_daemon_whose_home_vanished_ends() {
    let stage = DaemonHome::new();
    stage.start();
    let pid = stage.pid();
    fs::remove_dir_all(stage.folder()).unwrap();
    until("the daemon to be gone", || is_gone(pid));
    assert!(!stage.folder().exists(), "it does not make its home again");
}

#[test]
fn a_daemon_whose_home_was_replaced_ends_and_leaves_the_new_one_alone() {
    let stage = DaemonHome::new();
    stage.start();
    let pid = stage.pid();
    fs::rename(stage.folder(), stage.folder().with_extension("old")).unwrap();
    fs::create_dir(stage.folder()).unwrap();
    assert!(stage.start().starts_with("Fresh"));
    let new = stage.pid();
    until("the old daemon to be gone", || is_gone(pid));
    assert_eq!(stage.pid(), new);
}

#[test]
fn a_daemon_whose_socket_was_taken_away_ends() {
    let stage = DaemonHome::new();
    stage.start();
    let pid = stage.pid();
    fs::remove_file(stage.socket()).unwrap();
    until("the daemon to be gone", || is_gone(pid));
    assert!(stage.start().starts_with("Fresh"));
}

#[test]
fn d6_a_stopped_daemon_costs_its_share_of_time_and_is_named() {
    let stage = DaemonHome::new();
    stage.start();
    let pid = stage.pid();
    signal(pid, libc::SIGSTOP);
    let limit = Duration::from_millis(50);
    let failed = Client::new(&stage.folder(), limit).hook(&call("late", "echo")).unwrap_err();
    assert!(matches!(failed, CallFailure::TimedOut { limit: given } if given == limit), "{failed:?}");
    assert!(failed.to_string().contains("within 50 ms"));
    signal(pid, libc::SIGCONT);
    until("the late call to be noted under its own id", || stage.notes() == ["late"]);
}

#[test]
fn kill_9_under_load_loses_no_acknowledged_call() {
    let stage = DaemonHome::new();
    stage.start();
    let pid = stage.pid();
    let acknowledged = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for client in 0..8 {
            let (stage, acknowledged) = (&stage, &acknowledged);
            scope.spawn(move || {
                for index in 0.. {
                    let request = format!("{client}.{index}");
                    match stage.client().hook(&call(&request, "quiet")) {
                        Ok(_) => acknowledged.lock().unwrap().push(request),
                        Err(_) => break,
                    }
                }
            });
        }
        until("some load", || acknowledged.lock().unwrap().len() > 200);
        signal(pid, libc::SIGKILL);
    });
    let noted: BTreeSet<String> = stage.notes().into_iter().collect();
    let lost: Vec<_> = acknowledged.into_inner().unwrap().into_iter().filter(|call| !noted.contains(call)).collect();
    assert_eq!(lost, Vec::<String>::new());
}
