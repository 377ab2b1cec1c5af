//! The terminal in the foreground: handed to a child, and taken back.

use rustix::process::Pid;
use rustix::stdio::stdin;
use std::io;

/// Whether there is one on stdin, and this process is in its foreground.
#[must_use]
pub fn is_ours() -> bool {
    // A group outside this namespace of processes has the number 0, which nobody here has.
    // SAFETY: numbers are asked for.
    let (front, own) = unsafe { (libc::tcgetpgrp(libc::STDIN_FILENO), libc::getpgrp()) };
    front > 0 && front == own
}

/// Whether the terminal on stdin is the one that this process belongs to: its keys are what is read there.
#[must_use]
pub fn is_controlling() -> bool {
    // SAFETY: numbers are asked for.
    let (of_terminal, own) = unsafe { (libc::tcgetsid(libc::STDIN_FILENO), libc::getsid(0)) };
    own > 0 && of_terminal == own
}

/// The number of the terminal's device on stdin, where there is one.
#[must_use]
pub fn device() -> Option<String> {
    if !rustix::termios::isatty(stdin()) {
        return None;
    }
    // A number of another size on every system, and only to be told apart.
    rustix::fs::fstat(stdin()).ok().map(|stat| stat.st_rdev.to_string())
}

/// Gives the terminal to a process group. A background process that does so is
/// stopped unless it does not mind, so it does not for that moment.
///
/// # Errors
/// Those of the system.
pub fn give_to(group: u32) -> io::Result<()> {
    let group = i32::try_from(group).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidInput)?;
    // SAFETY: an ignored signal needs no handler.
    let before = unsafe { libc::signal(libc::SIGTTOU, libc::SIG_IGN) };
    let given = rustix::termios::tcsetpgrp(stdin(), group);
    // SAFETY: what was there before is put back.
    unsafe { libc::signal(libc::SIGTTOU, before) };
    Ok(given?)
}

pub fn take_back() {
    // A terminal that is gone is nobody's.
    let _ = give_to(rustix::process::getpgrp().as_raw_nonzero().get().cast_unsigned());
}

/// What is typed at the terminal that this process belongs to, though stdin is something else. In the background there
/// is none: whoever reads there is stopped.
///
/// # Errors
/// Where there is no such terminal, or it is somebody else's turn.
pub fn typed() -> io::Result<std::fs::File> {
    let terminal = std::fs::OpenOptions::new().read(true).open("/dev/tty")?;
    if rustix::termios::tcgetpgrp(&terminal)? != rustix::process::getpgrp() {
        return Err(io::ErrorKind::WouldBlock.into());
    }
    Ok(terminal)
}

/// How many columns the terminal of what is said has.
#[must_use]
pub fn columns() -> Option<u16> {
    // SAFETY: the structure lives on this frame and is filled by the call.
    let size = unsafe {
        let mut size: libc::winsize = std::mem::zeroed();
        libc::ioctl(libc::STDERR_FILENO, libc::TIOCGWINSZ, &raw mut size);
        size
    };
    Some(size.ws_col).filter(|columns| *columns > 1)
}

/// A line that is typed on stdin without being shown, such as a password. Where stdin is no terminal it is simply read.
/// Asked is when nothing is shown any more: what is pasted at once would be.
///
/// # Errors
/// Those of asking and of reading.
pub fn read_hidden(ask: impl FnOnce() -> io::Result<()>) -> io::Result<String> {
    let shown = rustix::termios::tcgetattr(stdin()).ok();
    if let Some(mut hidden) = shown.clone() {
        hidden.local_modes.remove(rustix::termios::LocalModes::ECHO);
        let _ = rustix::termios::tcsetattr(stdin(), rustix::termios::OptionalActions::Now, &hidden);
    }
    let mut line = String::new();
    let read = ask().and_then(|()| io::stdin().read_line(&mut line));
    if let Some(shown) = shown {
        let _ = rustix::termios::tcsetattr(stdin(), rustix::termios::OptionalActions::Now, &shown);
    }
    read.map(|_| line)
}
