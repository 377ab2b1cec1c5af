//! A terminal of our own for a program: as the one on stdin, with a session and
//! job control of its own, so that it sees what it would see without us.

use rustix::fs::{Mode, OFlags};
use rustix::io::FdFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::stdio::stdin;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr, tcsetwinsize};
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::process::{Child, Command, Stdio};

/// Both ends: what is typed into the first is read at the other.
#[derive(Debug)]
pub struct Pty {
    pub master: OwnedFd,
    slave: OwnedFd,
}

/// A program at such a terminal.
#[derive(Debug)]
pub struct PtyChild {
    /// Leads the session and waits for the program: it stops when the program does, and ends as it ended.
    pub leader: Child,
    /// The program's own process, which leads its group.
    pub program: u32,
}

/// Whether what is read and what is shown here is a terminal.
#[must_use]
pub fn is_at_a_terminal() -> bool {
    rustix::termios::isatty(stdin()) && is_terminal(libc::STDOUT_FILENO)
}

fn is_terminal(fd: RawFd) -> bool {
    // SAFETY: a number is asked about.
    unsafe { libc::isatty(fd) == 1 }
}

impl Pty {
    /// With the size and the modes of the terminal on stdin.
    ///
    /// # Errors
    /// Those of the system.
    pub fn open() -> io::Result<Self> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        // Not every system takes it with the opening.
        rustix::io::fcntl_setfd(&master, FdFlags::CLOEXEC)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let name = ptsname(&master, Vec::new())?;
        let slave = rustix::fs::open(&*name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
        tcsetattr(&slave, OptionalActions::Now, &tcgetattr(stdin())?)?;
        let pty = Self { master, slave };
        take_size(&pty.master);
        rustix::io::ioctl_fionbio(&pty.master, true)?;
        Ok(pty)
    }

    /// Starts the program there. What is not a terminal on stderr stays what it is.
    ///
    /// # Errors
    /// Those of the system.
    pub fn start(self, command: &mut Command) -> io::Result<(OwnedFd, PtyChild)> {
        command.stdin(Stdio::from(self.slave.try_clone()?)).stdout(Stdio::from(self.slave.try_clone()?));
        // With a copy of our own nobody would learn that the program is gone: all of them are the command's, and go with it.
        if is_terminal(libc::STDERR_FILENO) {
            command.stderr(Stdio::from(self.slave));
        }
        let (mut told, tell) = io::pipe()?;
        lead_a_session(command, tell.as_raw_fd());
        let leader = command.spawn()?;
        drop(tell);
        let mut number = [0; 4];
        told.read_exact(&mut number)?;
        Ok((self.master, PtyChild { leader, program: u32::from_ne_bytes(number) }))
    }
}

/// Gives the terminal behind `master` the size of the one on stdin, and tells it, in columns and rows. Its program is told by
/// the system.
pub fn take_size(master: &impl AsFd) -> Option<(u16, u16)> {
    let size = tcgetwinsize(stdin()).ok()?;
    tcsetwinsize(master, size).ok()?;
    Some((size.ws_col, size.ws_row))
}

/// The terminal on stdin as a program's: every key comes as it is, every byte goes out as it is. Undone when it is dropped,
/// on whatever way.
#[derive(Debug)]
pub struct RawMode {
    before: Termios,
}

impl RawMode {
    /// # Errors
    /// Those of the system.
    pub fn begin() -> io::Result<Self> {
        let before = tcgetattr(stdin())?;
        let mode = Self { before };
        mode.again()?;
        Ok(mode)
    }

    /// After somebody else had the terminal.
    ///
    /// # Errors
    /// Those of the system.
    pub fn again(&self) -> io::Result<()> {
        let mut raw = self.before.clone();
        raw.make_raw();
        Ok(tcsetattr(stdin(), OptionalActions::Drain, &raw)?)
    }

    /// For as long as somebody else has it.
    pub fn rest(&self) {
        // SAFETY: an ignored signal needs no handler; in the background it would stop us here.
        let before = unsafe { libc::signal(libc::SIGTTOU, libc::SIG_IGN) };
        let _ = tcsetattr(stdin(), OptionalActions::Drain, &self.before);
        // SAFETY: what was there before is put back.
        unsafe { libc::signal(libc::SIGTTOU, before) };
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        self.rest();
    }
}

/// What was typed, without waiting for more.
///
/// # Errors
/// Those of the system.
pub fn typed(buffer: &mut [u8]) -> io::Result<usize> {
    Ok(rustix::io::read(stdin(), buffer)?)
}

/// What the program wrote, without waiting for more.
///
/// # Errors
/// Those of the system; one of them says that nobody has the other end.
pub fn read(master: &OwnedFd, buffer: &mut [u8]) -> io::Result<usize> {
    Ok(rustix::io::read(master, buffer)?)
}

/// Types it, as much as there is room for.
///
/// # Errors
/// Those of the system.
pub fn write(master: &OwnedFd, bytes: &[u8]) -> io::Result<usize> {
    Ok(rustix::io::write(master, bytes)?)
}

/// Shows it, however long the terminal takes.
///
/// # Errors
/// Those of the system; then the terminal is gone.
pub fn show(mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        // SAFETY: it is open as long as the process; where it is not, writing fails.
        let terminal = unsafe { BorrowedFd::borrow_raw(libc::STDOUT_FILENO) };
        match rustix::io::write(terminal, bytes) {
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) => {
                let mut polls = [libc::pollfd { fd: libc::STDOUT_FILENO, events: libc::POLLOUT, revents: 0 }];
                crate::poll::poll(&mut polls, std::time::Duration::from_secs(1))?;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// The program begins in a session of its own, at the terminal that is its stdin, and in a group of its own that has that
/// terminal. Between it and us stands the leader of the session: a program whose parent is of another session could not be
/// suspended. The number of the program is written to `tell`.
fn lead_a_session(command: &mut Command, tell: RawFd) {
    use std::os::unix::process::CommandExt;
    // SAFETY: between fork and exec, and in the leader, only system calls are made.
    unsafe {
        command.pre_exec(move || {
            if libc::setsid() < 0 || libc::ioctl(0, libc::TIOCSCTTY as _, 0) < 0 {
                return Err(io::Error::last_os_error());
            }
            match libc::fork() {
                -1 => Err(io::Error::last_os_error()),
                0 => {
                    libc::setpgid(0, 0);
                    give_terminal(libc::getpid());
                    Ok(())
                }
                program => {
                    libc::setpgid(program, program);
                    lead(program, tell)
                }
            }
        });
    }
}

/// SAFETY: for a process that has just forked: makes system calls only.
unsafe fn give_terminal(group: libc::pid_t) {
    unsafe {
        libc::signal(libc::SIGTTOU, libc::SIG_IGN);
        libc::tcsetpgrp(0, group);
        libc::signal(libc::SIGTTOU, libc::SIG_DFL);
    }
}

/// The end of a session's leader hangs up on whoever has its terminal: what the program left running there, which would go on
/// without us. So the leader has it then.
///
/// SAFETY: for a process that has just forked: makes system calls only.
unsafe fn keep_survivors() {
    unsafe {
        give_terminal(libc::getpid());
        libc::signal(libc::SIGHUP, libc::SIG_IGN);
    }
}

/// Waits for the program: stops when it stops, continues it when it is continued, ends as it ended.
///
/// SAFETY: for a process that has just forked: makes system calls only.
unsafe fn lead(program: libc::pid_t, tell: RawFd) -> ! {
    unsafe {
        for signal in 1..32 {
            libc::signal(signal, libc::SIG_DFL);
        }
        let number = program.to_ne_bytes();
        libc::write(tell, number.as_ptr().cast(), number.len());
        close_all_but_standard();
        loop {
            let mut status = 0;
            if libc::waitpid(program, &raw mut status, libc::WUNTRACED) < 0 {
                if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted {
                    continue;
                }
                libc::_exit(127);
            }
            if libc::WIFSTOPPED(status) {
                libc::kill(libc::getpid(), libc::SIGSTOP);
                give_terminal(program);
                libc::kill(-program, libc::SIGCONT);
            } else if libc::WIFEXITED(status) {
                keep_survivors();
                libc::_exit(libc::WEXITSTATUS(status));
            } else if libc::WIFSIGNALED(status) {
                keep_survivors();
                let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
                libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
                libc::kill(libc::getpid(), libc::WTERMSIG(status));
                libc::_exit(128 + libc::WTERMSIG(status));
            }
        }
    }
}

/// The pipe on which an error of `exec` is told must end with the program, not with its leader.
///
/// SAFETY: for a process that has just forked: makes system calls only.
#[cfg(target_os = "linux")]
unsafe fn close_all_but_standard() {
    // SAFETY: closes descriptors that this process does not use; an old kernel refuses.
    if unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0) } != 0 {
        close_each();
    }
}

#[cfg(not(target_os = "linux"))]
unsafe fn close_all_but_standard() {
    close_each();
}

fn close_each() {
    for fd in 3..1024 {
        // SAFETY: closes descriptors that this process does not use.
        unsafe { libc::close(fd) };
    }
}
