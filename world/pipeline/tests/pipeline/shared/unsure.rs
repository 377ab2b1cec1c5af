//! A lease that may be over, because its server was not reached: what becomes of the agent that has it, and of a machine
//! that slept meanwhile.

use super::leases::confirmed_at;
use super::{LEASE_MS, Member, SharedServer};
use crate::sleeper::Sleeper;
use pipeline::queue::{OnUnsure, SharedRound};
use serde_json::json;
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use store::{Durability, MessageFilter, StoppedFor, Store};

/// Longer ago than any lease, on the clock that goes on while the machine sleeps.
fn long_asleep() -> i64 {
    sys::clock::since_boot_ms() - 8 * 3_600_000
}

fn claim_of(member: &mut Member) -> String {
    let store = member.home.pipeline.store().unwrap();
    let server = store.server_of(super::QUEUE).unwrap().unwrap();
    store.shared_holds(&server).unwrap().remove(0).claim
}

/// What ann was told, read as another process reads it.
fn told_in(state: &Path) -> Vec<String> {
    let filter = MessageFilter { agent: Some("ann".into()), ..MessageFilter::default() };
    let store = Store::open_and_migrate(state, std::time::Duration::from_secs(5)).unwrap();
    store.addressed_messages(&filter).unwrap().into_iter().map(|row| row.message.body).collect()
}

/// A machine whose agent was started by Taut, and whose lease the server has not confirmed for long.
fn unsure(server: &SharedServer, leader: &Sleeper) -> Member {
    let mut one = server.machine("one");
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    one.queue().keep_all("ann", leader.process()).unwrap();
    one.queue.away = true;
    confirmed_at(&mut one, long_asleep());
    one
}

fn strict_round(member: &mut Member) {
    member.queue().shared_round(OnUnsure::Stop).unwrap_err();
}

#[test]
fn x2_an_agent_whose_lease_is_unsure_is_stopped_where_its_user_said_so_and_only_told_elsewhere() {
    let Some(server) = SharedServer::start() else { return };
    let (mut told, mut stopped) = (Sleeper::start(), Sleeper::start());
    let mut one = unsure(&server, &told);
    one.round().unwrap_err();
    assert!(told.lives(), "it is told, and goes on");
    assert_eq!(one.told("ann").len(), 1);
    assert_eq!(one.home.pipeline.store().unwrap().stopped_for("ann", super::long_ago()).unwrap(), None);
    one.queue().keep_all("ann", stopped.process()).unwrap();
    strict_round(&mut one);
    assert!(!stopped.lives() && told.lives(), "the group of now, and no other");
    assert_eq!(one.told("ann").len(), 1, "told once");
    let why = one.home.pipeline.store().unwrap().stopped_for("ann", super::long_ago()).unwrap();
    assert_eq!(why, Some(StoppedFor { slug: "a".into(), queue: super::QUEUE.into(), is_lost: false }));
}

#[test]
fn x2_a_lease_that_is_sure_stops_nobody() {
    let Some(server) = SharedServer::start() else { return };
    let mut leader = Sleeper::start();
    let mut one = unsure(&server, &leader);
    confirmed_at(&mut one, sys::clock::since_boot_ms());
    strict_round(&mut one);
    assert!(leader.lives());
    assert_eq!(one.told("ann"), Vec::<String>::new());
}

/// Whoever has the rounds is killed at its worst moments: what it was about to do is done by the next.
#[test]
fn x2_an_agent_is_stopped_though_whoever_was_to_stop_it_died_before_that() {
    let Some(server) = SharedServer::start() else { return };
    for stop_was_noted in [false, true] {
        let mut leader = Sleeper::start();
        let mut one = unsure(&server, &leader);
        let claim = claim_of(&mut one);
        let noted = one.home.pipeline.store().unwrap().transact(Durability::Full, |tx| {
            assert!(tx.note_unsure(&claim)?);
            if stop_was_noted { tx.note_stop(&claim) } else { Ok(()) }
        });
        noted.unwrap();
        strict_round(&mut one);
        assert!(!leader.lives(), "its stop on record: {stop_was_noted}");
        server.sql("DELETE FROM taut.tasks");
    }
}

/// The server is there all the time, and the machine is not: nothing of it runs while it sleeps.
#[test]
fn x2_a_machine_that_slept_is_unsure_of_what_it_held_before_it_says_a_word() {
    let Some(server) = SharedServer::start() else { return };
    let (mut one, mut two) = (server.machine("one"), server.machine("two"));
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    confirmed_at(&mut one, sys::clock::since_boot_ms() - LEASE_MS);
    server.lapse("a");
    assert_eq!(two.claim("bob").unwrap().task.queued.attempt, 2, "another has it meanwhile");
    // It wakes: what its agent knows at each word that is said to the server.
    let (known, state) = (Rc::new(RefCell::new(Vec::new())), one.home.folder("state"));
    let seen = Rc::clone(&known);
    one.queue.witness = Some(Box::new(move || seen.borrow_mut().push(told_in(&state))));
    let round = one.round().unwrap();
    one.queue.witness = None;
    let first = known.borrow().first().cloned().unwrap_or_default();
    assert!(first.len() == 1 && first[0].contains("another agent may have it by now"), "told before a word: {first:?}");
    assert_eq!((round.renewed, round.lost), (0, vec!["a".to_string()]));
    let refused = one.done("ann", "a").unwrap_err();
    assert!(refused.to_string().contains("lapsed") && refused.to_string().contains("refused"), "{refused}");
    let kept = one.home.pipeline.store().unwrap().refused_turns().unwrap();
    assert_eq!(kept[0].result, Some(json!({"commit": "c0ffee"})));
    assert_eq!(one.round().unwrap(), SharedRound::default());
    assert_eq!(server.status("a"), "active 2");
    two.done("bob", "a").unwrap();
    assert_eq!(server.status("a"), "done 2");
}
