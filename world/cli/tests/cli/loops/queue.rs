//! The loop on the queue.

use super::FINE;
use testkit::poll;
use testkit::stage::{PLENTY, Stage, summary};

#[test]
fn l7_the_loop_registers_names_its_agent_and_deregisters() {
    let stage = Stage::with_plan();
    stage.task(&["create", "t1", "one"]);
    stage.task(&["create", "t2", "two"]);
    stage.client_does(&format!(
        "echo \"$RALPH_AGENT_ID $TAUT_AGENT_ID $RALPH_TASK_SCRIPT\" >> .git/env; \
         id=$($RALPH_TASK_SCRIPT claim --json | grep -o '\"id\":\"t[12]\"' | cut -d'\"' -f4); $RALPH_TASK_SCRIPT done $id; {FINE}"
    ));
    let done = stage.build(&[]);
    assert_eq!(summary(&done)["finish"], "complete", "{}", done.stderr_text());
    let env = stage.read(".git/env");
    let first: Vec<&str> = env.lines().next().unwrap().split(' ').collect();
    assert_eq!(first[0], first[1]);
    let workers = stage.task(&["agent", "list", "--json"]).stdout_text();
    assert!(workers.contains(first[0]) && workers.contains("stopped"), "{workers}");
}

#[test]
fn l7_q5_a_task_the_agent_forgot_is_released_with_the_exact_reason_after_each_exit() {
    let stage = Stage::with_plan();
    stage.task(&["create", "t1", "one"]);
    stage.client_does(&format!("taut task claim > /dev/null; {FINE}"));
    let done = stage.build(&["-n", "1"]);
    let task = stage.show("t1");
    assert_eq!(
        (task["s"].as_str(), task["fail_reason"].as_str()),
        (Some("open"), Some("session exited without completing task")),
        "{task}"
    );
    assert!(done.stderr_text().contains("failing task t1"), "{}", done.stderr_text());
}

/// The hook of the session's end releases first, the loop finds nothing left, then the worker leaves.
#[test]
fn l7_hook_then_loop_then_deregister() {
    let stage = Stage::with_plan();
    stage.task(&["create", "t1", "one"]);
    stage.loop_hook(
        "post_iteration",
        "taut task show t1 --json > .git/after; taut task agent list --json >> .git/after",
    );
    let end = r#"hook() { echo "{\"hook_event_name\":\"$1\",\"session_id\":\"s\",\"cwd\":\"$PWD\",$2}" | taut hook --agent claude-code; }
        hook SessionStart '"source":"startup"'; taut task claim >/dev/null; hook SessionEnd '"reason":"other"'"#;
    stage.client_does(&format!("{end}; {FINE}"));
    let done = stage.build(&["-n", "1"]);
    // Asked of the database first: any look at the queue would find the dead worker out by itself.
    let conn = rusqlite::Connection::open(stage.sandbox.taut_home().join("taut.db")).unwrap();
    let left: Option<i64> = conn.query_row("SELECT ended_at FROM workers", [], |row| row.get(0)).unwrap();
    assert!(left.is_some(), "the worker did not say that it leaves");
    let task = stage.show("t1");
    assert_eq!(
        (task["fail_reason"].as_str(), task["retry_count"].as_i64()),
        (Some("session ended unexpectedly"), Some(1)),
        "{task}\n{}",
        done.stderr_text()
    );
    let after = stage.read(".git/after");
    assert!(after.contains("session ended unexpectedly") && after.contains("\"status\":\"active\""), "{after}");
    assert!(stage.task(&["agent", "list", "--json"]).stdout_text().contains("\"status\":\"stopped\""));
}

#[test]
fn l7_q4_leases_are_renewed_while_the_agent_works_in_silence() {
    let stage = Stage::with_plan();
    stage.task(&["create", "t1", "one"]);
    stage.client_does(&format!(
        "taut task claim --lease 8 > .git/claimed; until [ -e .git/go ]; do sleep 0.1; done; taut task done t1; {FINE}"
    ));
    let mut going = stage.start_loop(&["loop", "build"]);
    stage.until_written(".git/claimed");
    let first = stage.show("t1")["lease_expires_at"].clone();
    poll::until("a renewal", PLENTY, || (stage.show("t1")["lease_expires_at"] != first).then_some(())).unwrap();
    stage.write(".git/go", "now");
    assert_eq!(going.end(), Some(0), "{}", going.printed());
}

#[test]
fn l6_a_queue_of_which_nothing_can_be_claimed_is_stuck() {
    let stage = Stage::with_plan();
    stage.task(&["create", "t1", "one"]);
    stage.task(&["update", "t1", "--status", "quarantined"]);
    stage.client_does("touch ran");
    let done = stage.build(&["--source", "queue"]);
    assert_eq!((summary(&done)["finish"].as_str(), done.code()), (Some("stuck"), Some(14)), "{}", done.stderr_text());
}

/// L7: a loop that is started from within an agent is not that agent.
#[test]
fn l7_the_agent_of_a_loop_is_none_that_the_loop_was_started_in() {
    let stage = Stage::with_plan();
    stage.client_does(&format!("env > .git/env; {FINE}"));
    let outer = ["CLAUDE_CODE_SESSION_ID", "CLAUDE_SESSION_ID", "TAUT_SESSION_ID", "AGENT_ID"];
    stage.build_with(&["-n", "1"], &outer.map(|name| (name, "outer")));
    let env = stage.read(".git/env");
    assert!(env.contains("TAUT_AGENT_ID=") && !env.contains("=outer"), "{env}");
}

pub(super) const HOOK: &str = r#"hook() { echo "{\"hook_event_name\":\"$1\",\"session_id\":\"s$$\",\"cwd\":\"$PWD\",$2}" | taut hook --agent claude-code; };"#;

/// L7, R2: a context that is full ends the agent the hard way, and is no failure.
#[test]
fn l7_r2_an_agent_whose_context_was_full_is_followed_by_a_fresh_one() {
    let stage = Stage::with_plan();
    stage.task(&["create", "t1", "one"]);
    stage.client_does(&format!(
        r#"{HOOK} hook SessionStart '"source":"startup"' > /dev/null; echo x >> .git/starts
        taut task claim > /dev/null
        if [ "$(wc -l < .git/starts)" = 1 ]; then hook PreCompact '"trigger":"auto"' > .git/stopped; exit 1; fi
        taut task done t1; {FINE}"#
    ));
    let done = stage.build(&[]);
    assert!(stage.read(".git/stopped").contains("Context Limit Reached"), "{}", stage.read(".git/stopped"));
    assert_eq!(summary(&done)["finish"], "complete", "{}", done.stderr_text());
    assert_eq!(stage.show("t1")["attempt"], 2);
}

/// L7, R1: who asks for a fresh context gets one, though it does not end by itself.
#[test]
fn l7_r1_an_agent_that_asks_for_a_fresh_context_is_ended_and_followed_by_another() {
    let stage = Stage::with_plan();
    stage.client_does(&format!(
        r#"{HOOK} hook SessionStart '"source":"startup"' > /dev/null; echo x >> .git/starts
        if [ "$(wc -l < .git/starts)" = 1 ]; then
            echo '{{"summary":"half way","lastAction":"a","nextSteps":["b"],"requiredFiles":[]}}' | taut session dehydrate; sleep 600
        fi; sed -i 's/- \[ \]/- [x]/' IMPLEMENTATION_PLAN.md; {FINE}"#
    ));
    let done = stage.build(&["--max-time", "60s"]);
    assert_eq!(summary(&done)["finish"], "complete", "{}", done.stderr_text());
    assert_eq!(stage.read(".git/starts").lines().count(), 2);
}
