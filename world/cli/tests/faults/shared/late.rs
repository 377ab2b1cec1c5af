//! For certain, once in every run: somebody says that a task is done which another has by now. What is late is mostly
//! refused on its own machine, before anybody asks the server; this word is said to the server itself.

use super::seat::{Place, Seat};
use super::{ledger, worker};
use engine::queue::Claimant;
use pipeline::queue::{Claimed, OnUnsure, QueueError};
use serde_json::json;
use std::time::Duration;
use store::{ClaimWish, LeaseNeed, ServerClaim, ServerError, ServerTurn, TurnAnswer};
use testkit::poll;

/// Of who is late, in milliseconds.
const SHORT: i64 = 500;
/// Of who has it in the end, and has to say so in time.
const LONG: i64 = 600_000;
/// A claim whose answer was lost goes back after a minute.
const LIMIT: Duration = Duration::from_secs(180);

pub fn word(late: Place, next: Place) {
    let (mut late, mut next) = (late.take().expect("a server"), next.take().expect("a server"));
    let mine = claim(&mut late);
    let theirs = until_claimed(&mut next, &mine.task.queued.slug);
    let turn = done(&mine);
    let mut said = 0;
    let answer = answered("the late word to be heard", || {
        said += 1;
        late.server().settle(&turn)
    });
    let word = match answer {
        TurnAnswer::Written => "done",
        TurnAnswer::Lost(_) => "refused",
        // It was heard before, and the answer to that was lost.
        TurnAnswer::Already if said > 1 => "done",
        TurnAnswer::Already => panic!("{turn:?} was said once"),
    };
    late.place.note(&format!("{word} {} {}", turn.slug, turn.attempt));
    let heard = || (worker::finish(&mut next, &theirs) != worker::UNHEARD).then_some(());
    poll::until("the word of who has it", LIMIT, heard).unwrap();
    // Nobody else is on this machine who would say what it owes.
    let said = || {
        let _ = next.queue().shared_round(OnUnsure::Tell);
        (ledger::owed(&next.place.home) == 0).then_some(())
    };
    poll::until("nothing to be owed", LIMIT, said).unwrap();
}

/// Asked again where the server was away or busy: on a busy machine an answer takes longer than anybody here waits for it.
fn answered<T>(what: &str, mut verb: impl FnMut() -> Result<T, ServerError>) -> T {
    let heard = || match verb() {
        Err(ServerError::Away(_) | ServerError::Busy(_)) => None,
        answer => Some(answer.unwrap()),
    };
    poll::until(what, LIMIT, heard).unwrap()
}

fn claim(seat: &mut Seat) -> ServerClaim {
    let claim = host::clock::uuid(host::clock::now());
    let wish = ClaimWish { slug: None, agent: seat.place.name.clone(), session: None, lease_ms: SHORT, claim };
    answered("the claim to be answered", || seat.server().claim(&wish)).expect("a task")
}

fn until_claimed(seat: &mut Seat, slug: &str) -> Claimed {
    let (project, claimant) = (seat.project(), Claimant::agent(&seat.place.name, LONG));
    let claimed = || match seat.queue().claim_one(&project, slug, &claimant) {
        Ok(claimed) => Some(claimed),
        // What was claimed all the same is handed back by a round.
        Err(QueueError::Server { .. }) => seat.queue().shared_round(OnUnsure::Tell).ok().and(None),
        Err(_) => None,
    };
    poll::until("the lease to be over", LIMIT, claimed).unwrap()
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
