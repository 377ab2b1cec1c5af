//! What a claim finds, and what it is handed: nothing that stands elsewhere, or is on record already, keeps it from the next task.

use super::{LEASE_MS, Trap, claim, done, is_taken, uuid, wish};
use store::{ClaimWish, TaskServer};

/// Attempts that are on record though their tasks know nothing of them: after a failover, or out of a backup.
fn on_record(trap: &Trap, slug: &str, number: i32) {
    trap.server.sql(&format!(
        "INSERT INTO taut.attempts (task, number, claim, machine, agent, claimed_at)
         SELECT id, {number}, '{}', '{}', 'before', now() FROM taut.tasks WHERE slug = '{slug}'",
        uuid(),
        uuid()
    ));
}

fn named(slug: &str) -> ClaimWish {
    ClaimWish { slug: Some(slug.into()), ..wish(LEASE_MS) }
}

#[test]
fn x2_q2_an_attempt_that_is_on_record_already_gives_the_next_claim_another_number() {
    let Some(trap) = Trap::set(&[("a", &[]), ("b", &[])]) else { return };
    for (slug, number) in [("a", 1), ("a", 4), ("b", 1)] {
        on_record(&trap, slug, number);
    }
    let mut machine = trap.machine();
    let first = claim(&mut machine);
    assert_eq!((first.task.plan.slug.as_str(), first.task.queued.attempt), ("a", 5));
    assert!(is_taken(machine.settle(&done(&first)).unwrap()));
    let second = machine.claim(&named("b")).unwrap().unwrap();
    assert_eq!(second.task.queued.attempt, 2);
    assert!(is_taken(machine.settle(&done(&second)).unwrap()));
}

#[test]
fn x2_a_task_whose_attempts_on_record_are_at_their_end_stops_no_other() {
    let Some(trap) = Trap::set(&[("a", &[]), ("b", &[])]) else { return };
    on_record(&trap, "a", i32::MAX);
    let mut machine = trap.machine();
    assert_eq!(claim(&mut machine).task.plan.slug, "b");
    assert_eq!(machine.claim(&named("a")).unwrap(), None);
}
