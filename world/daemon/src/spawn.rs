//! Starting a process that nobody waits for and that outlives whoever started it.

use crate::log::LogFile;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{ChildStdout, Command, Stdio};

/// Starts `program` on its own and returns at once: for a hook, which must not wait for a daemon to start.
/// `args` are those of a command that calls [`crate::run`] or [`crate::start`] itself, off the way, and `env` is its
/// whole environment. What it says goes to the log of `folder`, where there is one to be had.
///
/// # Errors
/// When no process could be made.
pub fn start_in_background(
    folder: &Path,
    program: &Path,
    args: &[OsString],
    env: Vec<(OsString, OsString)>,
) -> io::Result<()> {
    let log = LogFile::at(folder).map_or_else(|_| Stdio::null(), |log| log.into_file().into());
    let mut command = Command::new(program);
    command.args(args).env_clear().envs(env).current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    detach(&mut command);
    command.spawn()?.wait()?;
    Ok(())
}

/// Starts a daemon with its messages going to `log`, and gives the pipe over which it says that it is ready.
pub(crate) fn start_daemon(mut command: Command, log: File) -> io::Result<Option<ChildStdout>> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log).current_dir("/");
    detach(&mut command);
    let mut child = command.spawn()?;
    let ready = child.stdout.take();
    child.wait()?;
    Ok(ready)
}

/// Forks twice and begins a session: the agent kills the process tree of a hook and waits on every copy of its
/// pipes, so the daemon must be nobody's child and hold none of them. The child that `spawn` knows ends at once; an
/// error of `exec` still comes back, because its pipe closes only when the grandchild has become the program.
fn detach(command: &mut Command) {
    // SAFETY: the closure runs between fork and exec and makes system calls only.
    unsafe {
        command.pre_exec(|| {
            if libc::setsid() < 0 {
                return Err(io::Error::last_os_error());
            }
            match libc::fork() {
                -1 => Err(io::Error::last_os_error()),
                0 => {
                    keep_no_descriptors();
                    Ok(())
                }
                _ => libc::_exit(0),
            }
        });
    }
}

/// Descriptors above the standard ones are closed by `exec`, whoever opened them without saying so.
#[cfg(target_os = "linux")]
fn keep_no_descriptors() {
    const CLOSE_RANGE_CLOEXEC: libc::c_uint = 4;
    // SAFETY: only sets a flag on descriptors; an old kernel refuses, and then they stay as their owners made them.
    unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, CLOSE_RANGE_CLOEXEC) };
}

#[cfg(not(target_os = "linux"))]
fn keep_no_descriptors() {
    for fd in 3..256 {
        // SAFETY: only sets a flag; a number that is not open is an error we do not need.
        unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
}
