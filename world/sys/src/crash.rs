//! What is said when the process crashes: no memory left, a stack that overflowed, a defect. A program that its caller
//! waits for an answer of must not end without one.

use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// Kept where a signal handler may look.
static ANSWER: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
static LENGTH: AtomicUsize = AtomicUsize::new(0);

const SIGNALS: [libc::c_int; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGABRT, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP];

const SAID: &[u8] = b"taut: crashed (out of memory, or a defect); `taut doctor` says more\n";

/// A reader that does not read costs no more than this.
const PATIENCE_MS: libc::c_int = 100;

/// From now on a crash prints these bytes to stdout and ends the process with 0.
pub fn answer_with(answer: &'static [u8]) {
    LENGTH.store(0, Ordering::Release);
    ANSWER.store(answer.as_ptr().cast_mut(), Ordering::Release);
    LENGTH.store(answer.len(), Ordering::Release);
    for signal in SIGNALS {
        // SAFETY: all zeroes is a lawful action; the handler only does what is allowed in one, on the stack that the
        // standard library sets aside for a thread whose own has overflowed.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = crashed as *const () as libc::sighandler_t;
            action.sa_flags = libc::SA_ONSTACK | libc::SA_RESETHAND;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

extern "C" fn crashed(_signal: libc::c_int) {
    let (answer, length) = (ANSWER.load(Ordering::Acquire), LENGTH.load(Ordering::Acquire));
    say(libc::STDERR_FILENO, SAID.as_ptr(), SAID.len());
    say(libc::STDOUT_FILENO, answer, length);
    // SAFETY: ends the process at once, as is allowed in a handler.
    unsafe { libc::_exit(0) }
}

fn say(fd: libc::c_int, bytes: *const u8, length: usize) {
    let mut poll = libc::pollfd { fd, events: libc::POLLOUT, revents: 0 };
    // SAFETY: both calls are allowed in a handler; the bytes are static and as long as said.
    unsafe {
        if length > 0 && libc::poll(&raw mut poll, 1, PATIENCE_MS) > 0 {
            libc::write(fd, bytes.cast(), length);
        }
    }
}
