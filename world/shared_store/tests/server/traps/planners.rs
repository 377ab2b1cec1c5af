//! Planners beside finishers: nobody waits for whoever waits for them.

use super::{Trap, claim, done, is_taken, now, ours, run, turns, unhindered, uuid};
use crate::schema;
use model::task::TaskPlan;
use shared_store::{AgentPresence, FleetServer, FlightError, InTransaction, MachineHeartbeat, PgQueue, Transaction};
use std::thread;
use store::{Error, PlanRows, TaskServer};
use testkit::poll;

const TO_LINK: &str = r#"[{"slug": "e", "blocker": "a"}]"#;

/// `c` waits for `a`, and a planner has `e` wait for it too, while `a` ends. `first` is what the planner does before anybody
/// waits, `then` after; gives what each of the two came to.
fn plan_meets_finish(
    trap: &Trap,
    first: impl FnOnce(&mut Transaction<'_>),
    then: impl FnOnce(&mut Transaction<'_>) -> Result<(), FlightError> + Send,
) -> (Result<(), FlightError>, Result<(), FlightError>) {
    let turn = done(&claim(&mut trap.machine()));
    let (mut planner, mut finisher) = (trap.raw(), trap.raw());
    let (mut planner, mut finisher) = (planner.begin(), finisher.begin());
    first(&mut planner);
    run(&mut finisher, &[ours("turn", &[&turns(&[&turn])])]);
    let told = [ours("turned", &[&turns(&[&turn])])];
    thread::scope(|scope| {
        let planned = scope.spawn(move || then(&mut planner).and_then(|()| planner.commit()));
        // Whichever of the two comes to wait first.
        trap.until_waiting(1);
        let finished = finisher.flight(&told).map(drop).and_then(|()| finisher.commit());
        (planned.join().unwrap(), finished)
    })
}

#[test]
fn x2_q1_a_planner_and_a_finisher_do_not_deadlock() {
    let tasks: [(&str, &[&str]); 3] = [("a", &[]), ("c", &["a"]), ("e", &[])];
    let Some(trap) = Trap::set(&tasks) else { return };
    let obvious = plan_meets_finish(
        &trap,
        |planner| drop(run(planner, &[ours("plan_count", &["1", r#"["c"]"#])])),
        |planner| planner.flight(&[ours("plan_link", &["1", TO_LINK])]).map(drop),
    );
    let deadlock = |done: &Result<(), FlightError>| done.as_ref().is_err_and(|why| why.state() == Some("40P01"));
    assert!(deadlock(&obvious.0) || deadlock(&obvious.1), "dependents before blockers: {obvious:?}");

    let Some(trap) = Trap::set(&tasks) else { return };
    let held = plan_meets_finish(
        &trap,
        |planner| drop(run(planner, &[ours("plan_lock", &["1"])])),
        |planner| {
            let count = ours("plan_count", &["1", r#"["c", "e"]"#]);
            planner
                .flight(&[ours("plan_hold", &["1", r#"["a"]"#]), ours("plan_link", &["1", TO_LINK]), count])
                .map(drop)
        },
    );
    assert_eq!(held, (Ok(()), Ok(())));
    assert_eq!((trap.open_blockers("c"), trap.open_blockers("e")), (0, 0));
}

#[test]
fn x2_f9_who_plans_for_long_keeps_no_machine_from_saying_what_its_agents_do() {
    let Some(trap) = Trap::set(&[]) else { return };
    let (mut planner, mut member, schema) = (trap.raw(), trap.raw(), schema());
    let mut planner = planner.begin();
    run(&mut planner, &[ours("plan_lock", &["1"])]);
    let mut fleet = FleetServer::new(&mut member, &schema);
    let beat = MachineHeartbeat { machine: uuid(), label: "m".into(), instance: uuid(), starts: 1, build: "x".into() };
    fleet.seen(&beat).unwrap();
    let agent = AgentPresence {
        id: "i".into(),
        project: Some("acme/shop".into()),
        status: "idle".into(),
        ..Default::default()
    };
    assert_eq!(fleet.agents_put(&beat.machine, &[agent]), Ok(()));
    // Another planner waits, as ever.
    let mut other = trap.raw();
    let told = other.flight(&[super::guard(), ours("plan_lock", &["1"])], InTransaction::Yes);
    assert!(told.as_ref().is_err_and(FlightError::is_locked), "{told:?}");
}

const TASKS: usize = 60;

fn slug(nth: usize) -> String {
    format!("t{nth:02}")
}

/// Has every third task wait for others than before, always for earlier ones.
fn relink(queue: &mut PgQueue, round: usize) {
    let mut plan = |rows: &dyn PlanRows| {
        let all: Vec<String> = (0..TASKS).map(slug).collect();
        rows.prefetch(&all.iter().map(String::as_str).collect::<Vec<_>>())?;
        for nth in (3 + round % 3..TASKS).step_by(3) {
            let Some(task) = rows.queued("acme", &slug(nth))? else { continue };
            let blocker = (nth * 7 + round * 13) % nth;
            let blockers: Vec<_> = [blocker, nth - 1].iter().map(|of| rows.queued("acme", &slug(*of))).collect();
            let blockers: Vec<_> = blockers.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
            rows.set_blockers(&task, &blockers)?;
            let plan = TaskPlan { slug: slug(nth), title: format!("round {round}"), ..TaskPlan::default() };
            rows.rewrite_task(&task, &plan, now())?;
        }
        Ok(())
    };
    unhindered(|| match queue.plan(&mut plan) {
        Ok(()) => Ok(()),
        Err(Error::Server(error)) => Err(error),
        Err(error) => panic!("{error}"),
    });
}

#[test]
fn x2_q1_many_planners_and_finishers_come_to_an_end_without_a_deadlock() {
    let tasks: Vec<String> = (0..TASKS).map(slug).collect();
    let tasks: Vec<(&str, &[&str])> = tasks.iter().map(|slug| (slug.as_str(), &[][..])).collect();
    let Some(trap) = Trap::set(&tasks) else { return };
    thread::scope(|scope| {
        for planner in 0..3 {
            let mut queue = trap.machine();
            scope.spawn(move || (0..8).for_each(|round| relink(&mut queue, planner + round)));
        }
        for _ in 0..5 {
            let mut queue = trap.machine();
            scope.spawn(move || {
                let ended = "every task to be done";
                let drained = poll::until(ended, super::LIMIT, || {
                    let next = |queue: &mut PgQueue| {
                        let wish = super::wish(super::LEASE_MS);
                        unhindered(|| queue.claim(&wish))
                    };
                    while let Some(mine) = next(&mut queue) {
                        let turn = done(&mine);
                        assert!(is_taken(unhindered(|| queue.settle(&turn))));
                    }
                    (queue.look().unwrap().counts.done == TASKS as i64).then_some(())
                });
                drained.unwrap();
            });
        }
    });
    trap.until(
        "everybody to be gone, and what they met to be counted",
        "SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = current_database() AND usename = 'taut_agent'",
    );
    assert_eq!(trap.server.sql("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"), "0");
    let wrong = "SELECT count(*) FROM taut.tasks t WHERE open_blockers <> (SELECT count(*) FROM taut.task_deps d
        JOIN taut.tasks b ON b.id = d.blocker WHERE d.task = t.id AND b.status NOT IN ('done', 'deleted'))";
    assert_eq!(trap.server.sql(wrong), "0", "and who waits for whom is as it is counted");
}

#[test]
fn x2_claims_pass_a_planner() {
    let Some(trap) = Trap::set(&[("a", &[]), ("c", &["a"])]) else { return };
    let mut planner = trap.raw();
    let mut planner = planner.begin();
    run(&mut planner, &[ours("plan_lock", &["1"]), ours("plan_hold", &["1", r#"["a"]"#])]);
    let mine = claim(&mut trap.machine());
    assert_eq!(mine.task.plan.slug, "a", "claimed while a plan that needs it is made");
    planner.commit().unwrap();
    let gone = trap.raw().flight(&[ours("claimed", &[&mine.claim])], InTransaction::No).unwrap();
    assert_eq!(gone[0].len(), 1);
}
