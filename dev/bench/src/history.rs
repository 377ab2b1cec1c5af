//! Whether a hook costs the same with much history as with little.

use crate::spawn::timed;
use crate::times::{Times, ratio, row};

pub fn run(quick: bool) -> Result<(), String> {
    let (few, many) = if quick { (1_000, 100_000) } else { (10_000, 10_000_000) };
    measure(few, many, if quick { 100 } else { 500 }).map_err(|error| error.to_string())
}

fn measure(few: u64, many: u64, rounds: usize) -> std::io::Result<()> {
    let small = crate::house().map_err(std::io::Error::other)?;
    let large = crate::house().map_err(std::io::Error::other)?;
    for (house, count) in [(&small, few), (&large, many)] {
        store::fill::events(&house.state(), count).map_err(|error| std::io::Error::other(error.to_string()))?;
        house.daemon("start")?;
    }
    let [mut base, mut with_few, mut with_many, mut alone_few, mut alone_many] =
        std::array::from_fn(|_| Times::default());
    for _ in 0..rounds {
        timed(&mut small.baseline(&small.call("ls")?)?, &mut base)?;
        timed(&mut small.hook(&small.call("ls")?)?, &mut with_few)?;
        timed(&mut large.hook(&large.call("ls")?)?, &mut with_many)?;
        timed(small.hook(&small.call("ls")?)?.env("TAUT_NO_DAEMON", "1"), &mut alone_few)?;
        timed(large.hook(&large.call("ls")?)?.env("TAUT_NO_DAEMON", "1"), &mut alone_many)?;
    }
    row(&format!("through the daemon, {few} events stored"), &with_few, &base);
    row(&format!("through the daemon, {many} events stored"), &with_many, &base);
    row(&format!("in process, {few} events stored"), &alone_few, &base);
    row(&format!("in process, {many} events stored"), &alone_many, &base);
    println!(
        "growth: {:.2} x through the daemon, {:.2} x in process",
        ratio(with_many.p50(), with_few.p50()),
        ratio(alone_many.p50(), alone_few.p50())
    );
    Ok(())
}
