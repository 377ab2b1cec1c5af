//! Starting and stopping a daemon from outside: many may try at once, and there is still only one.

use crate::build::Build;
use crate::client::{CallFailure, Client};
use crate::folder::{self, FolderError, Lock, socket_path};
use crate::protocol::DaemonStatus;
use crate::run::{READY, READY_VARIABLE, RunError, clear_stale};
use crate::{log, spawn};
use std::ffi::OsString;
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command};
use std::time::{Duration, Instant};

/// How a daemon is started.
#[derive(Debug, Clone)]
pub struct DaemonLaunch {
    /// The state folder (`TAUT_HOME`).
    pub folder: PathBuf,
    /// The program that calls [`crate::run`] when it is given `args`.
    pub program: PathBuf,
    pub args: Vec<OsString>,
    /// Its whole environment, but for what the two tell each other. Nothing of the starter's own gets there: that
    /// may be a hook's, and the daemon outlives it.
    pub env: Vec<(OsString, OsString)>,
    /// An older daemon is replaced, a newer one is left alone.
    pub build: Build,
    /// For everything together.
    pub patience: Duration,
}

/// What there is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Started {
    Fresh(DaemonStatus),
    /// It was there before, of the same or a newer build.
    Already(DaemonStatus),
    /// An older one finished its work and made room.
    Replaced {
        old: DaemonStatus,
        new: DaemonStatus,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopResult {
    Ended,
    WasNotRunning,
}

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error("somebody else has been starting a daemon for {} ms: try `taut daemon start` again", .0.as_millis())]
    Busy(Duration),
    #[error(transparent)]
    CannotTell(CallFailure),
    #[error("a daemon holds {path} but does not serve: look at the process named in it, and end that if it hangs")]
    Hangs { path: PathBuf },
    #[error(transparent)]
    Stale(RunError),
    #[error("cannot start {program}: check that it exists and may be run")]
    Spawn { program: PathBuf, source: io::Error },
    #[error("the daemon did not begin to serve; the last line of {log} is: {reason}")]
    NotReady { log: PathBuf, reason: String },
    #[error("the daemon was asked to stop but is still there after {} ms: end process {pid} by hand", patience.as_millis())]
    WouldNotStop { pid: u32, patience: Duration },
}

/// What a look at the socket found.
enum Found {
    Nobody,
    Serving(DaemonStatus),
}

/// What there is once nobody is coming or going.
enum Settled {
    /// With the lock that keeps it so: whoever begins to serve must have it first.
    Nobody(Lock),
    Serving(DaemonStatus),
}

/// One question during a start; the whole has the patience of its launch.
const PROBE: Duration = Duration::from_secs(1);

/// Makes sure that a daemon of this build or a newer one serves.
///
/// # Errors
/// Also when it cannot be told whether there is one: then nothing is removed and nothing started.
pub fn start(launch: &DaemonLaunch) -> Result<Started, StartError> {
    folder::prepare(&launch.folder)?;
    // Most starters find one, and need no lock to see it.
    if let Found::Serving(status) = probe(&launch.folder)?
        && status.build >= launch.build
        && !status.draining
    {
        return Ok(Started::Already(status));
    }
    let deadline = Instant::now() + launch.patience;
    let path = folder::startup_lock(&launch.folder);
    let _startup = Lock::take(&path, deadline)
        .map_err(|source| FolderError::Io { path, source })?
        .ok_or(StartError::Busy(launch.patience))?;
    let mut old = None;
    let vacancy = loop {
        match settle(launch, deadline)? {
            Settled::Serving(status) if status.build >= launch.build && !status.draining => {
                return Ok(Started::Already(status));
            }
            Settled::Serving(status) => {
                end(&launch.folder, &status, launch.patience, deadline)?;
                old = Some(status);
            }
            Settled::Nobody(lock) => break lock,
        }
    };
    clear_stale(&socket_path(&launch.folder)).map_err(StartError::Stale)?;
    drop(vacancy);
    let new = spawn_daemon(launch, deadline)?;
    Ok(match old {
        Some(old) => Started::Replaced { old, new },
        None => Started::Fresh(new),
    })
}

/// Ends the daemon of a folder, after it has answered what it has read.
///
/// # Errors
/// When it does not answer, or does not end in time.
pub fn stop(folder: &Path, patience: Duration) -> Result<StopResult, StartError> {
    let deadline = Instant::now() + patience;
    let status = match probe(folder)? {
        Found::Serving(status) => status,
        Found::Nobody => return Ok(StopResult::WasNotRunning),
    };
    end(folder, &status, patience, deadline)?;
    Ok(StopResult::Ended)
}

/// Waits out a daemon that is just coming or going: it holds the lock but has no socket.
fn settle(launch: &DaemonLaunch, deadline: Instant) -> Result<Settled, StartError> {
    let path = folder::lifetime_lock(&launch.folder);
    loop {
        if let Found::Serving(status) = probe(&launch.folder)? {
            return Ok(Settled::Serving(status));
        }
        let soon = deadline.min(Instant::now() + Duration::from_millis(20));
        let lock = Lock::take(&path, soon);
        if let Some(lock) = lock.map_err(|source| FolderError::Io { path: path.clone(), source })? {
            return Ok(Settled::Nobody(lock));
        }
        if Instant::now() >= deadline {
            return Err(StartError::Hangs { path });
        }
    }
}

fn probe(folder: &Path) -> Result<Found, StartError> {
    match Client::new(folder, PROBE).status() {
        Ok(status) => Ok(Found::Serving(status)),
        Err(CallFailure::Absent) => Ok(Found::Nobody),
        // It ended while it was asked.
        Err(CallFailure::Broken(_)) => Ok(Found::Nobody),
        Err(other) => Err(StartError::CannotTell(other)),
    }
}

fn end(folder: &Path, status: &DaemonStatus, patience: Duration, deadline: Instant) -> Result<(), StartError> {
    match Client::new(folder, PROBE).request_stop() {
        Ok(_) | Err(CallFailure::Absent | CallFailure::Broken(_)) => {}
        Err(other) => return Err(StartError::CannotTell(other)),
    }
    let path = folder::lifetime_lock(folder);
    let free = Lock::wait_until_free(&path, deadline).map_err(|source| FolderError::Io { path, source })?;
    if free { Ok(()) } else { Err(StartError::WouldNotStop { pid: status.pid, patience }) }
}

fn spawn_daemon(launch: &DaemonLaunch, deadline: Instant) -> Result<DaemonStatus, StartError> {
    let log = log::LogFile::at(&launch.folder);
    let log = log.map_err(|source| FolderError::Io { path: log::path(&launch.folder), source })?;
    let mut command = Command::new(&launch.program);
    command.args(&launch.args).env_clear().envs(launch.env.iter().cloned());
    command.env(READY_VARIABLE, "1").env("TAUT_HOME", &launch.folder);
    let ready = spawn::start_daemon(command, log.into_file())
        .map_err(|source| StartError::Spawn { program: launch.program.clone(), source })?;
    let said = ready.map_or_else(|| Err(ErrorKind::BrokenPipe.into()), |pipe| listen_for_ready(pipe, deadline));
    let not_ready = |reason: String| StartError::NotReady { log: log::path(&launch.folder), reason };
    // One that was started by hand at the same moment is as good.
    match (said, probe(&launch.folder)?) {
        (Ok(_), Found::Serving(status)) => Ok(status),
        (Ok(true), Found::Nobody) => Err(not_ready("it ended at once".to_owned())),
        (Ok(false), Found::Nobody) => {
            Err(not_ready(log::last_lines(&launch.folder, 1).pop().map(|line| line.text).unwrap_or_default()))
        }
        (Err(cause), _) => Err(not_ready(cause.to_string())),
    }
}

/// True when the daemon said that it serves; false when it ended without saying so.
fn listen_for_ready(mut pipe: ChildStdout, deadline: Instant) -> io::Result<bool> {
    let mut said = Vec::new();
    loop {
        sys::poll::wait(pipe.as_raw_fd(), libc::POLLIN, deadline)?;
        let mut chunk = [0; 256];
        match pipe.read(&mut chunk)? {
            0 => return Ok(false),
            count => said.extend_from_slice(&chunk[..count]),
        }
        if String::from_utf8_lossy(&said).lines().any(|line| line == READY) {
            return Ok(true);
        }
    }
}
