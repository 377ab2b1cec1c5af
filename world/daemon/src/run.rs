//! The life of a daemon: it takes its place, serves, notices when it is not wanted any more, and leaves nothing behind.

use crate::build::Build;
use crate::folder::{self, FolderError, Identity, Lock, socket_path};
use crate::log::{self, LogOptions};
use crate::periodic::{PeriodicTask, Ticking};
use crate::pulse::Pulse;
use crate::serve::Shared;
use crate::server::{Parts, PeerLimits, Server};
use crate::service::Service;
use crate::watcher::Watcher;
use std::fs::{self, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use sys::{signals, socket};

/// How a daemon lives.
pub struct DaemonOptions {
    /// The state folder (`TAUT_HOME`).
    pub folder: PathBuf,
    pub build: Build,
    /// Without calls, connections and need for so long, it ends.
    pub idle_exit: Duration,
    /// How often it looks whether its folder, lock and socket are still its own.
    pub look_every: Duration,
    pub signals: Signals,
    pub limits: PeerLimits,
    pub log: LogOptions,
    pub ticks: Vec<PeriodicTask>,
}

/// What SIGTERM and SIGINT do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signals {
    /// Finish what was read, then end.
    Drain,
    /// Left as they are: the daemon is a thread of somebody else's process.
    Untouched,
}

/// Why a daemon ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DaemonEnd {
    /// By a signal, by `taut daemon stop`, or for a newer build.
    Asked,
    Idle,
    /// Its folder, lock or socket was removed or replaced.
    Displaced,
    /// Too much of it hangs: the process is to end, and another to begin.
    Stuck,
    /// Another thread of the same daemon serves: said by one thread to the next, and to nobody else.
    Replaced,
}

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error("a daemon is already running for {folder}: see `taut daemon status`")]
    AlreadyRunning { folder: PathBuf },
    #[error(
        "cannot tell whether {path} is in use, so it is left alone: look at `taut daemon status`, \
         or remove the file if you are sure that nobody listens there"
    )]
    CannotTell { path: PathBuf, source: io::Error },
    #[error("the daemon cannot listen at {path}: check that the disk is writable, or set TAUT_HOME")]
    Listen { path: PathBuf, source: io::Error },
    #[error("the daemon's loop failed: its log is {log}; start it again with `taut daemon start`")]
    Loop { log: PathBuf, source: io::Error },
}

/// Set by whoever starts a daemon and waits to hear over its stdout that it serves.
pub(crate) const READY_VARIABLE: &str = "TAUT_DAEMON_READY";
pub(crate) const READY: &str = "ready";

/// Somebody who only looks at the lock holds it for a moment.
const LOCK_PATIENCE: Duration = Duration::from_millis(500);

impl DaemonOptions {
    /// The defaults for a process of its own.
    #[must_use]
    pub fn new(folder: &Path, build: Build) -> Self {
        Self {
            folder: folder.to_owned(),
            build,
            idle_exit: Duration::from_secs(30 * 60),
            look_every: Duration::from_secs(5),
            signals: Signals::Drain,
            limits: PeerLimits::default(),
            log: LogOptions { most: log::LogFilter::INFO, clean: |text| model::text::line(text, 1_000) },
            ticks: Vec::new(),
        }
    }
}

/// The place of a daemon: as long as it is held there is no other.
pub(crate) struct Seat {
    lock: Lock,
    socket: Identity,
    folder: Identity,
}

/// Serves until it is asked to end, is not wanted any more, or has lost its place. `make` makes the service, on the
/// thread that serves, and again when that thread is stuck.
///
/// # Errors
/// When another daemon is there, or the folder or the socket cannot be had.
pub fn run<S: Service>(
    options: DaemonOptions,
    make: impl Fn() -> S + Send + Sync + 'static,
) -> Result<DaemonEnd, RunError> {
    sys::process::keep_memory_small();
    let (mut seat, listener) = Seat::take(&options.folder)?;
    let looped = |source| RunError::Loop { log: log::path(&options.folder), source };
    let wake = match options.signals {
        Signals::Drain => {
            // A process of its own has a log of its own.
            log::install(&options.folder, options.log);
            Some(signals::stream(&[libc::SIGTERM, libc::SIGINT]).map_err(looped)?)
        }
        Signals::Untouched => None,
    };
    let pid = std::process::id();
    tracing::info!("serving as process {pid}, build {}", options.build);
    // Only for people who look into the file; the lock itself says everything to programs.
    let _ = seat.lock.note(&format!("pid {pid}\nbuild {}\n", options.build));
    let parts = Parts { listener, wake, build: options.build, limits: options.limits };
    let server = Server::new(parts).map_err(looped)?;
    let shared = Arc::new(Shared {
        stalled: server.stalled.clone(),
        server: Mutex::new(server),
        pulse: Pulse::new(),
        seat,
        idle_exit: options.idle_exit,
        look_every: options.look_every,
    });
    let ticking = Ticking::start(options.ticks);
    announce();
    let ended = Watcher::new(make, Arc::clone(&shared)).run().map_err(looped)?;
    shared.seat.leave();
    drop(ticking);
    tracing::info!("process {pid} ends: {ended:?}");
    shared.seat.release();
    Ok(ended)
}

impl Seat {
    fn take(folder: &Path) -> Result<(Self, UnixListener), RunError> {
        folder::prepare(folder)?;
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| RunError::Folder(FolderError::Io { path, source })
        };
        let path = folder::lifetime_lock(folder);
        let lock = take_lifetime(folder, &path).map_err(failed(&path))?;
        let lock = lock.ok_or_else(|| RunError::AlreadyRunning { folder: folder.to_owned() })?;
        let path = socket_path(folder);
        let listener = listen(folder, &path)?;
        fs::set_permissions(&path, Permissions::from_mode(0o600)).map_err(failed(&path))?;
        let socket = Identity::read(&path).map_err(failed(&path))?;
        let place = Identity::read(folder).map_err(failed(folder))?;
        Ok((Self { lock, socket, folder: place }, listener))
    }

    /// There may be another from now on, even if a thread of this process should never end.
    fn release(&self) {
        self.lock.release();
    }

    /// Nobody new finds the way in.
    pub fn leave(&self) {
        self.socket.remove();
    }

    pub fn is_ours(&self) -> bool {
        let lock = self.lock.identity().is_ok_and(|lock| lock.still_holds());
        lock && self.socket.still_holds() && self.folder.still_holds()
    }
}

/// Somebody who only looks at the lock is waited for; a daemon that serves is not.
fn take_lifetime(folder: &Path, path: &Path) -> io::Result<Option<Lock>> {
    let deadline = Instant::now() + LOCK_PATIENCE;
    loop {
        let soon = deadline.min(Instant::now() + Duration::from_millis(20));
        let lock = Lock::take(path, soon)?;
        if lock.is_some() || Instant::now() >= deadline || socket::connect(&socket_path(folder)).is_ok() {
            return Ok(lock);
        }
    }
}

/// Binds; a socket that is in the way is removed only under the startup lock and only when nobody listens on it.
fn listen(folder: &Path, path: &Path) -> Result<UnixListener, RunError> {
    let failed = |source| RunError::Listen { path: path.to_owned(), source };
    match UnixListener::bind(path) {
        Err(cause) if cause.kind() == ErrorKind::AddrInUse => {}
        bound => return bound.map_err(failed),
    }
    let startup = Lock::take(&folder::startup_lock(folder), Instant::now() + LOCK_PATIENCE).map_err(failed)?;
    if startup.is_none() {
        return Err(RunError::AlreadyRunning { folder: folder.to_owned() });
    }
    clear_stale(path)?;
    UnixListener::bind(path).map_err(failed)
}

/// Removes a socket that nobody listens on. The caller holds the startup lock and the lifetime lock: between binding
/// and listening a socket refuses connections too, and only the holder of the lifetime lock may be doing that.
pub(crate) fn clear_stale(path: &Path) -> Result<(), RunError> {
    match socket::connect(path) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(()),
        // What is not a socket refuses connections too, and is not ours to remove.
        Err(cause) if cause.kind() == ErrorKind::ConnectionRefused && is_socket(path) => {
            fs::remove_file(path).map_err(|source| RunError::Listen { path: path.to_owned(), source })
        }
        Err(source) => Err(RunError::CannotTell { path: path.to_owned(), source }),
        Ok(_) => Err(RunError::CannotTell { path: path.to_owned(), source: ErrorKind::AddrInUse.into() }),
    }
}

fn is_socket(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket())
}

/// Tells whoever started us, over our stdout, and lets go of it.
fn announce() {
    if std::env::var_os(READY_VARIABLE).is_none() {
        return;
    }
    // A starter that went away needs no news.
    let _ = writeln!(io::stdout(), "{READY}");
    let _ = io::stdout().flush();
    sys::output::let_go_of_output();
}

#[cfg(test)]
mod tests {
    use super::{RunError, clear_stale};
    use std::os::unix::net::UnixListener;

    #[test]
    fn only_a_socket_that_nobody_listens_on_is_cleared_away() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("taut.sock");
        clear_stale(&path).unwrap();
        let listener = UnixListener::bind(&path).unwrap();
        assert!(matches!(clear_stale(&path), Err(RunError::CannotTell { .. })));
        assert!(path.exists(), "somebody listens there");
        drop(listener);
        clear_stale(&path).unwrap();
        assert!(!path.exists());
    }
}
