//! Q8 on a shared queue: what Taut started for an attempt is stopped when the server says that the attempt is over and that
//! somebody else is to do the task, and nothing else ever is.

use super::leases::{confirmed_at, quarter_ago};
use super::{Cut, LEASE_MS, Member, QUEUE, SharedServer, actor};
use crate::sleeper::Sleeper;
use engine::queue::{Actor, Claimant, Speaker};
use model::ClientProcess;
use model::task::ClockReading;
use pipeline::queue::{OnUnsure, Queue, QueueError};
use serde_json::Value;
use std::time::Duration;
use store::{ClaimWish, Durability, StoppedFor, Store, TaskServer};

/// A machine whose agent was started by Taut for the task it holds.
fn working(server: &SharedServer, label: &str, slug: &str, leader: &Sleeper) -> Member {
    let mut one = server.machine(label);
    one.plan(slug, &[]);
    one.claim("ann").unwrap();
    one.queue().keep_all("ann", leader.process()).unwrap();
    one
}

fn stopped(member: &mut Member) -> Option<StoppedFor> {
    member.home.pipeline.store().unwrap().stopped_for("ann", super::long_ago()).unwrap()
}

#[test]
fn q8_a_lost_lease_stops_what_taut_started_and_nothing_else() {
    let Some(server) = SharedServer::start() else { return };
    let (mut lost, mut sure) = (Sleeper::start(), Sleeper::start());
    let mut one = working(&server, "one", "a", &lost);
    for slug in ["b", "c"] {
        one.plan(slug, &[]);
    }
    one.claim("bea").unwrap();
    one.queue().keep_all("bea", sure.process()).unwrap();
    one.claim("cleo").unwrap();
    for slug in ["a", "c"] {
        server.lapse(slug);
    }
    // Of the same name, and another machine's all the same.
    let mut two = server.machine("two");
    two.claim("ann").unwrap();
    two.claim("ann").unwrap();
    confirmed_at(&mut one, quarter_ago());
    let round = one.round().unwrap();
    assert_eq!((round.lost, round.renewed), (vec!["a".to_string(), "c".to_string()], 1));
    assert!(!lost.lives(), "it worked on beside the new holder");
    assert!(sure.lives());
    let why = StoppedFor { slug: "a".into(), queue: QUEUE.into(), is_lost: true };
    assert_eq!(stopped(&mut one), Some(why), "whoever started it reads there why it ended");
    assert_eq!((server.status("a"), server.status("b")), ("active 2".into(), "active 1".into()));
}

#[test]
fn q8_another_agent_of_the_same_machine_that_is_given_the_task_finds_who_had_it_stopped() {
    let Some(server) = SharedServer::start() else { return };
    let mut lost = Sleeper::start();
    let mut one = working(&server, "one", "a", &lost);
    server.lapse("a");
    assert_eq!(one.claim("bob").unwrap().task.queued.attempt, 2);
    assert!(!lost.lives());
}

#[test]
fn q8_who_has_the_task_again_is_spared_also_before_that_is_written_down_here() {
    let Some(server) = SharedServer::start() else { return };
    let mut leader = Sleeper::start();
    let mut one = working(&server, "one", "a", &leader);
    server.lapse("a");
    server.machine("two").round().unwrap();
    // Its agent claims anew, and the process that does so has not come to write that down.
    let place = one.queue.place().clone();
    let claim = host::clock::uuid(host::clock::now());
    one.home.pipeline.store().unwrap().draw_claim(&claim, &place, host::clock::now()).unwrap();
    let wish = ClaimWish { slug: None, agent: "ann".into(), session: None, lease_ms: LEASE_MS, claim };
    server.way(&one.id, "one").claim(&wish).unwrap().unwrap();
    one.round().unwrap();
    assert!(leader.lives() && stopped(&mut one).is_none());
    // And after it was.
    server.lapse("a");
    assert_eq!(one.claim("ann").unwrap().task.queued.attempt, 3);
    one.queue().keep_all("ann", leader.process()).unwrap();
    one.round().unwrap();
    assert!(leader.lives());
}

#[test]
fn q8_an_agent_whose_attempt_a_person_ended_elsewhere_is_stopped_where_somebody_else_is_to_finish_the_task() {
    let Some(server) = SharedServer::start() else { return };
    let (mut done, mut back) = (Sleeper::start(), Sleeper::start());
    let mut one = working(&server, "one", "a", &done);
    let mut three = working(&server, "three", "b", &back);
    let mut two = server.machine("two");
    let (there, person) = (two.project(), Actor { attempt: Some(1), speaker: Speaker::Person, ..actor("ada") });
    two.queue().done(&there, "a", &person, Value::Null).unwrap();
    two.queue().fail(&there, "b", &person, "try it otherwise").unwrap();
    assert_eq!(one.round().unwrap().lost, ["a"]);
    assert_eq!(three.round().unwrap().lost, ["b"]);
    assert!(done.lives(), "nobody does it a second time");
    assert!(!back.lives(), "the task is anybody's again");
}

/// Of a process that is not the one that leads our group now, so that nobody is stopped whatever becomes of this.
#[test]
fn q8_a_command_of_the_very_agent_that_lost_its_task_leaves_it_to_another_process_to_stop_it() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    let group = sys::process_stat::stat(std::process::id()).unwrap().unwrap().group;
    let leader = ClientProcess { pid: u32::try_from(group).unwrap(), started: 1 };
    one.queue().keep_all("ann", leader).unwrap();
    server.lapse("a");
    server.machine("two").claim("bob").unwrap();
    confirmed_at(&mut one, quarter_ago());
    assert_eq!(one.round().unwrap().lost, Vec::<String>::new());
    assert_eq!(one.home.pipeline.store().unwrap().shared_hold_count().unwrap(), 1, "the next round finds it");
}

#[test]
fn q8_a_machine_that_finds_out_that_it_is_a_copy_stops_nothing_that_another_may_have_started() {
    let Some(server) = SharedServer::start() else { return };
    let mut others = Sleeper::start();
    let mut copy = working(&server, "one", "a", &others);
    let store = copy.home.pipeline.store().unwrap();
    let there = store.server_of(QUEUE).unwrap().unwrap();
    assert_eq!(copy.queue().give_up_holds(&there).unwrap(), 1);
    assert!(others.lives());
}

#[test]
fn q8_a_claimant_that_wakes_when_its_claim_was_given_back_takes_the_task_from_nobody() {
    let Some(server) = SharedServer::start() else { return };
    let mut leader = Sleeper::start();
    let mut one = server.machine("one");
    one.plan("a", &[]);
    let (state, project, process) = (one.home.folder("state"), one.project(), leader.process());
    let (mut way, database) = (Cut::on(server.way(&one.id, "one")), server.database.clone());
    let cluster = server.cluster;
    // It stands still for so long that the daemon gives its claim back, and ann is given the task.
    one.queue.after_claim = Some(Box::new(move || {
        cluster.sql(&database, "UPDATE taut.tasks SET renewed_at = renewed_at - interval '2 minutes'");
        let mut store = Store::open_and_migrate(&state, Duration::from_secs(5)).unwrap();
        let mut daemon = Queue::new(&mut store, host::clock_reading::moment).on(&mut way);
        daemon.shared_round(OnUnsure::Tell).unwrap();
        daemon.claim_first(&project, &Claimant::agent("ann", LEASE_MS)).unwrap().unwrap();
        daemon.keep_all("ann", process).unwrap();
    }));
    let project = one.project();
    let told = one.queue().claim_first(&project, &Claimant::agent("bob", LEASE_MS)).unwrap_err();
    assert!(matches!(&told, QueueError::Wrong(why) if why.contains("was given back")), "{told}");
    assert!(leader.lives(), "who has the task works on");
    let round = one.round().unwrap();
    assert!(round.lost.is_empty() && leader.lives(), "{round:?}");
    let hold = one.home.pipeline.store().unwrap().all_shared_holds().unwrap().remove(0);
    assert_eq!((hold.agent.as_str(), hold.attempt, server.status("a").as_str()), ("ann", 2, "active 2"));
}

/// As if the machine had stood still for an hour since something was heard of whoever has `a`.
fn slept(member: &mut Member) {
    let moment = host::clock_reading::moment();
    let then = model::Ms(moment.now.0 - 3_600_000);
    let project = member.project();
    let store = member.home.pipeline.store().unwrap();
    let held = store.task(&project, "a").unwrap().unwrap().queued;
    let mut turn = engine::queue::kept(&held, then).unwrap();
    turn.at = then;
    let before = ClockReading { now: then, ..moment };
    let heard = model::effect::Write::Task(Box::new(turn));
    store.transact(Durability::Full, |tx| tx.apply(&[heard]).and_then(|()| tx.note_moment(&before))).unwrap();
    confirmed_at(member, quarter_ago());
}

#[test]
fn q8_after_a_sleep_who_held_a_task_may_renew_before_its_machine_ends_its_lease() {
    let Some(server) = SharedServer::start() else { return };
    let mut leader = Sleeper::start();
    let mut one = working(&server, "one", "a", &leader);
    server.lapse("a");
    slept(&mut one);
    let round = one.round().unwrap();
    assert_eq!((round.renewed, round.expired.len(), round.lost.len()), (1, 0, 0), "{round:?}");
    assert_eq!(server.status("a"), "active 1");
    // And where another machine ended it meanwhile, and nobody has it, it is told and not stopped.
    server.lapse("a");
    server.machine("two").round().unwrap();
    slept(&mut one);
    assert_eq!(one.round().unwrap().lost, ["a"]);
    assert!(leader.lives(), "nobody works beside it");
}
