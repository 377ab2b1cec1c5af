//! For certain, once in every run: somebody says that a task is done which another has by now. What is late is mostly
//! refused on its own machine, before anybody asks the server; this word is said to the server itself.

use super::seat::{Place, Seat};
use super::worker;
use engine::queue::Claimant;
use pipeline::queue::Claimed;
use serde_json::json;
use std::time::Duration;
use store::{ClaimWish, LeaseNeed, ServerClaim, ServerTurn, TurnAnswer};
use testkit::poll;

/// Of who is late, in milliseconds.
const SHORT: i64 = 500;
/// Of who has it in the end, and has to say so in time.
const LONG: i64 = 600_000;
const LIMIT: Duration = Duration::from_secs(60);

pub fn word(late: Place, next: Place) {
    let (mut late, mut next) = (late.take().expect("a server"), next.take().expect("a server"));
    let mine = claim(&mut late);
    let theirs = until_claimed(&mut next, &mine.task.queued.slug);
    let turn = done(&mine);
    let word = match late.server().settle(&turn).unwrap() {
        TurnAnswer::Written => "done",
        TurnAnswer::Lost(_) => "refused",
        TurnAnswer::Already => panic!("{turn:?} was said once"),
    };
    late.place.note(&format!("{word} {} {}", turn.slug, turn.attempt));
    worker::finish(&mut next, &theirs);
}

fn claim(seat: &mut Seat) -> ServerClaim {
    let claim = host::clock::uuid(host::clock::now());
    let wish = ClaimWish { slug: None, agent: seat.place.name.clone(), session: None, lease_ms: SHORT, claim };
    seat.server().claim(&wish).unwrap().expect("a task")
}

fn until_claimed(seat: &mut Seat, slug: &str) -> Claimed {
    let (project, claimant) = (seat.project(), Claimant::agent(&seat.place.name, LONG));
    poll::until("the lease to be over", LIMIT, || seat.queue().claim_one(&project, slug, &claimant).ok()).unwrap()
}

fn done(claim: &ServerClaim) -> ServerTurn {
    let task = &claim.task.queued;
    ServerTurn {
        id: task.row,
        slug: task.slug.clone(),
        was: "active".into(),
        attempt: task.attempt,
        claim: Some(claim.claim.clone()),
        need: Some(LeaseNeed::Live),
        status: "done".into(),
        retry_count: task.retry_count,
        failures: task.failures,
        releases: task.releases,
        fail_reason: None,
        rest_ms: None,
        result: Some(json!({ "commit": format!("{}#{}", task.slug, task.attempt) })),
        outcome: Some("done".into()),
        reason: None,
        step: -1,
    }
}
