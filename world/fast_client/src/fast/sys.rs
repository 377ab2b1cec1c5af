//! The few system calls of the fast client, made without the C library.

use core::arch::asm;

pub const STDIN: i32 = 0;
pub const STDOUT: i32 = 1;
pub const STDERR: i32 = 2;
pub const READABLE: i16 = 1;
pub const WRITABLE: i16 = 4;

const READ: usize = 0;
const WRITE: usize = 1;
const OPEN: usize = 2;
const CLOSE: usize = 3;
const FSTAT: usize = 5;
const MMAP: usize = 9;
const RT_SIGACTION: usize = 13;
const MREMAP: usize = 25;
const SOCKET: usize = 41;
const CONNECT: usize = 42;
const SENDMSG: usize = 46;
const GETSOCKOPT: usize = 55;
const GETCWD: usize = 79;
const GETEUID: usize = 107;
const GETPPID: usize = 110;
const EXIT_GROUP: usize = 231;
const PPOLL: usize = 271;
const GETRANDOM: usize = 318;

const EINTR: isize = -4;
const EAGAIN: isize = -11;

/// What a transfer came to.
pub enum Moved {
    Bytes(usize),
    /// Would have to wait, or was interrupted: ask again.
    Again,
    Failed,
}

/// What a wait came to.
#[derive(PartialEq, Eq)]
pub enum Wait {
    Ready,
    TimedOut,
}

/// Time that may still be spent waiting. The kernel itself counts it down.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct WaitBudget {
    seconds: i64,
    nanos: i64,
}

#[repr(C)]
struct PollFd {
    fd: i32,
    events: i16,
    returned: i16,
}

/// `struct iovec`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct IoVec {
    pub at: *const u8,
    pub len: usize,
}

/// `struct msghdr`, with nothing but parts.
#[repr(C)]
struct Message {
    name: usize,
    name_len: usize,
    parts: *const IoVec,
    count: usize,
    control: usize,
    control_len: usize,
    flags: usize,
}

impl WaitBudget {
    pub const fn millis(millis: u32) -> Self {
        Self { seconds: (millis / 1000) as i64, nanos: (millis % 1000) as i64 * 1_000_000 }
    }

    pub fn left(&self) -> i64 {
        self.seconds * 1_000_000_000 + self.nanos
    }

    /// Waits for `fd` and counts the time down. Errors count as ready: the transfer that follows tells them.
    pub fn wait(&mut self, fd: i32, events: i16) -> Wait {
        let mut poll = PollFd { fd, events, returned: 0 };
        loop {
            let args = [&raw mut poll as usize, 1, self as *mut Self as usize, 0, 8, 0];
            // SAFETY: one poll entry, one timespec that the kernel may write, no signal mask.
            match unsafe { call(PPOLL, args) } {
                0 => return Wait::TimedOut,
                EINTR => {}
                _ => return Wait::Ready,
            }
        }
    }
}

pub fn read(fd: i32, at: *mut u8, len: usize) -> Moved {
    // SAFETY: the callers own `len` writable bytes at `at`.
    moved(unsafe { call(READ, [fd as usize, at as usize, len, 0, 0, 0]) })
}

pub fn write(fd: i32, bytes: &[u8]) -> Moved {
    // SAFETY: the kernel only reads the slice.
    moved(unsafe { call(WRITE, [fd as usize, bytes.as_ptr() as usize, bytes.len(), 0, 0, 0]) })
}

/// Sends without raising SIGPIPE.
pub fn send(fd: i32, parts: &[IoVec; 2]) -> Moved {
    const MSG_NOSIGNAL: usize = 0x4000;
    let message =
        Message { name: 0, name_len: 0, parts: parts.as_ptr(), count: 2, control: 0, control_len: 0, flags: 0 };
    // SAFETY: the message and the parts outlive the call, which only reads them.
    moved(unsafe { call(SENDMSG, [fd as usize, &raw const message as usize, MSG_NOSIGNAL, 0, 0, 0]) })
}

/// A local stream socket that never blocks and is not inherited. Numbers of the standard streams are refused: then
/// one of those was closed, and reading it would read ourselves.
pub fn socket() -> Option<i32> {
    const UNIX_STREAM_CLOEXEC_NONBLOCK: usize = 1 | 0o2_000_000 | 0o4_000;
    // SAFETY: plain numbers.
    let fd = unsafe { call(SOCKET, [1, UNIX_STREAM_CLOEXEC_NONBLOCK, 0, 0, 0, 0]) };
    let fd = i32::try_from(fd).ok().filter(|fd| *fd >= 0)?;
    if fd <= STDERR {
        close(fd);
        return None;
    }
    Some(fd)
}

/// Connects to the address in `bytes`. A full backlog is an error at once, not a wait.
pub fn connect(fd: i32, address: &[u8]) -> bool {
    // SAFETY: the kernel only reads the address.
    unsafe { call(CONNECT, [fd as usize, address.as_ptr() as usize, address.len(), 0, 0, 0]) == 0 }
}

/// The effective user at the other end.
pub fn peer(fd: i32) -> Option<u32> {
    const SOL_SOCKET: usize = 1;
    const SO_PEERCRED: usize = 17;
    let mut credentials = [0u32; 3];
    let mut len = 12u32;
    let args = [fd as usize, SOL_SOCKET, SO_PEERCRED, credentials.as_mut_ptr() as usize, &raw mut len as usize, 0];
    // SAFETY: pid, uid and gid are 12 bytes, as `len` says.
    let done = unsafe { call(GETSOCKOPT, args) } == 0;
    let [_, uid, _] = credentials;
    done.then_some(uid)
}

pub fn user() -> u32 {
    // SAFETY: no arguments, cannot fail.
    unsafe { call(GETEUID, [0; 6]) as u32 }
}

pub fn parent() -> u32 {
    // SAFETY: no arguments, cannot fail.
    unsafe { call(GETPPID, [0; 6]) as u32 }
}

/// Writes the working folder and the zero after it; says how many bytes both are.
pub fn cwd(at: *mut u8, len: usize) -> Option<usize> {
    // SAFETY: the callers own `len` writable bytes at `at`.
    usize::try_from(unsafe { call(GETCWD, [at as usize, len, 0, 0, 0, 0]) }).ok()
}

/// False when the system has no randomness yet; it is not waited for.
pub fn random(bytes: &mut [u8; 16]) -> bool {
    const GRND_NONBLOCK: usize = 1;
    // SAFETY: sixteen writable bytes.
    unsafe { call(GETRANDOM, [bytes.as_mut_ptr() as usize, 16, GRND_NONBLOCK, 0, 0, 0]) == 16 }
}

/// Opens for reading the file whose name, with its zero, is in `path`.
pub fn open(path: &[u8]) -> Option<i32> {
    const CLOEXEC: usize = 0o2_000_000;
    // SAFETY: the kernel only reads the path, which ends with a zero.
    let fd = unsafe { call(OPEN, [path.as_ptr() as usize, CLOEXEC, 0, 0, 0, 0]) };
    i32::try_from(fd).ok().filter(|fd| *fd >= 0)
}

/// The user a file belongs to.
pub fn owner(fd: i32) -> Option<u32> {
    // `struct stat` is 144 bytes; device, inode, links and mode come before the user.
    let mut stat = [0u32; 36];
    // SAFETY: as many writable bytes as the kernel fills.
    let done = unsafe { call(FSTAT, [fd as usize, stat.as_mut_ptr() as usize, 0, 0, 0, 0]) } == 0;
    if done { stat.get(7).copied() } else { None }
}

pub fn close(fd: i32) {
    // SAFETY: the callers own the descriptor and do not use it again.
    unsafe { call(CLOSE, [fd as usize, 0, 0, 0, 0, 0]) };
}

/// Fresh memory, never given back: the process is about to end or about to read it.
pub fn map(len: usize) -> Option<*mut u8> {
    const READ_WRITE: usize = 3;
    const PRIVATE_ANONYMOUS: usize = 0x22;
    // SAFETY: a new private mapping touches nobody's memory.
    pointer(unsafe { call(MMAP, [0, len, READ_WRITE, PRIVATE_ANONYMOUS, usize::MAX, 0]) })
}

/// Makes a mapping of [`map`] larger; it may move.
pub fn remap(at: *mut u8, old: usize, new: usize) -> Option<*mut u8> {
    const MAY_MOVE: usize = 1;
    // SAFETY: the callers pass a mapping of their own with its length and forget the old pointer.
    pointer(unsafe { call(MREMAP, [at as usize, old, new, MAY_MOVE, 0, 0]) })
}

/// A reader that went away must not kill us: the exit code still counts.
pub fn ignore_broken_pipes() {
    const SIGPIPE: usize = 13;
    const SIG_IGN: usize = 1;
    let action = [SIG_IGN, 0, 0, 0];
    // SAFETY: the kernel's own `sigaction` is four words; there is no code to run.
    unsafe { call(RT_SIGACTION, [SIGPIPE, action.as_ptr() as usize, 0, 8, 0, 0]) };
}

pub fn exit(code: u8) -> ! {
    // SAFETY: ends the process and does not return.
    unsafe {
        call(EXIT_GROUP, [usize::from(code), 0, 0, 0, 0, 0]);
        asm!("ud2", options(noreturn))
    }
}

fn moved(result: isize) -> Moved {
    match usize::try_from(result) {
        Ok(count) => Moved::Bytes(count),
        Err(_) if result == EINTR || result == EAGAIN => Moved::Again,
        Err(_) => Moved::Failed,
    }
}

fn pointer(result: isize) -> Option<*mut u8> {
    (!(-4095..0).contains(&result)).then_some(result as *mut u8)
}

/// # Safety
/// The arguments must be what the numbered call asks for, with every pointer valid for it.
unsafe fn call(number: usize, [a, b, c, d, e, f]: [usize; 6]) -> isize {
    let result;
    // SAFETY: the registers of the x86-64 system call; the caller vouches for what they hold.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") a,
            in("rsi") b,
            in("rdx") c,
            in("r10") d,
            in("r8") e,
            in("r9") f,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result
}
