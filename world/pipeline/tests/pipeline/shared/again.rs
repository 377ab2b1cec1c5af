//! A machine is given a task that agents of it had before: what is kept here of the earlier attempts stays true.

use super::{Member, SharedServer};
use engine::queue::Speaker;
use pipeline::queue::Settled;

/// The attempts that are kept here: number and outcome. Nothing of the copy may contradict itself.
fn attempts(machine: &mut Member) -> Vec<(i64, Option<&'static str>)> {
    let project = machine.project();
    let store = machine.home.pipeline.store().unwrap();
    let problems = store.check().unwrap().problems;
    let of_queue: Vec<&String> = problems.iter().filter(|problem| problem.contains("attempts")).collect();
    assert_eq!(of_queue, Vec::<&String>::new());
    let task = store.task(&project, "a").unwrap().unwrap();
    let kept = store.attempts(&task.queued).unwrap().into_iter();
    kept.map(|attempt| (attempt.number, attempt.outcome.map(|outcome| outcome.name()))).collect()
}

#[test]
fn x2_an_attempt_whose_word_is_refused_after_the_task_was_given_to_another_here_is_no_done_one() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    one.queue.away = true;
    assert!(matches!(one.done("ann", "a").unwrap(), Settled::Kept { .. }));
    server.lapse("a");
    one.queue.away = false;
    // A claim says nothing that is owed: the round does, and comes later.
    assert_eq!(one.claim("bob").unwrap().task.queued.attempt, 2);
    assert_eq!(one.round().unwrap().refused, ["a"]);
    assert_eq!(attempts(&mut one), [(1, Some("expired")), (2, None)]);
    assert_eq!(one.done("bob", "a").unwrap(), Settled::Now);
    assert_eq!(attempts(&mut one), [(1, Some("expired")), (2, Some("done"))]);
    assert_eq!(server.status("a"), "done 2");
}

#[test]
fn x2_who_held_a_task_that_its_server_gave_to_another_here_is_told_and_its_attempt_ends() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    server.lapse("a");
    assert_eq!(one.claim("bob").unwrap().task.queued.attempt, 2);
    assert_eq!(attempts(&mut one), [(1, Some("expired")), (2, None)]);
    let told = one.told("ann");
    assert!(told.len() == 1 && told[0].contains("your lease (attempt 1) is over"), "{told:?}");
    one.round().unwrap();
    assert_eq!((one.told("ann").len(), one.told("bob").len()), (1, 0), "once, and nobody else");
    assert!(one.done("ann", "a").is_err());
    assert_eq!(one.done("bob", "a").unwrap(), Settled::Now);
}

#[test]
fn x2_a_task_that_is_planned_anew_on_its_server_is_done_anew_here() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    assert_eq!(one.done("ann", "a").unwrap(), Settled::Now);
    let project = one.project();
    one.queue().delete(&project, "a", &Speaker::Person).unwrap();
    one.plan("a", &[]);
    assert_eq!(one.claim("ann").unwrap().task.queued.attempt, 2);
    assert_eq!(one.done("ann", "a").unwrap(), Settled::Now);
    assert_eq!(attempts(&mut one), [(1, Some("done")), (2, Some("done"))]);
}
