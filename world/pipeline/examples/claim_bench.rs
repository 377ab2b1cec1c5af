//! What a claim costs at 100, 10,000 and 1,000,000 tasks, most of them blocked,
//! as ratios to the smallest. `cargo run --release -p pipeline --example claim_bench`.

use engine::queue::{Actor, Claimant};
use model::Ms;
use model::task::{Moment, Plan};
use pipeline::queue::Queue;
use std::time::{Duration, Instant};
use store::{Durability, Error, Store};

const PROJECT: &str = "/bench";
const SIZES: [usize; 3] = [100, 10_000, 1_000_000];
const ROUNDS: usize = 1_000;
const WARM_UP: usize = 200;
const BATCH: usize = 20_000;

#[derive(Clone)]
struct Cost {
    p50: Duration,
    p99: Duration,
    all: Duration,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut first: Option<Cost> = None;
    println!("{:>9}  {:>10}  {:>10}  {:>12}", "tasks", "p50 ratio", "p99 ratio", "claims ratio");
    for size in SIZES {
        let home = tempfile::tempdir()?;
        let mut store = Store::open(&home.path().join("state"), Duration::from_secs(5))?;
        fill(&mut store, size)?;
        // What filling left to be written would be paid for by the first claims.
        std::fs::File::open(store.path())?.sync_all()?;
        let cost = measure(&mut store)?;
        let base = first.get_or_insert_with(|| cost.clone());
        let ratio = |one: Duration, other: Duration| one.as_secs_f64() / other.as_secs_f64();
        println!(
            "{size:>9}  {:>10.2}  {:>10.2}  {:>12.2}   ({:?} p50, {:.0} claims a second)",
            ratio(cost.p50, base.p50),
            ratio(cost.p99, base.p99),
            ratio(base.all, cost.all),
            cost.p50,
            ROUNDS as f64 / cost.all.as_secs_f64(),
        );
    }
    Ok(())
}

/// Nine of ten wait for a task that is never done; the others are done over and over.
fn fill(store: &mut Store, size: usize) -> Result<(), Error> {
    let blocker = store.transact(Durability::Normal, |tx| tx.add_task(PROJECT, &plan(0), Ms(1)))?;
    let all: Vec<usize> = (1..size).collect();
    for batch in all.chunks(BATCH) {
        store.transact(Durability::Normal, |tx| {
            for nth in batch {
                let task = tx.add_task(PROJECT, &plan(*nth), Ms(*nth as i64))?;
                if nth % 10 != 0 {
                    tx.add_blocker(&task, &blocker)?;
                }
            }
            Ok(())
        })?;
        store.settle()?;
    }
    Ok(())
}

fn measure(store: &mut Store) -> Result<Cost, Box<dyn std::error::Error>> {
    let mut times = Vec::with_capacity(ROUNDS);
    let claimant = Claimant { agent: "bench".into(), session: None, lease_ms: 600_000 };
    for round in 0..WARM_UP + ROUNDS {
        let now = Ms(10_000_000 + round as i64);
        let moment = Moment { now, awake: now.0, boot: "bench".into() };
        let begun = Instant::now();
        let claimed = Queue::new(store, moment.clone()).claim_first(PROJECT, &claimant)?;
        times.extend((round >= WARM_UP).then(|| begun.elapsed()));
        let claimed = claimed.ok_or("nothing to claim")?;
        let actor = Actor { agent: "bench".into(), token: Some(claimed.task.queued.attempt) };
        // Released, not done: the smallest queue must last as long as the largest.
        let slug = &claimed.task.plan.slug;
        Queue::new(store, moment.clone()).fail(PROJECT, slug, &actor, engine::queue::SESSION_EXITED)?;
        Queue::new(store, moment).requeue(PROJECT, slug)?;
        if round % 50 == 0 {
            store.settle()?;
        }
    }
    let all = times.iter().sum();
    times.sort();
    let at = |part: usize| times.get(times.len() * part / 100).copied().unwrap_or_default();
    Ok(Cost { p50: at(50), p99: at(99), all })
}

fn plan(nth: usize) -> Plan {
    Plan { slug: format!("t/{nth:07}"), title: "a task of the bench".into(), ..Plan::default() }
}
