//! What is killed, and what fails, on purpose.
//!
//! - `queue`: workers, daemon and commands killed with -9 at random; at the end every task is done exactly once by its
//!   accepted attempt.
//! - `shared`: the same on a real server that machines share, with the network cut and the server killed besides: first the
//!   queue alone, then the program with its daemons, hooks, messages and record.
//! - `calls`: every call to the system may fail or stall, and every one may be the last. For each place in the hook,
//!   claim, done, release and check, and each way to fail: the exit code, the time of the answer, the guard's verdict,
//!   what was acknowledged, and the file afterwards.
//!
//! `cargo test -p taut --features faults --test faults` runs the first two and tries a sample of the third.
//! `FAULTS_ONLY=queue` and `FAULTS_ONLY=shared` run one of them alone (`FAULTS_SHARED_ONLY=program` what of `shared` is
//! called so), `FAULTS_ONLY=claim` one path of `calls`, `FAULTS_ONLY=claim:17` one place in it. `FAULTS=all` tries every
//! place, `FAULTS_SECONDS=600` a larger sample, `FAULTS_SEED=7` that sample again.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod calls;
mod dice;
mod queue;
mod shared;

use std::process::ExitCode;

fn main() -> ExitCode {
    if queue::is_worker() {
        return queue::work();
    }
    if shared::is_member() {
        return shared::work();
    }
    let only = std::env::var("FAULTS_ONLY").ok();
    if only.as_deref().is_none_or(|only| only == "queue") && queue::run() == ExitCode::FAILURE {
        return ExitCode::FAILURE;
    }
    if only.as_deref().is_none_or(|only| only == "shared") && shared::run() == ExitCode::FAILURE {
        return ExitCode::FAILURE;
    }
    if matches!(only.as_deref(), Some("queue" | "shared")) { ExitCode::SUCCESS } else { calls() }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn calls() -> ExitCode {
    calls::run()
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn calls() -> ExitCode {
    testkit::skipped("calls are met on Linux on x86-64 only");
    ExitCode::SUCCESS
}
