//! A program run to its end while one of its calls to the system fails, stalls, or is its last.
//!
//! Calls are met where every layer must pass: at the system call. So the part of `taut` that runs before the C
//! library, Rust's own library and SQLite are all covered, and none of them knows. Clocks, which programs read
//! without the kernel's help, are made to ask for it. Linux on x86-64 only.

mod calls;
mod memory;
mod orders;
mod tracer;

use crate::process::Finished;
use orders::Orders;
use std::io;
use std::process::Command;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

pub use calls::{Class, TracedCall};

/// What happens at the `nth` call, counted from 1 over all calls of the program and its threads that may fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyscallFault {
    pub nth: usize,
    pub kind: FaultKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
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
pub struct FaultRun {
    pub finished: Finished,
    /// The calls that could have failed, in order.
    pub calls: Vec<TracedCall>,
    /// The call that was met; `None` where there were not so many.
    pub met: Option<TracedCall>,
}

/// Runs the program with `stdin` as its input.
///
/// # Errors
/// When it cannot be started or traced; everything else is in [`Run`].
pub fn run(command: Command, stdin: &[u8], fault: Option<SyscallFault>, limit: Duration) -> io::Result<FaultRun> {
    tracer::Tracer::start(command, stdin)?.finish(&Orders::new(fault), limit)
}

/// A program that goes on running while it is told what fails next: a daemon.
pub struct Serving {
    orders: Arc<Orders>,
    tracing: Option<JoinHandle<io::Result<FaultRun>>>,
}

impl Serving {
    /// Starts the program; it is killed after `limit` at the latest.
    #[must_use]
    pub fn start(command: Command, limit: Duration) -> Self {
        let orders = Arc::new(Orders::default());
        let theirs = Arc::clone(&orders);
        let tracing = thread::spawn(move || tracer::Tracer::start(command, b"")?.finish(&theirs, limit));
        Self { orders, tracing: Some(tracing) }
    }

    /// From now on this fails; calls are counted from here.
    pub fn give(&self, fault: Option<SyscallFault>) {
        self.orders.give(fault);
    }

    /// The calls since, and the one that was met.
    #[must_use]
    pub fn account(&self) -> (Vec<TracedCall>, Option<TracedCall>) {
        self.orders.account()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.orders.end();
        if let Some(tracing) = self.tracing.take() {
            let _ = tracing.join();
        }
    }
}
