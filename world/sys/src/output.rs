//! Writing to a pipe whose reader may not read: within a limit of time, or not at all.

use std::os::fd::RawFd;
use std::time::{Duration, Instant};

/// A pipe that says it is writable takes so much without blocking.
const PIPE_BYTES: usize = 4096;

/// A limit on the size of files makes a write fail from now on, and does not end the process.
pub fn outlive_limits() {
    crate::signals::ignore(libc::SIGXFSZ);
}

/// What is printed goes nowhere from now on, and whoever read it sees its end.
pub fn let_go_of_output() {
    if let Ok(nowhere) = std::fs::File::options().write(true).open("/dev/null") {
        // Both are open; what cannot be let go of is kept.
        let _ = rustix::stdio::dup2_stdout(&nowhere);
    }
}

/// Writes what the reader takes within the limit; `false` when that was not all.
#[must_use]
pub fn write_within(fd: RawFd, bytes: &[u8], limit: Duration) -> bool {
    let deadline = Instant::now() + limit;
    let mut rest = bytes;
    while !rest.is_empty() {
        if !is_writable(fd, deadline.saturating_duration_since(Instant::now())) {
            return false;
        }
        let part = rest.get(..PIPE_BYTES).unwrap_or(rest);
        // SAFETY: the bytes are valid for their length, and the descriptor is only written to.
        let written = unsafe { libc::write(fd, part.as_ptr().cast(), part.len()) };
        match usize::try_from(written) {
            Ok(0) => return false,
            Ok(count) => rest = rest.get(count..).unwrap_or_default(),
            Err(_) if is_worth_another_try() => {}
            Err(_) => return false,
        }
    }
    true
}

fn is_writable(fd: RawFd, limit: Duration) -> bool {
    let mut poll = libc::pollfd { fd, events: libc::POLLOUT, revents: 0 };
    let millis = i32::try_from(limit.as_millis()).unwrap_or(i32::MAX);
    // SAFETY: one entry that lives on this stack frame, and its count of one.
    let ready = unsafe { libc::poll(&raw mut poll, 1, millis) };
    // Where it cannot be told, because there is no memory or no descriptor is allowed, it is tried: an answer that is not
    // written is worse than one that is waited for.
    ready != 0
}

fn is_worth_another_try() -> bool {
    let kind = std::io::Error::last_os_error().kind();
    matches!(kind, std::io::ErrorKind::Interrupted | std::io::ErrorKind::WouldBlock)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::fd::AsRawFd;

    #[test]
    fn d6_a_full_pipe_is_given_up_on_and_one_that_is_read_takes_all() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let large = vec![b'x'; 1 << 20];
        assert!(!write_within(writer.as_raw_fd(), &large, Duration::ZERO), "nobody reads");
        let reading = std::thread::spawn(move || {
            let mut all = Vec::new();
            reader.read_to_end(&mut all).unwrap();
            all.len()
        });
        assert!(write_within(writer.as_raw_fd(), &large, Duration::from_secs(60)));
        drop(writer);
        assert!(reading.join().unwrap() > large.len());
    }

    #[test]
    fn a_reader_that_went_away_is_no_reason_to_wait() {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        assert!(!write_within(writer.as_raw_fd(), b"x", Duration::from_secs(60)));
    }
}
