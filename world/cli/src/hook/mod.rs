//! The hook: whatever happens here, the agent gets an answer in time. It never
//! exits 2 by accident, never prints what was not decided, never hangs, and
//! never takes a missing verdict for a pass.

mod call;
mod work;

use crate::service;
use host::paths::Places;
use model::Answer;
use std::ffi::OsString;
use std::io::Write;
use std::os::fd::RawFd;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use work::Said;

/// A reader that does not read costs no more than this.
const PRINTING_TIME: Duration = Duration::from_millis(150);

/// What keeping the log short may take once the answer is out.
const SETTLING_TIME: Duration = Duration::from_millis(100);

pub fn run(args: &[OsString]) -> u8 {
    let begun = Instant::now();
    sys::crash::answer_with(agents::unjudged());
    quieten();
    let Given { answer, working, tell } = std::panic::catch_unwind(|| {
        let call = call::read(args);
        if !call.may_act() {
            sys::crash::answer_with(b"");
        }
        work::work(call, begun)
    })
    .unwrap_or_else(|_| Given { answer: unjudged(), ..Given::default() });
    print(libc::STDERR_FILENO, &answer.stderr);
    print(libc::STDOUT_FILENO, &answer.stdout);
    if let Some(places) = tell {
        service::tell_in_background(&places);
    }
    if let Some(working) = working {
        // The answer is out; the log is kept short while there is time left.
        let _ = working.recv_timeout(SETTLING_TIME);
    }
    answer.exit
}

/// An answer, and what is left to do once it is out.
#[derive(Default)]
struct Given {
    answer: Answer,
    /// Says when the work in process is over.
    working: Option<mpsc::Receiver<Said>>,
    /// Somebody is to be told, and there is no daemon to do it.
    tell: Option<Places>,
}

fn unjudged() -> Answer {
    Answer { stdout: String::from_utf8_lossy(agents::unjudged()).into_owned(), ..Answer::default() }
}

/// A panic is caught and answered; its message belongs to the log, not to the
/// agent's screen.
fn quieten() {
    std::panic::set_hook(Box::new(|info| {
        let _ = writeln!(std::io::stderr(), "taut: {info}");
    }));
}

fn print(fd: RawFd, text: &str) {
    // What is not taken cannot be told to anybody either.
    let _ = sys::output::write_within(fd, text.as_bytes(), PRINTING_TIME);
}
