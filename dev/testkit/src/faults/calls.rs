//! Which calls may fail: those on files, sockets, clocks and chance, and the making of threads.

use super::memory;
use libc::{c_long, pid_t, user_regs_struct};

/// What a call is about. A fault that lasts, lasts for its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Makes a descriptor.
    Open,
    Read,
    /// Writes, makes, renames and removes.
    Write,
    /// Looks at names, sizes and owners.
    Look,
    Lock,
    Socket,
    Clock,
    Thread,
    Other,
}

/// A call that was made.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TracedCall {
    pub name: &'static str,
    pub class: Class,
    /// Its first argument: a descriptor, for most.
    pub first: u64,
    /// The path it names, or what its descriptor stands for; empty where it has neither.
    pub target: String,
}

/// Which argument says what a call is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    /// The first is a descriptor.
    Descriptor,
    /// The first is a path.
    Path,
    /// The first is a folder and the second a path in it.
    PathIn,
    Nothing,
}

impl TracedCall {
    /// Whether what keeps this call from working keeps the other from it too. A full disk fills no pipe.
    pub(super) fn lasts_for(&self, other: &Self) -> bool {
        self.class == other.class && (self.is_standard() || !other.is_standard())
    }

    pub(super) fn is_flush(&self) -> bool {
        matches!(self.name, "fsync" | "fdatasync")
    }

    /// Reads or writes one of the three streams a program is given.
    #[must_use]
    pub fn is_standard(&self) -> bool {
        matches!(self.class, Class::Read | Class::Write) && self.first <= 2
    }
}

const CALLS: &[(c_long, &str, Class)] = &[
    (libc::SYS_open, "open", Class::Open),
    (libc::SYS_openat, "openat", Class::Open),
    (libc::SYS_socket, "socket", Class::Open),
    (libc::SYS_pipe, "pipe", Class::Open),
    (libc::SYS_pipe2, "pipe2", Class::Open),
    (libc::SYS_dup, "dup", Class::Open),
    (libc::SYS_dup2, "dup2", Class::Open),
    (libc::SYS_epoll_create1, "epoll_create1", Class::Open),
    (libc::SYS_eventfd2, "eventfd2", Class::Open),
    (libc::SYS_read, "read", Class::Read),
    (libc::SYS_readv, "readv", Class::Read),
    (libc::SYS_pread64, "pread64", Class::Read),
    (libc::SYS_getdents64, "getdents64", Class::Read),
    (libc::SYS_readlink, "readlink", Class::Read),
    (libc::SYS_readlinkat, "readlinkat", Class::Read),
    (libc::SYS_getrandom, "getrandom", Class::Other),
    (libc::SYS_write, "write", Class::Write),
    (libc::SYS_writev, "writev", Class::Write),
    (libc::SYS_pwrite64, "pwrite64", Class::Write),
    (libc::SYS_fsync, "fsync", Class::Write),
    (libc::SYS_fdatasync, "fdatasync", Class::Write),
    (libc::SYS_ftruncate, "ftruncate", Class::Write),
    (libc::SYS_fallocate, "fallocate", Class::Write),
    (libc::SYS_rename, "rename", Class::Write),
    (libc::SYS_renameat, "renameat", Class::Write),
    (libc::SYS_renameat2, "renameat2", Class::Write),
    (libc::SYS_unlink, "unlink", Class::Write),
    (libc::SYS_unlinkat, "unlinkat", Class::Write),
    (libc::SYS_mkdir, "mkdir", Class::Write),
    (libc::SYS_mkdirat, "mkdirat", Class::Write),
    (libc::SYS_chmod, "chmod", Class::Write),
    (libc::SYS_fchmod, "fchmod", Class::Write),
    (libc::SYS_fchown, "fchown", Class::Write),
    (libc::SYS_stat, "stat", Class::Look),
    (libc::SYS_lstat, "lstat", Class::Look),
    (libc::SYS_fstat, "fstat", Class::Look),
    (libc::SYS_newfstatat, "newfstatat", Class::Look),
    (libc::SYS_statx, "statx", Class::Look),
    (libc::SYS_access, "access", Class::Look),
    (libc::SYS_faccessat, "faccessat", Class::Look),
    (libc::SYS_lseek, "lseek", Class::Look),
    (libc::SYS_getcwd, "getcwd", Class::Look),
    (libc::SYS_fcntl, "fcntl", Class::Lock),
    (libc::SYS_flock, "flock", Class::Lock),
    (libc::SYS_connect, "connect", Class::Socket),
    (libc::SYS_accept4, "accept4", Class::Socket),
    (libc::SYS_sendto, "sendto", Class::Socket),
    (libc::SYS_sendmsg, "sendmsg", Class::Socket),
    (libc::SYS_recvfrom, "recvfrom", Class::Socket),
    (libc::SYS_recvmsg, "recvmsg", Class::Socket),
    (libc::SYS_getsockopt, "getsockopt", Class::Socket),
    (libc::SYS_setsockopt, "setsockopt", Class::Socket),
    (libc::SYS_shutdown, "shutdown", Class::Socket),
    (libc::SYS_poll, "poll", Class::Other),
    (libc::SYS_ppoll, "ppoll", Class::Other),
    (libc::SYS_epoll_wait, "epoll_wait", Class::Other),
    (libc::SYS_clock_gettime, "clock_gettime", Class::Clock),
    (libc::SYS_gettimeofday, "gettimeofday", Class::Clock),
    (libc::SYS_time, "time", Class::Clock),
    (libc::SYS_clone, "clone", Class::Thread),
    (libc::SYS_clone3, "clone3", Class::Thread),
    (libc::SYS_close, "close", Class::Other),
];

/// The call a thread stands before; `None` for one that does not fail in practice.
pub fn seen(pid: pid_t, registers: &user_regs_struct) -> Option<TracedCall> {
    let number = registers.orig_rax as c_long;
    // Memory from a file may be refused; memory from nowhere is not given back in words.
    if number == libc::SYS_mmap {
        let first = registers.r8;
        let target = memory::descriptor(pid, first);
        return (first as i32 >= 0).then_some(TracedCall { name: "mmap", class: Class::Open, first, target });
    }
    let (_, name, class) = CALLS.iter().find(|(known, ..)| *known == number)?;
    let target = match about(name, *class) {
        About::Descriptor => memory::descriptor(pid, registers.rdi),
        About::Path => memory::text(pid, registers.rdi),
        About::PathIn => match memory::text(pid, registers.rsi) {
            path if path.is_empty() => memory::descriptor(pid, registers.rdi),
            path => path,
        },
        About::Nothing => String::new(),
    };
    Some(TracedCall { name, class: *class, first: registers.rdi, target })
}

fn about(name: &str, class: Class) -> About {
    match name {
        "open" | "readlink" | "stat" | "lstat" | "access" | "rename" | "unlink" | "mkdir" | "chmod" => About::Path,
        "openat" | "readlinkat" | "newfstatat" | "statx" | "faccessat" | "renameat" | "renameat2" | "unlinkat"
        | "mkdirat" => About::PathIn,
        "socket" | "pipe" | "pipe2" | "epoll_create1" | "eventfd2" | "getcwd" | "getrandom" | "poll" | "ppoll" => {
            About::Nothing
        }
        _ if matches!(class, Class::Clock | Class::Thread) => About::Nothing,
        _ => About::Descriptor,
    }
}
