//! A person at a terminal of their own, wherever the tests run: below an agent too, and beside agents that somebody else
//! runs on the machine.

use std::ffi::{CStr, OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use super::Sandbox;
use crate::process;

/// Nothing that a person starts and answers takes so long where all is well.
const LONGEST: Duration = Duration::from_secs(90);
/// Hides what the account itself has recorded, and becomes the command.
const HIDE: &str = "[ ! -d \"$0\" ] || mount -t tmpfs none \"$0\" || exit 97; exec \"$@\"";

impl Sandbox {
    /// Runs `taut` at a terminal where somebody has typed these answers.
    ///
    /// # Errors
    /// When there is no terminal to be had, or the command cannot be started.
    pub fn at_terminal<S: AsRef<OsStr>>(&self, args: &[S], typed: &str, env: &[(&str, &str)]) -> io::Result<Output> {
        self.program_at_terminal(self.bin(), args, typed, env)
    }

    /// The same with another program.
    ///
    /// # Errors
    /// When there is no terminal to be had, or the command cannot be started.
    pub fn program_at_terminal<S: AsRef<OsStr>>(
        &self,
        program: &Path,
        args: &[S],
        typed: &str,
        env: &[(&str, &str)],
    ) -> io::Result<Output> {
        let mut command = self.in_front_of_terminal(program);
        command.args(args).envs(env.iter().copied());
        answer(command, typed)
    }

    /// Starts `taut` at a terminal where somebody sits for as long as the file is held; what it prints is read from its
    /// stdout.
    ///
    /// # Errors
    /// When there is no terminal to be had, or the command cannot be started.
    pub fn start_at_terminal<S: AsRef<OsStr>>(&self, args: &[S], env: &[(&str, &str)]) -> io::Result<(Child, File)> {
        let (screen, end) = terminal()?;
        let mut command = self.in_front_of_terminal(self.bin());
        command.args(args).envs(env.iter().copied()).stdin(end).stdout(Stdio::piped()).stderr(Stdio::inherit());
        Ok((command.spawn()?, screen))
    }

    pub(crate) fn in_front_of_terminal(&self, program: &Path) -> Command {
        match self.alone("setsid") {
            Some(mut command) => {
                command.args(["-c", "-w"]).arg(program);
                command
            }
            None => {
                let mut command = self.command(program);
                take_terminal(&mut command);
                command
            }
        }
    }

    /// As if somebody had looked at the project's files and agreed to them.
    ///
    /// # Errors
    /// When that cannot be written down.
    pub fn trust_project(&self) -> io::Result<()> {
        let project = host::probe::project(&self.project(), &self.home());
        host::trust::ProjectFiles::of(Path::new(&project.work_tree)).grant(&self.taut_home())
    }

    /// Takes from the record which process called the hooks. Where that was the test, what it starts next would be below
    /// an agent; and from a namespace of processes nobody outside can be seen.
    ///
    /// # Errors
    /// When there is no record.
    pub fn forget_clients(&self) -> io::Result<()> {
        let forget = || {
            let database = rusqlite::Connection::open(self.taut_home().join("taut.db"))?;
            database.busy_timeout(super::LIMIT)?;
            database.execute("UPDATE sessions SET client_pid = NULL", [])
        };
        forget().map(drop).map_err(io::Error::other)
    }

    /// A command for any program in a namespace of processes, where it sees nobody but what it starts itself; `None` where
    /// nobody is granted one.
    #[must_use]
    pub fn alone(&self, program: impl AsRef<OsStr>) -> Option<Command> {
        let mut command = self.command("unshare");
        command.args(namespace()?).args(["sh", "-c", HIDE]).arg(account_state()).arg(program);
        Some(command)
    }
}

fn take_terminal(command: &mut Command) {
    // SAFETY: only calls that are allowed between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::setsid();
            match libc::ioctl(0, libc::TIOCSCTTY as _, 0) {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            }
        });
    }
}

fn answer(mut command: Command, typed: &str) -> io::Result<Output> {
    let (mut screen, end) = terminal()?;
    screen.write_all(typed.as_bytes())?;
    command.stdin(end);
    let output = process::collect(command, LONGEST);
    // Until now somebody sat there.
    drop(screen);
    output
}

pub(crate) fn terminal() -> io::Result<(File, OwnedFd)> {
    let (mut screen, mut end) = (0, 0);
    let nothing = std::ptr::null_mut();
    // SAFETY: room for two descriptors, which are owned from then on; nothing else is asked for.
    unsafe {
        if libc::openpty(&raw mut screen, &raw mut end, nothing, nothing.cast(), nothing.cast()) != 0 {
            return Err(io::Error::last_os_error());
        }
        for fd in [screen, end] {
            libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC);
        }
        Ok((File::from_raw_fd(screen), OwnedFd::from_raw_fd(end)))
    }
}

/// How a namespace of processes is made here, in which nobody else is seen; `None` where nobody is granted one.
fn namespace() -> Option<&'static [&'static str]> {
    const OF_ROOT: &[&str] = &["--pid", "--fork", "--kill-child", "--mount-proc"];
    const OF_USERS: &[&str] = &["--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"];
    static FOUND: OnceLock<Option<&'static [&'static str]>> = OnceLock::new();
    let works = |options: &&&'static [&'static str]| {
        let mut trial = Command::new("unshare");
        trial.args(**options).arg("true").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        trial.status().is_ok_and(|status| status.success())
    };
    *FOUND.get_or_init(|| [OF_ROOT, OF_USERS].iter().find(works).copied())
}

/// Where the account keeps what Taut records, whatever the environment says.
fn account_state() -> PathBuf {
    // SAFETY: the entry is copied before anybody can ask again.
    let home = unsafe {
        let entry = libc::getpwuid(libc::getuid());
        if entry.is_null() {
            OsString::new()
        } else {
            OsStr::from_bytes(CStr::from_ptr((*entry).pw_dir).to_bytes()).into()
        }
    };
    Path::new(&home).join(".local/state/taut")
}
