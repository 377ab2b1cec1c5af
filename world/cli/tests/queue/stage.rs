//! A sandbox with the program of this build, and commands as this or that worker.

use serde_json::{Value, json};
use std::time::Duration;
use testkit::process;
use testkit::{FakeAgent, Finished, Sandbox, poll};

const LIMIT: Duration = Duration::from_secs(60);
pub const PLENTY: Duration = Duration::from_secs(20);

pub struct Stage {
    pub sandbox: Sandbox,
}

/// A process that lives as long as the value, to be the client of a session.
pub struct Client(std::process::Child);

impl Stage {
    /// Without a daemon: recovery must not need one.
    pub fn new() -> Self {
        let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_taut").into()).unwrap();
        Self { sandbox: sandbox.with_env("TAUT_NO_DAEMON", "1") }
    }

    /// `taut task …` with these variables and this input.
    pub fn task_with(&self, args: &[&str], env: &[(&str, &str)], stdin: &str) -> Finished {
        let mut command = self.sandbox.command(self.sandbox.bin());
        command.arg("task").args(args).envs(env.iter().copied());
        process::run(command, stdin.as_bytes(), LIMIT).unwrap()
    }

    pub fn task(&self, args: &[&str]) -> Finished {
        self.task_with(args, &[], "")
    }

    /// As the worker of a loop with this name.
    pub fn by(&self, agent: &str, args: &[&str]) -> Finished {
        self.task_with(args, &[("RALPH_AGENT_ID", agent)], "")
    }

    /// It must go well; gives what it printed.
    pub fn ok(&self, agent: &str, args: &[&str]) -> String {
        let done = self.by(agent, args);
        assert!(done.success(), "{args:?}: {}", done.stderr_text());
        done.stdout_text()
    }

    pub fn sync(&self, lines: &[Value]) -> Finished {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        self.task_with(&["plan-sync"], &[], &text)
    }

    /// Open tasks without dependencies.
    pub fn tasks(&self, slugs: &[&str]) {
        let lines: Vec<Value> = slugs.iter().map(|slug| json!({"id": slug, "t": format!("do {slug}")})).collect();
        assert!(self.sync(&lines).success());
    }

    pub fn claim(&self, agent: &str) -> Value {
        serde_json::from_str(&self.ok(agent, &["claim", "--json"])).unwrap()
    }

    pub fn show(&self, slug: &str) -> Value {
        serde_json::from_str(&self.ok("", &["show", slug, "--json"])).unwrap()
    }

    pub fn list(&self, args: &[&str]) -> Vec<Value> {
        let text = self.ok("", args);
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub fn history(&self, slug: &str) -> Vec<Value> {
        self.list(&["history", slug, "--json"])
    }

    pub fn status(&self) -> String {
        self.ok("", &["plan-status"]).trim().to_string()
    }

    /// Waits until nobody's lease keeps the task any more.
    pub fn until_open(&self, slug: &str) -> Value {
        poll::until("the lease to lapse", PLENTY, || Some(self.show(slug)).filter(|task| task["s"] == "open")).unwrap()
    }

    /// A worker of a loop, as its hooks show it.
    pub fn looped(&self, name: &str) -> FakeAgent {
        FakeAgent::new(&self.sandbox).with_env("RALPH_AGENT_ID", name)
    }

    pub fn check_is_clean(&self) {
        let checked = self.sandbox.taut(&["db", "check", "--json"], b"").unwrap();
        assert!(checked.success(), "{}{}", checked.stdout_text(), checked.stderr_text());
    }
}

impl Client {
    pub fn start() -> Self {
        Self(std::process::Command::new("sleep").arg("600").spawn().unwrap())
    }

    pub fn pid(&self) -> String {
        self.0.id().to_string()
    }

    pub fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
