//! One child process in a group of its own: its lines and its end are told to
//! a channel, and it is ended with everything it started.

use model::ClientProcess;
use model::fact::Life;
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};
use sys::poll;

/// A longer line is told in pieces, so that an agent cannot fill our memory.
const LONGEST_PIECE: usize = 1 << 20;
/// How long a pipe is read on that somebody else still holds after the child's end.
const PIPE_GRACE: Duration = Duration::from_millis(500);
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How long what a child left behind may take to end when it is asked to, and then when it is not asked any more.
const LEFT_BEHIND_GRACE: Duration = Duration::from_millis(300);

/// What a child does.
#[derive(Debug)]
pub(crate) enum Doing {
    /// A line, or a piece of one that is too long.
    Line {
        child: u64,
        text: Vec<u8>,
        whole: bool,
    },
    /// It has ended but is not buried yet: its group can still be told from others.
    Ended {
        child: u64,
    },
    Signal(i32),
    /// What somebody at the terminal wants of a loop that is paused.
    Answer(PauseAnswer),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PauseAnswer {
    GoOn,
    Stop,
    /// The plan was edited; the question is asked again.
    Edited,
    /// There is nothing to edit it with, or nothing to edit.
    NoEditor,
    Unclear,
}

pub(crate) struct Running {
    pub id: u64,
    pub leader: ClientProcess,
    pub since: Instant,
    child: Child,
    ended: Arc<AtomicBool>,
    readers: Vec<std::thread::JoinHandle<()>>,
    killing: Option<Instant>,
    killed: bool,
    /// What it started and left behind ends with it.
    ends_group: bool,
}

/// How it ended: its code, or none where a signal did it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    pub code: Option<i32>,
    /// We had asked for it.
    pub killed: bool,
}

impl Running {
    /// It ends with us, where the kernel can do that.
    pub(crate) fn start(
        mut command: Command,
        id: u64,
        stdin: Option<String>,
        tell: &SyncSender<Doing>,
    ) -> io::Result<Self> {
        sys::process::end_with_starter(&mut command);
        Ok(Self { ends_group: true, ..Self::start_free(command, id, stdin, tell)? })
    }

    /// It sees to its own end when we are gone: a loop has tasks to give back.
    pub(crate) fn start_free(
        mut command: Command,
        id: u64,
        stdin: Option<String>,
        tell: &SyncSender<Doing>,
    ) -> io::Result<Self> {
        command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::null() });
        let mut child = command.spawn()?;
        let leader = identity(child.id());
        if let (Some(text), Some(mut pipe)) = (stdin, child.stdin.take()) {
            // A child that does not read must not hold us up.
            std::thread::spawn(move || drop(io::Write::write_all(&mut pipe, text.as_bytes())));
        }
        let ended = Arc::new(AtomicBool::new(false));
        let mut readers = Vec::new();
        if let Some(pipe) = child.stdout.take() {
            readers.push(reader(pipe, id, tell.clone(), Arc::clone(&ended)));
        }
        if let Some(pipe) = child.stderr.take() {
            readers.push(reader(pipe, id, tell.clone(), Arc::clone(&ended)));
        }
        let (pid, tell) = (child.id(), tell.clone());
        std::thread::spawn(move || {
            sys::process::wait_unreaped(pid);
            let _ = tell.send(Doing::Ended { child: id });
        });
        Ok(Self {
            id,
            leader,
            since: Instant::now(),
            child,
            ended,
            readers,
            killing: None,
            killed: false,
            ends_group: false,
        })
    }

    /// Asks the whole group to end; `press` ends it when it does not.
    pub(crate) fn kill(&mut self) {
        if self.killing.is_none() {
            self.killing = Some(Instant::now());
            self.send(libc::SIGTERM);
            self.send(libc::SIGCONT);
        }
    }

    /// Ends a group that was asked longer ago than the grace.
    pub(crate) fn press(&mut self, grace: Duration) {
        if self.killing.is_some_and(|since| since.elapsed() >= grace) && !self.killed {
            self.killed = true;
            self.send(libc::SIGKILL);
        }
    }

    pub(crate) fn is_killing(&self) -> bool {
        self.killing.is_some()
    }

    /// After `Ended`: the child is buried, and what is left of its group goes too, so that nobody works on behind the
    /// proof of what was done. Lines still under way come first: `drain` takes them in.
    pub(crate) fn reap(mut self, mut drain: impl FnMut()) -> End {
        if self.is_killing() {
            self.send(libc::SIGKILL);
        }
        let killed = self.is_killing();
        let status = self.child.wait();
        if self.ends_group || killed {
            end_left_behind(self.leader.pid, &mut drain);
        }
        let deadline = Instant::now() + PIPE_GRACE;
        // The readers end a moment after the child, so the first looks are close together.
        let mut pause = Duration::from_micros(20);
        while self.readers.iter().any(|reader| !reader.is_finished()) {
            if Instant::now() >= deadline {
                self.ended.store(true, Ordering::Release);
            }
            drain();
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(1));
        }
        drain();
        let code = status.ok().and_then(|status| status.code().filter(|_| status.signal().is_none()));
        End { code, killed }
    }

    fn send(&self, signal: libc::c_int) {
        // The leader is ours and not reaped, so the group is the one we made.
        sys::process::signal_group(self.leader.pid, signal);
    }
}

/// Ends the rest of a group whose leader is buried. Its number is nobody else's while one of them is there, and without
/// any this is one question to the kernel. A process that has the number is another one, with a group of its own.
pub(crate) fn end_left_behind(leader: u32, mut drain: impl FnMut()) {
    for signal in [libc::SIGTERM, libc::SIGKILL] {
        if !sys::process::has_group(leader) || matches!(host::probe::life(leader), Some(Life::Alive { .. })) {
            return;
        }
        sys::process::signal_group(leader, signal);
        sys::process::signal_group(leader, libc::SIGCONT);
        let deadline = Instant::now() + LEFT_BEHIND_GRACE;
        let mut pause = Duration::from_micros(100);
        while sys::process::has_group(leader) && Instant::now() < deadline {
            drain();
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(5));
        }
    }
}

/// A process by number and start time.
pub(crate) fn identity(pid: u32) -> ClientProcess {
    let started = match host::probe::life(pid) {
        Some(Life::Alive { started }) => started,
        _ => 0,
    };
    ClientProcess { pid, started }
}

fn reader(
    mut pipe: impl Read + AsRawFd + Send + 'static,
    child: u64,
    tell: SyncSender<Doing>,
    ended: Arc<AtomicBool>,
) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        let mut buffer = vec![0_u8; 64 * 1024];
        let mut line: Vec<u8> = Vec::new();
        let mut whole = true;
        loop {
            if matches!(poll::is_readable(pipe.as_raw_fd(), LOOK_EVERY), Ok(false)) {
                if ended.load(Ordering::Acquire) {
                    break;
                }
                continue;
            }
            let Ok(read) = pipe.read(&mut buffer) else { break };
            if read == 0 {
                break;
            }
            for piece in buffer[..read].split_inclusive(|byte| *byte == b'\n') {
                line.extend_from_slice(piece);
                let over = piece.ends_with(b"\n");
                if over || line.len() >= LONGEST_PIECE {
                    let text = std::mem::take(&mut line);
                    if tell.send(Doing::Line { child, text, whole: whole && over }).is_err() {
                        return;
                    }
                    whole = over;
                }
            }
        }
        if !line.is_empty() {
            let _ = tell.send(Doing::Line { child, text: line, whole });
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers come round: what leads a group of that number now is not what was left behind.
    #[test]
    fn l10_a_group_whose_leader_lives_is_another_one_and_is_left_alone() {
        let mut other = Command::new("sleep").arg("600").process_group(0).spawn().unwrap();
        end_left_behind(other.id(), || ());
        let lives = other.try_wait().unwrap().is_none();
        other.kill().unwrap();
        other.wait().unwrap();
        assert!(lives);
    }
}
