//! Holders while they, or the server, are away.

use super::{Trap, claim, done, guard, is_taken, ours, reap, run, statement, through, turns};
use shared_store::{InTransaction, PgQueue};
use std::time::Duration;
use store::TaskServer;
use testkit::{NetworkProxy, poll};

#[test]
fn x2_q4_a_client_that_is_stopped_inside_a_transaction_holds_nothing_for_long() {
    let Some(trap) = Trap::set(&[("plain", &[]), ("guarded", &[])]) else { return };
    let mut machine = trap.machine();
    let (plain, guarded) = (done(&claim(&mut machine)), done(&claim(&mut machine)));
    let (mut one, mut two) = (trap.raw(), trap.raw());
    let (mut one, mut two) = (one.begin(), two.begin());
    run(&mut one, &[ours("turn", &[&turns(&[&plain])])]);
    run(&mut two, &[guard(), ours("turn", &[&turns(&[&guarded])])]);
    // From here on neither of them says anything. Each try waits a moment for the lock.
    let act = |id: i64| {
        let sql = format!("UPDATE {{s}}.tasks SET updated_at = clock_timestamp() WHERE id = {id}");
        let wait = "SELECT to_jsonb(set_config('lock_timeout', '100ms', true))::text";
        trap.raw().flight(&[statement(wait, &[]), statement(&sql, &[])], InTransaction::Yes).is_ok()
    };
    poll::until("the guarded one to be let go", super::LIMIT, || act(guarded.id).then_some(())).unwrap();
    assert!(!act(plain.id), "without a guard the other, which began before, still holds its own");
    drop((one, two));
}

/// The server was away past every lease, and another is quicker than the holder. Gives whether the holder keeps its task.
fn slow_holder_keeps(trap: &Trap, grace: Duration) -> bool {
    let mut holder = trap.machine().with_grace(grace);
    let mine = claim(&mut holder);
    trap.lapse();
    reap(&mut trap.machine().with_grace(grace));
    is_taken(holder.settle(&done(&mine)).unwrap())
}

#[test]
fn x2_q4_a_server_that_was_away_takes_nobodys_task() {
    let Some(trap) = Trap::set(&[("a", &[])]) else { return };
    assert!(!slow_holder_keeps(&trap, Duration::ZERO), "without a grace whoever is quicker has it");
    let Some(trap) = Trap::set(&[("a", &[])]) else { return };
    assert!(slow_holder_keeps(&trap, trap.grace()));
}

/// The first word after a start is a holder's, over a connection that noticed nothing of it.
fn first_word_is_taken(trap: &Trap, grace: Duration) -> bool {
    let mut holder = trap.machine().with_grace(grace);
    let mine = claim(&mut holder);
    trap.lapse();
    is_taken(holder.settle(&done(&mine)).unwrap())
}

#[test]
fn x2_q4_the_first_word_after_a_start_may_be_a_holders() {
    let Some(trap) = Trap::set(&[("a", &[])]) else { return };
    assert!(!first_word_is_taken(&trap, Duration::ZERO));
    let Some(trap) = Trap::set(&[("a", &[])]) else { return };
    assert!(first_word_is_taken(&trap, trap.grace()));
}

/// A server that sleeps and wakes for every question, so that a grace has always just begun when somebody asks. Gives whether
/// a dead agent's task comes back.
fn comes_back(trap: &Trap, each_start_gives_a_grace: bool) -> bool {
    claim(&mut trap.machine());
    trap.lapse();
    for _ in 0..3 {
        let mut woken: PgQueue = trap.machine().with_grace(trap.grace());
        reap(&mut woken);
        // The grace that was given passes, with nobody heard of.
        trap.lapse();
        if each_start_gives_a_grace {
            trap.server.sql("UPDATE taut.tasks SET graced = false");
        }
    }
    trap.server.sql("SELECT status FROM taut.tasks") == "open"
}

#[test]
fn x2_q4_a_server_that_wakes_for_every_question_keeps_no_dead_agents_task() {
    let Some(trap) = Trap::set(&[("a", &[])]) else { return };
    assert!(!comes_back(&trap, true), "a grace for each start keeps it for ever");
    let Some(trap) = Trap::set(&[("a", &[])]) else { return };
    assert!(comes_back(&trap, false));
}

#[test]
fn x2_q4_a_renewal_ends_the_grace_and_the_next_start_gives_another() {
    let Some(trap) = Trap::set(&[("a", &[])]) else { return };
    let mut holder = trap.machine().with_grace(trap.grace());
    let mine = claim(&mut holder);
    for _ in 0..2 {
        trap.lapse();
        assert_eq!(reap(&mut holder), 0, "this start gave a grace");
        assert_eq!(trap.server.sql("SELECT graced FROM taut.tasks"), "t");
        let renewal = store::Renewal {
            id: mine.task.queued.row,
            attempt: mine.task.queued.attempt,
            claim: mine.claim.clone(),
            age_ms: 0,
            lease_ms: None,
        };
        assert_eq!(holder.renew(&[renewal]).unwrap().lease_of(mine.task.queued.row), Some(super::LEASE_MS));
        assert_eq!(trap.server.sql("SELECT graced FROM taut.tasks"), "f");
    }
}

/// Everybody speaks up at once after a start: a holder's word finds its lease over, and before the holder can ask for the
/// grace another machine has asked for it.
#[test]
fn x2_q4_a_grace_that_another_machine_got_first_counts_for_the_holder() {
    let Some(trap) = Trap::set(&[("a", &[])]) else { return };
    let proxy = NetworkProxy::to_unix(&trap.server.cluster.socket()).unwrap();
    let mut holder = trap.machine_by(through(&proxy, &trap.server), crate::PLENTY).with_grace(trap.grace());
    let mut other = trap.machine().with_grace(trap.grace());
    let mine = claim(&mut holder);
    trap.lapse();
    let since = trap.server.sql("SELECT clock_timestamp()");
    // The way is long, so that there is a while between the word and what follows it.
    proxy.set_delay(Duration::from_millis(800));
    std::thread::scope(|scope| {
        let said = scope.spawn(|| holder.settle(&done(&mine)).unwrap());
        trap.until(
            "the word to be heard",
            &format!(
                "SELECT bool_or(query = 'COMMIT' AND state_change > '{since}') FROM pg_stat_activity
                 WHERE datname = current_database() AND usename = 'taut_agent'"
            ),
        );
        assert_eq!(reap(&mut other), 0, "it asks for the grace");
        assert!(is_taken(said.join().unwrap()));
    });
}
