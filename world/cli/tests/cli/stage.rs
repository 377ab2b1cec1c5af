//! A sandbox with the program of this build, hooks by hand, and what `taut` says is stored.

use serde_json::{Value, json};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use testkit::process::{self, ProcessInput};
use testkit::{Finished, Sandbox, poll};

/// Far more than a hook may take, far less than a test may hang.
pub const LIMIT: Duration = Duration::from_secs(10);

pub const DAEMON: &[(&str, &str)] = &[];
pub const IN_PROCESS: &[(&str, &str)] = &[("TAUT_NO_DAEMON", "1")];

pub struct Stage {
    pub sandbox: Sandbox,
}

impl Stage {
    pub fn new() -> Self {
        Self { sandbox: Sandbox::new(env!("CARGO_BIN_EXE_taut").into()).unwrap() }
    }

    /// With the daemon of this home running.
    pub fn with_daemon() -> Self {
        let stage = Self::new();
        let started = stage.taut(&["daemon", "start"]);
        assert!(started.success(), "{}", started.stderr_text());
        stage
    }

    pub fn taut(&self, args: &[&str]) -> Finished {
        self.sandbox.taut(args, b"").unwrap()
    }

    /// A hook as the client would run it, with more variables over the sandbox's.
    pub fn hook_command(&self, env: &[(&str, &str)]) -> Command {
        let mut command = self.sandbox.command(self.sandbox.bin());
        command.args(["hook", "--agent", "claude-code"]).env("CLAUDE_PID", std::process::id().to_string());
        command.envs(env.iter().copied());
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

    /// The objects a listing command prints.
    pub fn list(&self, args: &[&str]) -> Vec<Value> {
        let done = self.taut(args);
        assert!(done.success(), "{args:?}: {}", done.stderr_text());
        done.stdout_text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Waits until a daemon has taken in what hooks put by while the database was out of reach.
    pub fn take_in(&self) {
        let started = self.taut(&["daemon", "start"]);
        assert!(started.success(), "{}", started.stderr_text());
        let taken_in = poll::until("the spool to be taken in", LIMIT, || {
            let left = walk(&self.sandbox.taut_home());
            let spooled =
                |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("spool"));
            (!left.iter().any(spooled)).then_some(())
        });
        taken_in.unwrap();
    }

    /// Every event that is stored.
    pub fn events(&self) -> Vec<Value> {
        self.list(&["events", "--json", "-n", "100000"])
    }

    /// The tool call ids of the stored events, in order.
    pub fn calls(&self) -> Vec<String> {
        let text = |event: &Value| event["detail"]["call"].as_str().map(str::to_owned);
        self.events().iter().filter_map(text).collect()
    }

    pub fn database(&self) -> PathBuf {
        self.sandbox.taut_home().join(store::DATABASE)
    }

    pub fn daemon_pid(&self) -> Option<i32> {
        let status = self.taut(&["daemon", "status", "--json"]);
        let status: Value = serde_json::from_str(&status.stdout_text()).ok()?;
        i32::try_from(status["pid"].as_i64()?).ok()
    }
}

/// Exit 0 and nothing said.
pub fn assert_silent(done: &Finished, what: &str) {
    assert_eq!(done.code(), Some(0), "{what}: {:?} {}", done.ending, done.stderr_text());
    assert_eq!(done.stdout_text(), "", "{what}");
    assert!(!done.pipes_held, "{what}: somebody holds the pipes");
}

/// Exit 0 and a lawful denial.
pub fn assert_denied(done: &Finished, what: &str) {
    assert_decided(done, "deny", what);
}

/// Exit 0 and a lawful decision.
pub fn assert_decided(done: &Finished, decision: &str, what: &str) {
    assert_eq!(done.code(), Some(0), "{what}: {:?} {}", done.ending, done.stderr_text());
    let said: Value = serde_json::from_slice(&done.stdout)
        .unwrap_or_else(|_| panic!("{what}: stdout {:?}, stderr {}", done.stdout_text(), done.stderr_text()));
    assert_eq!(said["hookSpecificOutput"]["permissionDecision"], decision, "{what}");
    assert_eq!(said["hookSpecificOutput"]["hookEventName"], "PreToolUse", "{what}");
    assert!(!done.pipes_held, "{what}: somebody holds the pipes");
}

/// Sends a signal to a process this test started.
pub fn signal(pid: i32, signal: i32) -> io::Result<()> {
    // SAFETY: kill takes plain numbers.
    if unsafe { libc::kill(pid, signal) } != 0 {
        return Err(io::Error::last_os_error());
    }
    if signal != libc::SIGSTOP {
        return Ok(());
    }
    // Its threads stop one after the other.
    testkit::poll::until("all threads to stop", LIMIT, || is_stopped(pid).then_some(()))
}

fn is_stopped(pid: i32) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    let mut states = threads.flatten().filter_map(|thread| fs::read_to_string(thread.path().join("stat")).ok());
    states.all(|text| text.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T')))
}

/// Every file, folder and socket below a folder, itself included.
pub fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    let mut next = 0;
    while let Some(path) = found.get(next).cloned() {
        next += 1;
        if let Ok(entries) = std::fs::read_dir(&path) {
            found.extend(entries.map(|entry| entry.unwrap().path()));
        }
    }
    found
}
