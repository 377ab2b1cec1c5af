//! SIGTERM and SIGINT as bytes in a pipe that the loop polls.

use std::io;
use std::os::fd::{AsRawFd, IntoRawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicI32, Ordering};

/// The end that the handler writes to. One per process, never closed once set.
static SENDER: AtomicI32 = AtomicI32::new(-1);

/// From now on the signals make the returned stream readable instead of ending the process.
pub(crate) fn listen() -> io::Result<UnixStream> {
    let (receiver, sender) = UnixStream::pair()?;
    receiver.set_nonblocking(true)?;
    sender.set_nonblocking(true)?;
    SENDER.store(sender.as_raw_fd(), Ordering::Release);
    // The handler may run until the very end of the process, so its descriptor stays open as long.
    let _ = sender.into_raw_fd();
    for signal in [libc::SIGTERM, libc::SIGINT] {
        // SAFETY: the handler has the right type and only does what is allowed in one.
        if unsafe { libc::signal(signal, tell as *const () as libc::sighandler_t) } == libc::SIG_ERR {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(receiver)
}

extern "C" fn tell(_signal: libc::c_int) {
    let fd = SENDER.load(Ordering::Acquire);
    // SAFETY: `write` may be called in a signal handler; one byte from a static. A full pipe has already told.
    unsafe { libc::write(fd, b"!".as_ptr().cast(), 1) };
}
