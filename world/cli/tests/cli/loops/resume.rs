//! A loop killed with -9: found, and resumed or cleared away.

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
