//! Work in a process of its own, which may be left behind.
//!
//! A thread is not enough: one that waits for a file system that does not answer may be beyond any signal, and a
//! process does not end, nor close its pipes, before its last thread has. Whoever waits for the answer of a program must
//! not be made to wait for that.

use crate::poll;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Instant;

/// A process beside this one, and the end of the pipe at which its messages come out.
pub struct SideProcess {
    pid: libc::pid_t,
    pipe: File,
    read: Vec<u8>,
}

/// The end into which it writes them.
pub struct MessagePipe {
    pipe: File,
}

/// What came of waiting.
#[derive(Debug, PartialEq, Eq)]
pub enum Received {
    /// One message, whole.
    Message(Vec<u8>),
    TimeIsUp,
    /// It ended, whatever the reason.
    Ended,
}

/// A longer message is none of ours.
const MOST_BYTES: usize = 64 << 20;

/// Starts `work` in a copy of this process that has none of its standard streams. Only for a process with one thread.
///
/// # Errors
/// When there is no room for another process.
pub fn start(work: impl FnOnce(&mut MessagePipe)) -> io::Result<SideProcess> {
    let (reader, writer) = pipe()?;
    // SAFETY: this process has one thread, so the copy is whole; it never returns from here.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            drop(reader);
            leave_streams();
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                work(&mut MessagePipe { pipe: writer.into() })
            }));
            // SAFETY: ends the copy without running what was registered for the end of the original.
            unsafe { libc::_exit(i32::from(done.is_err())) }
        }
        pid => Ok(SideProcess { pid, pipe: reader.into(), read: Vec::new() }),
    }
}

impl MessagePipe {
    /// Whoever listened and is gone misses nothing.
    pub fn send(&mut self, message: &[u8]) {
        let length = u32::try_from(message.len()).unwrap_or(u32::MAX).to_le_bytes();
        let _ = self.pipe.write_all(&length).and_then(|()| self.pipe.write_all(message));
    }
}

impl SideProcess {
    /// Ends it: nobody wants to know any more. One that waits in the kernel ends when that wait does.
    pub fn end(self) {
        // SAFETY: a child that was not waited for, so the number is still its.
        unsafe { libc::kill(self.pid, libc::SIGKILL) };
    }

    /// The next message, if it comes in time.
    pub fn receive(&mut self, deadline: Instant) -> Received {
        let mut chunk = [0; 16 << 10];
        loop {
            if let Some(message) = self.take() {
                return Received::Message(message);
            }
            if !poll::becomes_readable(self.pipe.as_raw_fd(), deadline.saturating_duration_since(Instant::now())) {
                return Received::TimeIsUp;
            }
            match self.pipe.read(&mut chunk) {
                Ok(0) => return Received::Ended,
                Ok(count) => self.read.extend_from_slice(chunk.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Received::Ended,
            }
            if self.read.len() > MOST_BYTES {
                return Received::Ended;
            }
        }
    }

    fn take(&mut self) -> Option<Vec<u8>> {
        let length = u32::from_le_bytes(*self.read.first_chunk::<4>()?);
        let end = usize::try_from(length).ok()?.checked_add(4)?;
        let message = self.read.get(4..end)?.to_vec();
        self.read.drain(..end);
        Some(message)
    }
}

/// Both ends are closed by whatever program is started.
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends: [RawFd; 2] = [0; 2];
    // SAFETY: room for two descriptors, which are owned from here on.
    unsafe {
        if libc::pipe(ends.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        let [reader, writer] = ends;
        for end in ends {
            libc::fcntl(end, libc::F_SETFD, libc::FD_CLOEXEC);
        }
        Ok((OwnedFd::from_raw_fd(reader), OwnedFd::from_raw_fd(writer)))
    }
}

/// Whoever reads them must not wait for this process too.
fn leave_streams() {
    // SAFETY: plain descriptors; the standard ones become copies of one that leads nowhere.
    unsafe {
        let nowhere = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        for stream in 0..=2 {
            if nowhere < 0 || libc::dup2(nowhere, stream) < 0 {
                libc::close(stream);
            }
        }
        if nowhere > 2 {
            libc::close(nowhere);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const PLENTY: Duration = Duration::from_secs(60);

    /// In a process of its own: `start` is for those with one thread, and a test has more.
    fn with_one_thread(test: fn()) {
        // SAFETY: the copy runs the test on its one thread and ends.
        match unsafe { libc::fork() } {
            0 => {
                let done = std::panic::catch_unwind(test);
                // SAFETY: ends the copy without running what belongs to the original.
                unsafe { libc::_exit(i32::from(done.is_err())) }
            }
            child => {
                let mut status = 0;
                // SAFETY: a child of this test, waited for once.
                assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
                assert_eq!(status, 0, "the copy failed");
            }
        }
    }

    #[test]
    fn messages_come_whole_in_order_and_then_the_end() {
        with_one_thread(|| {
            let large = vec![b'x'; 300_000];
            let sent = large.clone();
            let mut other = start(move |pipe| {
                pipe.send(b"one");
                pipe.send(&sent);
                pipe.send(b"");
            })
            .unwrap();
            let by = Instant::now() + PLENTY;
            assert_eq!(other.receive(by), Received::Message(b"one".to_vec()));
            assert_eq!(other.receive(by), Received::Message(large));
            assert_eq!(other.receive(by), Received::Message(Vec::new()));
            assert_eq!(other.receive(by), Received::Ended);
        });
    }

    #[test]
    fn one_that_says_nothing_is_not_waited_for_and_can_be_ended() {
        with_one_thread(|| {
            let mut other = start(|_| {
                loop {
                    std::thread::park();
                }
            })
            .unwrap();
            assert_eq!(other.receive(Instant::now()), Received::TimeIsUp);
            let pid = other.pid;
            other.end();
            let mut status = 0;
            // SAFETY: a child of this copy, waited for once.
            assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
            assert_eq!(libc::WTERMSIG(status), libc::SIGKILL);
        });
    }

    #[test]
    fn a_crash_is_an_end() {
        with_one_thread(|| {
            // SAFETY: ends this copy of a copy the hard way.
            let mut other = start(|_| unsafe { libc::abort() }).unwrap();
            assert_eq!(other.receive(Instant::now() + PLENTY), Received::Ended);
        });
    }
}
