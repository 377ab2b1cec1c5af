//! Without a daemon: a command has one round, or waits until all is said.

use crate::machine::{Machine, Server};
use model::effort::{Addressee, RemoteAddressee};
use service::shared_sync::{SyncWish, sync_in};
use std::time::{Duration, Instant};
use store::{OutboxStanding, OwedAt, ServerError};

#[test]
fn q6_what_is_owed_is_said_without_a_daemon() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "summary");
    one.plan("a");
    sync_in(&one.setting, SyncWish::Once).unwrap();
    one.begin("ann", "acme");
    one.claim("ann").unwrap();
    one.end("ann", "acme");
    let report = sync_in(&one.setting, SyncWish::Wait(Duration::from_secs(60))).unwrap();
    assert!(report.is_through() && report.is_shared, "{report:?}");
    assert_eq!((report.done.said, server.sql("SELECT status FROM taut.tasks").as_str()), (1, "open"));
    assert!(report.done.events_sent > 0 && server.count("events") == report.done.events_sent);
    assert_eq!(server.count("agents"), 0, "a command is no agent");
}

#[test]
fn q6_a_sync_beside_a_daemon_is_the_same_machine() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "none");
    one.round();
    for _ in 0..3 {
        sync_in(&one.setting, SyncWish::Once).unwrap();
        one.rounds.hear_again();
        one.round();
    }
    assert!(one.notices().is_empty() && server.count("machines") == 1, "{:?}", one.notices());
}

#[test]
fn q6_a_server_that_is_away_is_waited_for_no_longer_than_was_said() {
    let mut one = Machine::new("vm-1");
    assert!(!sync_in(&one.setting, SyncWish::Wait(Duration::from_secs(600))).unwrap().is_shared, "nothing is shared");
    assert_eq!(one.store().known_machine().unwrap(), None);
    one.share("postgresql://taut_agent@127.0.0.1:1/taut", "none");
    let begun = Instant::now();
    let report = sync_in(&one.setting, SyncWish::Wait(Duration::from_millis(700))).unwrap();
    assert!(matches!(report.done.error, Some(ServerError::Away(_))), "{report:?}");
    assert!(!report.is_through() && begun.elapsed() < Duration::from_secs(60));
}

#[test]
fn q6_what_is_owed_to_another_server_keeps_no_sync_from_being_through_and_is_counted_apart() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "none");
    one.plan("a");
    one.begin("ann", "acme");
    one.claim("ann").unwrap();
    one.end("ann", "acme");
    let there = RemoteAddressee {
        server: "another".into(),
        machine: Some("m".into()),
        name: "api".into(),
        shown: "api@vm-3".into(),
    };
    one.write(one.message("note", Some(Addressee::Remote(Box::new(there))), "hello"));
    // Long, because nobody waits so long where all is said.
    let report = sync_in(&one.setting, SyncWish::Wait(Duration::from_secs(600))).unwrap();
    assert!(report.is_through(), "{report:?}");
    let nothing = OutboxStanding::default();
    assert_eq!((report.done.said, report.owed), (1, OwedAt { standing: nothing, unreadable: 0, elsewhere: 1 }));
    one.plan("b");
    one.begin("ben", "acme");
    one.claim("ben").unwrap();
    server.sql("REVOKE UPDATE ON taut.tasks FROM taut_agent");
    one.end("ben", "acme");
    let report = sync_in(&one.setting, SyncWish::Once).unwrap();
    assert!(!report.is_through() && report.owed.standing.turns == 1, "what this server is owed counts: {report:?}");
}
