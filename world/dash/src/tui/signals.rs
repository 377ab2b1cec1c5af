//! Signals as news: a terminal that was taken over is given back whoever ends us.

use super::run::ViewNews;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, IntoRawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::Sender;

/// The end that the handler writes to. One per process, never closed once set.
static SENDER: AtomicI32 = AtomicI32::new(-1);

const HEARD: [i32; 6] = [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT, libc::SIGTSTP, libc::SIGCONT];

/// From now on these signals are told instead of obeyed.
pub(super) fn listen(to: Sender<ViewNews>) -> io::Result<()> {
    let (mut receiver, sender) = UnixStream::pair()?;
    sender.set_nonblocking(true)?;
    SENDER.store(sender.as_raw_fd(), Ordering::Release);
    // The handler may run until the very end of the process, so its descriptor stays open as long.
    let _ = sender.into_raw_fd();
    for signal in HEARD {
        hear(signal)?;
    }
    std::thread::spawn(move || {
        let mut byte = [0_u8; 1];
        while let Ok(1) = receiver.read(&mut byte) {
            if to.send(ViewNews::Signal(i32::from(byte[0]))).is_err() {
                break;
            }
        }
    });
    Ok(())
}

/// Stops here until somebody says to go on. Where nobody could, the system goes on at once.
pub(super) fn stop() -> io::Result<()> {
    // SAFETY: the system's own default, and a signal to this process alone.
    unsafe {
        libc::signal(libc::SIGTSTP, libc::SIG_DFL);
        libc::raise(libc::SIGTSTP);
    }
    hear(libc::SIGTSTP)
}

fn hear(signal: i32) -> io::Result<()> {
    // SAFETY: the handler has the right type and only does what is allowed in one.
    if unsafe { libc::signal(signal, note as *const () as libc::sighandler_t) } == libc::SIG_ERR {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

extern "C" fn note(signal: libc::c_int) {
    let byte = [u8::try_from(signal).unwrap_or_default()];
    // SAFETY: `write` may be called in a signal handler; the byte lives on this frame.
    unsafe { libc::write(SENDER.load(Ordering::Acquire), byte.as_ptr().cast(), 1) };
}
