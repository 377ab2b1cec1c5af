//! The loop around the real Claude Code, offline. Needs the feature `real-client`, and npm or a filled cache.

use serde_json::Value;
use std::time::Duration;
use testkit::scripted_model::Lifetime;
use testkit::{Finished, RealClient, Sandbox, Script, ScriptedModel, Stage, Turn, process};

const LIMIT: Duration = Duration::from_secs(180);
/// Past the point of auto-compaction of the scripted model's window.
const FULL: u64 = 970_000;

pub struct LoopedClient {
    pub sandbox: Sandbox,
    pub model: ScriptedModel,
}

impl LoopedClient {
    pub fn new(script: Script) -> Self {
        Self::with_key(|_| script)
    }

    /// With a script that knows where it plays.
    pub fn with_key(script: impl FnOnce(&Sandbox) -> Script) -> Self {
        Self::known_by(("ANTHROPIC_API_KEY", "taut-testkit-no-real-key-0000"), script)
    }

    /// As somebody who subscribes: only those are told when a limit is over.
    pub fn subscribed(script: impl FnOnce(&Sandbox) -> Script) -> Self {
        Self::known_by(("CLAUDE_CODE_OAUTH_TOKEN", "taut-testkit-no-real-token-0000"), script)
    }

    fn known_by((name, value): (&str, &str), script: impl FnOnce(&Sandbox) -> Script) -> Self {
        let mut sandbox = Stage::installed().sandbox;
        // A night is longer than the model's usual life.
        let life = Lifetime { idle: LIMIT, total: LIMIT * 2 };
        let model = ScriptedModel::start_for(script(&sandbox), life).unwrap();
        for name in [
            "TAUT_NO_DAEMON", "IS_SANDBOX", "DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER", "DISABLE_ERROR_REPORTING",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        ] {
            sandbox = sandbox.with_env(name, "1");
        }
        let config = sandbox.claude_dir();
        let sandbox = sandbox
            .with_env("ANTHROPIC_BASE_URL", model.url())
            .with_env(name, value)
            .with_env("CLAUDE_CODE_MAX_RETRIES", "0")
            .with_env("CLAUDE_CONFIG_DIR", config);
        let client = RealClient::installed().unwrap();
        std::os::unix::fs::symlink(client.program(), sandbox.root().join("bin/claude")).unwrap();
        let stage = Self { sandbox, model };
        stage.sh("printf -- '- [ ] a\n- [ ] b\n- [ ] c\n' > IMPLEMENTATION_PLAN.md; git add -A; git commit -qm first");
        stage
    }

    pub fn sh(&self, script: &str) -> Finished {
        let mut command = self.sandbox.command("bash");
        command.args(["-c", script]);
        process::run(command, b"", LIMIT).unwrap()
    }

    pub fn build(&self, args: &[&str]) -> (Value, Finished) {
        self.build_asking(&[&["--danger"], args].concat())
    }

    /// With no say about what the agent may do but that of these arguments.
    pub fn build_asking(&self, args: &[&str]) -> (Value, Finished) {
        self.sandbox.trust_project().unwrap();
        let mut command = self.sandbox.command(self.sandbox.bin());
        command.args(["loop", "build", "--json"]).args(args);
        let done = process::run(command, b"", LIMIT).unwrap();
        let text = done.stdout_text();
        let last = text.lines().last().unwrap_or_default().to_string();
        let value = serde_json::from_str(&last).unwrap_or_else(|_| panic!("{last}\n{}", done.stderr_text()));
        (value, done)
    }
}

fn work() -> Turn {
    Turn::bash(r"sed -i '0,/- \[ \]/s//- [x]/' IMPLEMENTATION_PLAN.md && git commit -qam work")
}

#[test]
fn l1_l5_three_iterations_of_the_real_client_with_a_commit_each() {
    let script = (0..3).fold(Script::new(), |script, _| script.main(work()).main(Turn::say("done")));
    let stage = LoopedClient::new(script);
    let (said, done) = stage.build(&[]);
    let counts = (said["finish"].as_str(), said["iterations"].as_u64(), said["commits"].as_u64(), done.code());
    assert_eq!(counts, (Some("complete"), Some(3), Some(3), Some(0)), "{said}\n{}", done.stderr_text());
}

#[test]
fn l6_the_real_clients_529_is_backed_off_and_not_counted() {
    let script = Script::new()
        .main(Turn::fail(529, "overloaded_error", "Overloaded"))
        .main(work())
        .main(Turn::say("done"))
        .otherwise(Turn::say("done"));
    let stage = LoopedClient::new(script);
    stage.sh("mkdir -p .taut; printf '[loop]\nmax_backoff = \"1s\"\n' > .taut/config.toml; git add -A; git commit -qm config");
    let (said, done) = stage.build(&["-n", "1"]);
    let counts = (said["finish"].as_str(), said["iterations"].as_u64(), said["commits"].as_u64());
    assert_eq!(counts, (Some("max_iterations"), Some(1), Some(1)), "{said}\n{}", done.stderr_text());
}

#[test]
fn l6_the_real_clients_usage_limit_is_no_failure() {
    let limited = Turn::fail(429, "rate_limit_error", "This request would exceed your account's rate limit.");
    let stage = LoopedClient::new(Script::new().otherwise(limited));
    let (said, done) = stage.build(&["--max-time", "2m"]);
    let counts = (said["finish"].as_str(), said["iterations"].as_u64(), done.code());
    assert_eq!(counts, (Some("limit"), Some(0), Some(12)), "{said}\n{}", done.stderr_text());
    assert!(said["why"].as_str().unwrap().contains("usage limit"), "{said}");
}

#[test]
fn l7_a_real_client_that_crashes_has_its_task_released() {
    let script = Script::new()
        .main(Turn::bash("taut task claim --json > claimed.json; kill -9 $PPID"))
        .otherwise(Turn::say("done"));
    let stage = LoopedClient::new(script);
    stage.sh("taut task create t1 one");
    let (said, done) = stage.build(&["--max-failures", "1"]);
    assert_eq!(said["finish"], "error", "{said}\n{}", done.stderr_text());
    let task: Value = serde_json::from_str(&stage.sh("taut task show t1 --json").stdout_text()).unwrap();
    assert_eq!(
        (task["s"].as_str(), task["fail_reason"].as_str()),
        (Some("open"), Some("session exited without completing task")),
        "{task}"
    );
}

#[test]
fn r2_l7_an_auto_compaction_of_the_real_client_ends_the_iteration_and_the_next_goes_on() {
    let script = Script::new()
        .main(Turn::bash("taut task claim --json > claimed.json").using(FULL))
        .main(Turn::bash("echo two > two.txt").using(FULL))
        .main(Turn::bash("taut task claim && taut task done t1"))
        .main(Turn::say("done"))
        .compact(Turn::say("<summary>all there was</summary>"))
        .otherwise(Turn::bash("taut task claim; taut task done t1"));
    let stage = LoopedClient::new(script);
    assert!(stage.sh("taut init --yes").success());
    stage.sh("taut task create t1 one");
    let (said, done) = stage.build(&["-n", "4"]);
    let history = stage.sh("taut task history t1 --json").stdout_text();
    assert!(history.contains("context limit reached"), "{history}\n{said}\n{}", done.stderr_text());
    assert!(said["iterations"].as_u64() >= Some(2), "{said}\n{}", done.stderr_text());
    drop(stage.model);
}
