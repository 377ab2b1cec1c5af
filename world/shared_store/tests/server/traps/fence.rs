//! Who comes too late, and who asks twice.

use super::{BY_ID_AND_STATE, LEASE_MS, LIMIT, Trap, claim, done, is_taken, reap, statement, through, wish};
use crate::PLENTY;
use shared_store::{Connection, InTransaction};
use std::thread;
use store::{ServerClaim, ServerError, ServerTurn, TaskServer, TurnAnswer};
use testkit::postgres::Cluster;
use testkit::{NetworkProxy, ProxyMode, poll};

/// What a task that is waited for longer than its lease gets, in milliseconds. Ours waits for a lock twice two seconds.
const SHORT: i64 = 1_500;
/// For who has to have begun within it.
const LONGER: i64 = 5_000;

/// Gives whether it was taken.
fn finish_plainly(connection: &mut Connection, sql: &str, parameters: &[&str]) -> bool {
    !connection.flight(&[statement(sql, parameters)], InTransaction::No).unwrap()[0].is_empty()
}

/// The lease of the first is over and another has the task: gives both claims.
fn handed_over(trap: &Trap) -> (ServerClaim, ServerClaim) {
    let old = claim(&mut trap.machine());
    trap.lapse();
    let mut other = trap.machine();
    assert_eq!(reap(&mut other), 1);
    (old, claim(&mut other))
}

#[test]
fn x2_q3_a_late_finisher_is_fenced() {
    let Some(trap) = Trap::set(&[("a", &[])]) else { return };
    let (old, _) = handed_over(&trap);
    let id = old.task.queued.row.to_string();
    assert!(finish_plainly(&mut trap.raw(), BY_ID_AND_STATE, &[&id]), "the obvious way believes a late finisher");

    let Some(trap) = Trap::set(&[("a", &[])]) else { return };
    let (old, new) = handed_over(&trap);
    assert!(!is_taken(trap.machine().settle(&done(&old)).unwrap()), "the late one is refused");
    assert!(is_taken(trap.machine().settle(&done(&new)).unwrap()), "and the task still is the other's");
}

#[test]
fn x2_q3_a_word_that_is_said_twice_is_heard_once_and_another_word_of_the_same_attempt_is_too_late() {
    let Some(trap) = Trap::set(&[("a", &[])]) else { return };
    let mine = claim(&mut trap.machine());
    let word = done(&mine);
    assert_eq!(trap.machine().settle(&word).unwrap(), TurnAnswer::Written);
    assert_eq!(trap.machine().settle(&word).unwrap(), TurnAnswer::Already);
    let another = ServerTurn { status: "open".into(), outcome: Some("released".into()), result: None, step: 0, ..word };
    let answer = trap.machine().settle(&another).unwrap();
    assert!(matches!(&answer, TurnAnswer::Lost(Some(now)) if now.task.status.name() == "done"), "{answer:?}");
    assert_eq!(trap.server.sql("SELECT count(*) FROM taut.attempts"), "1");
}

/// A failover lost the commit of a claim, so the number of its attempt is given once more.
fn twice_the_same_number(trap: &Trap) -> (ServerClaim, ServerClaim) {
    let old = claim(&mut trap.machine());
    trap.server.sql(
        "DELETE FROM taut.attempts; UPDATE taut.tasks SET status = 'open', machine = NULL, claim = NULL, agent = NULL, \
         lease_until = NULL, lease_ms = NULL, attempt = 0",
    );
    let new = claim(&mut trap.machine());
    assert_eq!(old.task.queued.attempt, new.task.queued.attempt);
    (old, new)
}

#[test]
fn x2_q3_an_attempt_number_that_a_failover_gives_twice_is_not_believed_twice() {
    let by_number = format!("{} ", BY_ID_AND_STATE.replace("RETURNING", "AND attempt = $2::int RETURNING"));
    let Some(trap) = Trap::set(&[("a", &[])]) else { return };
    let (old, _) = twice_the_same_number(&trap);
    let (id, number) = (old.task.queued.row.to_string(), old.task.queued.attempt.to_string());
    assert!(finish_plainly(&mut trap.raw(), &by_number, &[&id, &number]), "the number alone believes the wrong one");

    let Some(trap) = Trap::set(&[("a", &[])]) else { return };
    let (old, new) = twice_the_same_number(&trap);
    assert!(!is_taken(trap.machine().settle(&done(&old)).unwrap()));
    assert!(is_taken(trap.machine().settle(&done(&new)).unwrap()));
}

/// Somebody locks the task and changes nothing, until the finisher that waits for it has lost its lease. `finish` says it is
/// done, and gives whether that was taken, or nothing where it came to no answer. `None` then, and where it came too late to
/// wait: on a busy machine, where this is to be made anew.
fn waits_past_its_lease(
    trap: &Trap,
    lease_ms: i64,
    finish: impl FnOnce(&ServerClaim) -> Option<bool> + Send,
) -> Option<bool> {
    // Whoever takes part is there before the lease begins.
    let (mut claimant, mut other) = (trap.machine(), trap.raw());
    let mine = claimant.claim(&wish(lease_ms)).unwrap().unwrap();
    let mut lock = other.begin();
    let sql = "SELECT to_jsonb(id)::text FROM {s}.tasks FOR UPDATE";
    lock.flight(&[statement(sql, &[])]).unwrap();
    thread::scope(|scope| {
        let finisher = scope.spawn(|| finish(&mine));
        let mut has_waited = false;
        poll::until("the finisher to wait, or not to", LIMIT, || {
            has_waited = trap.waiting() > 0;
            (has_waited || finisher.is_finished()).then_some(())
        })
        .unwrap();
        trap.until("the lease to be over", "SELECT bool_and(lease_until < clock_timestamp()) FROM taut.tasks");
        lock.commit().unwrap();
        finisher.join().unwrap().filter(|_| has_waited)
    })
}

#[test]
fn x2_q3_a_finisher_that_waits_for_a_lock_past_its_lease_is_refused() {
    let obvious = BY_ID_AND_STATE.replace("RETURNING", "AND lease_until > now() RETURNING");
    let Some(_) = Cluster::shared() else { return };
    let taken = poll::until("the obvious way to wait past its lease", LIMIT, || {
        let trap = Trap::set(&[("a", &[])])?;
        let mut finisher = trap.raw();
        waits_past_its_lease(&trap, LONGER, |mine| {
            Some(finish_plainly(&mut finisher, &obvious, &[&mine.task.queued.row.to_string()]))
        })
    });
    assert!(taken.unwrap(), "now() is the start of the transaction");

    let taken = poll::until("ours to wait past its lease", LIMIT, || {
        let trap = Trap::set(&[("a", &[])])?;
        let mut finisher = trap.machine();
        waits_past_its_lease(&trap, SHORT, |mine| match finisher.settle(&done(mine)) {
            Err(ServerError::Busy(_)) => None,
            answer => Some(is_taken(answer.unwrap())),
        })
    });
    assert!(!taken.unwrap());
}

/// The claim was made and its answer lost with the connection; whoever claims asks again. Gives how many tasks are held.
fn answer_is_lost(trap: &Trap, claims: impl FnOnce(&NetworkProxy) + Send) -> i64 {
    let proxy = NetworkProxy::to_unix(&trap.server.cluster.socket()).unwrap();
    thread::scope(|scope| {
        let claimant = scope.spawn(|| claims(&proxy));
        trap.until("the claim to be made", "SELECT count(*) > 0 FROM taut.tasks WHERE status = 'active'");
        // Nothing gets through in between.
        proxy.set(ProxyMode::HoldBack);
        proxy.reset();
        proxy.set(ProxyMode::Pass);
        claimant.join().unwrap();
    });
    trap.server.sql("SELECT count(*) FROM taut.tasks WHERE status = 'active'").parse().unwrap()
}

#[test]
fn x2_q2_a_claim_whose_answer_is_lost_is_one_claim() {
    let tasks: [(&str, &[&str]); 3] = [("a", &[]), ("b", &[]), ("c", &[])];
    let Some(trap) = Trap::set(&tasks) else { return };
    let held = answer_is_lost(&trap, |proxy| {
        let mut queue = trap.machine_by(through(proxy, &trap.server), PLENTY);
        proxy.set(ProxyMode::SwallowAnswers);
        // Asked anew with a claim of its own, as whoever knows nothing of the first.
        let once = |queue: &mut shared_store::PgQueue| {
            let link = queue.link();
            let claim = wish(LEASE_MS);
            let parameters = ["1", &super::uuid(), "ann", "s", &claim.claim, "600000"];
            let asked = link.connection().unwrap().flight(&[super::ours("claim", &parameters)], InTransaction::No);
            asked.is_ok()
        };
        assert!(!once(&mut queue), "its answer is lost");
        assert!(once(&mut queue));
    });
    assert_eq!(held, 2, "the obvious way holds two tasks for one asking");

    let Some(trap) = Trap::set(&tasks) else { return };
    let held = answer_is_lost(&trap, |proxy| {
        let mut queue = trap.machine_by(through(proxy, &trap.server), PLENTY);
        proxy.set(ProxyMode::SwallowAnswers);
        let made = claim(&mut queue);
        assert_eq!(made.task.plan.slug, "a");
        assert!(is_taken(trap.machine().settle(&done(&made)).unwrap()), "and it is the claimant's");
        queue.claim(&wish(LEASE_MS)).unwrap().unwrap();
    });
    assert_eq!(held, 1);
}

#[test]
fn x2_q2_a_claim_that_the_network_delivers_twice_is_one_claim() {
    let Some(trap) = Trap::set(&[("a", &[]), ("b", &[])]) else { return };
    let proxy = NetworkProxy::to_unix(&trap.server.cluster.socket()).unwrap();
    let mut queue = trap.machine_by(through(&proxy, &trap.server), PLENTY);
    let made = claim(&mut queue);
    assert_eq!(proxy.say_again().unwrap(), 1, "all of it, over a connection of its own");
    let told = trap.server.sql("SELECT count(*) || ' ' || max(attempt) FROM taut.tasks WHERE status = 'active'");
    assert_eq!(told, "1 1");
    assert_eq!(trap.server.sql("SELECT count(*) FROM taut.attempts"), "1");
    assert!(is_taken(queue.settle(&done(&made)).unwrap()));
    assert_eq!(proxy.say_again().unwrap(), 1, "the claim and that it is done");
    assert_eq!(trap.server.sql("SELECT string_agg(status, ' ' ORDER BY slug) FROM taut.tasks"), "done open");
    assert_eq!(trap.server.sql("SELECT count(*) FROM taut.attempts"), "1", "a claim that is over is not made again");
}
