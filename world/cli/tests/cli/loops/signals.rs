//! Signals: one way out, once, whatever asked for it.

use super::FINE;
use testkit::poll;
use testkit::stage::{PLENTY, Stage, lives};

const HANGS: &str = "trap '' TERM; echo $$ > .git/pid; (trap '' TERM; echo $BASHPID > .git/grand; while :; do sleep 0.1; done) & while :; do sleep 0.1; done";

#[test]
fn l4_the_second_ctrl_c_kills_the_group_though_it_ignores_term() {
    let stage = Stage::with_plan();
    stage.loop_hook("finished", "echo $FRESHER_FINISH_TYPE >> .git/finished").client_does(HANGS);
    let mut going = stage.start_loop(&["loop", "build"]);
    let grand = stage.until_written(".git/grand");
    going.signal(libc::SIGINT);
    poll::until("the word", PLENTY, || going.printed().contains("Ctrl+C again").then_some(())).unwrap();
    going.signal(libc::SIGINT);
    assert_eq!(going.end(), Some(130), "{}", going.printed());
    assert!(!lives(&stage.read(".git/pid")) && !lives(&grand));
    assert_eq!(stage.read(".git/finished"), "manual\n");
}

#[test]
fn l4_l7_term_and_hangup_release_and_finish_exactly_once() {
    for signal in [libc::SIGTERM, libc::SIGHUP] {
        let stage = Stage::with_plan();
        stage.task(&["create", "t1", "do it"]);
        stage.loop_hook("finished", "echo $FRESHER_FINISH_TYPE >> .git/finished");
        stage.client_does("taut task claim > .git/claimed; while :; do sleep 0.1; done");
        let mut going = stage.start_loop(&["loop", "build"]);
        stage.until_written(".git/claimed");
        going.signal(signal);
        going.signal(signal);
        assert_eq!(going.end(), Some(130), "{}", going.printed());
        let task = stage.show("t1");
        assert_eq!((task["s"].as_str(), task["retry_count"].as_i64()), (Some("open"), Some(1)), "{task}");
        assert_eq!(task["fail_reason"], "session exited without completing task");
        assert_eq!(stage.read(".git/finished"), "manual\n");
        assert!(stage.task(&["agent", "list", "--json"]).stdout_text().contains("stopped"));
    }
}

#[test]
fn l4_a_closed_terminal_does_not_end_the_loop_before_its_time() {
    let stage = Stage::with_plan();
    stage.loop_hook("finished", "echo $FRESHER_FINISH_TYPE >> .git/finished").client_does(FINE);
    stage.sandbox.trust_project().unwrap();
    let mut command = stage.command(&["loop", "build"]);
    command
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop((child.stdout.take(), child.stderr.take()));
    let code = poll::until("the loop to end", PLENTY, || child.try_wait().unwrap()).unwrap().code();
    assert_eq!((code, stage.read(".git/finished")), (Some(11), "no_changes\n".to_string()));
}

#[test]
fn l4_ctrl_c_during_a_wait_ends_it_at_once() {
    let stage = Stage::with_plan();
    stage.client_does(r#"echo '{"type":"result","is_error":true,"api_error_status":429}'; touch .git/limited; exit 1"#);
    let mut going = stage.start_loop(&["loop", "build"]);
    poll::until("the limit", PLENTY, || going.printed().contains("iteration 1 ended").then_some(())).unwrap();
    going.signal(libc::SIGINT);
    assert_eq!(going.end(), Some(130), "{}", going.printed());
}
