//! Schedules that break the obvious SQL. Each is run twice: the obvious way must fail, or the schedule proves nothing; ours
//! must hold.

mod claims;
mod dependents;
mod fence;
mod holders;
mod locked;
mod lost_commit;
mod many;
mod planners;
mod swapped;
mod written_by_hand;

use crate::{PLENTY, Server, at, schema};
use model::Ms;
use model::task::TaskPlan;
use serde_json::{Value, json};
use shared_store::{
    Connection, InTransaction, MachineIdentity, Patience, PgQueue, ServerLink, Statement, Target, Transaction,
    queue_statement,
};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use store::{ClaimWish, LeaseNeed, ServerClaim, ServerError, ServerTurn, TaskServer, TaskStanding, TurnAnswer};
use testkit::poll;
use testkit::postgres::OWNER;

pub(crate) const LIMIT: Duration = Duration::from_secs(60);
pub(crate) const LEASE_MS: i64 = 600_000;

/// What most queues do: whoever says the id of an active task ends it.
const BY_ID_AND_STATE: &str = "UPDATE {s}.tasks SET status = 'done', machine = NULL, claim = NULL, agent = NULL, \
    lease_until = NULL, lease_ms = NULL WHERE id = $1::bigint AND status = 'active' RETURNING to_jsonb(id)::text";

/// A project with tasks, and machines that take part in it.
pub(crate) struct Trap {
    pub(crate) server: Server,
    /// For looks that follow one another closely: a program for each is slower than what is looked for.
    owner: Mutex<Connection>,
}

impl Trap {
    /// `None` where there is no server, which is then said.
    pub(crate) fn set(tasks: &[(&str, &[&str])]) -> Option<Self> {
        let server = Server::migrated()?;
        let owner = Mutex::new(server.connect(OWNER));
        let trap = Self { server, owner };
        let mut planner = trap.machine();
        for (slug, blockers) in tasks {
            plan(&mut planner, slug, blockers);
        }
        Some(trap)
    }

    /// Another machine, for which a start of the server is long ago.
    pub(crate) fn machine(&self) -> PgQueue {
        self.machine_by(self.server.target("taut_agent"), PLENTY).with_grace(Duration::ZERO)
    }

    fn machine_by(&self, way: Target, patience: Patience) -> PgQueue {
        let link = ServerLink::new(way, schema(), patience, Arc::new(now));
        PgQueue::open(link, MachineIdentity { id: uuid(), label: "m".into() }, "acme/shop").unwrap()
    }

    /// A connection of a member without our queue in front of it.
    pub(crate) fn raw(&self) -> Connection {
        self.server.member()
    }

    /// So many wait for somebody else's lock.
    pub(crate) fn until_waiting(&self, many: usize) {
        poll::until("somebody to wait for a lock", LIMIT, || (self.waiting() >= many).then_some(())).unwrap();
    }

    fn waiting(&self) -> usize {
        let many =
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
        self.looked(many).as_u64().unwrap() as usize
    }

    fn until(&self, what: &str, condition: &str) {
        poll::until(what, LIMIT, || (self.looked(condition) == true).then_some(())).unwrap();
    }

    /// The one value that a statement finds.
    fn looked(&self, sql: &str) -> Value {
        let mut owner = self.owner.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = crate::ask(&format!("SELECT coalesce(to_jsonb(({sql})), 'null')::text"));
        owner.flight(&[asked], InTransaction::No).unwrap().remove(0).remove(0)
    }

    fn open_blockers(&self, slug: &str) -> i64 {
        self.server.sql(&format!("SELECT open_blockers FROM taut.tasks WHERE slug = '{slug}'")).parse().unwrap()
    }

    /// The lease of every task is over, by the only clock that counts.
    fn lapse(&self) {
        self.server
            .sql("UPDATE taut.tasks SET lease_until = clock_timestamp() - interval '1 ms' WHERE status = 'active'");
    }

    /// Long enough that the server's start, whenever it was, is within it; and a minute more.
    fn grace(&self) -> Duration {
        let up = "SELECT ceil(extract(epoch FROM clock_timestamp() - pg_postmaster_start_time()))::int";
        Duration::from_secs(self.server.sql(up).parse::<u64>().unwrap() + 60)
    }
}

pub(crate) fn plan(queue: &mut PgQueue, slug: &str, blockers: &[&str]) {
    let plan = TaskPlan { slug: slug.into(), title: slug.into(), ..TaskPlan::default() };
    let add = |rows: &dyn store::PlanRows| {
        let task = rows.add_task("acme", &plan, now())?;
        let found: Result<Vec<_>, _> = blockers.iter().map(|slug| rows.queued("acme", slug)).collect();
        let found: Vec<_> = found?.into_iter().flatten().collect();
        assert_eq!(found.len(), blockers.len(), "blockers are planned first");
        rows.add_blockers(&task, &found)
    };
    queue.plan(&mut { add }).unwrap();
}

pub(crate) fn wish(lease_ms: i64) -> ClaimWish {
    ClaimWish { slug: None, agent: "ann".into(), session: None, lease_ms, claim: uuid() }
}

pub(crate) fn claim(queue: &mut PgQueue) -> ServerClaim {
    queue.claim(&wish(LEASE_MS)).unwrap().unwrap()
}

/// That the claimant is done.
pub(crate) fn done(claim: &ServerClaim) -> ServerTurn {
    let task = &claim.task.queued;
    ServerTurn {
        id: task.row,
        slug: task.slug.clone(),
        was: "active".into(),
        attempt: task.attempt,
        claim: Some(claim.claim.clone()),
        need: Some(LeaseNeed::Live),
        status: "done".into(),
        retry_count: task.retry_count,
        failures: task.failures,
        releases: task.releases,
        fail_reason: None,
        rest_ms: None,
        result: Some(json!({ "by": claim.claim })),
        outcome: Some("done".into()),
        reason: None,
        step: -1,
    }
}

/// That nobody holds it any more, because its lease is over.
fn expired(standing: &TaskStanding) -> ServerTurn {
    let task = &standing.task;
    ServerTurn {
        id: task.row,
        slug: task.slug.clone(),
        was: "active".into(),
        attempt: task.attempt,
        claim: standing.claim.clone(),
        need: Some(LeaseNeed::Lapsed),
        status: "open".into(),
        retry_count: task.retry_count,
        failures: task.failures,
        releases: task.releases,
        fail_reason: None,
        rest_ms: None,
        result: None,
        outcome: Some("expired".into()),
        reason: None,
        step: 0,
    }
}

/// Asked again where somebody's open transaction was in the way: on a busy machine it is open for longer than is waited.
pub(crate) fn unhindered<T>(mut verb: impl FnMut() -> Result<T, ServerError>) -> T {
    let asked = || match verb() {
        Err(ServerError::Busy(_)) => None,
        answer => Some(answer.unwrap()),
    };
    poll::until("nobody to be in the way", LIMIT, asked).unwrap()
}

/// Ends whatever lapsed; gives how many.
pub(super) fn reap(queue: &mut PgQueue) -> usize {
    let lapsed = queue.lapsed(100).unwrap();
    let turns: Vec<ServerTurn> = lapsed.iter().map(expired).collect();
    queue.turns(&turns).unwrap().len()
}

pub(crate) fn is_taken(answer: TurnAnswer) -> bool {
    matches!(answer, TurnAnswer::Written | TurnAnswer::Already)
}

/// One of our statements.
fn ours(name: &str, parameters: &[&str]) -> Statement {
    statement(queue_statement(name), parameters)
}

/// Of a client that does not know yet which server it speaks to.
fn guard() -> Statement {
    Statement::new(queue_statement("guard"), "taut", vec![None])
}

fn statement(sql: &str, parameters: &[&str]) -> Statement {
    Statement::new(sql, "taut", parameters.iter().map(|text| Some((*text).to_string())).collect())
}

fn turns(turns: &[&ServerTurn]) -> String {
    serde_json::to_string(turns).unwrap()
}

fn run(transaction: &mut Transaction<'_>, statements: &[Statement]) -> Vec<shared_store::Rows> {
    transaction.flight(statements).unwrap()
}

pub(super) fn now() -> Ms {
    Ms(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64)
}

/// Never the same twice in this process, and hardly in two.
pub(crate) fn uuid() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let nth = NEXT.fetch_add(1, Ordering::Relaxed);
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos();
    format!("{nanos:08x}-0000-4000-8000-{nth:012x}")
}

/// By TCP to where the cluster's socket is.
fn through(proxy: &testkit::NetworkProxy, server: &Server) -> Target {
    at(&format!("postgresql://taut_agent@127.0.0.1:{}/{}", proxy.port(), server.database))
}
