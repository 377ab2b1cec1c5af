//! What is said when the process crashes (no memory left, a stack that overflowed, a defect) or is told to end. A program
//! that its caller waits for an answer of must not end without one, nor with a status that means something else to it.

use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// Kept where a signal handler may look.
static ANSWER: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
static LENGTH: AtomicUsize = AtomicUsize::new(0);

const CRASHES: [libc::c_int; 7] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGABRT, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP, libc::SIGSYS];

/// Somebody's wish that it ends, or a limit of processor time.
const WISHES: [libc::c_int; 10] = [
    libc::SIGTERM,
    libc::SIGINT,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGALRM,
    libc::SIGVTALRM,
    libc::SIGPROF,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGXCPU,
];

const CRASHED: &[u8] = b"taut: crashed (out of memory, or a defect); `taut doctor` says more\n";
const TOLD_TO_END: &[u8] = b"taut: told to end before it had an answer\n";

/// A reader that does not read costs no more than this.
const PATIENCE_MS: libc::c_int = 100;

/// From now on a crash, and whoever wants it to end, makes it print these bytes to stdout and end with 0.
pub fn answer_with(answer: &'static [u8]) {
    LENGTH.store(0, Ordering::Release);
    ANSWER.store(answer.as_ptr().cast_mut(), Ordering::Release);
    LENGTH.store(answer.len(), Ordering::Release);
    for signal in CRASHES.into_iter().chain(WISHES.into_iter().filter(|wish| !crate::signals::is_ignored(*wish))) {
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

/// The answer is about to be printed: nothing is to be said in its place any more, and it is not to be cut short.
pub fn answers_itself() {
    LENGTH.store(0, Ordering::Release);
    WISHES.into_iter().for_each(crate::signals::ignore);
}

extern "C" fn crashed(signal: libc::c_int) {
    let (answer, length) = (ANSWER.load(Ordering::Acquire), LENGTH.load(Ordering::Acquire));
    let said = if WISHES.contains(&signal) { TOLD_TO_END } else { CRASHED };
    say(libc::STDERR_FILENO, said.as_ptr(), said.len());
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
