//! One non-interactive run of the client and what it left.

use std::io;
use std::process::Command;

use serde_json::Value;

use super::install::RealClient;
use super::launch::ClientLaunch;
use super::namespace::Isolation;
use crate::process::{self, Ending};
use crate::scripted_model::{Requests, ScriptedModel};

/// A run of `claude -p` that is over.
#[derive(Clone, Debug)]
pub struct PrintRun {
    /// Stdout as the client's stream of JSON lines; a line that is none is a string.
    pub lines: Vec<Value>,
    pub stderr: String,
    pub ending: Ending,
    /// All the model was asked.
    pub requests: Requests,
    pub isolation: Isolation,
}

impl PrintRun {
    /// The line that sums the run up, if it got that far.
    #[must_use]
    pub fn result(&self) -> Option<&Value> {
        self.lines.iter().rfind(|line| line["type"] == "result")
    }

    /// The client's own id for the session.
    #[must_use]
    pub fn session_id(&self) -> Option<&str> {
        self.lines.iter().find_map(|line| line["session_id"].as_str())
    }

    #[must_use]
    pub fn success(&self) -> bool {
        self.ending == Ending::Code(0)
    }
}

/// Runs the client in the network of the calling thread.
pub(super) fn run(launch: &ClientLaunch, client: &RealClient, isolation: Isolation) -> io::Result<PrintRun> {
    let model = ScriptedModel::start(launch.script.clone())?;
    let mut command = Command::new(client.program());
    command
        .arg("-p")
        .arg(&launch.prompt)
        .args(["--output-format", "stream-json", "--verbose"])
        .args(launch.permission_args())
        .args(&launch.args)
        .env_clear()
        .envs(launch.client_env(&model))
        .current_dir(&launch.folder);
    let finished = process::run(command, b"", launch.limit)?;
    let lines = finished.stdout_text();
    let lines = lines.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| line.into()));
    Ok(PrintRun {
        lines: lines.collect(),
        stderr: finished.stderr_text(),
        ending: finished.ending,
        requests: model.requests(),
        isolation,
    })
}
