//! The queue as this or that worker uses it.

use std::time::Duration;

use serde_json::{Value, json};

use super::{PLENTY, Stage, objects};
use crate::fake_agent::FakeAgent;
use crate::poll;
use crate::process::{self, Finished};

const LIMIT: Duration = Duration::from_secs(60);

impl Stage {
    /// `taut task …` with these variables and this input.
    pub fn task_with(&self, args: &[&str], env: &[(&str, &str)], stdin: &str) -> Finished {
        let mut command = self.command(&["task"]);
        command.args(args).envs(env.iter().copied());
        process::run(command, stdin.as_bytes(), LIMIT).unwrap()
    }

    pub fn task(&self, args: &[&str]) -> Finished {
        self.task_with(args, &[], "")
    }

    /// As the worker of a loop with this name.
    pub fn task_by(&self, agent: &str, args: &[&str]) -> Finished {
        self.task_with(args, &[("RALPH_AGENT_ID", agent)], "")
    }

    /// As that worker, and it must go well; gives what it printed.
    pub fn task_ok(&self, agent: &str, args: &[&str]) -> String {
        let done = self.task_by(agent, args);
        assert!(done.success(), "{args:?}: {}", done.stderr_text());
        done.stdout_text()
    }

    /// The objects that `taut task …` lists.
    pub fn task_list(&self, args: &[&str]) -> Vec<Value> {
        objects(&self.task_ok("", args))
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
        serde_json::from_str(&self.task_ok(agent, &["claim", "--json"])).unwrap()
    }

    pub fn show(&self, slug: &str) -> Value {
        serde_json::from_str(&self.task_ok("", &["show", slug, "--json"])).unwrap()
    }

    pub fn history(&self, slug: &str) -> Vec<Value> {
        self.task_list(&["history", slug, "--json"])
    }

    pub fn plan_status(&self) -> String {
        self.task_ok("", &["plan-status"]).trim().to_owned()
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
        self.succeed(&["db", "check", "--json"]);
    }
}
