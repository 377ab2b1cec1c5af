//! Workers, daemon and commands killed with -9 at random; at the end every task
//! is done exactly once by its accepted attempt. Run it with
//! `cargo test -p taut --features faults --test queue_faults`.
//!
//! The same program is the worker: it is started again with a word in its environment.

mod chaos;
mod dice;
mod verdict;
mod worker;

use chaos::{Chaos, Daemon};
use std::process::ExitCode;

fn main() -> ExitCode {
    if std::env::var_os(worker::MARK).is_some() {
        worker::run();
        return ExitCode::SUCCESS;
    }
    for (name, daemon) in [("with a daemon", Daemon::Killed), ("without a daemon", Daemon::Absent)] {
        let chaos = Chaos::begin(daemon);
        let seed = chaos.seed();
        match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| chaos.run())) {
            Ok(told) => println!("queue faults {name}: {told} (seed {seed})"),
            Err(_) => {
                println!("queue faults {name}: FAILED (seed {seed})");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
