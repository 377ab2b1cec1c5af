//! One command in a group of its own that may not take longer than it is given:
//! git, the verification, the setup of a work tree.

use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// How often a command is asked whether somebody wants it to end.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// A pipe that somebody else still holds after the end of the command is left so soon.
const PIPE_GRACE: Duration = Duration::from_millis(500);
/// Lines that wait to be heard. More hold the command up, or the end of what it says would be behind all of them.
const LINES: usize = 64;
/// A longer line is told in pieces.
const LONGEST_LINE: u64 = 64 * 1024;

/// Set from another thread; whoever looks at it stops what it does.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cancel(Arc<AtomicBool>);

impl Cancel {
    pub(crate) fn now(&self) {
        self.0.store(true, Ordering::Release);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BoundedEnd {
    /// `None` where a signal ended it.
    Code(Option<i32>),
    TimedOut,
    Cancelled,
}

/// Which pipe a line came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pipe {
    Out,
    Error,
}

/// Runs it to its end and gives each line, with its end of line, to `hear`. It reads nothing.
pub(crate) fn run(
    mut command: Command,
    longest: Duration,
    cancel: &Cancel,
    mut hear: impl FnMut(Pipe, &[u8]),
) -> io::Result<BoundedEnd> {
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let (sender, lines) = sync_channel(LINES);
    if let Some(pipe) = child.stdout.take() {
        read_on(pipe, Pipe::Out, sender.clone());
    }
    if let Some(pipe) = child.stderr.take() {
        read_on(pipe, Pipe::Error, sender);
    }
    let deadline = Instant::now() + longest;
    let mut end = None;
    let mut status: Option<ExitStatus> = None;
    let mut left_at = None;
    loop {
        match lines.recv_timeout(if status.is_some() { PIPE_GRACE } else { LOOK_EVERY }) {
            Ok((pipe, line)) => hear(pipe, &line),
            // Both pipes are closed: it ends now, or has thrown them away and goes on.
            Err(RecvTimeoutError::Disconnected) if status.is_some() => break,
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(Duration::from_millis(1)),
            Err(RecvTimeoutError::Timeout) if status.is_some() => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if status.is_none() {
            let why = if cancel.is_set() {
                Some(BoundedEnd::Cancelled)
            } else {
                (Instant::now() >= deadline).then_some(BoundedEnd::TimedOut)
            };
            if let (Some(why), None) = (why, end) {
                end = Some(why);
                // The child is ours and not reaped, so the group is the one we made.
                sys::process::signal_group(child.id(), libc::SIGKILL);
            }
            if sys::process::has_ended(child.id()) {
                // Whatever it left in its group must not change behind its back what it has shown. It is asked while the
                // number is the group's for certain: who is not buried keeps it.
                sys::process::signal_group(child.id(), libc::SIGTERM);
                sys::process::signal_group(child.id(), libc::SIGCONT);
                status = Some(child.wait()?);
                crate::child::end_left_behind(child.id(), || ());
                left_at = Some(Instant::now() + PIPE_GRACE);
            }
        }
        if left_at.is_some_and(|at| Instant::now() >= at) {
            break;
        }
    }
    let code = status.and_then(|status| status.code().filter(|_| status.signal().is_none()));
    Ok(end.unwrap_or(BoundedEnd::Code(code)))
}

fn read_on(pipe: impl Read + Send + 'static, which: Pipe, tell: SyncSender<(Pipe, Vec<u8>)>) {
    std::thread::spawn(move || {
        let mut reader = BufReader::new(pipe);
        loop {
            let mut line = Vec::new();
            match reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) if tell.send((which, line)).is_err() => return,
                Ok(_) => {}
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    fn ends(script: &str, longest: Duration, cancel: &Cancel) -> (BoundedEnd, String) {
        let mut heard = Vec::new();
        let end = run(shell(script), longest, cancel, |_, line| heard.extend_from_slice(line)).unwrap();
        (end, String::from_utf8_lossy(&heard).into_owned())
    }

    #[test]
    fn a_command_ends_with_its_code_its_time_or_when_somebody_says_so() {
        let plenty = Duration::from_secs(60);
        let fine = Cancel::default();
        assert_eq!(ends("echo a; exit 3", plenty, &fine), (BoundedEnd::Code(Some(3)), "a\n".to_string()));
        assert_eq!(ends("echo a; sleep 600", Duration::from_millis(300), &fine).0, BoundedEnd::TimedOut);
        // What it left in the background holds its pipe, and holds nobody up.
        assert_eq!(ends("sleep 3 & exit 0", plenty, &fine).0, BoundedEnd::Code(Some(0)));
        let cancelled = Cancel::default();
        cancelled.now();
        assert_eq!(ends("sleep 600", plenty, &cancelled).0, BoundedEnd::Cancelled);
    }

    #[test]
    fn l10_what_a_command_left_behind_has_ended_when_its_end_is_known() {
        let leaves =
            "(trap '' TERM; touch \"$0\"; while :; do sleep 0.05; done) & echo $!; while ! test -e \"$0\"; do :; done";
        let folder = tempfile::tempdir().unwrap();
        let mut command = shell(leaves);
        command.arg(folder.path().join("up"));
        let mut heard = Vec::new();
        let end = run(command, Duration::from_secs(60), &Cancel::default(), |_, line| heard.extend_from_slice(line));
        assert_eq!(end.unwrap(), BoundedEnd::Code(Some(0)));
        let pid: u32 = String::from_utf8(heard).unwrap().trim().parse().unwrap();
        let life = host::probe::life(pid);
        assert!(!matches!(life, Some(model::fact::Life::Alive { .. })), "{life:?}");
    }
}
