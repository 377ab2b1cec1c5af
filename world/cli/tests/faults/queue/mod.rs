//! The queue while its workers are killed. The same program is the worker: it is started again with a word in its
//! environment.

mod chaos;
mod verdict;
mod worker;

use chaos::{Chaos, Daemon};
use std::process::ExitCode;

pub fn is_worker() -> bool {
    std::env::var_os(worker::MARK).is_some()
}

pub fn work() -> ExitCode {
    worker::run();
    ExitCode::SUCCESS
}

pub fn run() -> ExitCode {
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
