//! One agent: claims, works a little, and finishes; writes down what it was told. It may be killed or stopped anywhere.

use super::seat::{LEASE_MS, Place, Seat};
use crate::dice::Dice;
use engine::queue::{Actor, Claimant, Speaker};
use pipeline::queue::{Claimed, QueueError, Settled};
use serde_json::json;
use std::time::{Duration, Instant};

/// It is not known whether it was heard.
pub const UNHEARD: &str = "unheard";
const NOTHING_TO_DO: Duration = Duration::from_millis(60);

pub fn run() {
    let Some(mut seat) = Place::here().take() else { return };
    let mut dice = Dice::new(u64::from(std::process::id()) * 0x9e37_79b9);
    let claimant = Claimant::agent(&seat.place.name, LEASE_MS);
    while !seat.place.is_over() {
        let project = seat.project();
        match seat.queue().claim_first(&project, &claimant) {
            Ok(Some(claimed)) => work(&mut seat, &mut dice, &claimed),
            Ok(None) | Err(_) => std::thread::sleep(NOTHING_TO_DO),
        }
    }
}

fn work(seat: &mut Seat, dice: &mut Dice, claimed: &Claimed) {
    let slug = claimed.task.queued.slug.as_str();
    let name = seat.place.name.clone();
    let actor = actor(seat, claimed);
    let project = seat.project();
    if dice.one_in(100) {
        outlast(seat, slug, &actor);
    } else {
        std::thread::sleep(Duration::from_millis(dice.below(12) as u64));
    }
    if dice.one_in(30) {
        // As a loop does after a crash of its agent: claimable at once.
        let _ = seat.queue().fail(&project, slug, &actor, "session exited without completing task");
        return;
    }
    if dice.one_in(30) {
        let _ = seat.queue().release_all(&name, "context limit reached");
        return;
    }
    finish(seat, claimed);
}

fn actor(seat: &Seat, claimed: &Claimed) -> Actor {
    let name = &seat.place.name;
    Actor {
        agent: name.clone(),
        attempt: Some(claimed.task.queued.attempt),
        token: Some(claimed.token.clone()),
        speaker: Speaker::agent(name),
    }
}

/// Says that it is done, and writes down the answer; gives its word.
pub fn finish(seat: &mut Seat, claimed: &Claimed) -> &'static str {
    let (project, actor) = (seat.project(), actor(seat, claimed));
    let (slug, attempt) = (claimed.task.queued.slug.as_str(), claimed.task.queued.attempt);
    let result = json!({"commit": format!("{slug}#{attempt}")});
    let word = match seat.queue().done(&project, slug, &actor, result) {
        Ok(Settled::Now) => "done",
        Ok(Settled::Kept { .. }) => "kept",
        Ok(Settled::Already(_) | Settled::Proposed { .. }) => "already",
        Err(QueueError::Server { .. } | QueueError::Store(_)) => UNHEARD,
        Err(_) => "refused",
    };
    seat.place.note(&format!("{word} {slug} {attempt}"));
    word
}

/// Works longer than a lease, and renews it on the way.
fn outlast(seat: &mut Seat, slug: &str, actor: &Actor) {
    let until = Instant::now() + Duration::from_millis(LEASE_MS as u64 * 3 / 2);
    let project = seat.project();
    while Instant::now() < until {
        std::thread::sleep(Duration::from_millis(LEASE_MS as u64 / 6));
        let _ = seat.queue().renew(&project, slug, actor, LEASE_MS);
    }
}
