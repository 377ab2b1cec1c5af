//! A process that outlives the loop for a moment: when the loop is killed, it
//! ends the group of what ran then, so that no agent works on unseen.

use host::probe;
use model::ClientProcess;
use model::fact::Life;
use std::io::{self, BufRead, Write};
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

const GRACE: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The loop's end of the pipe. It is told which group lives; when the pipe closes without a word, the loop was killed.
pub(crate) struct GroupGuard {
    pipe: ChildStdin,
}

impl GroupGuard {
    /// In a group of its own: what is meant for the loop's group must not end it.
    pub(crate) fn start() -> io::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["loop", "guard-group"]).process_group(0);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let pipe = child.stdin.ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Self { pipe })
    }

    pub(crate) fn watch(&mut self, leader: ClientProcess) {
        // Without it a killed loop is cleared away by the next start alone.
        let _ = writeln!(self.pipe, "{}:{}", leader.pid, leader.started);
    }

    pub(crate) fn forget(&mut self) {
        let _ = writeln!(self.pipe);
    }
}

/// Reads which group lives until nobody writes any more, then ends the last.
pub fn guard_group(from: impl BufRead) {
    let mut last = None;
    for line in from.lines().map_while(Result::ok) {
        last = parse(&line);
    }
    if let Some(leader) = last {
        end(leader);
    }
}

/// A process as `pid:start`.
pub(crate) fn parse(text: &str) -> Option<ClientProcess> {
    let (pid, started) = text.trim().split_once(':')?;
    Some(ClientProcess { pid: pid.parse().ok()?, started: started.parse().ok()? })
}

/// Its leader may be gone already. The number of a group is given to nobody else while one of the group lives, so only a
/// leader with that number and another start is a stranger.
fn end(leader: ClientProcess) {
    let is_ours = || match probe::life(leader.pid) {
        Some(Life::Alive { started }) => leader.started != 0 && started == leader.started,
        Some(Life::Gone) => true,
        None => false,
    };
    if !is_ours() {
        return;
    }
    sys::process::signal_group(leader.pid, libc::SIGTERM);
    sys::process::signal_group(leader.pid, libc::SIGCONT);
    let deadline = Instant::now() + GRACE;
    while Instant::now() < deadline && matches!(probe::life(leader.pid), Some(Life::Alive { .. })) {
        std::thread::sleep(LOOK_EVERY);
    }
    if is_ours() {
        sys::process::signal_group(leader.pid, libc::SIGKILL);
    }
}
