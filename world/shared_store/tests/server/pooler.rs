//! Everything of the queue through a pooler that hands out a session of the server for each transaction: two sessions for
//! many machines, so that no state of a session can be relied on.

use crate::traps::{self, LEASE_MS};
use crate::{PLENTY, Server, at, schema};
use shared_store::{MachineIdentity, PgQueue, ServerLink, Target, migrate, version};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use store::{Renewal, TaskServer, TurnAnswer};
use testkit::postgres::{OWNER, Pooler};

/// A server that nobody of the test reaches but through its pooler.
struct Pooled {
    server: Server,
    pooler: Pooler,
}

impl Pooled {
    fn empty() -> Option<Self> {
        let server = Server::empty()?;
        let pooler = Pooler::start(server.cluster, 2)?;
        Some(Self { server, pooler })
    }

    fn migrated() -> Option<Self> {
        let pooled = Self::empty()?;
        migrate(&pooled.way(OWNER), &schema(), PLENTY).unwrap();
        Some(pooled)
    }

    fn way(&self, role: &str) -> Target {
        at(&self.pooler.url(role, &self.server.database))
    }

    fn machine(&self) -> PgQueue {
        let link = ServerLink::new(self.way("taut_agent"), schema(), PLENTY, Arc::new(traps::now));
        let machine = MachineIdentity { id: traps::uuid(), label: "m".into() };
        PgQueue::open(link, machine, "acme/shop").unwrap().with_grace(Duration::ZERO)
    }

    fn standing(&self) -> String {
        let all = "SELECT coalesce(string_agg(slug || ' ' || status || ' ' || attempt, ', ' ORDER BY slug), '') FROM taut.tasks";
        self.server.sql(all)
    }
}

#[test]
fn x1_migrations_go_through_a_pooler_and_several_at_once_are_one() {
    let Some(pooled) = Pooled::empty() else { return };
    let owner = pooled.way(OWNER);
    let did: Vec<_> = thread::scope(|scope| {
        let all: Vec<_> = (0..6).map(|_| scope.spawn(|| migrate(&owner, &schema(), PLENTY).unwrap())).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(did.iter().filter(|did| did.from == 0 && did.to == 1).count(), 1, "{did:?}");
    let mut member = shared_store::Connection::open(&pooled.way("taut_agent"), PLENTY).unwrap();
    assert_eq!(version(&mut member, &schema()).unwrap().version, 1);
}

#[test]
fn x1_a_queue_is_planned_claimed_renewed_and_done_through_a_pooler() {
    let Some(pooled) = Pooled::migrated() else { return };
    let (mut one, mut two) = (pooled.machine(), pooled.machine());
    traps::plan(&mut one, "a", &[]);
    traps::plan(&mut two, "b", &["a"]);
    let first = traps::claim(&mut one);
    assert!(two.claim(&traps::wish(LEASE_MS)).unwrap().is_none(), "b waits for a");
    pooled.server.sql("UPDATE taut.tasks SET lease_until = clock_timestamp() + interval '1 minute' WHERE slug = 'a'");
    let (id, attempt) = (first.task.queued.row, first.task.queued.attempt);
    let renewal = Renewal { id, attempt, claim: first.claim.clone(), age_ms: 0, lease_ms: None };
    assert!(one.renew(&[renewal]).unwrap().lease_of(id).is_some());
    let long = "SELECT lease_until > clock_timestamp() + interval '9 minutes' FROM taut.tasks WHERE slug = 'a'";
    assert_eq!(pooled.server.sql(long), "t");
    assert!(traps::is_taken(one.settle(&traps::done(&first)).unwrap()));
    let next = traps::claim(&mut two);
    assert_eq!((next.task.plan.slug.as_str(), next.blocker_results.len()), ("b", 1));
    assert!(traps::is_taken(two.settle(&traps::done(&next)).unwrap()));
    assert_eq!(pooled.standing(), "a done 1, b done 1");
}

#[test]
fn x2_q3_a_late_finish_is_refused_through_a_pooler() {
    let Some(pooled) = Pooled::migrated() else { return };
    let (mut one, mut two) = (pooled.machine(), pooled.machine());
    traps::plan(&mut one, "a", &[]);
    let late = traps::claim(&mut one);
    pooled.server.sql("UPDATE taut.tasks SET lease_until = clock_timestamp() - interval '1 second'");
    assert_eq!(traps::reap(&mut two), 1);
    let new = traps::claim(&mut two);
    assert_eq!(new.task.queued.attempt, 2);
    let refused = one.settle(&traps::done(&late)).unwrap();
    assert!(matches!(&refused, TurnAnswer::Lost(Some(standing)) if standing.task.attempt == 2), "{refused:?}");
    assert!(traps::is_taken(two.settle(&traps::done(&new)).unwrap()));
    assert_eq!(pooled.standing(), "a done 2");
}

/// Eight machines on two sessions: every transaction may find itself in a session that another has just left.
#[test]
fn x1_q2_many_machines_on_two_sessions_do_every_task_once() {
    const TASKS: usize = 40;
    let Some(pooled) = Pooled::migrated() else { return };
    let mut planner = pooled.machine();
    for task in 0..TASKS {
        traps::plan(&mut planner, &format!("t{task:02}"), &[]);
    }
    let work = || {
        let (mut machine, mut mine) = (pooled.machine(), Vec::new());
        let next = |machine: &mut PgQueue| {
            let wish = traps::wish(LEASE_MS);
            traps::unhindered(|| machine.claim(&wish))
        };
        while let Some(claimed) = next(&mut machine) {
            let turn = traps::done(&claimed);
            assert!(traps::is_taken(traps::unhindered(|| machine.settle(&turn))));
            mine.push(claimed.task.plan.slug.clone());
        }
        mine
    };
    let done: Vec<String> = thread::scope(|scope| {
        let all: Vec<_> = (0..8).map(|_| scope.spawn(work)).collect();
        all.into_iter().flat_map(|one| one.join().unwrap()).collect()
    });
    assert_eq!((done.len(), done.iter().collect::<BTreeSet<_>>().len()), (TASKS, TASKS), "{done:?}");
    assert_eq!(pooled.server.sql("SELECT count(*) FROM taut.tasks WHERE status = 'done' AND attempt = 1"), "40");
    let sessions =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND usename = 'taut_agent'";
    assert_eq!(pooled.server.sql(sessions), "2", "they were on no more");
}
