//! The terminal in the foreground: handed to a child, and taken back.

use std::io;

/// Whether there is one on stdin.
pub(crate) fn is_there() -> bool {
    // SAFETY: plain numbers.
    unsafe { libc::isatty(0) == 1 }
}

/// Gives the terminal to a process group. A background process that does so is
/// stopped unless it does not mind, so it does not for that moment.
pub(crate) fn give_to(group: u32) -> io::Result<()> {
    let group = libc::pid_t::try_from(group).map_err(io::Error::other)?;
    // SAFETY: plain numbers; the former disposition is put back.
    unsafe {
        let before = libc::signal(libc::SIGTTOU, libc::SIG_IGN);
        let given = libc::tcsetpgrp(0, group);
        let error = io::Error::last_os_error();
        libc::signal(libc::SIGTTOU, before);
        if given == 0 { Ok(()) } else { Err(error) }
    }
}

pub(crate) fn take_back() {
    // SAFETY: takes nothing.
    let own = unsafe { libc::getpgrp() };
    let _ = give_to(own.cast_unsigned());
}
