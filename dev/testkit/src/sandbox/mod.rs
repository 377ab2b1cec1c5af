//! A throw-away home in which `taut` and its clients may do what they like.

mod bin;
mod leftovers;
mod person;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::process::{self, Finished};

pub use bin::taut_bin;
pub use leftovers::Leftover;
pub(crate) use person::terminal;

const LIMIT: Duration = Duration::from_secs(30);
const DAEMON_STOP_LIMIT: Duration = Duration::from_secs(10);

/// Home, Taut's own home and a project with one commit, all in one temporary folder.
///
/// Dropping it stops a daemon that lives in it and kills every process that was started with its environment.
#[derive(Debug)]
pub struct Sandbox {
    root: TempDir,
    bin: PathBuf,
    more_env: Vec<(OsString, OsString)>,
}

impl Sandbox {
    /// A new sandbox for the program `bin`, see [`taut_bin`].
    ///
    /// # Errors
    /// When the folders cannot be made or git, where there is one, refuses.
    pub fn new(bin: PathBuf) -> io::Result<Self> {
        let sandbox = Self {
            // Short, because socket paths are limited to about a hundred bytes.
            root: tempfile::Builder::new().prefix("taut-").tempdir()?,
            bin,
            more_env: Vec::new(),
        };
        for folder in [".claude", ".config", ".local/state", ".local/share", ".cache"] {
            fs::create_dir_all(sandbox.home().join(folder))?;
        }
        let bin_folder = sandbox.root().join("bin");
        for folder in [sandbox.taut_home(), sandbox.project(), sandbox.tmp(), sandbox.runtime(), bin_folder] {
            fs::create_dir_all(&folder)?;
            private(&folder)?;
        }
        let identity = "[user]\n\tname = A Tester\n\temail = tester@example.invalid\n[init]\n\tdefaultBranch = main\n";
        fs::write(sandbox.home().join(".gitconfig"), identity)?;
        sandbox.make_repository()?;
        Ok(sandbox)
    }

    /// A new sandbox with a copy of `bin` in its own `bin` folder, as a user has it installed: `taut init` refuses a
    /// program in a build folder.
    ///
    /// # Errors
    /// As [`new`](Self::new), and when the program cannot be copied.
    pub fn with_copy_of(bin: &Path) -> io::Result<Self> {
        let mut sandbox = Self::new(bin.to_owned())?;
        sandbox.bin = sandbox.root().join("bin/taut");
        // By a child, because a file this process has open for writing may be inherited by a fork of another thread
        // and then be "busy" when it is to be run.
        let mut copy = sandbox.command("cp");
        copy.arg(bin.canonicalize()?).arg(&sandbox.bin);
        let done = process::run(copy, b"", LIMIT)?;
        if !done.success() {
            return Err(io::Error::other(format!("cp {}: {}", bin.display(), done.stderr_text())));
        }
        Ok(sandbox)
    }

    /// One more variable for everything that runs here.
    #[must_use]
    pub fn with_env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.more_env.push((name.as_ref().into(), value.as_ref().into()));
        self
    }

    #[must_use]
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    #[must_use]
    pub fn bin(&self) -> &Path {
        &self.bin
    }

    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// The client's configuration folder.
    #[must_use]
    pub fn claude_dir(&self) -> PathBuf {
        self.home().join(".claude")
    }

    #[must_use]
    pub fn taut_home(&self) -> PathBuf {
        self.root().join("taut_home")
    }

    #[must_use]
    pub fn project(&self) -> PathBuf {
        self.root().join("project")
    }

    #[must_use]
    pub fn tmp(&self) -> PathBuf {
        self.root().join("tmp")
    }

    /// Everything a process here gets to see, and nothing of the tester's own environment but `PATH`, which has the
    /// sandbox's `bin` in front.
    #[must_use]
    pub fn env(&self) -> Vec<(OsString, OsString)> {
        let home = self.home();
        let mut env: Vec<(OsString, OsString)> = vec![
            ("HOME".into(), home.clone().into()),
            ("TAUT_HOME".into(), self.taut_home().into()),
            ("XDG_CONFIG_HOME".into(), home.join(".config").into()),
            ("XDG_STATE_HOME".into(), home.join(".local/state").into()),
            ("XDG_DATA_HOME".into(), home.join(".local/share").into()),
            ("XDG_CACHE_HOME".into(), home.join(".cache").into()),
            ("XDG_RUNTIME_DIR".into(), self.runtime().into()),
            ("TMPDIR".into(), self.tmp().into()),
            ("PATH".into(), self.path()),
            ("GIT_CONFIG_NOSYSTEM".into(), "1".into()),
            ("LANG".into(), "C.UTF-8".into()),
            ("TERM".into(), "xterm-256color".into()),
        ];
        env.extend(self.more_env.iter().cloned());
        env
    }

    /// A command for any program, with the sandbox's environment, in the project.
    #[must_use]
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(self.env()).current_dir(self.project());
        command
    }

    /// Runs `taut` with `args` and `stdin`.
    ///
    /// # Errors
    /// When it cannot be started; how it ended is in [`Finished`].
    pub fn taut<S: AsRef<OsStr>>(&self, args: &[S], stdin: &[u8]) -> io::Result<Finished> {
        let mut command = self.command(&self.bin);
        command.args(args);
        process::run(command, stdin, LIMIT)
    }

    /// Writes the client's user settings.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_settings(&self, settings: &Value) -> io::Result<()> {
        let text = serde_json::to_string_pretty(settings)?;
        fs::write(self.claude_dir().join("settings.json"), text)
    }

    /// The processes that were started with this sandbox's environment and still run.
    #[must_use]
    pub fn leftovers(&self) -> Vec<Leftover> {
        leftovers::of(self.root())
    }

    /// Ends them all at once, as a machine does that loses its power.
    pub fn kill_leftovers(&self) {
        leftovers::kill_all(self.root());
    }

    fn path(&self) -> OsString {
        let mut path = self.root().join("bin").into_os_string();
        if let Some(testers) = std::env::var_os("PATH") {
            path.push(":");
            path.push(testers);
        }
        path
    }

    fn runtime(&self) -> PathBuf {
        self.root().join("run")
    }

    /// One commit, so that `HEAD` exists. Without git there is a plain folder: tests that need more say so themselves.
    fn make_repository(&self) -> io::Result<()> {
        fs::write(self.project().join("README.md"), "# A project\n")?;
        for args in [&["init", "--quiet"][..], &["add", "README.md"], &["commit", "--quiet", "-m", "first"]] {
            let mut git = self.command("git");
            git.args(args);
            let done = match process::run(git, b"", LIMIT) {
                Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(()),
                other => other?,
            };
            if !done.success() {
                return Err(io::Error::other(format!("git {args:?}: {}", done.stderr_text())));
            }
        }
        Ok(())
    }

    fn stop_daemon(&self) {
        if leftovers::has_socket_or_pid(&self.taut_home(), 2) {
            let mut command = self.command(&self.bin);
            command.args(["daemon", "stop"]).current_dir(self.root());
            // Whatever it answers, what is left is killed next.
            let _ = process::run(command, b"", DAEMON_STOP_LIMIT);
        }
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.stop_daemon();
        leftovers::kill_all(self.root());
    }
}

fn private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
}
