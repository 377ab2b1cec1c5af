//! What happens when X dies: each test is a row of the table in `docs/tasks.md`.

use super::Client;
use serde_json::json;
use testkit::stage::{PLENTY, Stage};
use testkit::{AgentStep, FakeAgent, poll};

/// A worker `w1` in its session, that holds the one task `a`.
struct Holder {
    stage: Stage,
    client: Client,
    agent: FakeAgent,
}

impl Holder {
    fn new(stage: Stage, claim: &[&str]) -> Self {
        stage.tasks(&["a"]);
        let client = Client::start();
        let mut agent = stage.looped("w1").with_env("CLAUDE_PID", client.pid());
        agent.play(&[AgentStep::start()]).unwrap();
        let env = [("RALPH_AGENT_ID", "w1"), ("CLAUDE_CODE_SESSION_ID", agent.session_id())];
        assert!(stage.task_with(claim, &env, "").success());
        Self { stage, client, agent }
    }

    /// What its last hook says on stderr.
    fn end(&mut self) -> String {
        self.agent.play(&[AgentStep::End { reason: "other" }]).unwrap().remove(0).finished.stderr_text()
    }
}

/// A stage with a daemon, and its process.
fn with_daemon() -> (Stage, i32) {
    let stage = Stage::new();
    assert!(stage.sandbox.taut(&["daemon", "start"], b"").unwrap().success());
    let status = stage.sandbox.taut(&["daemon", "status", "--json"], b"").unwrap().stdout_text();
    let pid = serde_json::from_str::<serde_json::Value>(&status).unwrap()["pid"].as_i64().unwrap();
    (stage, i32::try_from(pid).unwrap())
}

#[test]
fn an_agent_that_ends_by_itself_releases_in_its_last_hook() {
    let mut holder = Holder::new(Stage::without_daemon(), &["claim"]);
    holder.end();
    assert_eq!(holder.stage.claim("w2")["attempt"], 2);
}

#[test]
fn an_agent_killed_with_9_loses_its_task_when_the_lease_lapses() {
    let mut holder = Holder::new(Stage::without_daemon(), &["claim", "--lease", "1"]);
    holder.client.kill();
    assert_eq!(holder.stage.until_open("a")["fail_reason"], "lease lapsed");
    assert_eq!(holder.stage.claim("w2")["attempt"], 2);
}

#[test]
fn an_agent_killed_with_9_and_started_again_releases_what_it_held() {
    let Holder { stage, mut client, .. } = Holder::new(Stage::without_daemon(), &["claim"]);
    client.kill();
    let next = Client::start();
    let calls = stage.looped("w1").with_env("CLAUDE_PID", next.pid()).play(&[AgentStep::start()]).unwrap();
    assert!(calls[0].finished.stderr_text().contains("failing task a"), "{}", calls[0].finished.stderr_text());
    assert_eq!(stage.show("a")["s"], "open");
}

#[test]
fn a_command_killed_with_9_leaves_the_task_as_it_was_or_as_it_should_be() {
    let stage = Stage::without_daemon();
    let slugs: Vec<String> = (0..12).map(|n| format!("t{n:02}")).collect();
    stage.tasks(&slugs.iter().map(String::as_str).collect::<Vec<_>>());
    for (nth, _) in slugs.iter().enumerate() {
        let mut command = stage.sandbox.command(stage.sandbox.bin());
        command.args(["task", "claim", "--lease", "0", "--agent", "w"]).stdout(std::process::Stdio::null());
        let mut child = command.spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(nth as u64));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    stage.check_is_clean();
    assert!(stage.plan_status().contains("12 open, 0 active"), "{}", stage.plan_status());
}

#[test]
fn a_daemon_killed_with_9_takes_no_claim_with_it_and_is_not_missed() {
    let (stage, daemon) = with_daemon();
    let mut holder = Holder::new(stage, &["claim"]);
    // SAFETY: a plain signal to the daemon of this sandbox.
    assert_eq!(unsafe { libc::kill(daemon, libc::SIGKILL) }, 0);
    let said = holder.end();
    assert!(said.contains("failing task a"), "{said}");
    assert_eq!(holder.stage.show("a")["s"], "open");
}

#[test]
fn with_a_daemon_a_lapsed_lease_is_noticed_though_nobody_asks() {
    let (stage, _) = with_daemon();
    stage.tasks(&["a"]);
    stage.task_ok("w1", &["claim", "--lease", "1"]);
    let database = stage.sandbox.taut_home().join("taut.db");
    let outcome = poll::until("the daemon to reap", PLENTY * 3, || {
        let conn = rusqlite::Connection::open(&database).unwrap();
        conn.query_row("SELECT outcome FROM attempts", [], |row| row.get::<_, Option<String>>(0)).unwrap()
    });
    assert_eq!(outcome.unwrap(), "expired");
}

#[test]
fn a_machine_that_slept_gives_every_holder_a_moment_to_renew() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a"]);
    stage.task_ok("w1", &["claim", "--lease", "60"]);
    // As after an hour's sleep: the wall's clock went on, the other one did not.
    let conn = rusqlite::Connection::open(stage.sandbox.taut_home().join("taut.db")).unwrap();
    let text: String =
        conn.query_row("SELECT value FROM meta WHERE name = 'queue.clock'", [], |row| row.get(0)).unwrap();
    let words: Vec<&str> = text.split(' ').collect();
    let slept = format!("{} {} {}", words[0].parse::<i64>().unwrap() - 3_600_000, words[1], words[2]);
    conn.execute("UPDATE meta SET value = ?1 WHERE name = 'queue.clock'", [slept]).unwrap();
    conn.execute("UPDATE tasks SET lease_until = lease_until - 3600000", []).unwrap();
    drop(conn);
    assert_eq!(stage.task_by("w2", &["claim"]).code(), Some(2));
    assert_eq!(stage.task_ok("w1", &["done", "a"]), "done a\n");
    assert_eq!(stage.history("a").len(), 1);
    assert_eq!(stage.show("a")["retry_count"], json!(0));
}
