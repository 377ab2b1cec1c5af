//! Many hooks at once: throughput, delay, and that none is lost or late.

use crate::home::BenchHome;
use crate::times::{Times, ratio};
use serde_json::Value;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A hook's own limit (D6).
const DEADLINE: Duration = Duration::from_secs(2);

pub fn run(quick: bool) -> Result<(), String> {
    let per_level = if quick { 256 } else { 4_096 };
    measure(per_level).map_err(|error| error.to_string())
}

fn measure(per_level: usize) -> std::io::Result<()> {
    println!("{per_level} hooks per row; ratios to as many /bin/true started the same way");
    for alone in [false, true] {
        println!("{}", if alone { "in process:" } else { "through the daemon:" });
        for at_once in [2, 8, 32, 64] {
            let house = crate::house().map_err(std::io::Error::other)?;
            if !alone {
                house.daemon("start")?;
            }
            let (base, base_rate) = burst(per_level, at_once, &|| house.baseline(&house.call("ls")?))?;
            let (hooks, rate) = burst(per_level, at_once, &|| {
                let mut hook = house.hook(&call_of_its_own(&house)?)?;
                if alone {
                    hook.env("TAUT_NO_DAEMON", "1");
                }
                Ok(hook)
            })?;
            println!(
                "  {at_once:>2} at once: {:>5.0}/s ({:.2} x)   p50 {:>5.2} x   p99 {:>5.2} x   lost {}   over deadline {}",
                rate,
                rate / base_rate,
                ratio(hooks.p50(), base.p50()),
                ratio(hooks.p99(), base.p99()),
                per_level.saturating_sub(stored(&house)),
                hooks.over(DEADLINE),
            );
        }
    }
    Ok(())
}

/// Calls of a storm are in flight together, so each has a file of its own.
fn call_of_its_own(house: &BenchHome) -> std::io::Result<std::path::PathBuf> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let nth = NEXT.fetch_add(1, Ordering::Relaxed);
    let file = house.home().join(format!("storm-{nth}.json"));
    std::fs::write(&file, house.payload("ls", 1_000_000 + nth as u64).to_string())?;
    Ok(file)
}

fn burst(
    count: usize,
    at_once: usize,
    make: &(dyn Fn() -> std::io::Result<Command> + Sync),
) -> std::io::Result<(Times, f64)> {
    let left = AtomicUsize::new(count);
    let all = Mutex::new(Times::default());
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..at_once)
            .map(|_| {
                scope.spawn(|| -> std::io::Result<()> {
                    let mut times = Times::default();
                    while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok() {
                        crate::spawn::timed(&mut make()?, &mut times)?;
                    }
                    all.lock().map_err(|_| std::io::Error::other("a worker failed"))?.extend(times);
                    Ok(())
                })
            })
            .collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().map_err(|_| std::io::Error::other("a worker failed"))?)
    })?;
    let rate = count as f64 / begun.elapsed().as_secs_f64();
    let times = all.into_inner().map_err(|_| std::io::Error::other("a worker failed"))?;
    Ok((times, rate))
}

fn stored(house: &BenchHome) -> usize {
    let done = house.taut().args(["events", "--json", "-n", "1000000000"]).output();
    let text = done.map(|done| String::from_utf8_lossy(&done.stdout).into_owned()).unwrap_or_default();
    let storm = |line: &&str| {
        let event: Value = serde_json::from_str(line).unwrap_or_default();
        event.get("event") == Some(&Value::from("PreToolUse"))
    };
    text.lines().filter(storm).count()
}
