//! Signals as bytes in a pipe that a thread reads: a run that is to end must
//! still release what its agent holds and run its last hook.

use std::io::{self, Read};
use std::os::fd::{AsRawFd, IntoRawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicI32, Ordering};

/// The end that the handler writes to. One per process, never closed once set.
static SENDER: AtomicI32 = AtomicI32::new(-1);

/// From now on these signals are told to `tell` instead of ending the process.
pub(crate) fn listen(signals: &[i32], tell: impl Fn(i32) + Send + 'static) -> io::Result<()> {
    let (mut receiver, sender) = UnixStream::pair()?;
    sender.set_nonblocking(true)?;
    SENDER.store(sender.as_raw_fd(), Ordering::Release);
    // The handler may run until the very end of the process, so its descriptor stays open as long.
    let _ = sender.into_raw_fd();
    for signal in signals {
        // SAFETY: the handler has the right type and only does what is allowed in one.
        if unsafe { libc::signal(*signal, note as *const () as libc::sighandler_t) } == libc::SIG_ERR {
            return Err(io::Error::last_os_error());
        }
    }
    std::thread::spawn(move || {
        let mut byte = [0_u8; 1];
        while let Ok(1) = receiver.read(&mut byte) {
            tell(i32::from(byte[0]));
        }
    });
    Ok(())
}

/// Writing to a terminal that was closed must not end the run.
pub(crate) fn outlive_closed_output() {
    // SAFETY: set to a constant of the system's own.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
}

extern "C" fn note(signal: libc::c_int) {
    let byte = [u8::try_from(signal).unwrap_or_default()];
    // SAFETY: `write` may be called in a signal handler; the byte lives on this frame.
    unsafe { libc::write(SENDER.load(Ordering::Acquire), byte.as_ptr().cast(), 1) };
}
