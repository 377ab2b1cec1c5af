//! One child process run to its end: fed, read, limited in time and killed with its whole group.

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::poll;

/// How long a pipe may stay open after its process has ended before somebody is said to hold it.
const PIPE_GRACE: Duration = Duration::from_secs(5);

/// What a process left when it was over.
#[derive(Clone, Debug)]
pub struct Finished {
    pub ending: Ending,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// A descendant still held stdout or stderr open a second after the process had ended.
    /// A hook must not do that: the real client waits for the pipe.
    pub pipes_held: bool,
    pub took: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Code(i32),
    Signal(i32),
    /// The limit passed and the process group was killed.
    TimedOut,
}

impl Finished {
    #[must_use]
    pub fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    #[must_use]
    pub fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// The exit code, if the process ended by itself.
    #[must_use]
    pub fn code(&self) -> Option<i32> {
        match self.ending {
            Ending::Code(code) => Some(code),
            Ending::Signal(_) | Ending::TimedOut => None,
        }
    }

    #[must_use]
    pub fn success(&self) -> bool {
        self.ending == Ending::Code(0)
    }
}

/// What a process is given to read.
#[derive(Clone, Copy, Debug)]
pub enum ProcessInput<'a> {
    /// These bytes and then the end.
    Whole(&'a [u8]),
    /// These bytes and then nothing, with the pipe left open: a parent that forgot to close it.
    Unended(&'a [u8]),
}

/// Runs `command` in a process group of its own with `stdin` as its input.
///
/// # Errors
/// Only when the process cannot be started or waited for; everything else is in [`Finished`].
pub fn run(command: Command, stdin: &[u8], limit: Duration) -> io::Result<Finished> {
    run_with(command, ProcessInput::Whole(stdin), limit)
}

/// As [`run`], with a choice of input.
///
/// # Errors
/// Only when the process cannot be started or waited for.
pub fn run_with(mut command: Command, input: ProcessInput<'_>, limit: Duration) -> io::Result<Finished> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let started = Instant::now();
    let mut child = command.spawn().map_err(|cause| named(&command, "cannot start", &cause))?;
    let stdout = Collector::start(child.stdout.take());
    let stderr = Collector::start(child.stderr.take());
    let feeding = feed(&mut child, input);
    let ending = wait(&mut child, limit)?;
    drop(feeding);
    let took = started.elapsed();
    let (stdout, stdout_held) = stdout.finish();
    let (stderr, stderr_held) = stderr.finish();
    Ok(Finished { ending, stdout, stderr, pipes_held: stdout_held || stderr_held, took })
}

/// Writes from a thread of its own, because a child may answer before it has read everything, or never read at all.
/// An unended input is ended when the sender is dropped.
fn feed(child: &mut Child, input: ProcessInput<'_>) -> Sender<()> {
    let (feeding, over) = mpsc::channel::<()>();
    let (bytes, unended) = match input {
        ProcessInput::Whole(bytes) => (bytes.to_vec(), false),
        ProcessInput::Unended(bytes) => (bytes.to_vec(), true),
    };
    if let Some(mut stdin) = child.stdin.take() {
        thread::spawn(move || {
            // A child that does not want to read more is free to go.
            let _ = stdin.write_all(&bytes);
            if unended {
                let _ = over.recv();
            }
        });
    }
    feeding
}

/// Runs a command with the input that it was given, and no group of its own: what it leads is its own matter.
///
/// # Errors
/// When it cannot be started; and when the limit passed and it was killed, with what it had printed.
pub(crate) fn collect(mut command: Command, limit: Duration) -> io::Result<Output> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|cause| named(&command, "cannot start", &cause))?;
    let (stdout, stderr) = (Collector::start(child.stdout.take()), Collector::start(child.stderr.take()));
    let ended = poll::until("the process to end", limit, || child.try_wait().transpose());
    let ended = ended.and_then(|status| status);
    if ended.is_err() {
        // One that is gone by now is what was wanted.
        let _ = child.kill();
        child.wait()?;
    }
    let ((stdout, _), (stderr, _)) = (stdout.finish(), stderr.finish());
    match ended {
        Ok(status) => Ok(Output { status, stdout, stderr }),
        Err(cause) => {
            let [printed, warned] = [&stdout, &stderr].map(|bytes| String::from_utf8_lossy(bytes));
            Err(io::Error::new(cause.kind(), format!("{cause} ({command:?}):\n{printed}{warned}")))
        }
    }
}

/// Waits no longer than this for a child that ends by itself once it is let go; where it does not, that is said.
pub(crate) fn see_off(child: &mut Child, what: &str, limit: Duration) {
    if let Err(cause) = poll::until(what, limit, || child.try_wait().transpose()) {
        eprintln!("testkit: {cause}");
    }
}

fn wait(child: &mut Child, limit: Duration) -> io::Result<Ending> {
    let ended = poll::until("the process to end", limit, || child.try_wait().transpose());
    match ended {
        Ok(status) => Ok(ending(status?)),
        Err(_) => {
            kill_group(child.id());
            child.wait()?;
            Ok(Ending::TimedOut)
        }
    }
}

fn ending(status: ExitStatus) -> Ending {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ending::Code(code),
        (None, signal) => Ending::Signal(signal.unwrap_or_default()),
    }
}

/// Kills the group led by `leader`. Only for a child that was started with a group of its own and not yet waited for,
/// so that the number cannot belong to somebody else by now.
pub(crate) fn kill_group(leader: u32) {
    if let Ok(leader) = i32::try_from(leader) {
        // SAFETY: kill takes plain numbers; a group that is gone is an error we do not need.
        unsafe { libc::kill(-leader, libc::SIGKILL) };
    }
}

/// Sends a signal to a process that the test started. One that is told to stop has stopped when this returns.
///
/// # Errors
/// When there is no such process, or it does not stop.
pub fn signal(pid: i32, signal: i32) -> io::Result<()> {
    // SAFETY: kill takes plain numbers.
    if unsafe { libc::kill(pid, signal) } != 0 {
        return Err(io::Error::last_os_error());
    }
    if signal != libc::SIGSTOP {
        return Ok(());
    }
    // Its threads stop one after the other.
    poll::until("all threads to stop", PIPE_GRACE, || is_stopped(pid).then_some(()))
}

fn is_stopped(pid: i32) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    let mut states = threads.flatten().filter_map(|thread| fs::read_to_string(thread.path().join("stat")).ok());
    states.all(|text| text.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T')))
}

/// Whether a process of this number is there and no zombie.
#[must_use]
pub fn lives(pid: &str) -> bool {
    let pid = pid.trim();
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    let is_dead = stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['Z', 'X']));
    // The first thread of a killed process may be dead before the others are, and its sockets are open until the last is.
    !is_dead || fs::read_dir(format!("/proc/{pid}/task")).is_ok_and(|threads| threads.count() > 1)
}

fn named(command: &Command, what: &str, cause: &io::Error) -> io::Error {
    let program = command.get_program().to_string_lossy();
    io::Error::new(cause.kind(), format!("{what} {program}: {cause}"))
}

/// Reads a pipe in the background, so that a full pipe never blocks the child and a held one never blocks the test.
struct Collector {
    bytes: Arc<Mutex<Vec<u8>>>,
    end: Receiver<()>,
}

impl Collector {
    fn start(pipe: Option<impl Read + Send + 'static>) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let (at_end, end) = mpsc::channel();
        let target = Arc::clone(&bytes);
        thread::spawn(move || {
            let Some(mut pipe) = pipe else { return };
            let mut chunk = [0; 16 * 1024];
            while let Ok(count @ 1..) = pipe.read(&mut chunk) {
                let mut target = target.lock().unwrap_or_else(PoisonError::into_inner);
                target.extend_from_slice(&chunk[..count]);
            }
            // Nobody listening any more is fine: the collector gave up on a held pipe.
            let _ = at_end.send(());
        });
        Self { bytes, end }
    }

    fn finish(self) -> (Vec<u8>, bool) {
        let held = matches!(self.end.recv_timeout(PIPE_GRACE), Err(mpsc::RecvTimeoutError::Timeout));
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        (bytes.clone(), held)
    }
}
