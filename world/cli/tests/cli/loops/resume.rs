//! Runs that go on: one that was killed or ended short of its work, with everything that was asked of it.

use super::{FINE, WORK};
use testkit::poll;
use testkit::stage::{PLENTY, Stage, lives, summary};

#[test]
fn l9_a_loop_killed_with_9_is_resumed_where_it_was_and_its_agent_stopped() {
    let stage = Stage::with_plan();
    stage.client_does(&format!("if [ -e .git/first ] && [ ! -e .git/go ]; then sleep 1; echo $$ > .git/pid; sleep 600; fi; touch .git/first; {WORK} {FINE}"));
    let mut going = stage.start_loop(&["loop", "build"]);
    let pid = stage.until_written(".git/pid");
    going.child.kill().unwrap();
    going.child.wait().unwrap();
    stage.write(".git/go", "now");
    let done = stage.build(&["--resume"]);
    let said = summary(&done);
    assert_eq!(
        (said["finish"].as_str(), said["iterations"].as_u64(), said["commits"].as_u64()),
        (Some("complete"), Some(3), Some(3)),
        "{}",
        done.stderr_text()
    );
    assert!(!lives(&pid));
    assert_eq!(stage.build(&["--resume"]).code(), Some(2));
}

#[test]
fn l9_l7_a_new_loop_clears_a_killed_one_away_and_its_task_comes_back() {
    let stage = Stage::with_plan();
    stage.task(&["create", "t1", "do it"]);
    stage.client_does("if [ ! -e .git/go ]; then taut task claim > .git/claimed; sleep 600; fi; taut task claim >/dev/null && taut task done t1; exit 0");
    let mut going = stage.start_loop(&["loop", "build"]);
    stage.until_written(".git/claimed");
    going.child.kill().unwrap();
    going.child.wait().unwrap();
    stage.write(".git/go", "now");
    let done = stage.build(&[]);
    assert_eq!(summary(&done)["finish"], "complete", "{}", done.stderr_text());
    assert_eq!(stage.show("t1")["attempt"], 2);
}

#[test]
fn l1_two_loops_in_one_work_tree_are_refused() {
    let stage = Stage::with_plan();
    stage.client_does("touch .git/begun; sleep 600");
    let going = stage.start_loop(&["loop", "build"]);
    poll::until("the agent", PLENTY, || stage.path(".git/begun").exists().then_some(())).unwrap();
    let second = stage.build(&[]);
    assert_eq!(second.code(), Some(1));
    assert!(second.stderr_text().contains("runs in"), "{}", second.stderr_text());
    going.signal(libc::SIGTERM);
}

fn finish(done: &testkit::Finished) -> (String, u64) {
    let said = summary(done);
    (said["finish"].as_str().unwrap_or_default().to_string(), said["iterations"].as_u64().unwrap_or_default())
}

/// Kills a loop in its first iteration.
fn killed_in_the_first(stage: &Stage, args: &[&str]) {
    stage.client_does("printf '%s\\n' \"$@\" > .git/args; touch .git/begun; exec sleep 600");
    let line: Vec<&str> = ["loop", "build"].iter().chain(args).copied().collect();
    let mut going = stage.start_loop(&line);
    poll::until("the agent", PLENTY, || stage.path(".git/begun").exists().then_some(())).unwrap();
    going.child.kill().unwrap();
    going.child.wait().unwrap();
}

#[test]
fn l9_going_on_keeps_every_flag_and_what_is_typed_now_wins() {
    let stage = Stage::with_plan();
    killed_in_the_first(&stage, &["-n", "2", "--model", "opus", "--max-cost", "9", "--agent-arg", "--debug"]);
    stage.client_does(&format!("printf '%s\\n' \"$@\" > .git/args; {WORK} {FINE}"));
    let shown = stage.succeed(&["loop", "build", "--dry-run", "--resume"]);
    assert!(shown.contains("2 iterations") && shown.contains("$9.00"), "{shown}");
    let done = stage.build(&["--resume", "--model", "sonnet"]);
    assert_eq!(finish(&done), ("max_iterations".into(), 2), "{}", done.stderr_text());
    let args = stage.read(".git/args");
    assert!(args.contains("sonnet") && args.contains("--debug"), "{args}");
    // The limit counts the whole run, unless one is typed: that counts from now on.
    assert_eq!(finish(&stage.build(&["--resume"])), ("max_iterations".into(), 2));
    assert_eq!(finish(&stage.build(&["--resume", "-n", "1"])), ("complete".into(), 3));
}

#[test]
fn l9_a_variable_of_the_first_start_is_kept_too() {
    let stage = Stage::with_plan();
    stage.client_does(&format!("{WORK} {FINE}; [ -e .git/go ] || exit 3"));
    assert_eq!(stage.build_with(&[], &[("FRESHER_MAX_ITERATIONS", "2")]).code(), Some(20));
    stage.write(".git/go", "now");
    assert_eq!(finish(&stage.build(&["--resume"])), ("max_iterations".into(), 2));
}

#[test]
fn l9_going_on_runs_started_no_second_time_and_finished_again() {
    let stage = Stage::with_plan();
    stage
        .loop_hook("started", "echo started >> .git/hooks-ran")
        .loop_hook("finished", "echo finished >> .git/hooks-ran");
    stage.client_does("exit 3");
    assert_eq!(stage.build(&[]).code(), Some(20));
    stage.client_does(&format!("{WORK} {FINE}"));
    let done = stage.build(&["--resume"]);
    assert_eq!(finish(&done), ("complete".into(), 4), "{}", done.stderr_text());
    assert_eq!(stage.read(".git/hooks-ran"), "started\nfinished\nfinished\n");
}

/// Everything but what is complete, and the newest alone.
#[test]
fn l9_a_run_that_ended_short_of_its_work_goes_on() {
    let login = r#"echo '{"type":"assistant","error":"authentication_failed","message":{}}'
        echo '{"type":"result","is_error":true,"api_error_status":401,"result":"Please run /login"}'; exit 1"#;
    let cases: [(&str, &[&str], i32); 5] = [
        (login, &[], 20),
        ("exit 3", &[], 20),
        (FINE, &[], 11),
        ("sleep 600", &["--max-time", "1s"], 12),
        ("taut task list > /dev/null; kill -TERM $PPID; sleep 600", &[], 130),
    ];
    for (client, args, code) in cases {
        let stage = Stage::with_plan();
        stage.client_does(client);
        let first = stage.build(args);
        assert_eq!(first.code(), Some(code), "{client}: {}", first.stderr_text());
        stage.client_does(&format!("{WORK} {FINE}"));
        let done = stage.build(&["--resume", "--max-time", "1h"]);
        assert_eq!(summary(&done)["finish"], "complete", "{client}: {}", done.stderr_text());
        assert_eq!(summary(&done)["run"], summary(&first)["run"]);
        assert!(done.stderr_text().contains("going on with run "), "{}", done.stderr_text());
    }
}

/// Failures in a row begin anew with whoever says to go on.
#[test]
fn l9_a_run_that_ended_for_its_failures_may_fail_again() {
    let stage = Stage::with_plan();
    stage.client_does("exit 3");
    assert_eq!(stage.build(&["--max-failures", "2"]).code(), Some(20));
    stage.client_does(&format!("[ -e .git/once ] || {{ touch .git/once; exit 3; }}; {WORK} {FINE}"));
    let done = stage.build(&["--resume"]);
    assert_eq!(summary(&done)["finish"], "complete", "{}", done.stderr_text());
}

#[test]
fn l9_with_nothing_to_go_on_with_that_is_said_and_nothing_starts() {
    let stage = Stage::with_plan();
    stage.client_does(&format!("touch .git/ran; {WORK} {FINE}"));
    let done = stage.build(&["--resume"]);
    assert_eq!(done.code(), Some(2));
    assert!(
        done.stderr_text().contains("none was started here") && done.stderr_text().contains("taut loop build"),
        "{}",
        done.stderr_text()
    );
    assert!(!stage.path(".git/ran").exists());
    assert_eq!(stage.build(&[]).code(), Some(0));
    let done = stage.build(&["--resume"]);
    assert!(done.code() == Some(2) && done.stderr_text().contains("is complete"), "{}", done.stderr_text());
}

/// What was cleared away when another was begun was given up.
#[test]
fn l9_an_older_run_is_not_taken_up_behind_a_newer_one() {
    let stage = Stage::with_plan();
    killed_in_the_first(&stage, &[]);
    stage.client_does(&format!("{WORK} {FINE}"));
    assert_eq!(stage.build(&[]).code(), Some(0));
    assert_eq!(stage.build(&["--resume"]).code(), Some(2));
}
