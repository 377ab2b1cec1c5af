//! Who waits is told once, whoever ends what it waits for, and however many at the same moment.

use super::{Trap, claim, done, is_taken, ours, run, statement, turns, unhindered};
use shared_store::{InTransaction, Statement, Transaction};
use std::thread;
use store::{ServerTurn, TaskServer, TurnAnswer};
use testkit::poll;

/// What most would write: count again.
const RECOUNT: &str = "UPDATE {s}.tasks t SET open_blockers = (SELECT count(*) FROM {s}.task_deps d \
    JOIN {s}.tasks b ON b.id = d.blocker WHERE d.task = t.id AND b.status NOT IN ('done', 'deleted')) \
    WHERE id IN (SELECT task FROM {s}.task_deps WHERE blocker = $1::bigint)";

/// Both blockers of `c` end at once. Gives what `c` counts in the end.
fn both_end_at_once(trap: &Trap, tell: impl Fn(&ServerTurn) -> Statement + Sync) -> i64 {
    let first = done(&claim(&mut trap.machine()));
    let second = done(&claim(&mut trap.machine()));
    let (mut one, mut two) = (trap.raw(), trap.raw());
    let (mut one, mut two) = (one.begin(), two.begin());
    run(&mut one, &[ours("turn", &[&turns(&[&first])])]);
    run(&mut two, &[ours("turn", &[&turns(&[&second])])]);
    run(&mut one, &[tell(&first)]);
    thread::scope(|scope| {
        scope.spawn(|| {
            run(&mut two, &[tell(&second)]);
            two.commit().unwrap();
        });
        trap.until_waiting(1);
        one.commit().unwrap();
    });
    trap.open_blockers("c")
}

#[test]
fn x2_q1_two_blockers_that_end_at_once_leave_nobody_waiting() {
    let tasks: [(&str, &[&str]); 3] = [("a", &[]), ("b", &[]), ("c", &["a", "b"])];
    let Some(trap) = Trap::set(&tasks) else { return };
    assert_ne!(
        both_end_at_once(&trap, |turn| statement(RECOUNT, &[&turn.id.to_string()])),
        0,
        "a count sees too little"
    );
    let Some(trap) = Trap::set(&tasks) else { return };
    assert_eq!(both_end_at_once(&trap, |turn| ours("turned", &[&turns(&[turn])])), 0);
}

/// Ending a task and telling who waits in one statement, as one would.
const AT_ONCE: &str = "WITH d AS (UPDATE {s}.tasks SET status = 'done', machine = NULL, claim = NULL, agent = NULL, \
    lease_until = NULL, lease_ms = NULL WHERE id = $1::bigint AND status = 'active' AND attempt = $2::int RETURNING id) \
    UPDATE {s}.tasks t SET open_blockers = open_blockers - 1 FROM {s}.task_deps e, d WHERE e.blocker = d.id AND t.id = e.task";

/// A planner has begun to change who waits for `a`, and ends while whoever has `a` says that it is done. Gives what `c`
/// counts in the end.
fn planned_while_ending(
    trap: &Trap,
    plans: impl FnOnce(&mut Transaction<'_>),
    finish: impl FnOnce(&Trap, &ServerTurn) + Send,
) -> i64 {
    let mine = claim(&mut trap.machine());
    assert_eq!(mine.task.plan.slug, "a");
    let turn = done(&mine);
    let mut planner = trap.raw();
    let mut planner = planner.begin();
    run(&mut planner, &[ours("plan_lock", &["1"])]);
    plans(&mut planner);
    thread::scope(|scope| {
        let finisher = scope.spawn(|| finish(trap, &turn));
        // The obvious one may see nothing to wait for.
        let met = || (finisher.is_finished() || trap.waiting() > 0).then_some(());
        poll::until("the finisher to wait for the planner", super::LIMIT, met).unwrap();
        planner.commit().unwrap();
    });
    trap.open_blockers("c")
}

const EDGE: &str = r#"[{"slug": "c", "blocker": "a"}]"#;
const DEPENDENT: &str = r#"["c"]"#;

fn finish_by_ours(trap: &Trap, turn: &ServerTurn) {
    let mut finisher = trap.machine();
    assert!(is_taken(unhindered(|| finisher.settle(turn))));
}

#[test]
fn x2_q1_a_dependency_that_is_added_while_its_blocker_ends_is_told() {
    let tasks: [(&str, &[&str]); 2] = [("a", &[]), ("c", &[])];
    let add = |planner: &mut Transaction<'_>| {
        run(planner, &[ours("plan_hold", &["1", r#"["a"]"#])]);
        run(planner, &[ours("plan_link", &["1", EDGE]), ours("plan_count", &["1", DEPENDENT])]);
    };
    let Some(trap) = Trap::set(&tasks) else { return };
    let left = planned_while_ending(&trap, add, |trap, turn| {
        let told = statement(AT_ONCE, &[&turn.id.to_string(), &turn.attempt.to_string()]);
        trap.raw().flight(&[told], InTransaction::Yes).unwrap();
    });
    assert_ne!(left, 0, "one statement misses what was added while it waited");
    let Some(trap) = Trap::set(&tasks) else { return };
    assert_eq!(planned_while_ending(&trap, add, finish_by_ours), 0);
}

#[test]
fn x2_q1_a_dependency_that_is_taken_away_while_its_blocker_ends_is_not_told_besides() {
    let tasks: [(&str, &[&str]); 3] = [("a", &[]), ("b", &[]), ("c", &["a", "b"])];
    let cut = |planner: &mut Transaction<'_>| {
        run(planner, &[ours("plan_cut", &["1", EDGE]), ours("plan_count", &["1", DEPENDENT])]);
    };
    let Some(trap) = Trap::set(&tasks) else { return };
    assert_eq!(planned_while_ending(&trap, cut, finish_by_ours), 0, "unheld, `c` is claimed before `b` is done");
    let Some(trap) = Trap::set(&tasks) else { return };
    let held = |planner: &mut Transaction<'_>| {
        run(planner, &[ours("plan_hold", &["1", r#"["a", "b"]"#])]);
        cut(planner);
    };
    assert_eq!(planned_while_ending(&trap, held, finish_by_ours), 1);
}

/// That a task which nobody holds is deleted.
fn deleted(id: i64) -> ServerTurn {
    ServerTurn {
        id,
        slug: "a".into(),
        was: "open".into(),
        attempt: 0,
        claim: None,
        need: None,
        status: "deleted".into(),
        retry_count: 0,
        failures: 0,
        releases: 0,
        fail_reason: None,
        rest_ms: None,
        result: None,
        outcome: None,
        reason: None,
        step: -1,
    }
}

/// `c` waits for `a` and `b`; two people delete `a` at the same moment. Gives what `c` counts.
fn deleted_by_two(trap: &Trap, delete: impl Fn(&ServerTurn) + Sync) -> i64 {
    let id = trap.server.sql("SELECT id FROM taut.tasks WHERE slug = 'a'").parse().unwrap();
    let turn = deleted(id);
    let mut holder = trap.raw();
    let mut holder = holder.begin();
    let lock = format!("SELECT to_jsonb(id)::text FROM {{s}}.tasks WHERE id = {id} FOR UPDATE");
    run(&mut holder, &[statement(&lock, &[])]);
    thread::scope(|scope| {
        scope.spawn(|| delete(&turn));
        scope.spawn(|| delete(&turn));
        trap.until_waiting(2);
        holder.commit().unwrap();
    });
    trap.open_blockers("c")
}

#[test]
fn x2_q1_two_people_who_delete_the_same_task_tell_who_waits_for_it_once() {
    let tasks: [(&str, &[&str]); 3] = [("a", &[]), ("b", &[]), ("c", &["a", "b"])];
    let Some(trap) = Trap::set(&tasks) else { return };
    let left = deleted_by_two(&trap, |turn| {
        let told = turns(&[turn]);
        let mut connection = trap.raw();
        let mut flight = connection.begin();
        run(&mut flight, &[ours("turn", &[&told]), ours("turned", &[&told])]);
        flight.commit().unwrap();
    });
    assert_eq!(left, 0, "in one flight both tell it, and `c` is claimed before `b` is done");

    let Some(trap) = Trap::set(&tasks) else { return };
    let said = std::sync::Mutex::new(Vec::new());
    let left = deleted_by_two(&trap, |turn| {
        let mut person = trap.machine();
        let answer = unhindered(|| person.settle(turn));
        said.lock().unwrap().push(answer);
    });
    assert_eq!(left, 1, "`b` is still waited for");
    let said = said.into_inner().unwrap();
    let written = said.iter().filter(|answer| **answer == TurnAnswer::Written).count();
    assert_eq!((written, said.into_iter().all(is_taken)), (1, true), "both are told that it is deleted");
}
