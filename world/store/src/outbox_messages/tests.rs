//! What waits here while a server is away is bounded, and what is not bounded is a result.

use super::*;
use crate::prune::used_bytes;
use crate::task_server::ServerTurn;
use crate::{Clocks, RemoteAgent, RemoteAgentRow, Retention, outbox};
use model::effect::Write;
use model::effort::{Addressee, MemoryWrite};
use model::row::Event;
use model::{Level, Loaded, Ms, Needs};
use std::time::Duration;

const EVENTS: usize = 100_000;
/// Stored between two looks of a daemon.
const BATCH: usize = 5_000;
const RESULTS: usize = 3_000;
const MB: u64 = 1024 * 1024;

fn event(n: usize) -> Write {
    let mut event = Event::noted("PreToolUse", "ann", format!("id-{n}"), Ms(1_000 + n as i64));
    event.detail = serde_json::json!({"input": {"command": "x".repeat(400)}});
    event.verdict = if n.is_multiple_of(1_000) { Level::Deny } else { Level::Pass };
    Write::Event(Box::new(event))
}

/// As `taut send api@vm-3` does it: the room is asked for where the message is written. Whether it was.
fn send(store: &mut Store, n: usize) -> bool {
    let needs = Needs { addressee: Some("api@vm-3".into()), ..Needs::default() };
    store
        .transact(Durability::Normal, |tx| {
            let mut loaded = Loaded::default();
            tx.load(&needs, Ms(n as i64), &mut loaded)?;
            let Some(to @ Addressee::Remote(_)) = loaded.efforts.addressee else { panic!("nobody is meant") };
            let (id, kind, body) = (format!("m-{n}"), "note".to_string(), "x".repeat(500));
            let message = Message { id, at: Ms(1_000), kind, from_agent: None, to: Some(to), session: None, body };
            if !loaded.efforts.outbox_is_full {
                tx.apply(&[Write::Memory(MemoryWrite::Message(message))])?;
            }
            Ok(!loaded.efforts.outbox_is_full)
        })
        .unwrap()
}

fn done(nth: i64) -> ServerTurn {
    ServerTurn {
        id: nth,
        slug: format!("t/{nth}"),
        was: "active".into(),
        attempt: 1,
        claim: Some(format!("claim-{nth}")),
        need: None,
        status: "done".into(),
        retry_count: 0,
        failures: 0,
        releases: 0,
        fail_reason: None,
        rest_ms: None,
        result: Some(serde_json::json!({"commit": "c0ffee"})),
        outcome: Some("done".into()),
        reason: None,
        step: -1,
    }
}

fn finish(store: &mut Store, results: std::ops::Range<usize>) {
    let put = |conn: &Connection, nth: i64| {
        outbox::put_turn(conn, ("srv", "acme/shop"), (&format!("claim-{nth}"), None), (&done(nth), Ms(1_000)))
    };
    store
        .transact(Durability::Normal, |tx| tx.verb(|conn| results.clone().try_for_each(|nth| put(conn, nth as i64))))
        .unwrap();
}

#[test]
fn x2_what_waits_for_a_server_that_is_away_is_bounded_in_rows_and_bytes_and_no_result_is_dropped() {
    let home = tempfile::tempdir().unwrap();
    let mut store = Store::open(home.path(), Duration::from_secs(5)).unwrap();
    let told = RemoteAgentRow { name: "api".into(), ..RemoteAgentRow::default() };
    let (machine, label, agent) = ("m3".to_string(), "vm-3".to_string(), "id-api".to_string());
    store.put_remote_agents("srv", &[RemoteAgent { machine, label, agent, told, heard_at: Ms(1) }]).unwrap();
    store.begin_shipping("srv").unwrap();
    let keep = Retention { bytes: 12 * MB, unsent_bytes: 8 * MB, rows: 500, ..Retention::default() };
    let clocks = Clocks::at(Ms(200_000));
    let (mut sent, mut largest) = (0, 0);
    let rounds = EVENTS / BATCH;
    for round in 0..rounds {
        let events: Vec<Write> = (round * BATCH..(round + 1) * BATCH).map(event).collect();
        store.transact(Durability::Normal, |tx| tx.apply(&events)).unwrap();
        finish(&mut store, round * RESULTS / rounds..(round + 1) * RESULTS / rounds);
        let each = 2 * MOST_OUTGOING as usize / rounds;
        sent += (round * each..(round + 1) * each).filter(|n| send(&mut store, *n)).count();
        while store.prune_by(&clocks, &keep).unwrap().more {}
        largest = largest.max(store.read(used_bytes).unwrap());
    }
    let standing = store.outbox_standing().unwrap();
    assert_eq!(sent as u64, MOST_OUTGOING, "the others were refused");
    assert_eq!(standing.messages.cast_unsigned(), MOST_OUTGOING);
    assert_eq!(standing.turns, RESULTS as i64, "every result is there still");
    // A page or two that a step of pruning leaves.
    assert!(largest <= keep.bytes + keep.unsent_bytes + MB, "{largest} bytes");
    let (waiting, dropped) = store.unshipped().unwrap();
    assert_eq!(waiting + dropped, EVENTS as u64, "what was dropped is counted");
    assert!(dropped > 0 && waiting < EVENTS as u64 / 2, "{waiting} wait");
    const DENIED: &str = "SELECT count(*) FROM events WHERE verdict = 'deny'";
    let denied: i64 = store.read(|conn| conn.query_row(DENIED, [], |row| row.get(0))).unwrap();
    assert_eq!(denied as usize, EVENTS / 1_000, "what was stopped is dropped last");
    let owed = store.owed_in_turn("srv", "acme/shop").unwrap();
    let is_whole = |(n, seq): (usize, &i64)| store.owed_turn(*seq).unwrap().unwrap().turn == done(n as i64);
    assert!(owed.len() == RESULTS && owed.iter().enumerate().all(is_whole), "whole, and in their order");
}
