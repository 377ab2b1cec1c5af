//! `taut shared import`: what changed while somebody was asked, or while it moved, is neither done twice nor lost.

use super::{Cut, LEASE_MS, Member, SharedServer, actor};
use engine::queue::{Claimant, Speaker};
use model::task::TaskPlan;
use pipeline::queue::{MovedTasks, Queue, TaskChange};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;
use store::{Store, TaskEdit};

/// The queue of this machine alone, as any other process of it sees it.
fn locally(state: &Path, work: impl FnOnce(&mut Queue<'_>)) {
    let mut store = Store::open_and_migrate(state, Duration::from_secs(5)).unwrap();
    work(&mut Queue::new(&mut store, host::clock_reading::moment));
}

fn plan(local: &mut Queue<'_>, project: &str, slug: &str, deps: &[&str]) {
    let deps = deps.iter().map(ToString::to_string).collect();
    let plan = TaskPlan { slug: slug.into(), title: format!("do {slug}"), deps, ..TaskPlan::default() };
    local.create(project, &plan, &Speaker::Person).unwrap();
}

/// What becomes of a task by somebody else's word.
type Change = fn(&mut Queue<'_>, &str);

const CHANGES: [(&str, Change); 4] = [
    ("claimed", |local, project| {
        local.claim_one(project, "a", &Claimant::agent("ann", LEASE_MS)).unwrap();
    }),
    ("done", |local, project| {
        local.claim_one(project, "a", &Claimant::agent("ann", LEASE_MS)).unwrap();
        local.done(project, "a", &actor("ann"), Value::Null).unwrap();
    }),
    ("deleted", |local, project| {
        local.delete(project, "a", &Speaker::Person).unwrap();
    }),
    ("rewritten", |local, project| {
        let edit = TaskEdit { title: Some("another".into()), ..TaskEdit::default() };
        local.update(project, "a", &TaskChange { edit, ..TaskChange::default() }, &Speaker::Person).unwrap();
    }),
];

/// The tasks a, b that waits for it, and c.
fn three(one: &Member) {
    let project = one.project();
    locally(&one.home.folder("state"), |local| {
        for (slug, deps) in [("a", &[][..]), ("b", &["a"][..]), ("c", &[][..])] {
            plan(local, &project, slug, deps);
        }
    });
}

/// Moves what `asked` says to be movable, once `meanwhile` came to pass: before the move, or while the server writes it.
fn moves(one: &mut Member, is_before: bool, meanwhile: impl Fn(&mut Queue<'_>, &str) + 'static) -> MovedTasks {
    let (project, state) = (one.project(), one.home.folder("state"));
    let store = one.home.pipeline.store().unwrap();
    let mut local: Queue<'_> = Queue::new(store, host::clock_reading::moment);
    let asked = local.movable(&project).unwrap();
    if is_before {
        locally(&state, |other| meanwhile(other, &project));
    } else {
        let (mut once, path) = (Some(meanwhile), project.clone());
        let look = move || once.take().map_or((), |work| locally(&state, |other| work(other, &path)));
        one.queue.witness = Some(Box::new(look));
    }
    let moved = local.move_to(&project, &asked, &mut one.queue).unwrap();
    one.queue.witness = None;
    moved
}

fn there(server: &SharedServer) -> String {
    server.sql("SELECT string_agg(slug, ' ' ORDER BY slug) FROM taut.tasks WHERE status NOT IN ('done', 'deleted')")
}

fn unfinished(one: &Member) -> Vec<String> {
    let project = one.project();
    let store = Store::open_and_migrate(&one.home.folder("state"), Duration::from_secs(5)).unwrap();
    let tasks = store.tasks(&project, &store::TaskFilter::default()).unwrap().into_iter();
    tasks.filter(|task| !task.queued.status.unblocks()).map(|task| task.plan.slug).collect()
}

fn left(moved: &MovedTasks) -> Vec<&str> {
    moved.left.iter().map(|left| left.slug.as_str()).collect()
}

#[test]
fn x2_what_is_claimed_done_or_deleted_while_a_person_is_asked_does_not_move() {
    for (what, change) in &CHANGES[..3] {
        let Some(server) = SharedServer::start() else { return };
        let mut one = server.machine("one");
        three(&one);
        let change = *change;
        let moved = moves(&mut one, true, change);
        let (moves, stays): (&[&str], &[&str]) = match *what {
            // Who waits for a held task waits where that is.
            "claimed" => (&["c"], &["a", "b"]),
            _ => (&["b", "c"], &[]),
        };
        assert_eq!(
            (there(&server), unfinished(&one)),
            (moves.join(" "), stays.iter().map(ToString::to_string).collect()),
            "{what}"
        );
        assert!(left(&moved).contains(&"a"), "{what}: {moved:?}");
    }
}

#[test]
fn x2_what_was_rewritten_while_a_person_was_asked_moves_as_it_is_now() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    three(&one);
    let moved = moves(&mut one, true, CHANGES[3].1);
    assert_eq!((moved.added.len(), moved.left.len()), (3, 0));
    assert_eq!(server.sql("SELECT title FROM taut.tasks WHERE slug = 'a'"), "another");
}

#[test]
fn x2_what_was_planned_while_a_person_was_asked_stays_and_what_waits_for_it_too() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    three(&one);
    let moved = moves(&mut one, true, |local, project| {
        plan(local, project, "new", &[]);
        local.block(project, "c", "new").unwrap();
    });
    assert_eq!((there(&server), unfinished(&one)), ("a b".to_string(), vec!["c".to_string(), "new".to_string()]));
    assert_eq!(left(&moved), ["c", "new"], "nobody was asked about it");
}

#[test]
fn x2_what_changes_while_it_moves_stays_where_it_was_changed_and_so_does_what_waits_for_it() {
    for (what, change) in CHANGES {
        let Some(server) = SharedServer::start() else { return };
        let mut one = server.machine("one");
        three(&one);
        let moved = moves(&mut one, false, change);
        let here: &[&str] = if matches!(what, "done" | "deleted") { &["b"] } else { &["a", "b"] };
        assert_eq!(
            (there(&server).as_str(), unfinished(&one)),
            ("c", here.iter().map(ToString::to_string).collect()),
            "{what}"
        );
        assert_eq!(
            (moved.added.as_slice(), left(&moved).as_slice()),
            (&["c".to_string()][..], &["a", "b"][..]),
            "{what}"
        );
    }
}

#[test]
fn x2_what_was_taken_back_moves_when_it_is_asked_for_again() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    three(&one);
    moves(&mut one, false, CHANGES[0].1);
    locally(&one.home.folder("state"), |local| drop(local.release_all("ann", "not now").unwrap()));
    let moved = moves(&mut one, true, |_, _| ());
    assert_eq!((moved.added.len(), moved.left.len(), unfinished(&one).len()), (2, 0, 0), "{moved:?}");
    let queue = "SELECT string_agg(slug || ' ' || status || ' ' || open_blockers, ', ' ORDER BY slug) FROM taut.tasks";
    assert_eq!(server.sql(queue), "a open 0, b open 1, c open 0");
}

#[test]
fn x2_a_copy_that_another_machine_has_claimed_meanwhile_is_left_to_it() {
    let Some(server) = SharedServer::start() else { return };
    let (mut one, mut two) = (server.machine("one"), server.machine("two"));
    three(&one);
    let (project, state) = (one.project(), one.home.folder("state"));
    let store = one.home.pipeline.store().unwrap();
    let mut local: Queue<'_> = Queue::new(store, host::clock_reading::moment);
    let asked = local.movable(&project).unwrap();
    // At the first question it is claimed here, and at the next one, when it is there, on another machine.
    let (mut questions, path) = (0, project.clone());
    one.queue.witness = Some(Box::new(move || {
        questions += 1;
        match questions {
            1 => locally(&state, |other| CHANGES[0].1(other, &path)),
            2 => assert_eq!(two.claim("bob").unwrap().task.plan.slug, "a"),
            _ => {}
        }
    }));
    let moved = local.move_to(&project, &asked, &mut one.queue).unwrap();
    one.queue.witness = None;
    assert_eq!(server.status("a"), "active 1");
    let why = &moved.left.iter().find(|left| left.slug == "a").unwrap().why;
    assert!(why.contains("bob") && why.contains("the server has it too"), "{why}");
}

#[test]
fn x2_an_open_task_is_not_given_up_for_one_of_its_name_that_is_finished_there() {
    let Some(server) = SharedServer::start() else { return };
    let (mut one, mut two) = (server.machine("one"), server.machine("two"));
    two.plan("a", &[]);
    two.claim("bob").unwrap();
    two.done("bob", "a").unwrap();
    three(&one);
    let moved = moves(&mut one, true, |_, _| ());
    assert_eq!(unfinished(&one), ["a", "b"], "{moved:?}");
    assert_eq!(there(&server), "c");
    let why = &moved.left.iter().find(|left| left.slug == "a").unwrap().why;
    assert!(why.contains("done there"), "{why}");
}

#[test]
fn x2_two_imports_at_once_move_each_task_once() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    three(&one);
    let mut way = Cut::on(server.way(&one.id, "one"));
    let shared = std::cell::RefCell::new(Some(()));
    let moved = {
        let (project, state) = (one.project(), one.home.folder("state"));
        let store = one.home.pipeline.store().unwrap();
        let mut local: Queue<'_> = Queue::new(store, host::clock_reading::moment);
        let asked = local.movable(&project).unwrap();
        let (path, plan) = (project.clone(), asked.clone());
        one.queue.witness = Some(Box::new(move || {
            if shared.take().is_some() {
                locally(&state, |other| assert_eq!(other.move_to(&path, &plan, &mut way).unwrap().added.len(), 3));
            }
        }));
        local.move_to(&project, &asked, &mut one.queue).unwrap()
    };
    one.queue.witness = None;
    assert_eq!((there(&server).as_str(), unfinished(&one).len()), ("a b c", 0));
    assert_eq!((moved.known.len(), moved.left.len()), (3, 0), "{moved:?}");
}
