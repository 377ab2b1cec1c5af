//! The feed of changes (F1): who watches hears of every batch, and costs the others nothing.

use crate::home::{DaemonHome, Threaded, call};
use crate::raw::{CANNOT, answer, ask, connect, frame};
use daemon::{CallFailure, PeerLimits, Watch, WatchResult};
use std::io::{Read, Write};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(20);
const WATCH: u8 = 4;
const CHANGED: u8 = 20;

#[test]
fn f1_a_watcher_hears_of_a_call_and_of_the_next_one_and_is_quiet_between() {
    let daemon = Threaded::start(PeerLimits::default());
    let mut watch = Watch::open(&daemon.stage.folder()).unwrap();
    assert_eq!(watch.wait(LONG).unwrap(), WatchResult::Change, "the present state is told at once");
    assert_eq!(watch.wait(Duration::ZERO).unwrap(), WatchResult::Nothing);
    for request in ["one", "two"] {
        daemon.stage.client().hook(&call(request, "echo")).unwrap();
        assert_eq!(watch.wait(LONG).unwrap(), WatchResult::Change, "after {request}");
        assert_eq!(watch.wait(Duration::from_millis(1)).unwrap(), WatchResult::Nothing);
    }
}

#[test]
fn f1_what_changed_while_nobody_listened_is_told_once() {
    let daemon = Threaded::start(PeerLimits::default());
    let mut watch = Watch::open(&daemon.stage.folder()).unwrap();
    watch.wait(LONG).unwrap();
    for request in 0..100 {
        daemon.stage.client().hook(&call(&request.to_string(), "echo")).unwrap();
    }
    assert_eq!(watch.wait(LONG).unwrap(), WatchResult::Change);
    // The first of them was told as it came; asking on tells the rest as one.
    assert_eq!(watch.wait(LONG).unwrap(), WatchResult::Change);
    assert_eq!(watch.wait(Duration::from_millis(1)).unwrap(), WatchResult::Nothing);
}

#[test]
fn f1_a_watcher_that_never_reads_keeps_nobody_waiting() {
    let daemon = Threaded::start(PeerLimits::default());
    let mut deaf = connect(&daemon.stage.socket());
    deaf.write_all(&frame(1, WATCH, &[])).unwrap();
    for request in 0..500 {
        let answer = daemon.stage.client().hook(&call(&request.to_string(), "echo")).unwrap();
        assert_eq!(answer.stdout, "echo");
    }
    assert_eq!(answer(&mut deaf).0, CHANGED, "what it asked for");
    deaf.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
    assert!(deaf.read(&mut [0]).is_err(), "and nothing that it did not ask for");
}

#[test]
fn f1_a_watcher_learns_that_there_is_no_daemon_and_that_it_went_away() {
    let stage = DaemonHome::new();
    assert!(matches!(Watch::open(&stage.folder()), Err(CallFailure::Absent)));
    let daemon = Threaded::start(PeerLimits::default());
    let mut watch = Watch::open(&daemon.stage.folder()).unwrap();
    watch.wait(LONG).unwrap();
    drop(daemon);
    assert!(watch.wait(LONG).is_err(), "the connection is over, and so is the wait");
}

#[test]
fn a_count_of_the_wrong_width_is_read_leniently_and_an_unknown_kind_is_refused() {
    let daemon = Threaded::start(PeerLimits::default());
    let (kind, _) = ask(&daemon.stage.socket(), &frame(1, WATCH, &[(1, &[7])]));
    assert_eq!(kind, CHANGED, "seven was never the count, so the present one is told");
    let (kind, _) = ask(&daemon.stage.socket(), &frame(1, 5, &[]));
    assert_eq!(kind, CANNOT);
}
