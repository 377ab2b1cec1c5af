//! `taut answer wait`: the second line on a client's permission event. It prints what a person answered, or nothing. The
//! same line on two other events is the session's bell.

use super::bell;
use crate::hook;
use crate::stdin;
use crate::waiting_line;
use actions::HoldRequest;
use clap::Args;
use model::{Answer, Call};
use std::ffi::OsString;
use std::os::fd::AsRawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// A client that has not taken an answer by then does not read.
const PRINTING_TIME: Duration = Duration::from_secs(2);

/// For the reference of commands only: the line is read as a hook's is.
#[derive(Debug, Args)]
pub struct WaitArgs {
    /// The agent that starts it
    #[arg(long)]
    pub agent: Option<String>,
}

/// Nothing but 0 where somebody waits: whatever goes wrong, the client's own dialog stands as without Taut. And nothing but an answer is
/// printed, not even of a defect of ours.
pub fn run(args: &[OsString], begun: Instant) -> ExitCode {
    std::panic::set_hook(Box::new(|_| {}));
    sys::output::outlive_limits();
    catch_unwind(AssertUnwindSafe(|| wait(args, begun))).unwrap_or(ExitCode::SUCCESS)
}

fn wait(args: &[OsString], begun: Instant) -> ExitCode {
    // The client says so when its person has said no, and when it ends itself.
    let Ok(signals) = sys::signals::stream(&[libc::SIGTERM, libc::SIGHUP, libc::SIGINT]) else {
        return ExitCode::SUCCESS;
    };
    let read = stdin::read();
    if !read.complete {
        return ExitCode::SUCCESS;
    }
    let places = host::origin::places();
    let agent = hook::agent(args);
    if let Some(event) = bell::event(&read.bytes) {
        let is_on = waiting_line::is_switched_on(&agent, &places);
        return if is_on { bell::serve(&event, &agent, &places.state()) } else { ExitCode::SUCCESS };
    }
    let setting = service::setting(&places);
    let call = Call {
        request: String::new(),
        agent,
        stdin: read.bytes,
        cwd: std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned(),
        env: host::origin::environment(),
        parent: Some(std::os::unix::process::parent_id()),
        at: host::clock::now(),
    };
    actions::hold(HoldRequest {
        call,
        setting: &setting,
        begun,
        told_to_end: &mut |limit| sys::poll::becomes_readable(signals.as_raw_fd(), limit),
        print: &mut |answer: &Answer| {
            sys::output::write_within(libc::STDOUT_FILENO, answer.stdout.as_bytes(), PRINTING_TIME)
        },
    });
    ExitCode::SUCCESS
}
