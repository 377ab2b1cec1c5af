//! Two processes of one machine at once: what one has heard of the server meanwhile, the other says, too.

use super::{Cut, LEASE_MS, Member, SharedServer, actor};
use engine::queue::Refusal;
use pipeline::queue::{OnUnsure, Queue, QueueError, Settled};
use std::time::Duration;
use store::Store;

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
