//! The defects of the loop's origin, by their number in its list. 1, 5, 7, 8
//! and 9 are also proved on the machine itself, in `engine::loops`.

use super::{FINE, WORK};
use testkit::stage::{Stage, lives, summary};

#[test]
fn defect_2_an_abort_in_started_is_a_hook_abort_and_runs_finished() {
    for hook in ["started", "next_iteration", "post_iteration"] {
        let stage = Stage::with_plan();
        stage.loop_hook(hook, "exit 2").loop_hook("finished", "echo $FRESHER_FINISH_TYPE >> .git/finished");
        stage.client_does(&format!("{WORK} {FINE}"));
        let done = stage.build(&[]);
        assert_eq!((summary(&done)["finish"].as_str(), done.code()), (Some("hook_abort"), Some(21)), "{hook}");
        assert_eq!(stage.read(".git/finished"), "hook_abort\n", "{hook}");
    }
}

#[test]
fn defect_3_a_hook_that_is_not_executable_is_warned_of_and_logs_are_written() {
    let stage = Stage::with_plan();
    stage.write(".taut/hooks/started", "#!/bin/bash\ntouch .git/started\n");
    stage.client_does(&format!("echo hello from the agent; {FINE}"));
    let done = stage.build(&[]);
    assert!(done.stderr_text().contains("Hook started exists but is not executable"), "{}", done.stderr_text());
    assert!(!stage.path(".git/started").exists());
    let logs = summary(&done)["logs"].as_str().unwrap().to_string();
    let log = std::fs::read_to_string(format!("{logs}/iteration-0001.log")).unwrap();
    assert!(log.contains("hello from the agent"), "{log}");
    assert_eq!(stage.git(&["status", "--short", "--", ".taut/logs"]), "");
}

#[test]
fn defect_4_a_hook_that_timed_out_is_killed() {
    let stage = Stage::with_plan();
    stage.loop_hook("started", "echo $$ > .git/pid; sleep 600").client_does(FINE);
    let done = stage.build_with(&[], &[("FRESHER_HOOK_TIMEOUT", "1")]);
    assert_eq!(done.code(), Some(11));
    assert!(!lives(&stage.read(".git/pid")));
}

#[test]
fn defect_5_a_hook_that_always_skips_is_caught() {
    let stage = Stage::with_plan();
    stage.loop_hook("next_iteration", "echo x >> .git/skips; exit 1").client_does("touch ran");
    let done = stage.build_with(&[], &[("FRESHER_MAX_SKIPS", "4")]);
    assert_eq!((summary(&done)["finish"].as_str(), done.code()), (Some("stuck"), Some(14)));
    assert_eq!((stage.read(".git/skips").lines().count(), summary(&done)["iterations"].as_u64()), (4, Some(0)));
    assert!(!stage.path("ran").exists());
}

/// And 7: its exit status is 130.
#[test]
fn defect_6_ctrl_c_does_not_reach_the_agent_and_the_end_is_manual() {
    let stage = Stage::with_plan();
    stage.loop_hook("finished", "echo $FRESHER_FINISH_TYPE >> .git/finished");
    stage.client_does(&format!(
        "touch .git/begun; until [ -e .git/go ]; do sleep 0.05; done; {WORK} echo whole > .git/ended; {FINE}"
    ));
    let mut going = stage.start_loop(&["loop", "build"]);
    testkit::poll::until("the agent", testkit::stage::PLENTY, || stage.path(".git/begun").exists().then_some(()))
        .unwrap();
    // The whole foreground group gets it, as from a terminal.
    let group = -i32::try_from(going.child.id()).unwrap();
    // SAFETY: the group of our own child.
    unsafe { libc::kill(group, libc::SIGINT) };
    testkit::poll::until("the word", testkit::stage::PLENTY, || going.printed().contains("Ctrl+C again").then_some(()))
        .unwrap();
    stage.write(".git/go", "now");
    assert_eq!(going.end(), Some(130), "{}", going.printed());
    assert_eq!((stage.read(".git/ended"), stage.read(".git/finished")), ("whole\n".into(), "manual\n".into()));
}

#[test]
fn defect_8_a_begun_task_keeps_the_plan_open() {
    let stage = Stage::with_plan();
    stage.write("IMPLEMENTATION_PLAN.md", "- [x] a\n- [~] b\n");
    stage.client_does(&format!("touch .git/ran; {FINE}"));
    stage.build(&[]);
    assert!(stage.path(".git/ran").exists());
}

#[test]
fn defect_9_failures_are_retried_where_that_was_said() {
    let stage = Stage::with_plan();
    stage.client_does(&format!(
        "n=$(cat .git/n 2>/dev/null || echo 0); echo $((n+1)) > .git/n; [ $n = 1 ] && exit 9; {WORK} {FINE}"
    ));
    let done = stage.build(&["--max-failures", "2"]);
    assert_eq!((summary(&done)["finish"].as_str(), summary(&done)["commits"].as_u64()), (Some("complete"), Some(3)));
}
