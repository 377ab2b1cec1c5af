//! The queue under the real Claude Code, offline. Needs the feature `real-client`, and npm or a filled cache.

use serde_json::{Value, json};
use testkit::{ClientLaunch, RealClient, RequestKind, Sandbox, Script, Stage, Turn};

/// Past the point of auto-compaction of the scripted model's window.
const FULL: u64 = 970_000;

fn sandbox(agent: &str) -> Sandbox {
    let sandbox = Stage::installed().sandbox;
    let sandbox = if agent.is_empty() { sandbox } else { sandbox.with_env("RALPH_AGENT_ID", agent) };
    let installed = sandbox.with_env("TAUT_NO_DAEMON", "1");
    let done = init(&installed);
    assert!(done.0, "{}", done.1);
    assert!(installed.taut(&["task", "create", "a", "A"], b"").unwrap().success());
    installed
}

/// Installing is for people: it refuses where a loop named an agent.
fn init(sandbox: &Sandbox) -> (bool, String) {
    let mut command = sandbox.command(sandbox.bin());
    command.args(["init", "--yes"]).env_remove("RALPH_AGENT_ID");
    let done = testkit::process::run(command, b"", std::time::Duration::from_secs(60)).unwrap();
    (done.success(), done.stderr_text())
}

fn show(sandbox: &Sandbox) -> Value {
    let shown = sandbox.taut(&["task", "show", "a", "--json"], b"").unwrap();
    serde_json::from_str(&shown.stdout_text()).unwrap()
}

fn exists(sandbox: &Sandbox, name: &str) -> bool {
    sandbox.project().join(name).exists()
}

#[test]
fn q6_r2_a_full_window_halts_the_agent_and_a_second_one_finishes_its_task() {
    let sandbox = sandbox("w1");
    let client = RealClient::installed().unwrap();
    let script = Script::new()
        .main(Turn::bash("taut task claim --json > claimed.json").using(FULL))
        .main(Turn::bash("echo two > two.txt").using(FULL))
        .main(Turn::bash("echo three > three.txt").using(FULL))
        .main(Turn::say("done"))
        .compact(Turn::say("<summary>all there was</summary>"));
    let run = ClientLaunch::new(&sandbox, script).run(&client).unwrap();
    assert!(exists(&sandbox, "claimed.json"));
    assert!(!exists(&sandbox, "two.txt") && !exists(&sandbox, "three.txt"), "the agent went on");
    assert_eq!(run.requests.of(RequestKind::Compact).count(), 0, "it was compacted all the same");
    let task = show(&sandbox);
    assert_eq!(
        (&task["s"], &task["retry_count"], &task["fail_reason"]),
        (&json!("open"), &json!(1), &json!("context limit reached")),
        "{task}"
    );
    let script = Script::new().main(Turn::bash("taut task claim && taut task done a")).main(Turn::say("done"));
    ClientLaunch::new(&sandbox, script).env("RALPH_AGENT_ID", "w2").run(&client).unwrap();
    let task = show(&sandbox);
    assert_eq!((&task["s"], &task["attempt"]), (&json!("done"), &json!(2)), "{task}");
}

#[test]
fn q6_the_end_of_an_unnamed_agents_session_releases_what_its_shell_claimed() {
    let sandbox = sandbox("");
    let script = Script::new()
        .main(Turn::bash("taut task claim --json > claimed.json; env | grep ^CLAUDE | grep -v TOKEN > env.txt"))
        .main(Turn::say("I forgot to finish"));
    ClientLaunch::new(&sandbox, script).run(&RealClient::installed().unwrap()).unwrap();
    let environment = std::fs::read_to_string(sandbox.project().join("env.txt")).unwrap();
    let task = show(&sandbox);
    assert_eq!(
        (&task["s"], &task["retry_count"], &task["fail_reason"]),
        (&json!("open"), &json!(1), &json!("session ended unexpectedly")),
        "{task}\n{environment}"
    );
}
