//! Waiting for descriptors, with a limit.

use std::io;
use std::os::fd::RawFd;
use std::time::{Duration, Instant};

const MOST_TRIES: usize = 16;

/// Waits until one of `polls` is ready; zero means that the time is over, or that a signal came.
///
/// # Errors
/// Those of the system.
pub fn poll(polls: &mut [libc::pollfd], limit: Duration) -> io::Result<usize> {
    match ready(polls, limit) {
        Err(cause) if cause.kind() == io::ErrorKind::Interrupted => Ok(0),
        ready => ready,
    }
}

/// Whether there is something to read within the limit.
///
/// # Errors
/// Those of the system, and that a signal came: then nothing can be said.
pub fn is_readable(fd: RawFd, limit: Duration) -> io::Result<bool> {
    ready(&mut [libc::pollfd { fd, events: libc::POLLIN, revents: 0 }], limit).map(|ready| ready > 0)
}

/// The same for who must not be held up by a signal either: a wait that was interrupted, or that there was no memory for,
/// says nothing and is begun again.
#[must_use]
pub fn becomes_readable(fd: RawFd, limit: Duration) -> bool {
    (0..MOST_TRIES).find_map(|_| is_readable(fd, limit).ok()).unwrap_or(false)
}

fn ready(polls: &mut [libc::pollfd], limit: Duration) -> io::Result<usize> {
    // Rounded up, so that a wait for less than a millisecond does not spin.
    let millis = limit.as_micros().div_ceil(1000).min(60_000) as libc::c_int;
    // SAFETY: the slice is valid for its length, and the kernel writes only into its entries.
    let ready = unsafe { libc::poll(polls.as_mut_ptr(), polls.len() as libc::nfds_t, millis) };
    usize::try_from(ready).map_err(|_| io::Error::last_os_error())
}

/// Waits for one descriptor until `deadline`.
///
/// # Errors
/// `TimedOut`, and those of the system.
pub fn wait(fd: RawFd, events: libc::c_short, deadline: Instant) -> io::Result<()> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        if poll(&mut [libc::pollfd { fd, events, revents: 0 }], left)? > 0 {
            return Ok(());
        }
    }
}
