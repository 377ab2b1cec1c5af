//! What a claim finds, and what it is handed: nothing that stands elsewhere, or is on record already, keeps it from the next task.

use super::{LEASE_MS, Trap, claim, done, is_taken, uuid, wish};
use serde_json::Value;
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

#[test]
fn x2_what_blockers_resulted_in_is_handed_over_up_to_a_bound_and_of_the_rest_it_is_said_where_it_is() {
    let blockers = ["b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8"];
    let tasks: Vec<(&str, &[&str])> =
        blockers.iter().map(|slug| (*slug, &[][..])).chain([("next", &blockers[..])]).collect();
    let Some(trap) = Trap::set(&tasks) else { return };
    trap.server.sql(
        "UPDATE taut.tasks SET status = 'done', result = jsonb_build_object('commit', repeat('c', 1000000)) WHERE slug <> 'next';
         UPDATE taut.tasks SET open_blockers = 0 WHERE slug = 'next'",
    );
    let mut machine = trap.machine();
    let handed = claim(&mut machine).blocker_results;
    for results in [handed, machine.blocker_results("next").unwrap()] {
        assert_eq!(results.iter().map(|(slug, _)| slug.as_str()).collect::<Vec<_>>(), blockers);
        let (whole, left): (Vec<_>, Vec<_>) = results.iter().partition(|(_, result)| result.get("commit").is_some());
        assert_eq!((whole.len(), left.len()), (4, 4));
        for (slug, result) in left {
            let said = result.get("left_out").and_then(Value::as_str).unwrap_or_default();
            assert!(said.contains(&format!("`taut task show {slug}`")), "{result}");
        }
    }
}
