//! Q4 and Q6: what an agent's own hooks do to its tasks.

use super::Client;
use serde_json::{Value, json};
use testkit::stage::{Stage, put_program};
use testkit::{AgentStep, FakeAgent, HookCall, Sandbox};

fn stdout(call: &HookCall) -> String {
    call.finished.stdout_text()
}

fn stderr(call: &HookCall) -> String {
    call.finished.stderr_text()
}

fn compact(agent: &mut FakeAgent, trigger: &'static str) -> HookCall {
    agent.play(&[AgentStep::Compact { trigger }]).unwrap().remove(0)
}

fn end(agent: &mut FakeAgent, reason: &'static str) -> HookCall {
    agent.play(&[AgentStep::End { reason }]).unwrap().remove(0)
}

/// A session of `w1` with everything in `slugs` claimed.
fn holding(stage: &Stage, slugs: &[&str]) -> FakeAgent {
    stage.tasks(slugs);
    let mut agent = stage.looped("w1");
    agent.play(&[AgentStep::start(), AgentStep::prompt("work")]).unwrap();
    for _ in slugs {
        stage.claim("w1");
    }
    agent
}

#[test]
fn q6_a_full_window_releases_all_tasks_and_stops_the_agent() {
    let stage = Stage::without_daemon();
    let mut agent = holding(&stage, &["a", "b"]);
    let call = compact(&mut agent, "auto");
    assert_eq!(call.finished.code(), Some(0));
    let said: Value = serde_json::from_str(&stdout(&call)).unwrap();
    assert_eq!(
        (&said["continue"], &said["stopReason"], &said["decision"]),
        (&json!(false), &json!("Context Limit Reached"), &json!("block"))
    );
    assert!(!said["reason"].as_str().unwrap().is_empty());
    for slug in ["a", "b"] {
        let warning = format!("Warning: agent w1 context limit reached, failing task {slug}");
        assert!(stderr(&call).contains(&warning), "{}", stderr(&call));
        let task = stage.show(slug);
        assert_eq!(
            (&task["s"], &task["retry_count"], &task["fail_reason"]),
            (&json!("open"), &json!(1), &json!("context limit reached"))
        );
    }
    let tool = agent.play(&[AgentStep::bash("echo on")]).unwrap().remove(0);
    let said: Value = serde_json::from_str(&stdout(&tool)).unwrap();
    assert_eq!((&said["hookSpecificOutput"]["permissionDecision"], &said["continue"]), (&json!("deny"), &json!(false)));
    assert_eq!(stage.claim("w2")["attempt"], 2);
}

#[test]
fn q6_a_repeated_compaction_is_answered_the_same_and_releases_nothing_twice() {
    let stage = Stage::without_daemon();
    let mut agent = holding(&stage, &["a"]);
    let first = compact(&mut agent, "auto");
    stage.claim("w2");
    let second = compact(&mut agent, "auto");
    assert_eq!((stdout(&first), stderr(&second)), (stdout(&second), String::new()));
    let ended = end(&mut agent, "other");
    assert_eq!((stdout(&ended), stderr(&ended)), (String::new(), String::new()));
    let task = stage.show("a");
    assert_eq!((&task["assignee"], &task["retry_count"]), (&json!("w2"), &json!(1)));
}

#[test]
fn q6_nothing_held_and_manual_compactions_print_nothing() {
    let stage = Stage::without_daemon();
    stage.tasks(&["theirs"]);
    stage.claim("w2");
    let mut agent = stage.looped("w1");
    agent.play(&[AgentStep::start()]).unwrap();
    for call in [compact(&mut agent, "auto"), end(&mut agent, "other")] {
        assert_eq!((call.finished.code(), stdout(&call), stderr(&call)), (Some(0), String::new(), String::new()));
    }
    let mut agent = holding(&stage, &["a"]);
    let call = compact(&mut agent, "manual");
    assert_eq!((stdout(&call), stderr(&call)), (String::new(), String::new()));
    assert_eq!((&stage.show("a")["s"], &stage.show("theirs")["assignee"]), (&json!("active"), &json!("w2")));
}

#[test]
fn r2_a_person_at_the_screen_keeps_task_and_session_through_compaction() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a"]);
    let mut agent = FakeAgent::new(&stage.sandbox).with_env("TAUT_AGENT_ID", "mine");
    agent.play(&[AgentStep::start()]).unwrap();
    stage.task_ok("", &["claim", "--agent", "mine"]);
    let calls = agent.play(&[AgentStep::Compact { trigger: "auto" }]).unwrap();
    assert!(calls.len() > 1, "it was stopped");
    assert_eq!((calls[0].event.as_str(), stdout(&calls[0])), ("PreCompact", String::new()));
    assert_eq!(stage.show("a")["assignee"], "mine");
    end(&mut agent, "other");
    assert_eq!(stage.show("a")["s"], "open");
}

#[test]
fn r2_a_client_that_nobody_watches_is_stopped_though_no_loop_named_it() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a"]);
    let mut agent = FakeAgent::new(&stage.sandbox).with_env("CLAUDE_CODE_ENTRYPOINT", "sdk-cli");
    agent.play(&[AgentStep::start()]).unwrap();
    assert!(stage.task(&["claim"]).success());
    assert!(stdout(&compact(&mut agent, "auto")).contains("Context Limit Reached"));
}

#[test]
fn q6_the_end_of_a_session_releases_all_its_tasks() {
    let stage = Stage::without_daemon();
    let mut agent = holding(&stage, &["a", "b"]);
    let agents = stage.sandbox.taut(&["agents", "--json"], b"").unwrap().stdout_text();
    assert!(agents.contains("\"id\":\"w1\"") && agents.contains("\"task\":\"a\""), "{agents}");
    let call = end(&mut agent, "other");
    assert_eq!((call.finished.code(), stdout(&call)), (Some(0), String::new()));
    for slug in ["a", "b"] {
        assert!(stderr(&call).contains(&format!("agent w1 session ended unexpectedly, failing task {slug}")));
        assert_eq!(stage.show(slug)["fail_reason"], "session ended unexpectedly");
    }
    assert_eq!(stderr(&end(&mut agent, "other")), "");
    assert_eq!(stage.show("a")["retry_count"], 1);
}

#[test]
fn q6_clear_and_resume_keep_the_task_with_the_agent() {
    let stage = Stage::without_daemon();
    let mut agent = holding(&stage, &["a"]);
    agent.play(&[AgentStep::Clear, AgentStep::prompt("go on")]).unwrap();
    assert_eq!(stage.show("a")["assignee"], "w1");
    let call = end(&mut agent, "logout");
    assert!(stderr(&call).contains("failing task a"), "{}", stderr(&call));
    assert_eq!(stage.show("a")["s"], "open");
}

#[test]
fn q6_a_child_of_the_same_name_releases_only_what_it_claimed_itself() {
    let stage = Stage::without_daemon();
    let mut parent = holding(&stage, &["parents"]);
    let client = Client::start();
    let mut child = stage.looped("w1").with_env("CLAUDE_PID", client.pid());
    child.play(&[AgentStep::start()]).unwrap();
    stage.tasks(&["childs"]);
    let as_child = [("RALPH_AGENT_ID", "w1"), ("CLAUDE_CODE_SESSION_ID", child.session_id())];
    assert!(stage.task_with(&["claim", "childs"], &as_child, "").success());
    let call = compact(&mut child, "auto");
    assert!(stderr(&call).contains("task childs") && !stderr(&call).contains("parents"), "{}", stderr(&call));
    end(&mut child, "other");
    assert_eq!((&stage.show("parents")["s"], &stage.show("childs")["s"]), (&json!("active"), &json!("open")));
    assert!(stderr(&end(&mut parent, "other")).contains("task parents"));
}

#[test]
fn q6_two_agents_in_one_project_keep_apart() {
    let stage = Stage::without_daemon();
    let mut first = holding(&stage, &["a"]);
    let client = Client::start();
    let mut second = stage.looped("w2").with_env("CLAUDE_PID", client.pid());
    second.play(&[AgentStep::start()]).unwrap();
    stage.tasks(&["b"]);
    let as_second = [("RALPH_AGENT_ID", "w2"), ("CLAUDE_CODE_SESSION_ID", second.session_id())];
    assert!(stage.task_with(&["claim"], &as_second, "").success());
    end(&mut second, "other");
    assert_eq!((&stage.show("a")["s"], &stage.show("b")["s"]), (&json!("active"), &json!("open")));
    end(&mut first, "other");
    assert_eq!(stage.show("a")["s"], "open");
}

#[test]
fn q6_an_unnamed_agents_claim_from_its_own_shell_is_its_own() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a"]);
    let mut agent = FakeAgent::new(&stage.sandbox);
    agent.play(&[AgentStep::start()]).unwrap();
    assert!(stage.task_with(&["claim"], &[("CLAUDE_CODE_SESSION_ID", agent.session_id())], "").success());
    let call = end(&mut agent, "prompt_input_exit");
    assert!(stderr(&call).contains("failing task a"), "{}", stderr(&call));
}

#[test]
fn q6_the_task_script_of_the_environment_is_never_run() {
    let stage = Stage::without_daemon();
    let (script, proof) = (stage.sandbox.root().join("script"), stage.sandbox.root().join("ran"));
    put_program(&script, &format!("#!/bin/sh\ntouch {}\n", proof.display()));
    stage.tasks(&["a"]);
    let mut agent = stage.looped("w1").with_env("RALPH_TASK_SCRIPT", &script);
    agent.play(&[AgentStep::start()]).unwrap();
    stage.claim("w1");
    compact(&mut agent, "auto");
    end(&mut agent, "other");
    assert_eq!(stage.show("a")["s"], "open");
    assert!(!proof.exists());
}

#[test]
fn q6_a_broken_database_does_not_keep_the_hook_from_ending_well() {
    let stage = Stage::without_daemon();
    let mut agent = holding(&stage, &["a"]);
    let database = stage.sandbox.taut_home().join("taut.db");
    std::fs::set_permissions(&database, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let lock = rusqlite::Connection::open(&database).unwrap();
    lock.execute_batch("BEGIN EXCLUSIVE").unwrap();
    for call in [compact(&mut agent, "auto"), end(&mut agent, "other")] {
        assert_eq!((call.finished.code(), stdout(&call)), (Some(0), String::new()));
    }
    drop(lock);
    let task = stage.show("a");
    assert_eq!((&task["s"], &task["fail_reason"]), (&json!("open"), &json!("session ended unexpectedly")), "later");
}

#[test]
fn q4_an_event_of_the_agent_renews_a_lease_that_is_due() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a"]);
    let mut agent = stage.looped("w1");
    agent.play(&[AgentStep::start()]).unwrap();
    stage.task_ok("w1", &["claim", "--lease", "60"]);
    let database = stage.sandbox.taut_home().join("taut.db");
    let back = |seconds: i64| {
        let conn = rusqlite::Connection::open(&database).unwrap();
        let sql = "UPDATE tasks SET renewed_at = renewed_at - ?1, lease_until = lease_until - ?1";
        conn.execute(sql, [seconds * 1000]).unwrap();
    };
    let lease = || stage.show("a")["lease_expires_at"].as_str().unwrap().to_string();
    back(10);
    let early = lease();
    agent.play(&[AgentStep::prompt("more")]).unwrap();
    assert_eq!(lease(), early);
    back(25);
    let due = lease();
    agent.play(&[AgentStep::bash("true")]).unwrap();
    assert!(lease() > due && lease() > early, "{} {due}", lease());
}

#[test]
fn q4_a_tool_in_flight_holds_the_lease_while_its_client_lives() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a"]);
    let mut client = Client::start();
    let mut agent = stage.looped("w1").with_env("CLAUDE_PID", client.pid());
    agent.play(&[AgentStep::start()]).unwrap();
    let env = [("RALPH_AGENT_ID", "w1"), ("CLAUDE_CODE_SESSION_ID", agent.session_id())];
    assert!(stage.task_with(&["claim", "--lease", "0"], &env, "").success());
    let fields = json!({"tool_name": "Bash", "tool_input": {"command": "make test"}, "tool_use_id": "toolu_long"});
    agent.play(&[AgentStep::Event { event: "PreToolUse", fields }]).unwrap();
    let database = stage.sandbox.taut_home().join("taut.db");
    let lapse = || {
        let conn = rusqlite::Connection::open(&database).unwrap();
        conn.execute("UPDATE tasks SET lease_until = 1 WHERE status = 'active'", []).unwrap();
    };
    lapse();
    assert_eq!(stage.task_by("w2", &["claim"]).code(), Some(2));
    assert_eq!(stage.show("a")["assignee"], "w1");
    client.kill();
    lapse();
    assert_eq!(stage.claim("w2")["attempt"], 2);
}

#[test]
fn i3_the_preset_makes_the_alias_and_stops_an_agent_whoever_watches_it() {
    let sandbox = Sandbox::with_copy_of(env!("CARGO_BIN_EXE_taut").as_ref()).unwrap();
    let stage = Stage { sandbox: sandbox.with_env("TAUT_NO_DAEMON", "1") };
    let made = stage.sandbox.taut(&["init", "--preset", "session-safety", "--yes"], b"").unwrap();
    assert!(made.success(), "{}", made.stderr_text());
    let mut alias = stage.sandbox.command(stage.sandbox.taut_home().join("bin/task"));
    alias.args(["create", "a", "A"]);
    assert!(testkit::process::run(alias, b"", testkit::stage::PLENTY).unwrap().success());
    let mut agent = FakeAgent::new(&stage.sandbox).with_env("TAUT_AGENT_ID", "mine");
    agent.play(&[AgentStep::start()]).unwrap();
    stage.task_ok("", &["claim", "--agent", "mine"]);
    assert!(stdout(&compact(&mut agent, "auto")).contains("Context Limit Reached"));
}
