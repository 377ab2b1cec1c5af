//! Rows as nobody's client writes them: one of them stops nobody's queue.

use super::{Trap, claim, done, expired, is_taken, plan, reap, wish};
use model::task::{Priority, TaskStatus};
use store::{ServerError, TaskFilter, TaskServer};

/// As an older schema, or an owner's hand, left it: without the bounds.
fn unchecked(trap: &Trap, columns: &[(&str, &str)]) {
    for (column, plain) in columns {
        trap.server.sql(&format!("ALTER TABLE taut.tasks ALTER {column} TYPE {plain}"));
    }
}

#[test]
fn x2_the_server_takes_no_row_that_no_client_would_write() {
    let Some(trap) = Trap::set(&[("a", &[])]) else { return };
    for wrong in [
        "priority = -1", "priority = 4", "steps = '{}'", "steps = '\"x\"'", "attempt = -1", "retry_count = -1",
        "failures = -1", "releases = -1", "open_blockers = -1",
    ] {
        let sql = format!("UPDATE taut.tasks SET {wrong}");
        let told = trap.server.cluster.sql_as("taut_agent", &trap.server.database, &sql);
        assert!(told.as_ref().is_err_and(|why| why.contains("check constraint")), "{wrong}: {told:?}");
    }
}

#[test]
fn x2_a_priority_and_steps_that_nobody_can_read_stop_no_claim_and_no_list() {
    let Some(trap) = Trap::set(&[("a", &[]), ("b", &[])]) else { return };
    unchecked(&trap, &[("priority", "smallint"), ("steps", "jsonb")]);
    trap.server.sql(
        r#"UPDATE taut.tasks SET priority = -1, steps = '[{"content": "one", "done": true}, 7, {"content": 1}]' WHERE slug = 'a';
           UPDATE taut.tasks SET priority = 300, steps = '{"x": 1}' WHERE slug = 'b'"#,
    );
    let mut machine = trap.machine();
    let listed = machine.tasks(&TaskFilter::default()).unwrap();
    let shown: Vec<_> =
        listed.iter().map(|task| (task.plan.slug.as_str(), task.plan.priority, task.plan.steps.len())).collect();
    assert_eq!(shown, [("a", Priority(0), 1), ("b", Priority(3), 0)]);
    plan(&mut machine, "c", &["b"]);
    for slug in ["a", "b"] {
        let held = claim(&mut machine);
        assert_eq!(held.task.plan.slug, slug);
        assert!(is_taken(machine.settle(&done(&held)).unwrap()));
    }
}

#[test]
fn x2_a_claim_that_cannot_be_read_goes_back_at_once_and_lets_the_next_one_through() {
    let Some(trap) = Trap::set(&[("a", &[]), ("b", &[])]) else { return };
    trap.server
        .sql("ALTER TABLE taut.tasks ALTER title DROP NOT NULL; UPDATE taut.tasks SET title = NULL WHERE slug = 'a'");
    let mut machine = trap.machine();
    let told = machine.claim(&wish(super::LEASE_MS));
    assert!(matches!(&told, Err(ServerError::Refused(why)) if why.contains("cannot read")), "{told:?}");
    assert_eq!(
        trap.server
            .sql("SELECT status || ' ' || releases || ' ' || (ready_at > now()) FROM taut.tasks WHERE slug = 'a'"),
        "open 0 true"
    );
    assert_eq!(trap.server.sql("SELECT outcome FROM taut.attempts"), "released");
    assert_eq!(claim(&mut machine).task.plan.slug, "b");
    let listed = machine.tasks(&TaskFilter::default()).unwrap();
    assert_eq!(
        listed.iter().map(|task| task.plan.slug.as_str()).collect::<Vec<_>>(),
        ["b"],
        "what can be read is shown"
    );
}

#[test]
fn x2_a_task_that_was_counted_to_the_end_stops_no_other_from_coming_back() {
    let Some(trap) = Trap::set(&[("a", &[]), ("b", &[]), ("c", &[])]) else { return };
    let mut machine = trap.machine();
    claim(&mut machine);
    claim(&mut machine);
    unchecked(&trap, &[("retry_count", "int"), ("releases", "int")]);
    trap.server.sql("UPDATE taut.tasks SET retry_count = 2147483647, releases = 2147483647 WHERE slug = 'a'");
    trap.lapse();
    let mut turns: Vec<_> = machine.lapsed(10).unwrap().iter().map(expired).collect();
    for turn in &mut turns {
        // As the engine counts.
        (turn.retry_count, turn.releases) = (turn.retry_count + 1, turn.releases + 1);
    }
    assert_eq!(machine.turns(&turns).unwrap().len(), 2);
    assert_eq!(trap.server.sql("SELECT releases FROM taut.tasks WHERE slug = 'a'"), "1000000");
    // And one whose attempts are at their end is claimed no more, and by nobody waited for.
    trap.server.sql("UPDATE taut.tasks SET attempt = 2147483647 WHERE slug = 'a'");
    assert_eq!(claim(&mut machine).task.plan.slug, "b");
}

#[test]
fn x2_a_turn_that_the_server_refuses_holds_up_none_of_the_others() {
    let Some(trap) = Trap::set(&[("a", &[]), ("b", &[])]) else { return };
    let mut machine = trap.machine();
    claim(&mut machine);
    claim(&mut machine);
    trap.server.sql("ALTER TABLE taut.tasks ADD CHECK (slug <> 'a' OR status <> 'open') NOT VALID");
    trap.lapse();
    assert_eq!(reap(&mut machine), 1);
    assert_eq!(
        trap.server.sql("SELECT string_agg(slug || ' ' || status, ', ' ORDER BY slug) FROM taut.tasks"),
        "a active, b open"
    );
}

#[test]
fn x2_a_count_of_blockers_that_was_wrong_keeps_no_blocker_from_its_end() {
    let Some(trap) = Trap::set(&[("a", &[]), ("b", &["a"])]) else { return };
    let mut machine = trap.machine();
    let held = claim(&mut machine);
    trap.server.sql("UPDATE taut.tasks SET open_blockers = 0 WHERE slug = 'b'");
    assert!(is_taken(machine.settle(&done(&held)).unwrap()));
    assert_eq!(trap.open_blockers("b"), 0);
    assert_eq!(machine.task("a").unwrap().unwrap().queued.status, TaskStatus::Done);
}
