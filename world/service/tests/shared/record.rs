//! The record: nothing without consent, each event once, and no secret in any of them.

use crate::machine::{Machine, Server, token};
use serde_json::json;

fn events(server: &Server) -> u64 {
    server.count("events")
}

fn stored(one: &mut Machine) -> u64 {
    one.store().events(&store::EventFilter::default()).unwrap().len() as u64
}

#[test]
fn x3_by_default_no_event_leaves_and_nothing_is_kept_for_it() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "none");
    one.begin("ann", "acme");
    one.bash(("ann", "acme"), "rm -rf /");
    one.round();
    assert_eq!(events(&server), 0);
    assert!(!server.dump().contains("rm -rf"), "nor by any other way");
    assert_eq!(one.store().unshipped().unwrap(), (0, 0));
}

#[test]
fn x3_what_happened_before_consent_and_in_other_projects_stays_here() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "none");
    one.begin("ann", "acme");
    one.round();
    one.share(&server.url("taut_agent"), "summary");
    one.round();
    assert_eq!(events(&server), 0, "agreed to by nobody");
    one.bash(("ann", "acme"), "git push --force origin main");
    one.begin("eve", "private");
    one.bash(("eve", "private"), "ls");
    assert_eq!(one.round().events_sent, 1);
    let row = server.sql("SELECT agent || ' ' || tool || ' ' || coalesce(reason, '-') || ' ' || coalesce(detail::text, '-') FROM taut.events");
    assert_eq!(row, "ann Bash - -", "a summary has neither reasons nor details");
    one.share(&server.url("taut_agent"), "full");
    one.bash(("ann", "acme"), "echo hello");
    one.round();
    let full = server.sql("SELECT detail::text FROM taut.events ORDER BY seq DESC LIMIT 1");
    assert!(full.contains("echo hello"), "{full}");
    let last = one.store().shared_state().unwrap().unwrap().last_event.unwrap();
    assert!(last.to_string().contains("echo hello"), "anybody can see what left: {last}");
    one.share(&server.url("taut_agent"), "none");
    one.bash(("ann", "acme"), "echo off");
    one.round();
    one.share(&server.url("taut_agent"), "full");
    one.round();
    assert!(!server.dump().contains("echo off"), "what happened while it was off stays here");
}

#[test]
fn x3_each_event_is_there_once_though_the_worker_dies_between_the_put_and_the_cursor() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "summary");
    one.round();
    let before = stored(&mut one);
    one.begin("ann", "acme");
    for n in 0..20 {
        one.bash(("ann", "acme"), &format!("echo {n}"));
    }
    let id = one.store().shared_state().unwrap().unwrap().server;
    let cursor = one.store().shipped(&id).unwrap().unwrap();
    for behind in [0, 3, 17] {
        one.round();
        // As after a death between the two.
        one.store().set_shipped(&id, cursor + behind).unwrap();
        one.restart();
    }
    one.round();
    let happened = stored(&mut one) - before;
    assert_eq!(events(&server), happened);
    assert_eq!(server.sql("SELECT count(DISTINCT id) FROM taut.events"), happened.to_string());
}

#[test]
fn t7_no_secret_arrives_by_any_way_that_something_leaves() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "full");
    one.round();
    let token = token();
    one.begin("ann", "acme");
    one.hook(("ann", "acme"), "UserPromptSubmit", json!({"prompt": format!("use {token}")}));
    one.bash(("ann", "acme"), &format!("curl -H 'Authorization: Bearer {token}' https://example.org"));
    one.hook(("ann", "acme"), "Notification", json!({"message": format!("may I use {token}?")}));
    one.hook(("ann", "acme"), "Stop", json!({"last_assistant_message": format!("done with {token}")}));
    let written = json!({"command": format!("echo {token}"), "plain": token});
    let mut event =
        model::row::Event::noted("PreToolUse", "ann", host::clock::uuid(host::clock::now()), host::clock::now());
    // As an older Taut may have stored it.
    (event.detail, event.reason) = (written, Some(format!("it has {token}")));
    event.session = one.store().agent("ann").unwrap().unwrap().session;
    let write = [model::effect::Write::Event(Box::new(event))];
    one.store().transact(store::Durability::Full, |tx| tx.apply(&write)).unwrap();
    one.plan(&format!("with-{token}").to_lowercase());
    assert!(one.round().events_sent > 3);
    let there = server.dump();
    assert!(there.contains("example.org") && !there.contains(&token), "{there}");
    assert!(!there.contains(&token[8..]), "nor a part of it");
}

#[test]
fn x3_a_server_that_is_away_for_long_blocks_nobody_and_what_goes_is_counted_and_said() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "summary");
    one.begin("ann", "acme");
    one.round();
    one.share("postgresql://taut_agent@127.0.0.1:1/taut", "summary");
    for n in 0..50 {
        assert_eq!(one.bash(("ann", "acme"), &format!("echo {n}")).answer.exit, 0);
    }
    assert!(one.try_round().error.is_some());
    let (waiting, _) = one.store().unshipped().unwrap();
    assert!(waiting >= 50, "{waiting}");
    let tight = store::Retention { bytes: 1, unsent_bytes: 1, rows: 10, ..store::Retention::default() };
    // What the server has goes first, then what it was still to be sent.
    for _ in 0..3 {
        one.store().prune(host::clock::now(), &tight).unwrap();
    }
    let (left, skipped) = one.store().unshipped().unwrap();
    assert!(left < waiting && skipped > 0, "{left} {skipped}");
    one.restart();
    one.share(&server.url("taut_agent"), "summary");
    one.round();
    assert!(one.notices().iter().any(|text| text.contains("events were forgotten")), "{:?}", one.notices());
    assert_eq!(events(&server), left);
}
