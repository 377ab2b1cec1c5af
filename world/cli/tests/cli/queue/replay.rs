//! What a session's end or a full context does to its tasks is carried out later where the database was out of
//! reach then, and once.

use rusqlite::Connection;
use serde_json::{Value, json};
use testkit::stage::Stage;
use testkit::{AgentStep, FakeAgent, HookCall};

fn holding(stage: &Stage) -> FakeAgent {
    stage.tasks(&["a"]);
    let mut agent = stage.looped("w1");
    agent.play(&[AgentStep::start(), AgentStep::prompt("work")]).unwrap();
    stage.claim("w1");
    agent
}

/// The hook runs while somebody else has the database.
fn while_locked(stage: &Stage, agent: &mut FakeAgent, step: AgentStep) -> HookCall {
    let other = Connection::open(stage.sandbox.taut_home().join(store::DATABASE)).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let call = agent.play(&[step]).unwrap().remove(0);
    assert_eq!(call.finished.code(), Some(0), "{}", call.finished.stderr_text());
    other.execute_batch("ROLLBACK").unwrap();
    call
}

/// Nothing follows it: a client that goes on says so.
fn full() -> AgentStep {
    AgentStep::Event { event: "PreCompact", fields: json!({"trigger": "auto", "custom_instructions": null}) }
}

fn sessions(stage: &Stage) -> Vec<Value> {
    let listed = stage.sandbox.taut(&["sessions", "--all", "--json"], b"").unwrap();
    assert!(listed.success(), "{}", listed.stderr_text());
    listed.stdout_text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn stored(stage: &Stage, event: &str) -> Vec<Value> {
    let listed = stage.sandbox.taut(&["events", "--json", "-n", "1000"], b"").unwrap();
    let events = listed.stdout_text();
    let events = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    events.filter(|one| one["event"] == event).collect()
}

#[test]
fn t3_q6_a_session_end_that_found_the_database_locked_releases_its_task_later_and_once() {
    let stage = Stage::without_daemon();
    let mut agent = holding(&stage);
    while_locked(&stage, &mut agent, AgentStep::End { reason: "other" });
    let listed = stage.task_list(&["list", "--all", "--json"]);
    assert_eq!(listed[0]["s"], "open");
    let task = stage.show("a");
    assert_eq!((&task["fail_reason"], &task["retry_count"]), (&json!("session ended unexpectedly"), &json!(1)));
    let [session] = sessions(&stage).try_into().unwrap();
    assert_eq!(session["state"], "ended", "{session}");
    let [end] = stored(&stage, "SessionEnd").try_into().unwrap();
    assert_eq!(end["session"], session["id"], "the event is its session's");
    assert_eq!(end["at"], session["ended_at"], "it ended when it ended");
    assert!(end["detail"].get(store::PENDING).is_none(), "{end}");

    stage.claim("w2");
    stage.sandbox.taut(&["db", "check"], b"").unwrap();
    let task = stage.show("a");
    assert_eq!((&task["assignee"], &task["retry_count"]), (&json!("w2"), &json!(1)), "once");
}

#[test]
fn t3_q6_a_full_context_that_found_the_database_locked_releases_its_task_later() {
    let stage = Stage::without_daemon();
    let mut agent = holding(&stage);
    while_locked(&stage, &mut agent, full());
    let task = stage.show("a");
    assert_eq!((&task["s"], &task["fail_reason"]), (&json!("open"), &json!("context limit reached")));
}

#[test]
fn t3_q6_a_session_that_went_on_loses_nothing_for_what_was_put_by() {
    for step in [full(), AgentStep::Compact { trigger: "auto" }, AgentStep::End { reason: "other" }] {
        let stage = Stage::without_daemon();
        let mut agent = holding(&stage);
        while_locked(&stage, &mut agent, step);
        agent.play(&[AgentStep::bash("echo on")]).unwrap();
        assert_eq!(stage.show("a")["s"], "active");
        assert!(sessions(&stage).iter().any(|session| session["state"] != "ended"));
    }
}

#[test]
fn t3_q6_what_was_claimed_after_the_end_is_not_released_for_it() {
    let stage = Stage::without_daemon();
    let mut agent = holding(&stage);
    stage.task_ok("w1", &["done", "a"]);
    while_locked(&stage, &mut agent, AgentStep::End { reason: "other" });
    // Claimed before anybody takes the spool in: the folder is kept from it for that long.
    let spool = stage.sandbox.taut_home().join(store::SPOOL);
    let away = spool.with_extension("away");
    std::fs::rename(&spool, &away).unwrap();
    stage.tasks(&["b"]);
    stage.claim("w1");
    std::fs::rename(&away, &spool).unwrap();
    assert_eq!(stage.show("b")["assignee"], "w1");
}
