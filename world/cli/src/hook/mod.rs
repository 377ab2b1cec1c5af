//! The hook: whatever happens here, the agent gets an answer in time. It never
//! exits 2 by accident, never prints what was not decided, never hangs, and
//! never takes a missing verdict for a pass.

mod call;
mod message;
mod work;

use model::Answer;
use std::ffi::OsString;
use std::io::Write;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A reader that does not read costs no more than this.
const PRINTING_TIME: Duration = Duration::from_millis(150);

/// What the work that follows an answer may take before this process ends without waiting for it.
const SETTLING_TIME: Duration = Duration::from_millis(100);

pub fn run(args: &[OsString]) -> u8 {
    let begun = Instant::now();
    let agent = call::agent(args);
    sys::crash::answer_with(call::unjudged(&agent).as_bytes());
    sys::output::outlive_limits();
    quieten();
    // Some agents honour the words that stop a call on every event: there they would send back a stop.
    let may_act = AtomicBool::new(true);
    let given = std::panic::catch_unwind(|| {
        let arrived = call::read(args);
        if !arrived.may_act() {
            may_act.store(false, Ordering::Relaxed);
            sys::crash::answer_with(b"");
        }
        work::work(&arrived, begun)
    });
    let unjudged = || if may_act.load(Ordering::Relaxed) { unjudged(&agent) } else { Answer::default() };
    let (answer, working) = given.unwrap_or_else(|_| (unjudged(), None));
    // The answer first: what else there is to say must not keep it back.
    print(libc::STDOUT_FILENO, &answer.stdout);
    print(libc::STDERR_FILENO, &answer.stderr);
    if let Some(mut working) = working {
        working.receive(Instant::now() + SETTLING_TIME);
    }
    answer.exit
}

fn unjudged(agent: &str) -> Answer {
    Answer { stdout: call::unjudged(agent).to_string(), ..Answer::default() }
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
