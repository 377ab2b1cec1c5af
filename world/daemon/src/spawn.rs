//! Starting a process that nobody waits for and that outlives whoever started it.

use crate::log::LogFile;
use std::ffi::OsString;
use std::fs::File;
use std::io;
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
    sys::process::detach(&mut command);
    command.spawn()?.wait()?;
    Ok(())
}

/// Starts a daemon with its messages going to `log`, and gives the pipe over which it says that it is ready.
pub(crate) fn start_daemon(mut command: Command, log: File) -> io::Result<Option<ChildStdout>> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log).current_dir("/");
    sys::process::detach(&mut command);
    let mut child = command.spawn()?;
    let ready = child.stdout.take();
    child.wait()?;
    Ok(ready)
}
