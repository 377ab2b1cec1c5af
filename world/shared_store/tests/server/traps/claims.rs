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

#[test]
fn x2_rests_that_are_over_in_another_project_keep_nobody_here_from_a_claim() {
    let Some(trap) = Trap::set(&[("a", &[])]) else { return };
    trap.server.sql(
        "INSERT INTO taut.projects (name) VALUES ('acme/other');
         INSERT INTO taut.tasks (project, slug, title, ready_at)
           SELECT p.id, 't' || n, 't', now() - interval '1 hour' FROM taut.projects p, generate_series(1, 100) AS n
           WHERE p.name = 'acme/other';
         UPDATE taut.tasks SET ready_at = now() - interval '1 minute' WHERE slug = 'a'",
    );
    assert_eq!(claim(&mut trap.machine()).task.plan.slug, "a");
    let resting = "SELECT count(*) FROM taut.tasks WHERE ready_at IS NOT NULL";
    assert_eq!(trap.server.sql(resting), "100", "what is another project's is not touched");
}
