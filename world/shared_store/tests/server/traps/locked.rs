//! Somebody forgot to commit: a row stays locked. It costs that task a while, and no other anything.

use super::{Trap, claim, done, is_taken, plan, reap, statement};
use store::{Renewal, Renewed, RenewedLease, ServerClaim, ServerError, TaskServer};

fn renewal(claim: &ServerClaim) -> Renewal {
    let queued = &claim.task.queued;
    Renewal { id: queued.row, attempt: queued.attempt, claim: claim.claim.clone(), age_ms: 0, lease_ms: None }
}

/// What a person does who then goes home.
fn touched(slug: &str) -> shared_store::Statement {
    statement(&format!("UPDATE {{s}}.tasks SET title = title WHERE slug = '{slug}'"), &[])
}

#[test]
fn x2_q4_a_row_that_somebody_keeps_locked_costs_no_other_task_its_lease_or_its_end() {
    let Some(trap) = Trap::set(&[("a", &[]), ("b", &[]), ("c", &[])]) else { return };
    let mut machine = trap.machine();
    let held = [claim(&mut machine), claim(&mut machine), claim(&mut machine)];
    let ids = held.each_ref().map(|claim| claim.task.queued.row);
    let mut forgotten = trap.raw();
    let mut forgotten = forgotten.begin();
    forgotten.flight(&[touched("b")]).unwrap();
    for _ in 0..2 {
        let renewed = machine.renew(&held.each_ref().map(renewal)).unwrap();
        let Renewed { mut kept, locked } = renewed;
        kept.sort_by_key(|kept| kept.id);
        assert_eq!((kept, locked), (vec![lease(ids[0]), lease(ids[2])], vec![ids[1]]));
        assert_eq!(trap.waiting(), 0, "nobody is left behind who waits, and keeps what it has locked");
    }
    assert!(is_taken(machine.settle(&done(&held[0])).unwrap()));
    let told = machine.settle(&done(&held[1]));
    assert!(matches!(&told, Err(ServerError::Busy(why)) if why.contains("open transaction")), "{told:?}");
    assert_eq!(trap.waiting(), 0);
    drop(forgotten);
    assert_eq!(machine.renew(&[renewal(&held[1])]).unwrap().kept, [lease(ids[1])]);
    assert!(is_taken(machine.settle(&done(&held[1])).unwrap()));
}

fn lease(id: i64) -> RenewedLease {
    RenewedLease { id, lease_ms: super::LEASE_MS }
}

#[test]
fn x2_q4_a_locked_row_keeps_nobody_from_claiming_and_no_other_lapsed_task_from_coming_back() {
    let Some(trap) = Trap::set(&[("a", &[]), ("b", &[]), ("c", &[])]) else { return };
    let mut machine = trap.machine();
    claim(&mut machine);
    claim(&mut machine);
    trap.lapse();
    let mut forgotten = trap.raw();
    let mut forgotten = forgotten.begin();
    forgotten.flight(&[touched("b")]).unwrap();
    assert_eq!(reap(&mut machine), 1, "the other one");
    assert_eq!(claim(&mut machine).task.plan.slug, "a");
    plan(&mut machine, "d", &["b"]);
    let wish = store::ClaimWish { slug: Some("b".into()), ..super::wish(super::LEASE_MS) };
    assert_eq!(machine.claim(&wish).unwrap(), None, "it is another's still");
    assert_eq!(trap.waiting(), 0);
}
