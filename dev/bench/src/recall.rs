//! Whether a hook costs the same beside a large index as beside none, and what a search in it costs.

use crate::home::BenchHome;
use crate::spawn::timed;
use crate::times::{Times, ratio, row};
use std::io;
use std::time::{Duration, Instant};
use store::Store;
use store::recall::{RecallIndex, RecallQuery};

/// What is asked for: one text, what every text holds, words of which no text has all, and what no word begins with.
const QUESTIONS: &[(&str, &str)] = &[
    ("one text", "crate 4711"),
    ("every text", "cargo test"),
    ("no text has all", "cargo 4711 elsewhere"),
    ("letters within a word", "rat 4711"),
];

pub fn run(quick: bool) -> Result<(), String> {
    let (count, rounds) = if quick { (100_000, 100) } else { (1_000_000, 500) };
    measure(count, rounds).map_err(|error| error.to_string())
}

fn measure(count: u64, rounds: usize) -> io::Result<()> {
    let failed = |error: store::Error| io::Error::other(error.to_string());
    let none = crate::house().map_err(io::Error::other)?;
    let many = crate::house().map_err(io::Error::other)?;
    switch_memory_off(&none)?;
    store::fill::events(&none.state(), count).map_err(failed)?;
    store::fill::events(&many.state(), count).map_err(failed)?;
    let mut index = RecallIndex::open(&many.state()).map_err(failed)?;
    let store = Store::open(&many.state(), Duration::from_secs(5)).map_err(failed)?;
    let begun = Instant::now();
    let caught = index.catch_up(&store, &mut |_| true, Duration::from_secs(3600)).map_err(failed)?;
    let took = begun.elapsed();
    let size = index.size(None).map_err(failed)?;
    println!(
        "{} entries made in {:.1} s, {} MB; {} rows are missing",
        size.entries,
        took.as_secs_f64(),
        size.bytes >> 20,
        caught.behind
    );
    none.daemon("start")?;
    many.daemon("start")?;
    let [mut base, mut daemon_none, mut daemon_many, mut alone_none, mut alone_many] =
        std::array::from_fn(|_| Times::default());
    for _ in 0..rounds {
        timed(&mut none.baseline(&none.call("ls")?)?, &mut base)?;
        timed(&mut none.hook(&none.call("ls")?)?, &mut daemon_none)?;
        timed(&mut many.hook(&many.call("ls")?)?, &mut daemon_many)?;
        timed(none.hook(&none.call("ls")?)?.env("TAUT_NO_DAEMON", "1"), &mut alone_none)?;
        timed(many.hook(&many.call("ls")?)?.env("TAUT_NO_DAEMON", "1"), &mut alone_many)?;
    }
    row("through the daemon, nothing indexed", &daemon_none, &base);
    row(&format!("through the daemon, {count} indexed"), &daemon_many, &base);
    row("in process, nothing indexed", &alone_none, &base);
    row(&format!("in process, {count} indexed"), &alone_many, &base);
    println!(
        "growth: {:.2} x through the daemon, {:.2} x in process",
        ratio(daemon_many.p50(), daemon_none.p50()),
        ratio(alone_many.p50(), alone_none.p50())
    );
    for (what, words) in QUESTIONS {
        let query = RecallQuery { words: (*words).to_owned(), ..RecallQuery::default() };
        let mut times = Times::default();
        for _ in 0..10 {
            let begun = Instant::now();
            index.search(&query, model::Ms(0)).map_err(failed)?;
            times.add(begun.elapsed());
        }
        row(&format!("a search for {what}"), &times, &base);
    }
    Ok(())
}

/// Its daemon indexes nothing then.
fn switch_memory_off(house: &BenchHome) -> io::Result<()> {
    let folder = house.home().join(".config/taut");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("config.toml"), "[memory]\nenabled = false\n")
}
