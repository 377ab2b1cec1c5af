use super::*;
use model::task::{Hold, Priority, Task, TaskPlan};
use std::time::Duration;

fn place(server: &str) -> QueuePlace {
    QueuePlace { server: server.into(), queue: "acme/shop".into(), shown: server.into() }
}

fn claimed(slug: &str, attempt: i64) -> ServerClaim {
    let hold = Hold {
        agent: "ann".into(),
        session: None,
        attempt,
        lease_until: Ms(1),
        lease_ms: 60_000,
        renewed_at: Ms(1),
        proposed: None,
    };
    let queued = Queued {
        row: 7,
        project: String::new(),
        slug: slug.into(),
        status: TaskStatus::Active,
        hold: Some(hold),
        attempt,
        retry_count: 0,
        failures: 0,
        releases: 0,
        fail_reason: None,
        ready_at: Ms(0),
        open_blockers: 0,
    };
    let plan = TaskPlan { slug: slug.into(), title: slug.into(), priority: Priority(2), ..TaskPlan::default() };
    let task = Task { plan, queued, result: None, created_at: Ms(1), updated_at: Ms(1), deleted_at: None };
    ServerClaim { task, claim: format!("{slug} {attempt}"), blocker_results: Vec::new() }
}

/// Drawn, made and kept, at a moment of the clock since the boot.
fn keep(store: &mut Store, (project, place): (&str, &QueuePlace), claim: &ServerClaim, ms: i64) -> ClaimKept {
    store.draw_claim(&claim.claim, place, Ms(1)).unwrap();
    keep_undrawn(store, (project, place), claim, ms)
}

fn keep_undrawn(store: &mut Store, (project, place): (&str, &QueuePlace), claim: &ServerClaim, ms: i64) -> ClaimKept {
    let sent = BootTime { ms, boot: "this".into() };
    let copy = ClaimCopy { project, place, claim, agent: "ann", session: None, token: "t", sent: &sent };
    store.transact(Durability::Full, |tx| tx.copy_claim(&copy, Ms(1))).unwrap()
}

#[test]
fn q3_of_two_folders_that_hold_a_task_the_callers_own_is_meant_and_else_the_one_with_the_newest_attempt() {
    let home = tempfile::tempdir().unwrap();
    let mut store = Store::open(home.path(), Duration::ZERO).unwrap();
    let server = place("srv");
    for (project, attempt) in [("/one", 1), ("/two", 3), ("/three", 2)] {
        assert_eq!(keep(&mut store, (project, &server), &claimed("a", attempt), 5), ClaimKept::Kept);
    }
    let held_in = |project: &str| store.project_that_holds(&server, project, "a").unwrap().unwrap();
    assert_eq!(["/one", "/three", "/elsewhere"].map(held_in), ["/one", "/three", "/two"]);
}

#[test]
fn x2_a_server_is_the_one_on_which_something_is_held_whatever_the_clock_of_an_earlier_boot_said() {
    let home = tempfile::tempdir().unwrap();
    let mut store = Store::open(home.path(), Duration::ZERO).unwrap();
    let (old, new) = (place("old"), place("new"));
    keep(&mut store, ("/p", &old), &claimed("a", 1), 900_000_000);
    keep(&mut store, ("/p", &new), &claimed("b", 1), 5);
    assert_eq!(store.server_of("acme/shop").unwrap().as_deref(), Some("new"), "met last");
    store.transact(Durability::Full, |tx| tx.end_hold("b 1", TaskStatus::Done, "", Ms(2))).unwrap();
    assert_eq!(store.server_of("acme/shop").unwrap().as_deref(), Some("old"), "held there still");
}

#[test]
fn x2_a_claim_whose_drawing_was_forgotten_is_not_kept_and_one_in_hand_is_looked_after() {
    let home = tempfile::tempdir().unwrap();
    let mut store = Store::open(home.path(), Duration::ZERO).unwrap();
    let (server, claim) = (place("srv"), claimed("a", 1));
    store.draw_claim(&claim.claim, &server, Ms(1)).unwrap();
    assert_eq!(store.queues_in_hand("srv").unwrap(), ["acme/shop"]);
    assert_eq!(store.queues_in_hand("another").unwrap(), Vec::<String>::new());
    store.forget_unmade(&server, &[&claim.claim], Ms(9)).unwrap();
    assert!(store.is_drawn_and_lost(&claim.claim).unwrap(), "the server says that it was made");
    store.forget_unmade(&server, &[], Ms(9)).unwrap();
    assert_eq!(keep_undrawn(&mut store, ("/p", &server), &claim, 5), ClaimKept::GivenBack);
    assert_eq!((store.shared_holds("srv").unwrap(), store.task("/p", "a").unwrap()), (Vec::new(), None));
}
