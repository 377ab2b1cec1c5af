//! Q2: what waits for a task, and when it need not any more.

use super::machine::{Machine, PROJECT, actor};
use engine::queue::Speaker;
use serde_json::Value;

/// `b` and `c` wait for `a`.
fn waiting() -> Machine {
    let plan = "{\"id\":\"a\",\"t\":\"A\"}\n{\"id\":\"b\",\"t\":\"B\",\"deps\":[\"a\"]}\n{\"id\":\"c\",\"t\":\"C\",\"deps\":[\"a\"]}\n";
    Machine::new(plan)
}

fn blockers(machine: &Machine) -> [i64; 2] {
    ["b", "c"].map(|slug| machine.task(slug).queued.open_blockers)
}

#[test]
fn q2_a_blocker_that_is_done_frees_all_that_wait_for_it() {
    let mut machine = waiting();
    assert_eq!(blockers(&machine), [1, 1]);
    machine.claim("w").unwrap();
    assert!(machine.claim("v").is_none(), "the others wait");
    machine.queue().done(PROJECT, "a", &actor("w"), Value::Null).unwrap();
    assert_eq!(blockers(&machine), [0, 0]);
    assert_eq!([machine.claim("v"), machine.claim("w")].into_iter().flatten().count(), 2);
}

#[test]
fn q2_a_blocker_that_is_deleted_frees_and_one_that_comes_back_holds_again() {
    let mut machine = waiting();
    machine.queue().delete(PROJECT, "a", &Speaker::Person).unwrap();
    assert_eq!(blockers(&machine), [0, 0]);
    let again = model::task::TaskPlan { slug: "a".into(), title: "A".into(), ..model::task::TaskPlan::default() };
    machine.queue().create(PROJECT, &again, &engine::queue::Speaker::Person).unwrap();
    assert_eq!(blockers(&machine), [1, 1]);
    machine.check();
}

#[test]
fn q2_a_dependency_that_is_taken_out_frees_its_task_alone() {
    let mut machine = waiting();
    machine.queue().unblock(PROJECT, "b", "a", &Speaker::Person).unwrap();
    assert_eq!(blockers(&machine), [0, 1]);
    assert!(machine.queue().unblock(PROJECT, "b", "a", &Speaker::Person).is_err(), "there is none any more");
}
