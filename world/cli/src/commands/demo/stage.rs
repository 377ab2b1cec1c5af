//! The demo's stage: a home of its own that is gone afterwards.

use crate::error::CliError;
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub struct DemoStage {
    root: PathBuf,
    project: PathBuf,
    program: PathBuf,
}

impl DemoStage {
    pub fn set() -> Result<Self, CliError> {
        let mark = host::clock::uuid(host::clock::now());
        let root = std::env::temp_dir().join(format!("taut-demo-{mark}"));
        let project = root.join("home/acme");
        // Enough of a repository for Taut to see one; the demo needs no git.
        std::fs::create_dir_all(project.join(".git"))?;
        std::fs::write(project.join(".git/HEAD"), "ref: refs/heads/main\n")?;
        Ok(Self { program: std::env::current_exe()?, root, project })
    }

    pub fn project(&self) -> &Path {
        &self.project
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
        let mut child = Command::new(&self.program)
            .args(args)
            .current_dir(&self.project)
            .env_clear()
            .env("HOME", self.home())
            .env("TAUT_HOME", self.root.join("state"))
            .env("TAUT_AGENT_ID", "demo")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
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
}

impl Drop for DemoStage {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.root);
    }
}
