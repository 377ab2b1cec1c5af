//! Claims of a queue that machines share, on a PostgreSQL of this machine: beside the local queue's in the same run, beside
//! each other from a thousand tasks to a million, and by many workers at once.

use crate::times::{Times, ratio};
use engine::queue::{Actor, Claimant, Speaker};
use model::Ms;
use model::task::TaskPlan;
use pipeline::queue::Queue;
use serde_json::Value;
use shared_store::{MachineIdentity, Patience, PgQueue, Schema, ServerLink, Surroundings, Target, TargetWish};
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::{ClaimWish, Durability, LeaseNeed, ServerClaim, ServerTurn, Store, TaskServer};
use testkit::postgres::{Cluster, OWNER};

const PROJECT: &str = "/bench";
const LEASE_MS: i64 = 600_000;
const WARM_UP: usize = 20;
/// A claim of the largest queue costs at most so much of one of the smallest: promised, and both are of the same run.
const MOST_GROWTH: f64 = 1.5;

pub fn run(quick: bool) -> Result<(), String> {
    let Some(cluster) = Cluster::plan().durable().start() else {
        println!("there is no PostgreSQL on this machine");
        return Ok(());
    };
    sizes(&cluster, quick)?;
    many_workers(&cluster, quick)
}

/// The queue of one database, and what its claims cost.
struct Lane {
    size: usize,
    queue: PgQueue,
    claims: Times,
    finishes: Times,
}

fn sizes(cluster: &Cluster, quick: bool) -> Result<(), String> {
    let all: &[usize] = if quick { &[1_000, 100_000] } else { &[1_000, 100_000, 1_000_000] };
    let rounds = if quick { 150 } else { 900 };
    let mut lanes = all.iter().map(|size| lane(cluster, *size)).collect::<Result<Vec<_>, _>>()?;
    let mut local = LocalLane::filled(if quick { 1_000 } else { 100_000 }).map_err(|error| error.to_string())?;
    // Turn by turn, so that whatever else the machine does is shared by all.
    for round in 0..WARM_UP + rounds {
        for lane in &mut lanes {
            lane.once(round >= WARM_UP)?;
        }
        local.once(round >= WARM_UP).map_err(|error| error.to_string())?;
    }
    let Some(base) = lanes.first() else { return Ok(()) };
    println!("{:<28} {:>9} {:>9} {:>12} {:>12}", "a warm claim", "p50", "p99", "done, p50", "local p50");
    for lane in &lanes {
        println!(
            "{:<28} {:>7.2} x {:>7.2} x {:>10.2} x {:>10.2} x   ({:.2} ms)",
            format!("{} tasks on the server", lane.size),
            ratio(lane.claims.p50(), base.claims.p50()),
            ratio(lane.claims.p99(), base.claims.p99()),
            ratio(lane.finishes.p50(), base.finishes.p50()),
            ratio(lane.claims.p50(), local.claims.p50()),
            lane.claims.p50().as_secs_f64() * 1e3
        );
    }
    println!(
        "{:<28} {:>7.2} x {:>7.2} x {:>10.2} x {:>10.2} x   ({:.2} ms)",
        format!("{} tasks in SQLite", local.size),
        ratio(local.claims.p50(), base.claims.p50()),
        ratio(local.claims.p99(), base.claims.p99()),
        ratio(local.finishes.p50(), base.finishes.p50()),
        1.0,
        local.claims.p50().as_secs_f64() * 1e3
    );
    let growth = |lane: &&Lane| ratio(lane.claims.p50(), base.claims.p50());
    match lanes.iter().find(|lane| growth(lane) > MOST_GROWTH) {
        Some(lane) => Err(format!(
            "a claim of {} tasks takes {:.2} x as long as one of {} (p50), and {MOST_GROWTH} x is promised",
            lane.size,
            growth(&lane),
            base.size
        )),
        None => Ok(()),
    }
}

fn many_workers(cluster: &Cluster, quick: bool) -> Result<(), String> {
    let tasks = if quick { 640 } else { 6_400 };
    let mut alone = None;
    for workers in [1, 8, 64] {
        let database = filled(cluster, tasks)?;
        let queues = (0..workers).map(|_| open(cluster, &database)).collect::<Result<Vec<_>, _>>()?;
        let began = Instant::now();
        let done: usize = std::thread::scope(|scope| {
            let drained: Vec<_> = queues.into_iter().map(|queue| scope.spawn(|| drain(queue))).collect();
            drained
                .into_iter()
                .map(|worker| worker.join().map_err(|_| "a worker died".to_string())?)
                .sum::<Result<usize, String>>()
        })?;
        let each = began.elapsed() / u32::try_from(tasks).unwrap_or(u32::MAX);
        let base = *alone.get_or_insert(each);
        let deadlocks = deadlocks(cluster, &database);
        println!(
            "{:<28} {:>7.2} x the tasks of one   ({done} claimed and done, {deadlocks} deadlocks)",
            format!("{workers} workers at once"),
            ratio(base, each)
        );
        if done != tasks || deadlocks != "0" {
            return Err(format!("{workers} workers: {done} of {tasks} tasks done, {deadlocks} deadlocks"));
        }
    }
    Ok(())
}

/// Until nothing is left; gives how many it did.
fn drain(mut queue: PgQueue) -> Result<usize, String> {
    let mut done = 0;
    while let Some(claim) = queue.claim(&wish()).map_err(|error| error.to_string())? {
        queue.settle(&finish(&claim)).map_err(|error| error.to_string())?;
        done += 1;
    }
    Ok(done)
}

/// Whoever left has said what it met.
fn deadlocks(cluster: &Cluster, database: &str) -> String {
    let left = format!(
        "SELECT CASE WHEN NOT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = '{database}' AND usename = 'taut_agent')
           THEN deadlocks END FROM pg_stat_database WHERE datname = '{database}'"
    );
    let asked = || Some(cluster.sql("postgres", &left)).filter(|told| !told.is_empty());
    testkit::poll::until("the workers to be gone", Duration::from_secs(30), asked).unwrap_or_else(|why| why.to_string())
}

impl Lane {
    fn once(&mut self, counts: bool) -> Result<(), String> {
        let wish = wish();
        let began = Instant::now();
        let claim = self.queue.claim(&wish).map_err(|error| error.to_string())?.ok_or("nothing was left to claim")?;
        let claimed = began.elapsed();
        let turn = finish(&claim);
        let began = Instant::now();
        self.queue.settle(&turn).map_err(|error| error.to_string())?;
        if counts {
            self.claims.add(claimed);
            self.finishes.add(began.elapsed());
        }
        Ok(())
    }
}

fn lane(cluster: &Cluster, size: usize) -> Result<Lane, String> {
    let database = filled(cluster, size)?;
    let queue = open(cluster, &database)?;
    Ok(Lane { size, queue, claims: Times::default(), finishes: Times::default() })
}

/// A database with so many tasks of which nobody has one.
fn filled(cluster: &Cluster, tasks: usize) -> Result<String, String> {
    let database = cluster.database();
    let owner = target(&cluster.url(OWNER, &database))?;
    shared_store::migrate(&owner, &schema()?, Patience::default()).map_err(|error| error.to_string())?;
    drop(open(cluster, &database)?);
    cluster.sql(
        &database,
        &format!(
            "INSERT INTO taut.tasks (project, slug, title, priority, description)
             SELECT 1, 't' || n, 'task ' || n, n % 4, repeat('x', 400) FROM generate_series(1, {tasks}) AS n;
             VACUUM ANALYZE taut.tasks; CHECKPOINT"
        ),
    );
    Ok(database)
}

fn open(cluster: &Cluster, database: &str) -> Result<PgQueue, String> {
    let way = target(&cluster.url("taut_agent", database))?;
    let link = ServerLink::new(way, schema()?, Patience::default(), Arc::new(host::clock::now));
    PgQueue::open(link, MachineIdentity { id: uuid(), label: "bench".into() }, PROJECT)
        .map_err(|error| error.to_string())
}

fn target(url: &str) -> Result<Target, String> {
    let wish = TargetWish { url: Some(url.to_string()), ..TargetWish::default() };
    Target::resolve(&wish, &Surroundings::default()).map_err(|error| error.to_string())
}

fn schema() -> Result<Schema, String> {
    Schema::named("taut").map_err(|error| error.to_string())
}

fn uuid() -> String {
    host::clock::uuid(host::clock::now())
}

fn wish() -> ClaimWish {
    ClaimWish { slug: None, agent: "bench".into(), session: None, lease_ms: LEASE_MS, claim: uuid() }
}

fn finish(claim: &ServerClaim) -> ServerTurn {
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
        result: None,
        outcome: Some("done".into()),
        reason: None,
        step: -1,
    }
}

/// The queue of this machine alone, in SQLite.
struct LocalLane {
    size: usize,
    _home: tempfile::TempDir,
    store: Store,
    claims: Times,
    finishes: Times,
}

impl LocalLane {
    fn filled(size: usize) -> Result<Self, Box<dyn std::error::Error>> {
        let home = tempfile::tempdir()?;
        let mut store = Store::open(&home.path().join("state"), Duration::from_secs(5))?;
        let all: Vec<usize> = (0..size).collect();
        for batch in all.chunks(20_000) {
            store.transact(Durability::Normal, |tx| {
                for nth in batch {
                    let (slug, description) = (format!("t{nth}"), Some("x".repeat(400)));
                    let plan = TaskPlan { slug, title: format!("task {nth}"), description, ..TaskPlan::default() };
                    tx.add_task(PROJECT, &plan, Ms(i64::try_from(*nth).unwrap_or_default()))?;
                }
                Ok(())
            })?;
        }
        store.settle()?;
        Ok(Self { size, _home: home, store, claims: Times::default(), finishes: Times::default() })
    }

    fn once(&mut self, counts: bool) -> Result<(), Box<dyn std::error::Error>> {
        let mut queue: Queue<'_> = Queue::new(&mut self.store, host::clock_reading::moment);
        let began = Instant::now();
        let claimed =
            queue.claim_first(PROJECT, &Claimant::agent("bench", LEASE_MS))?.ok_or("nothing was left to claim")?;
        let took = began.elapsed();
        let slug = &claimed.task.plan.slug;
        let speaker = Speaker::agent("bench");
        let actor = Actor { agent: "bench".into(), attempt: None, token: Some(claimed.token), speaker };
        let began = Instant::now();
        queue.done(PROJECT, slug, &actor, Value::Null)?;
        if counts {
            self.claims.add(took);
            self.finishes.add(began.elapsed());
        }
        Ok(())
    }
}
