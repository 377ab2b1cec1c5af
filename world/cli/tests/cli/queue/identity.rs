//! T10: an attempt belongs to the agent that claimed it, or to whoever was handed its token.

use super::Client;
use serde_json::{Value, json};
use testkit::stage::{PLENTY, Stage};
use testkit::{AgentStep, FakeAgent, Finished, process};

/// `a` is held by alice. Gives the token of her claim.
fn alice_holds_a(stage: &Stage) -> String {
    stage.tasks(&["a"]);
    stage.claim("alice")["token"].as_str().unwrap_or_default().to_string()
}

fn assert_refused(done: &Finished, what: &[&str]) {
    let said = done.stderr_text();
    assert_eq!(done.code(), Some(2), "{what:?}: {}{said}", done.stdout_text());
    for word in ["alice", "bob", "--token"] {
        assert!(said.contains(word), "{what:?}: {said}");
    }
}

/// Every way of acting on an attempt.
const ACTS: [&[&str]; 3] = [&["done", "a"], &["fail", "a", "--reason", "x"], &["renew", "a"]];

fn session_of(stage: &Stage, agent: &str) -> FakeAgent {
    let mut agent = FakeAgent::new(&stage.sandbox).with_env("TAUT_AGENT_ID", agent);
    agent.play(&[AgentStep::start()]).unwrap();
    agent
}

#[test]
fn t10_a_claim_is_given_a_token_that_is_shown_to_nobody_else() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a", "b"]);
    let tokens = ["alice", "bob"].map(|agent| stage.claim(agent)["token"].as_str().unwrap().to_string());
    assert!(tokens.iter().all(|token| token.len() == 32 && token.chars().all(|c| c.is_ascii_hexdigit())), "{tokens:?}");
    assert_ne!(tokens[0], tokens[1]);
    for args in [&["show", "a", "--json"][..], &["list", "--json"], &["history", "a", "--json"], &["peek"]] {
        let shown = stage.task_ok("alice", args);
        assert!(!shown.contains("token") && !shown.contains(&tokens[0]), "{args:?}: {shown}");
    }
    stage.task_ok("bob", &["renew", "b", "--lease", "0"]);
    assert!(stage.task_ok("bob", &["claim", "b", "--markdown"]).contains("\ntoken: "));
}

#[test]
fn t10_another_agent_may_act_neither_by_name_nor_by_number() {
    let stage = Stage::without_daemon();
    alice_holds_a(&stage);
    for act in ACTS {
        for more in [&["--agent", "alice"][..], &["--attempt", "1"], &["--agent", "alice", "--attempt", "1"]] {
            let args = [act, more].concat();
            assert_refused(&stage.task_by("bob", &args), &args);
        }
        assert_eq!(stage.task_by("bob", act).code(), Some(2), "it is not bob's");
    }
    assert_eq!((&stage.show("a")["assignee"], &stage.show("a")["retry_count"]), (&json!("alice"), &json!(0)));
    assert_eq!(stage.task_ok("alice", &["done", "a", "--attempt", "1"]), "done a\n");
}

#[test]
fn t10_the_token_lets_anyone_act_who_was_handed_it_and_a_wrong_one_nobody() {
    let stage = Stage::without_daemon();
    let token = alice_holds_a(&stage);
    let wrong = "0".repeat(32);
    for agent in ["alice", "bob", ""] {
        let done = stage.task_by(agent, &["done", "a", "--token", &wrong]);
        assert_eq!(done.code(), Some(2), "{agent}");
        assert!(done.stderr_text().contains("no attempt on task 'a' was given this token"), "{}", done.stderr_text());
    }
    assert_eq!(stage.task_by("bob", &["done", "a", "--token", &token, "--attempt", "2"]).code(), Some(2));
    assert_eq!(stage.task_ok("bob", &["renew", "a", "--token", &token]), "renewed a\n");
    assert_eq!(stage.task_ok("bob", &["done", "a", "--token", &token, "--attempt", "1"]), "done a\n");
    assert!(stage.task_by("bob", &["done", "a", "--token", &token]).stderr_text().contains("had finished it already"));
}

#[test]
fn t10_the_token_of_a_lapsed_attempt_is_worth_nothing() {
    let stage = Stage::without_daemon();
    let token = alice_holds_a(&stage);
    stage.task_ok("alice", &["renew", "a", "--lease", "0"]);
    stage.claim("carol");
    let late = stage.task_by("alice", &["done", "a", "--token", &token]);
    assert_eq!(late.code(), Some(2));
    assert!(late.stderr_text().contains("attempt 1 of task 'a' lapsed at"), "{}", late.stderr_text());
    assert_eq!(stage.show("a")["assignee"], "carol");
}

#[test]
fn t10_the_process_tree_knows_better_than_the_environment_who_speaks() {
    let stage = Stage::without_daemon();
    let token = alice_holds_a(&stage);
    // This process is bob's client now: whatever it runs, runs within bob.
    let mut bob = session_of(&stage, "bob");
    for act in ACTS {
        for name in ["TAUT_AGENT_ID", "RALPH_AGENT_ID", "AGENT_ID"] {
            assert_refused(&stage.task_with(act, &[(name, "alice")], ""), act);
        }
        for more in [&["--agent", "alice"][..], &["--attempt", "1"]] {
            let args = [act, more].concat();
            assert_refused(&stage.task(&args), &args);
        }
    }
    assert_eq!(stage.task_ok("alice", &["renew", "a", "--token", &token]), "renewed a\n");
    bob.play(&[AgentStep::End { reason: "other" }]).unwrap();
    assert_eq!(stage.task_ok("alice", &["done", "a"]), "done a\n", "nothing speaks against it any more");
}

#[test]
fn t10_the_id_or_the_client_of_anothers_session_in_the_environment_makes_nobody_that_agent() {
    let stage = Stage::without_daemon();
    alice_holds_a(&stage);
    let client = Client::start();
    let mut alice = FakeAgent::new(&stage.sandbox).with_env("TAUT_AGENT_ID", "alice");
    alice = alice.with_env("CLAUDE_PID", client.pid());
    alice.play(&[AgentStep::start()]).unwrap();
    let _bob = session_of(&stage, "bob");
    for (name, value) in [("CLAUDE_CODE_SESSION_ID", alice.session_id().to_string()), ("CLAUDE_PID", client.pid())] {
        let env = [(name, value.as_str()), ("RALPH_AGENT_ID", "alice")];
        assert_refused(&stage.task_with(&["done", "a"], &env, ""), &[name]);
        let unnamed = stage.task_with(&["done", "a"], &env[..1], "");
        assert_eq!(unnamed.code(), Some(2), "{name}: {}", unnamed.stderr_text());
    }
    assert_eq!(stage.show("a")["s"], "active");
}

#[test]
fn t10_many_shells_in_between_hide_nobody() {
    let stage = Stage::without_daemon();
    alice_holds_a(&stage);
    let _bob = session_of(&stage, "bob");
    // Each shell waits for the next, so that none is replaced by what it runs.
    let script = stage.sandbox.root().join("deep.sh");
    let line = "if [ $1 -gt 0 ]; then sh $0 $(($1 - 1)); else $TAUT task done a --agent alice; fi; exit $?\n";
    std::fs::write(&script, line).unwrap();
    let mut command = stage.sandbox.command("sh");
    command.arg(&script).arg("12").env("TAUT", stage.sandbox.bin());
    assert_refused(&process::run(command, b"", PLENTY).unwrap(), &["deep.sh"]);
}

#[test]
fn t10_within_a_client_that_no_hook_has_told_of_nobody_speaks_for_another() {
    let stage = Stage::without_daemon();
    alice_holds_a(&stage);
    for mark in ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "TAUT_SESSION_ID"] {
        let done = stage.task_with(&["done", "a", "--agent", "alice"], &[(mark, "1")], "");
        assert_eq!(done.code(), Some(2), "{mark}: {}", done.stderr_text());
    }
    assert_eq!(stage.show("a")["s"], "active");
}

#[test]
fn t10_a_person_or_a_script_that_is_no_agent_may_act_for_any() {
    let stage = Stage::without_daemon();
    alice_holds_a(&stage);
    assert_eq!(stage.task_ok("", &["renew", "a", "--attempt", "1"]), "renewed a\n");
    assert_eq!(stage.task_ok("", &["done", "a", "--agent", "alice"]), "done a\n");
}

#[test]
fn t10_nobody_claims_in_the_name_of_another() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a"]);
    let refused = stage.task_by("bob", &["claim", "--agent", "alice"]);
    assert_eq!(refused.code(), Some(2));
    let words = "this comes from agent bob, which may not claim for agent alice";
    assert!(refused.stderr_text().contains(words), "{}", refused.stderr_text());
    assert_eq!(stage.show("a")["s"], "open");
    stage.task_ok("bob", &["claim", "--agent", "bob"]);
    assert_eq!(stage.show("a")["assignee"], "bob");
}

/// A worker that was started within a client under a name of its own, and that no hook or register knows yet.
#[test]
fn t10_a_claim_under_a_name_that_nothing_bears_out_is_acted_on_by_its_token() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a"]);
    let _bob = session_of(&stage, "bob");
    let claimed = stage.task_by("carol", &["claim", "--json"]);
    assert!(claimed.success(), "{}", claimed.stderr_text());
    let note = "note: this runs within agent bob: only `--token` acts on what it claims as carol";
    assert!(claimed.stderr_text().contains(note), "{}", claimed.stderr_text());
    let task: Value = serde_json::from_str(&claimed.stdout_text()).unwrap();
    assert_eq!(stage.task_by("carol", &["done", "a"]).code(), Some(2));
    assert_eq!(stage.task_ok("carol", &["done", "a", "--token", task["token"].as_str().unwrap()]), "done a\n");
}

/// L7: what a loop starts within an agent is a worker of its own, not that agent.
#[test]
fn t10_a_worker_registered_below_a_client_speaks_for_itself() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a"]);
    let _bob = session_of(&stage, "bob");
    let script = "id=$($TAUT task agent register --pid $$); export RALPH_AGENT_ID=$id
        $TAUT task claim >/dev/null && $TAUT task done a && $TAUT task agent deregister $id; exit $?";
    let mut command = stage.sandbox.command("sh");
    command.args(["-c", script]).env("TAUT", stage.sandbox.bin());
    let done = process::run(command, b"", PLENTY).unwrap();
    assert!(done.success(), "{}", done.stderr_text());
    assert_eq!(stage.show("a")["s"], "done");
}

#[test]
fn t10_only_a_worker_itself_or_a_person_says_that_it_leaves() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a"]);
    let id = stage.task_ok("", &["agent", "register"]).trim().to_string();
    stage.claim(&id);
    let refused = stage.task_by("bob", &["agent", "deregister", &id]);
    assert_eq!(refused.code(), Some(2), "{}", refused.stdout_text());
    let words = format!("this comes from agent bob, which may not deregister agent {id}");
    assert!(refused.stderr_text().contains(&words), "{}", refused.stderr_text());
    assert_eq!(stage.show("a")["assignee"], id.as_str());
    assert_eq!(stage.task_list(&["agent", "list", "--json"])[0]["status"], "active");
    assert_eq!(stage.task_ok(&id, &["agent", "deregister", &id]), format!("deregistered {id}\n"));
    let other = stage.task_ok("", &["agent", "register"]).trim().to_string();
    assert_eq!(stage.task_ok("", &["agent", "deregister", &other]), format!("deregistered {other}\n"));
}

#[test]
fn t10_an_agent_deletes_neither_everything_nor_what_another_holds() {
    let stage = Stage::without_daemon();
    alice_holds_a(&stage);
    stage.tasks(&["b"]);
    for args in [&["delete", "--all", "--confirm"][..], &["delete", "--status", "open,active"]] {
        let refused = stage.task_by("bob", args);
        assert_eq!(refused.code(), Some(1), "{args:?}: {}", refused.stdout_text());
        assert!(refused.stderr_text().contains("agent bob"), "{}", refused.stderr_text());
    }
    for args in [&["delete", "a"][..], &["update", "a", "--status", "deleted"], &["step-done", "a", "1"]] {
        let refused = stage.task_by("bob", args);
        assert_eq!(refused.code(), Some(2), "{args:?}: {}", refused.stdout_text());
        assert!(refused.stderr_text().contains("held by agent alice"), "{args:?}: {}", refused.stderr_text());
    }
    assert_eq!(stage.plan_status(), "1 open, 1 active, 0 done, 0 blocked, 0 deleted");
    stage.task_ok("bob", &["delete", "b"]);
    stage.task_ok("alice", &["delete", "a"]);
    alice_holds_a(&stage);
    assert!(stage.task(&["delete", "--all", "--confirm"]).success(), "a person may");
}

#[test]
fn t10_an_agents_plan_leaves_what_another_holds() {
    let stage = Stage::without_daemon();
    let line = |id: &str| json!({"id": id, "t": "T", "spec": "s.md"});
    stage.sync(&[line("a"), line("b"), line("c")]);
    stage.task_ok("alice", &["claim", "a"]);
    let plan = format!("{}\n", line("b"));
    let synced = stage.task_with(&["plan-sync"], &[("RALPH_AGENT_ID", "bob")], &plan);
    assert_eq!(synced.stdout_text(), "inserted: 0, updated: 1, deleted: 1, skipped (done): 0\n");
    assert!(synced.stderr_text().contains("task 'a' is held by agent alice"), "{}", synced.stderr_text());
    let standing = |slug: &str| stage.show(slug)["s"].clone();
    assert_eq!(["a", "b", "c"].map(standing), ["active", "open", "deleted"].map(Value::from));
    assert!(stage.task_with(&["plan-sync"], &[], &plan).stdout_text().contains("deleted: 1"), "a person's plan rules");
}

#[test]
fn an_update_that_is_refused_changes_nothing() {
    let stage = Stage::without_daemon();
    alice_holds_a(&stage);
    for status in ["deleted", "done", "open"] {
        let refused = stage.task_by("bob", &["update", "a", "--title", "mine", "--status", status]);
        assert_eq!(refused.code(), Some(2), "{status}: {}", refused.stdout_text());
        assert_eq!((&stage.show("a")["t"], &stage.show("a")["s"]), (&json!("do a"), &json!("active")), "{status}");
    }
}
