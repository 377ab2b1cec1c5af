//! The hook: whatever happens here, the agent gets an answer in time. It never
//! exits 2 by accident, never prints what was not decided, never hangs, and
//! never takes a missing verdict for a pass.

mod bare;
mod call;
mod message;
mod work;

pub use bare::payload as bare_payload;
pub use call::agent;

use crate::stdin::StdinText;
use model::Answer;
use std::cell::Cell;
use std::ffi::OsString;
use std::io::Write;
use std::os::fd::RawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// A reader that does not read costs no more than this.
const PRINTING_TIME: Duration = Duration::from_millis(150);

/// What the work that follows an answer may take before this process ends without waiting for it.
const SETTLING_TIME: Duration = Duration::from_millis(100);

/// A hook, by the words on its line or by what came on its stdin.
pub fn run(args: &[OsString], read_before: Option<StdinText>, begun: Instant) -> u8 {
    // Set anew as soon as it is known whose call it is, and of which event.
    let unjudged = Cell::new(call::unjudged(&call::agent(args)));
    sys::crash::answer_with(unjudged.get().as_bytes());
    sys::output::outlive_limits();
    quieten();
    let given = catch_unwind(AssertUnwindSafe(|| {
        let arrived = call::read(args, read_before);
        unjudged.set(arrived.unjudged());
        sys::crash::answer_with(unjudged.get().as_bytes());
        work::work(&arrived, begun)
    }));
    let crashed = |_| (Answer { stdout: unjudged.get().to_string(), ..Answer::default() }, None);
    let (answer, working) = given.unwrap_or_else(crashed);
    sys::crash::answers_itself();
    // The answer first: what else there is to say must not keep it back.
    print(libc::STDOUT_FILENO, &answer.stdout);
    print(libc::STDERR_FILENO, &answer.stderr);
    if let Some(mut working) = working {
        working.receive(Instant::now() + SETTLING_TIME);
    }
    answer.exit
}

/// A panic is caught and answered; its message belongs to the log, not to the
/// agent's screen.
fn quieten() {
    std::panic::set_hook(Box::new(|info| {
        let _ = writeln!(std::io::stderr(), "taut: {}", model::text::line(&info.to_string(), 1_000));
    }));
}

fn print(fd: RawFd, text: &str) {
    // What is not taken cannot be told to anybody either.
    let _ = sys::output::write_within(fd, text.as_bytes(), PRINTING_TIME);
}
