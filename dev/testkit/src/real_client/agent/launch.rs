//! One run of an agent without a screen, with nothing to reach but the scripted model and nobody to see but itself.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::DrivenAgent;
use crate::need;
use crate::process::{self, Ending};
use crate::real_client::namespace::{Isolation, isolated};
use crate::sandbox::Sandbox;
use crate::scripted_model::{Requests, Script, ScriptedModel};

/// The same in every run, because it is written into the agents' files. Each run has a network of its own.
const PORT: u16 = 8099;

const LIMIT: Duration = Duration::from_secs(120);

/// The first process of the namespace, below it the shell of a person, and in that the agent.
const SHELL: &str = "sh -c '\"$@\"; exit $?' sh \"$@\"; exit $?";

/// One start of an agent in a sandbox that it has [settled](DrivenAgent::settle) in.
#[derive(Clone, Debug)]
pub struct AgentLaunch<'a> {
    sandbox: &'a Sandbox,
    agent: &'a DrivenAgent,
    script: Script,
    prompt: String,
    env: Vec<(OsString, OsString)>,
    limit: Duration,
}

/// A run that is over.
#[derive(Clone, Debug)]
pub struct AgentRun {
    pub stdout: String,
    pub stderr: String,
    pub ending: Ending,
    /// All the model was asked.
    pub requests: Requests,
    pub took: Duration,
}

impl<'a> AgentLaunch<'a> {
    /// In the sandbox's project; the model will play `script`.
    #[must_use]
    pub fn new(sandbox: &'a Sandbox, agent: &'a DrivenAgent, script: Script) -> Self {
        Self { sandbox, agent, script, prompt: "do it".to_owned(), env: Vec::new(), limit: LIMIT }
    }

    #[must_use]
    pub fn prompt(mut self, prompt: &str) -> Self {
        prompt.clone_into(&mut self.prompt);
        self
    }

    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// After this time the agent and everything it started is killed.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Runs the agent to its end. What it leaves running ends with it.
    ///
    /// # Errors
    /// When model or agent cannot be started, or [no namespaces are granted](cannot_be_confined).
    pub fn run(&self) -> io::Result<AgentRun> {
        isolated(|isolation| match isolation {
            Isolation::OwnNamespace => self.run_here(),
            Isolation::PlainLoopback => Err(io::ErrorKind::Unsupported.into()),
        })
    }

    fn run_here(&self) -> io::Result<AgentRun> {
        let model = ScriptedModel::start_on(PORT, self.script.clone())?;
        let home = self.sandbox.home();
        let mut command = self.sandbox.alone("sh").ok_or(io::ErrorKind::Unsupported)?;
        command
            .args(["-c", SHELL, "sh"])
            .arg(self.agent.client.command())
            .args(self.agent.args.iter().map(|arg| filled(arg, &home, &self.prompt)))
            .env("SHELL", "/bin/bash")
            .envs(self.agent.env.iter().map(|(name, value)| (name, filled(value, &home, ""))))
            .envs(self.env.iter().cloned());
        let finished = process::run(command, b"", self.limit)?;
        Ok(AgentRun {
            stdout: finished.stdout_text(),
            stderr: finished.stderr_text(),
            ending: finished.ending,
            requests: model.requests(),
            took: finished.took,
        })
    }
}

/// Whether nobody is granted a network and processes of their own here, which is then said by [`need::skipped`]: an
/// agent that could reach the world is not run.
#[must_use]
pub fn cannot_be_confined(sandbox: &Sandbox) -> bool {
    let confined = isolated(|isolation| isolation == Isolation::OwnNamespace) && sandbox.alone("true").is_some();
    if !confined {
        need::skipped("nobody is granted a network and processes of their own here");
    }
    !confined
}

pub(super) fn filled(text: &str, home: &Path, prompt: &str) -> String {
    let url = format!("http://127.0.0.1:{PORT}");
    text.replace("{url}", &url).replace("{home}", &home.display().to_string()).replace("{prompt}", prompt)
}
