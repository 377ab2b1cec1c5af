//! One queue that machines share, on a real server, while processes are killed and stopped, connections cut and held back,
//! the server killed and plans rewritten. The same program is every process of a machine: it is started again with words in
//! its environment. In `program` such a process starts `taut` for each word instead, and every machine has its own daemon.
//!
//! `FAULTS_ONLY=shared` runs this alone; `FAULTS_SHARED_SECONDS=300` is how long each run makes trouble, `FAULTS_SEED` makes
//! the same trouble again.

mod chaos;
mod keeper;
mod late;
mod ledger;
mod namespaces;
mod network;
mod operator;
mod program;
mod seat;
mod trouble;
mod unfenced;
mod worker;

use chaos::{Chaos, Fence};
use std::process::ExitCode;
use std::time::Duration;
use testkit::postgres::Cluster;

/// How long there is trouble where nothing else is said.
const TROUBLE: Duration = Duration::from_secs(15);

pub fn is_member() -> bool {
    std::env::var_os(seat::ROLE).is_some()
}

pub fn work() -> ExitCode {
    match std::env::var(seat::ROLE).as_deref() {
        Ok("keeper") => keeper::run(),
        Ok("worker") => worker::run(),
        Ok("agent") => program::work(),
        Ok("partition") => namespaces::member(),
        _ => return ExitCode::FAILURE,
    }
    ExitCode::SUCCESS
}

type Run = fn() -> Outcome;

pub fn run() -> ExitCode {
    let runs: [(&str, Run); 7] = [
        ("two machines", || drained(2, 5)),
        ("five machines", || drained(5, 2)),
        ("what is finished by id and state", unfenced_is_seen),
        ("a network that is cut", namespaces::run),
        ("what the verdict of the program finds", program::verdict_is_able_to_fail),
        ("the program on two machines", || program::run((2, 3), trouble())),
        ("the program on five machines", || program::run((5, 1), trouble())),
    ];
    // `FAULTS_SHARED_ONLY=network` runs those alone in whose name it is.
    let only = std::env::var("FAULTS_SHARED_ONLY").unwrap_or_default();
    for (name, run) in runs.into_iter().filter(|(name, _)| name.contains(&only)) {
        let done = std::panic::catch_unwind(run).unwrap_or_else(|_| Err("it panicked".into()));
        match done {
            Ok(told) => println!("shared faults, {name}: {told}"),
            Err(why) => {
                println!("shared faults, {name}: FAILED: {why}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

type Outcome = Result<String, String>;

fn drained(machines: usize, workers: usize) -> Outcome {
    let Some(cluster) = Cluster::plan().durable().start() else { return Ok("skipped".into()) };
    let chaos = Chaos::begin(&cluster, (machines, workers), Fence::Ours);
    let wrong = chaos.run(trouble());
    if wrong.is_empty() { Ok(chaos.told()) } else { Err(format!("{}; {}", wrong.join("; "), chaos.told())) }
}

/// The checks must be able to fail.
fn unfenced_is_seen() -> Outcome {
    let Some(cluster) = Cluster::plan().durable().start() else { return Ok("skipped".into()) };
    let wrong = Chaos::begin(&cluster, (2, 5), Fence::IdAndState).run(trouble().min(TROUBLE));
    if wrong.iter().any(|wrong| wrong.contains(ledger::ANOTHERS_RESULT) || wrong.contains(ledger::TOLD_TWICE)) {
        return Ok(format!("seen, as it must be: {}", wrong.join("; ")));
    }
    Err(format!("not seen: {wrong:?}"))
}

fn trouble() -> Duration {
    let said = std::env::var("FAULTS_SHARED_SECONDS").ok().and_then(|said| said.parse().ok());
    said.map_or(TROUBLE, Duration::from_secs)
}

/// The seed of this run's chance.
fn seed() -> u64 {
    let said = std::env::var("FAULTS_SEED").ok().and_then(|said| said.parse().ok());
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    said.unwrap_or(now.as_nanos() as u64)
}
