//! Hooks by hand, and what is stored of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::Stage;
use crate::poll;
use crate::process::{self, Finished, ProcessInput};

/// Far more than a hook may take, far less than a test may hang.
pub const LIMIT: Duration = Duration::from_secs(30);

/// The variables of a hook that may ask a daemon, and of one that may not.
pub const DAEMON: &[(&str, &str)] = &[];
pub const IN_PROCESS: &[(&str, &str)] = &[("TAUT_NO_DAEMON", "1")];

impl Stage {
    /// A hook as the client would run it, with more variables over the sandbox's.
    pub fn hook_command(&self, env: &[(&str, &str)]) -> Command {
        let mut command = self.command(&["hook", "--agent", "claude-code"]);
        command.env("CLAUDE_PID", std::process::id().to_string()).envs(env.iter().copied());
        command
    }

    pub fn hook(&self, payload: &[u8], env: &[(&str, &str)]) -> Finished {
        process::run(self.hook_command(env), payload, LIMIT).unwrap()
    }

    /// A hook whose stdin is never closed.
    pub fn hook_unended(&self, payload: &[u8], env: &[(&str, &str)]) -> Finished {
        process::run_with(self.hook_command(env), ProcessInput::Unended(payload), LIMIT).unwrap()
    }

    /// The payload of a shell command about to run.
    pub fn bash(&self, id: &str, command: &str) -> Vec<u8> {
        self.payload(&json!({
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": id,
        }))
    }

    pub fn payload(&self, fields: &Value) -> Vec<u8> {
        let mut payload = json!({"session_id": "11111111-aaaa-4bbb-8ccc-222222222222", "cwd": self.sandbox.project()});
        for (key, value) in fields.as_object().unwrap() {
            payload[key] = value.clone();
        }
        payload.to_string().into_bytes()
    }

    /// Waits until a daemon has taken in what hooks spooled while the database was out of reach.
    pub fn take_in(&self) {
        self.start_daemon();
        let spooled = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("spool"));
        let taken_in = poll::until("the spool to be taken in", LIMIT, || {
            (!walk(&self.sandbox.taut_home()).iter().any(spooled)).then_some(())
        });
        taken_in.unwrap();
    }

    /// The tool call ids of the stored events, in order.
    pub fn calls(&self) -> Vec<String> {
        let text = |event: &Value| event["detail"]["call"].as_str().map(str::to_owned);
        self.events().iter().filter_map(text).collect()
    }

    pub fn database(&self) -> PathBuf {
        self.sandbox.taut_home().join("taut.db")
    }

    pub fn daemon_pid(&self) -> Option<i32> {
        let status = self.taut(&["daemon", "status", "--json"]);
        let status: Value = serde_json::from_str(&status.stdout_text()).ok()?;
        i32::try_from(status["pid"].as_i64()?).ok()
    }
}

/// Every file, folder and socket below a folder, itself included.
pub fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    let mut next = 0;
    while let Some(path) = found.get(next).cloned() {
        next += 1;
        if let Ok(entries) = fs::read_dir(&path) {
            found.extend(entries.map(|entry| entry.unwrap().path()));
        }
    }
    found
}
