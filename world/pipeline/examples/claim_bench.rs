//! What a claim costs at 100, 10,000 and 1,000,000 tasks, most of them blocked,
//! as ratios to the smallest. `cargo run --release -p pipeline --example claim_bench`.

use engine::queue::{Actor, Claimant, Speaker};
use model::Ms;
use model::task::{ClockReading, TaskPlan};
use pipeline::queue::Queue;
use std::time::{Duration, Instant};
use store::{Durability, Error, Store};

const PROJECT: &str = "/bench";
const SIZES: [usize; 3] = [100, 10_000, 1_000_000];
const ROUNDS: usize = 1_000;
const WARM_UP: usize = 200;
const BATCH: usize = 20_000;

/// One queue and what its claims cost.
struct Lane {
    size: usize,
    _home: tempfile::TempDir,
    store: Store,
    times: Vec<Duration>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut lanes = SIZES.into_iter().map(lane).collect::<Result<Vec<_>, _>>()?;
    // Turn by turn, so that whatever else the machine does is shared by all.
    for round in 0..WARM_UP + ROUNDS {
        for lane in &mut lanes {
            let took = claim_and_return(&mut lane.store, round)?;
            lane.times.extend((round >= WARM_UP).then_some(took));
        }
    }
    println!("{:>9}  {:>10}  {:>10}  {:>12}", "tasks", "p50 ratio", "p99 ratio", "claims ratio");
    let costs: Vec<_> = lanes.iter_mut().map(|lane| (lane.size, cost(&mut lane.times))).collect();
    let base = costs.first().map(|(_, cost)| *cost).ok_or("no sizes")?;
    for (size, [p50, p99, all]) in costs {
        let ratio = |one: Duration, other: Duration| one.as_secs_f64() / other.as_secs_f64();
        println!(
            "{size:>9}  {:>10.2}  {:>10.2}  {:>12.2}   ({p50:?} p50, {p99:?} p99)",
            ratio(p50, base[0]),
            ratio(p99, base[1]),
            ratio(base[2], all),
        );
    }
    Ok(())
}

fn lane(size: usize) -> Result<Lane, Box<dyn std::error::Error>> {
    let home = tempfile::tempdir()?;
    let mut store = Store::open(&home.path().join("state"), Duration::from_secs(5))?;
    fill(&mut store, size)?;
    // What filling left to be written would be paid for by the first claims.
    std::fs::File::open(store.path())?.sync_all()?;
    Ok(Lane { size, _home: home, store, times: Vec::with_capacity(ROUNDS) })
}

/// The median, the worst of a hundred, and the sum.
fn cost(times: &mut [Duration]) -> [Duration; 3] {
    let all = times.iter().sum();
    times.sort();
    let at = |part: usize| times.get(times.len() * part / 100).copied().unwrap_or_default();
    [at(50), at(99), all]
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
                    tx.add_blockers(&task, std::slice::from_ref(&blocker))?;
                }
            }
            Ok(())
        })?;
        store.settle()?;
    }
    Ok(())
}

/// Released, not done: the smallest queue must last as long as the largest.
fn claim_and_return(store: &mut Store, round: usize) -> Result<Duration, Box<dyn std::error::Error>> {
    let claimant = Claimant::agent("bench", 600_000);
    let now = Ms(10_000_000 + round as i64);
    let moment = ClockReading { now, awake: now.0, boot: "bench".into() };
    let begun = Instant::now();
    let claimed = Queue::new(store, || moment.clone()).claim_first(PROJECT, &claimant)?;
    let took = begun.elapsed();
    let claimed = claimed.ok_or("nothing to claim")?;
    let speaker = Speaker::agent("bench");
    let actor = Actor { agent: "bench".into(), attempt: None, token: Some(claimed.token), speaker };
    let slug = &claimed.task.plan.slug;
    Queue::new(store, || moment.clone()).fail(PROJECT, slug, &actor, engine::queue::SESSION_EXITED)?;
    Queue::new(store, || moment.clone()).requeue(PROJECT, slug)?;
    if round.is_multiple_of(50) {
        store.settle()?;
    }
    Ok(took)
}

fn plan(nth: usize) -> TaskPlan {
    TaskPlan { slug: format!("t/{nth:07}"), title: "a task of the bench".into(), ..TaskPlan::default() }
}
