//! T10: time is read inside the transaction. Waiting for its lock may outlast a lease.

use super::machine::{LEASE_MS, Machine, PROJECT, actor, claimant, is_refusal};
use engine::queue::Speaker;
use model::task::{ClockReading, TaskPlan, TaskStatus};
use model::{ClientProcess, Ms};
use pipeline::queue::Queue;
use serde_json::Value;
use std::cell::RefCell;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{channel, sync_channel};
use std::time::Duration;
use store::{Durability, Store};

const PLAN: &str = "{\"id\":\"a\",\"t\":\"A\"}\n";

fn at(start: &ClockReading, passed: i64) -> ClockReading {
    ClockReading { now: start.now.plus(passed), awake: start.awake + passed, boot: start.boot.clone() }
}

/// Somebody holds the lock from before `done` begins until after the lease is over.
#[test]
fn t10_a_lease_that_lapses_while_done_waits_for_the_lock_is_lapsed() {
    let mut machine = Machine::new(PLAN);
    machine.claim("w").unwrap();
    let (start, passed) = (machine.moment.clone(), AtomicI64::new(0));
    let mut other = machine.other();
    let (held, is_held) = sync_channel(0);
    let (asked, is_asked) = channel();
    let refused = std::thread::scope(|scope| {
        let passed = &passed;
        scope.spawn(move || {
            other.transact(Durability::Normal, |_| {
                held.send(()).unwrap();
                // `done` has begun: it looked at the clock, and now waits for this transaction.
                is_asked.recv().unwrap();
                passed.store(LEASE_MS, Ordering::SeqCst);
                Ok(())
            })
        });
        is_held.recv().unwrap();
        machine.store.set_patience(Duration::from_secs(60)).unwrap();
        let clock = || {
            let now = at(&start, passed.load(Ordering::SeqCst));
            let _ = asked.send(());
            now
        };
        Queue::new(&mut machine.store, clock).done(PROJECT, "a", &actor("w"), Value::Null).unwrap_err()
    });
    assert!(is_refusal(&refused) && refused.to_string().contains("attempt 1 of task 'a' lapsed at"), "{refused}");
    assert_eq!(machine.task("a").queued.status, TaskStatus::Active, "nobody has taken it yet");
    machine.pass(LEASE_MS);
    assert_eq!(machine.queue().reap().unwrap().expired, ["a"]);
}

/// A clock on which an hour passes between any look from outside and the lock.
struct SlowLock {
    start: ClockReading,
    other: RefCell<Store>,
}

const HOUR_MS: i64 = 3_600_000;

impl SlowLock {
    fn of(machine: &Machine) -> Self {
        let other = RefCell::new(machine.other());
        other.borrow_mut().set_patience(Duration::ZERO).unwrap();
        Self { start: machine.moment.clone(), other }
    }

    fn moment(&self) -> ClockReading {
        let locked = self.other.borrow_mut().transact(Durability::Normal, |_| Ok(())).is_err();
        at(&self.start, if locked { HOUR_MS } else { 0 })
    }

    fn late(&self) -> Ms {
        self.start.now.plus(HOUR_MS)
    }
}

#[test]
fn t10_whatever_is_written_counts_from_the_moment_the_lock_was_had() {
    let mut machine = Machine::new("");
    let clock = SlowLock::of(&machine);
    let late = clock.late();
    let leader = ClientProcess { pid: std::process::id(), started: 1 };
    let looks = machine.other();
    let look = |slug: &str| {
        let task = looks.task(PROJECT, slug).unwrap().unwrap();
        let attempts = looks.attempts(&task.queued).unwrap();
        (task, attempts)
    };
    let mut queue = Queue::new(&mut machine.store, || clock.moment());
    for slug in ["a", "b"] {
        let plan = TaskPlan { slug: slug.into(), title: "T".into(), ..TaskPlan::default() };
        queue.create(PROJECT, &plan, &Speaker::Person).unwrap();
    }
    assert_eq!(look("a").0.created_at, late);
    queue.claim_one(PROJECT, "a", &claimant("w")).unwrap();
    assert_eq!(look("a").1[0].claimed_at, late);
    let lease = |slug: &str| look(slug).0.queued.hold.unwrap().lease_until;
    queue.renew(PROJECT, "a", &actor("w"), 5).unwrap();
    assert_eq!(lease("a"), late.plus(5));
    queue.renew(PROJECT, "a", &actor("w"), LEASE_MS).unwrap();
    assert_eq!((queue.keep_all("w", leader).unwrap(), lease("a")), (1, late.plus(LEASE_MS)));
    queue.fail(PROJECT, "a", &actor("w"), "broken").unwrap();
    let (task, attempts) = look("a");
    assert_eq!(attempts[0].ended_at, Some(late));
    assert!(task.queued.ready_at >= late.plus(10_000));
    queue.requeue(PROJECT, "a").unwrap();
    queue.claim_first(PROJECT, &claimant("w")).unwrap().unwrap();
    queue.release_all("w", "over").unwrap();
    assert_eq!(look("a").1[1].ended_at, Some(late));
    queue.claim_one(PROJECT, "a", &claimant("w")).unwrap();
    queue.done(PROJECT, "a", &actor("w"), Value::Null).unwrap();
    assert_eq!(look("a").1[2].ended_at, Some(late));
    queue.delete(PROJECT, "b", &Speaker::Person).unwrap();
    assert_eq!(look("b").0.deleted_at, Some(late));
    let worker = queue.register(PROJECT, leader, "elsewhere").unwrap();
    queue.deregister(&worker.id).unwrap();
    assert_eq!(worker.registered_at, late);
    assert_eq!(looks.workers(PROJECT).unwrap()[0].ended_at, Some(late));
}
