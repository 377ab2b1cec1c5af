//! A tmux server of our own with one pane, which nobody else can see and which ends by itself.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::fake_agent::fresh_id;
use crate::process;

const LIMIT: Duration = Duration::from_secs(10);

/// After this many seconds the server ends even when the test was killed and nobody drops it.
const LIFE_SECONDS: u32 = 900;

pub(super) struct Pane<'a> {
    /// Where the server keeps its socket and settings.
    pub folder: &'a Path,
    pub cwd: &'a Path,
    pub env: &'a [(OsString, OsString)],
    /// The program and its arguments.
    pub line: &'a [OsString],
}

#[derive(Debug)]
pub(super) struct Tmux {
    name: String,
    folder: PathBuf,
    path: OsString,
}

impl Tmux {
    /// Starts the server, in the network of the calling thread, with the program in its only pane.
    pub fn start(pane: &Pane<'_>) -> io::Result<Self> {
        let settings = pane.folder.join("tmux.conf");
        // A dead pane stays, so that its last words can be read.
        let lines = format!(
            "set -g remain-on-exit on\nset -g status off\nset -s escape-time 0\nset -g history-limit 20000\n\
             run-shell -b -d {LIFE_SECONDS} -C kill-server\n"
        );
        fs::write(&settings, lines)?;
        let path = pane.env.iter().rfind(|(name, _)| name == "PATH");
        let tmux = Self {
            name: format!("taut-{}", &fresh_id()[..8]),
            folder: pane.folder.to_owned(),
            path: path.map(|(_, value)| value.clone()).unwrap_or_default(),
        };
        let mut command = tmux.command();
        command
            .arg("-f")
            .arg(settings)
            .args(["new-session", "-d", "-x", "160", "-y", "50", "-c"])
            .arg(pane.cwd)
            .arg("--")
            .args(pane.line)
            .envs(pane.env.iter().cloned());
        finish(command)?;
        Ok(tmux)
    }

    /// Runs one tmux command and gives what it printed.
    pub fn ask<S: AsRef<OsStr>>(&self, args: &[S]) -> io::Result<String> {
        let mut command = self.command();
        command.args(args);
        finish(command)
    }

    fn command(&self) -> Command {
        let mut command = Command::new("tmux");
        command
            .env_clear()
            .env("PATH", &self.path)
            .env("LANG", "C.UTF-8")
            .env("TMUX_TMPDIR", &self.folder)
            .args(["-u", "-L", &self.name]);
        command
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        // Fails only when the server is gone already, which is what we want.
        let _ = self.ask(&["kill-server"]);
    }
}

fn finish(command: Command) -> io::Result<String> {
    let done = process::run(command, b"", LIMIT)?;
    if done.success() {
        Ok(done.stdout_text())
    } else {
        Err(io::Error::other(format!("tmux: {:?}: {}", done.ending, done.stderr_text())))
    }
}
