//! A program run to its end while one of its calls to the system fails, stalls, or is its last.
//!
//! Calls are met where every layer must pass: at the kernel's door. So the part of `taut` that runs before the C
//! library, Rust's own library and SQLite are all covered, and none of them knows. Clocks, which programs read
//! without the kernel's help, are made to ask for it. Linux on x86-64 only.

mod calls;
mod memory;
mod tracer;

use crate::process::Finished;
use std::io;
use std::process::Command;
use std::time::Duration;

pub use calls::{Class, Seen};

/// What happens at the `nth` call, counted from 1 over all calls of the program and its threads that may fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    pub nth: usize,
    pub kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It is not done and fails with this number.
    Error(i32),
    /// So does every later call of the same class, but for the standard streams.
    Lasting(i32),
    /// It is done, but only after so long.
    Stall(Duration),
    /// The process that makes it is killed before it is done.
    Kill,
    /// From here on the wall's clock is off by so many seconds.
    Clock(i64),
}

/// How it went.
#[derive(Debug)]
pub struct Run {
    pub finished: Finished,
    /// The calls that could have failed, in order.
    pub calls: Vec<Seen>,
    /// The call that was met; `None` where there were not so many.
    pub met: Option<Seen>,
}

/// Runs the program with `stdin` as its input.
///
/// # Errors
/// When it cannot be started or traced; everything else is in [`Run`].
pub fn run(command: Command, stdin: &[u8], fault: Option<Fault>, limit: Duration) -> io::Result<Run> {
    tracer::Tracer::start(command, stdin)?.finish(fault, limit)
}
