//! The demo's stage: a home of its own that is gone afterwards.

use crate::error::CliError;
use serde_json::Value;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub struct DemoStage {
    root: PathBuf,
    project: PathBuf,
    program: PathBuf,
    /// For everything that is started here.
    env: Vec<(&'static str, OsString)>,
    keep: bool,
}

/// What a program needs of the user's to find others and to know its terminal.
const OF_THE_TERMINAL: [&str; 7] = ["PATH", "TERM", "LANG", "LC_ALL", "TZ", "NO_COLOR", "TMPDIR"];

impl DemoStage {
    pub fn set() -> Result<Self, CliError> {
        let mark = host::clock::uuid(host::clock::now());
        let root = std::env::temp_dir().join(format!("taut-demo-{mark}"));
        let project = root.join("home/acme");
        std::fs::create_dir_all(&project)?;
        Ok(Self { program: std::env::current_exe()?, root, project, env: Vec::new(), keep: false })
    }

    /// Enough of a repository for Taut to see one, without git.
    pub fn with_a_mere_repository(mut self) -> Result<Self, CliError> {
        std::fs::create_dir_all(self.project.join(".git"))?;
        std::fs::write(self.project.join(".git/HEAD"), "ref: refs/heads/main\n")?;
        self.env.push(("TAUT_AGENT_ID", "demo".into()));
        Ok(self)
    }

    /// For programs that others start and a person watches. No daemon, so that nothing is left behind.
    pub fn with_the_terminal(mut self) -> Self {
        self.env.extend(OF_THE_TERMINAL.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        self.env.push(("TAUT_NO_DAEMON", "1".into()));
        self
    }

    /// Its folder stays where it is when the demo is over.
    pub fn lasting(mut self, keep: bool) -> Self {
        self.keep = keep;
        self
    }

    pub fn project(&self) -> &Path {
        &self.project
    }

    pub fn program(&self) -> &Path {
        &self.program
    }

    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// One call through the real hook: what it printed and how long it took,
    /// from starting the process to its end.
    pub fn hook(&self, payload: &Value) -> Result<(String, Duration), CliError> {
        let input = payload.to_string();
        let begun = Instant::now();
        let answer = self.taut(agents::DEFAULT.settings.args, input.as_bytes())?;
        Ok((answer, begun.elapsed()))
    }

    pub fn json_lines(&self, args: &[&str]) -> Result<Vec<Value>, CliError> {
        let text = self.taut(args, b"")?;
        Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
    }

    /// Runs this very program in the demo's home and nothing of the user's.
    pub fn taut(&self, args: &[&str], stdin: &[u8]) -> Result<String, CliError> {
        let mut command = self.command(&self.program, args);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        if let Some(mut input) = child.stdin.take() {
            input.write_all(stdin)?;
        }
        let done = child.wait_with_output()?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr).trim().to_string();
            return Err(CliError::failed(format!("`taut {}` failed in the demo: {said}", args.join(" "))));
        }
        Ok(String::from_utf8_lossy(&done.stdout).into_owned())
    }

    /// The same with its words going where ours go, and nothing to read. Gives its exit code.
    pub fn shown(&self, args: &[&str]) -> Result<Option<i32>, CliError> {
        Ok(self.command(&self.program, args).stdin(Stdio::null()).status()?.code())
    }

    pub fn git(&self, args: &[&str]) -> Result<(), CliError> {
        let done = self.command(Path::new("git"), args).stdin(Stdio::null()).output();
        let done = done.map_err(|error| {
            CliError::failed(format!("the demo of the loop needs git, which cannot be started: {error}"))
        })?;
        if done.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&done.stderr).trim().to_string();
        Err(CliError::failed(format!("`git {}` failed in the demo: {said}", args.join(" "))))
    }

    pub fn git_shown(&self, args: &[&str]) -> Result<(), CliError> {
        self.command(Path::new("git"), args).stdin(Stdio::null()).status()?;
        Ok(())
    }

    fn command(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(&self.project).env_clear().env("HOME", self.home());
        command.env("TAUT_HOME", self.root.join("state")).env("GIT_CONFIG_NOSYSTEM", "1");
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }
}

impl Drop for DemoStage {
    fn drop(&mut self) {
        if !self.keep {
            let _ = std::fs::remove_dir_all(&self.root);
        }
    }
}
