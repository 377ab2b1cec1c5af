//! A week at a glance: what it costs with much history behind it, beside the week alone, and what the first look costs.

use crate::times::{Times, ratio};
use dash::stats::{self, StatsDays, StatsScope};
use model::Ms;
use std::io;
use std::time::{Duration, Instant};
use store::Store;

const EVENTS_EACH: u64 = 200;
/// One session a quarter of an hour: as many as a week has.
const A_WEEK: u64 = 672;

pub fn run(quick: bool) -> Result<(), String> {
    let many = if quick { 1_344 } else { 5_000 };
    measure(many, if quick { 5 } else { 20 }).map_err(|error| error.to_string())
}

fn measure(many: u64, rounds: usize) -> io::Result<()> {
    let folders = [tempfile::tempdir()?, tempfile::tempdir()?];
    let mut stores = Vec::new();
    for (folder, sessions) in folders.iter().zip([A_WEEK, many]) {
        store::fill::sessions(folder.path(), sessions, EVENTS_EACH).map_err(io::Error::other)?;
        stores.push(Store::open_and_migrate(folder.path(), Duration::from_secs(5)).map_err(io::Error::other)?);
    }
    let [small, large] = &mut stores[..] else { return Err(io::Error::other("two stores")) };
    println!("a week of {} events, alone and with {} in all", A_WEEK * EVENTS_EACH, many * EVENTS_EACH);
    let (few_summed, many_summed) = (first_look(small)?, first_look(large)?);
    println!(
        "{:<32} {:>8.0} ms, of a week {:>6.0} ms   {:>6.2} x   {:>6.0} events a millisecond",
        "the first look sums all",
        millis(many_summed),
        millis(few_summed),
        ratio(many_summed, few_summed),
        (many * EVENTS_EACH) as f64 / millis(many_summed)
    );
    let last = i64::try_from(many).unwrap_or(i64::MAX) / 96;
    for (name, days) in [
        ("that week", StatsDays { from: 0, to: 6 }),
        ("the last week", StatsDays { from: last - 6, to: last }),
        ("all days", StatsDays { from: 0, to: last }),
    ] {
        let (mut with_few, mut with_many) = (Times::default(), Times::default());
        for _ in 0..rounds {
            // The week alone is the measure of each.
            looked(small, StatsDays { from: 0, to: 6 }, &mut with_few)?;
            looked(large, days, &mut with_many)?;
        }
        println!(
            "{name:<32} {:>8.2} ms, alone {:>6.2} ms   {:>6.2} x   p99 {:>8.2} ms",
            millis(with_many.p50()),
            millis(with_few.p50()),
            ratio(with_many.p50(), with_few.p50()),
            millis(with_many.p99())
        );
    }
    Ok(())
}

/// What `taut stats` does before it shows anything.
fn first_look(store: &mut Store) -> io::Result<Duration> {
    let begun = Instant::now();
    loop {
        let progress = store.sum_events(&day).map_err(io::Error::other)?;
        if progress.left == 0 || progress.summed == 0 {
            return Ok(begun.elapsed());
        }
    }
}

fn looked(store: &Store, days: StatsDays, times: &mut Times) -> io::Result<()> {
    let begun = Instant::now();
    let report = stats::report(store, days, &StatsScope::Everybody, &day).map_err(io::Error::other)?;
    times.add(begun.elapsed());
    if report.total.calls == 0 { Err(io::Error::other("nothing was summed")) } else { Ok(()) }
}

fn day(at: Ms) -> i64 {
    at.0.div_euclid(86_400_000)
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
