//! Two processes of one machine at once: what one has heard of the server meanwhile, the other says, too.

use super::{Cut, LEASE_MS, Member, SharedServer, actor, clock};
use engine::queue::Refusal;
use pipeline::queue::{OnUnsure, Queue, QueueError, Settled};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;
use store::{BootTime, ClaimCopy, ClaimKept, ClaimWish, Durability, Store, TaskServer};

/// While the next command of this machine is about to speak to the server, the daemon has a whole round with it.
fn daemon_is_faster(server: &SharedServer, one: &mut Member) {
    let (state, mut way) = (one.home.folder("state"), Cut::on(server.way(&one.id, "one")));
    one.queue.at_meeting = Some(Box::new(move || {
        let mut store = Store::open_and_migrate(&state, Duration::from_secs(5)).unwrap();
        let daemon: Queue<'_> = Queue::new(&mut store, host::clock_reading::moment);
        daemon.on(&mut way).shared_round(OnUnsure::Tell).unwrap();
    }));
}

/// A task that was given to another machine after its lease.
fn given_away(server: &SharedServer) -> (Member, Member) {
    let (mut one, mut two) = (server.machine("one"), server.machine("two"));
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    server.lapse("a");
    assert_eq!(two.claim("bob").unwrap().task.queued.attempt, 2);
    (one, two)
}

fn is_lapsed(told: &QueueError) -> bool {
    matches!(told, QueueError::Refused { refusal: Refusal::Lapsed { attempt: 1, .. }, .. })
}

#[test]
fn q3_a_late_done_that_the_daemon_was_refused_for_it_is_refused_and_not_done() {
    let Some(server) = SharedServer::start() else { return };
    let (mut one, _two) = given_away(&server);
    daemon_is_faster(&server, &mut one);
    let told = one.done("ann", "a").unwrap_err();
    assert!(is_lapsed(&told) && told.to_string().contains("bob"), "{told}");
    assert_eq!(one.home.pipeline.store().unwrap().refused_turns().unwrap().len(), 1);
    assert_eq!(server.status("a"), "active 2");
}

#[test]
fn q3_a_late_done_that_the_daemon_was_refused_is_refused_though_the_server_is_gone_then() {
    let Some(server) = SharedServer::start() else { return };
    let (mut one, _two) = given_away(&server);
    daemon_is_faster(&server, &mut one);
    one.queue.away = true;
    let told = one.done("ann", "a").unwrap_err();
    assert!(is_lapsed(&told), "{told}");
}

#[test]
fn q3_a_done_that_the_daemon_has_said_meanwhile_is_done() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    daemon_is_faster(&server, &mut one);
    assert_eq!(one.done("ann", "a").unwrap(), Settled::Now);
    assert_eq!((server.status("a").as_str(), one.queue.words.len()), ("done 1", 0), "said once");
}

#[test]
fn q3_a_lease_that_the_daemon_finds_lost_while_it_is_renewed_is_not_said_to_go_on() {
    let Some(server) = SharedServer::start() else { return };
    let (mut one, _two) = given_away(&server);
    let project = one.project();
    daemon_is_faster(&server, &mut one);
    let told = one.queue().renew(&project, "a", &actor("ann"), LEASE_MS).unwrap_err();
    assert!(is_lapsed(&told) && told.to_string().contains("bob"), "{told}");
}

/// A claim was drawn and made, and nothing was heard of it for a while: its claimant wakes at the server's n-th question.
fn wakes_at(server: &SharedServer, question: usize) -> (bool, ClaimKept) {
    let mut one = server.machine("one");
    one.plan("a", &[]);
    let wish = ClaimWish {
        slug: None,
        agent: "ann".into(),
        session: None,
        lease_ms: LEASE_MS,
        claim: host::clock::uuid(clock().now),
    };
    let place = one.queue.place().clone();
    one.home.pipeline.store().unwrap().draw_claim(&wish.claim, &place, clock().now).unwrap();
    let claim = one.queue.claim(&wish).unwrap().unwrap();
    server.sql("UPDATE taut.tasks SET renewed_at = renewed_at - interval '2 minutes'");
    let (state, project, kept) = (one.home.folder("state"), one.project(), Rc::new(Cell::new(None)));
    let (seen, mut questions) = (Rc::clone(&kept), 0);
    one.queue.witness = Some(Box::new(move || {
        questions += 1;
        if questions != question {
            return;
        }
        let mut store = Store::open_and_migrate(&state, Duration::from_secs(5)).unwrap();
        let (project, place, claim) = (project.as_str(), &place, &claim);
        let sent = BootTime { ms: sys::clock::since_boot_ms(), boot: sys::clock::boot().to_owned() };
        let copy = ClaimCopy { project, place, claim, agent: "ann", session: None, token: "t", sent: &sent };
        seen.set(Some(store.transact(Durability::Full, |tx| tx.copy_claim(&copy, clock().now)).unwrap()));
    }));
    one.round().unwrap();
    let is_held = server.sql("SELECT status = 'active' FROM taut.tasks") == "t";
    server.sql("DELETE FROM taut.tasks");
    (is_held, kept.get().unwrap())
}

#[test]
fn x2_a_claimant_that_wakes_while_its_claim_is_given_back_never_keeps_what_the_server_has_not() {
    let Some(server) = SharedServer::start() else { return };
    for (question, found) in
        [(1, (true, ClaimKept::Kept)), (2, (false, ClaimKept::GivenBack)), (3, (false, ClaimKept::GivenBack))]
    {
        assert_eq!(wakes_at(&server, question), found, "at question {question}");
    }
}
