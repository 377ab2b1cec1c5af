//! The program itself on machines that share a queue: daemons, `taut task`, hooks of scripted sessions and `taut send`, each
//! machine with a home, an id and a network of its own, while all of them are killed, stopped and cut off.

mod account;
mod chaos;
mod machine;
mod trouble;
mod verdict;
mod worker;

use super::Outcome;
use chaos::Chaos;
use std::time::Duration;
use testkit::postgres::Cluster;

pub use worker::run as work;

/// Seconds; short, so that what the dead held comes back soon, and longer than a few programs take to start on a busy machine.
const LEASE: u64 = 3;

/// What the verdict makes of machines where all is well, and of each thing that may be wrong.
pub fn verdict_is_able_to_fail() -> Outcome {
    verdict::is_able_to_fail()
}

/// So many machines, and workers on each.
pub fn run(many: (usize, usize), trouble: Duration) -> Outcome {
    let Some(cluster) = Cluster::plan().durable().start() else { return Ok("skipped".into()) };
    let mut chaos = Chaos::begin(&cluster, many);
    let wrong = chaos.run(trouble);
    if wrong.is_empty() { Ok(chaos.told()) } else { Err(format!("{}; {}", wrong.join("; "), chaos.told())) }
}
