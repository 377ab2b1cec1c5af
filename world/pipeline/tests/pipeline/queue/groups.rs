//! Q8: a reclaim stops the group that Taut started for the lost attempt, and no other.

use super::machine::{LEASE_MS, Machine, PROJECT};
use crate::sleeper::Sleeper;
use model::effect::Write;
use model::task::{AttemptChange, Hold, Queued, TaskTransition};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;
use store::Durability;

#[test]
fn q8_a_reclaim_stops_what_taut_started_first() {
    let mut machine = Machine::new("{\"id\":\"a\",\"t\":\"A\"}\n");
    let mut child = Sleeper::start();
    machine.claim("w1").unwrap();
    assert!(machine.queue().runs(PROJECT, "a", child.process()).unwrap());
    machine.pass(LEASE_MS);
    let claimed = machine.claim("w2").unwrap();
    assert_eq!(claimed.task.queued.attempt, 2);
    assert!(!child.lives());
}

#[test]
fn q8_a_process_that_taut_did_not_start_is_only_fenced() {
    let mut machine = Machine::new("{\"id\":\"a\",\"t\":\"A\"}\n");
    let mut person = Sleeper::start();
    machine.claim("w1").unwrap();
    machine.pass(LEASE_MS);
    machine.claim("w2").unwrap();
    assert!(person.lives());
}

/// The group takes its time to end, and tells when it was asked to: in between,
/// a hook of the old holder renews.
#[test]
fn q8_a_renewal_that_comes_between_look_and_write_wins() {
    let mut machine = Machine::new("{\"id\":\"a\",\"t\":\"A\"}\n");
    let folder = tempfile::tempdir().unwrap();
    let [up, asked] = ["up", "asked"].map(|name| folder.path().join(name));
    let stubborn =
        format!("trap 'touch {}' TERM; touch {}; while :; do sleep 0.05; done", asked.display(), up.display());
    let child = Sleeper(Command::new("sh").args(["-c", &stubborn]).process_group(0).spawn().unwrap());
    // One that is asked before it has said what it does then just ends.
    testkit::poll::until("the group to be up", Duration::from_secs(10), || up.exists().then_some(())).unwrap();
    machine.claim("w1").unwrap();
    machine.queue().runs(PROJECT, "a", child.process()).unwrap();
    machine.pass(LEASE_MS);
    let mut other = machine.other();
    let (now, task) = (machine.moment.now, machine.task("a").queued);
    let claimed = std::thread::scope(|scope| {
        let claiming = scope.spawn(|| machine.claim("w2").is_some());
        testkit::poll::until("the group to be asked", Duration::from_secs(10), || asked.exists().then_some(()))
            .unwrap();
        let hold = task.hold.clone().map(|hold| Hold { lease_until: now.plus(LEASE_MS), renewed_at: now, ..hold });
        let turn = TaskTransition {
            before: (task.status, task.attempt),
            after: Queued { hold, ..task.clone() },
            attempt: AttemptChange::None,
            result: None,
            at: now,
        };
        other.transact(Durability::Full, |tx| tx.apply(&[Write::Task(Box::new(turn))])).unwrap();
        claiming.join().unwrap()
    });
    assert!(!claimed, "a renewed task was taken");
    assert_eq!(machine.task("a").queued.hold.unwrap().agent, "w1");
}

#[test]
fn q8_after_a_sleep_nothing_is_stopped_before_its_grace_is_over() {
    let mut machine = Machine::new("{\"id\":\"a\",\"t\":\"A\"}\n");
    let mut child = Sleeper::start();
    machine.claim("w1").unwrap();
    machine.queue().runs(PROJECT, "a", child.process()).unwrap();
    machine.jump(8 * 3_600_000);
    machine.queue().reap().unwrap();
    assert!(child.lives());
}

/// L7, Q4: a supervisor's timer and its last word are for everything its agent holds, and for nothing else.
#[test]
fn l7_a_supervisor_renews_and_releases_all_that_its_agent_holds() {
    let mut machine =
        Machine::new("{\"id\":\"a\",\"t\":\"A\"}\n{\"id\":\"b\",\"t\":\"B\"}\n{\"id\":\"c\",\"t\":\"C\"}\n");
    for agent in ["w1", "w1", "w2"] {
        machine.claim(agent).unwrap();
    }
    let leader = Sleeper::start();
    machine.pass(LEASE_MS / 2);
    assert_eq!(machine.queue().keep_all("w1", leader.process()).unwrap(), 2);
    let until = |machine: &Machine, slug: &str| machine.task(slug).queued.hold.unwrap().lease_until;
    let renewed = machine.moment.now.plus(LEASE_MS);
    assert_eq!(["a", "b"].map(|slug| until(&machine, slug)), [renewed, renewed]);
    assert!(until(&machine, "c") < renewed);
    for slug in ["a", "b"] {
        let attempts = machine.store.attempts(&machine.task(slug).queued).unwrap();
        assert_eq!(attempts[0].group, Some(leader.process()), "{slug}");
    }
    assert_eq!(machine.queue().release_all("w1", "over").unwrap(), ["a", "b"]);
    let statuses = ["a", "b", "c"].map(|slug| machine.task(slug).queued.status.name());
    assert_eq!(statuses, ["open", "open", "active"]);
}

/// Q8: whether a process of another machine lives cannot be told here.
#[test]
fn q8_a_dead_worker_is_marked_here_and_never_for_another_machine() {
    let mut machine = Machine::new("");
    let gone = {
        let child = Sleeper::start();
        child.process()
    };
    let here = machine.queue().register(PROJECT, gone, &pipeline::queue::hostname()).unwrap().id;
    machine.queue().register(PROJECT, gone, "elsewhere.example.org").unwrap();
    assert_eq!(machine.queue().reap().unwrap().workers, [here]);
}
