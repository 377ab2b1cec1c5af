//! A person is told how a loop ended without writing a hook, with a daemon and without.

use super::{FINE, WORK};
use serde_json::Value;
use std::time::Duration;
use testkit::poll;
use testkit::stage::Stage;

const PLENTY: Duration = Duration::from_secs(60);

/// A program of the user's that keeps every event, one a line.
const ON: &str = "[notify]\non = [\"attention\", \"error\", \"done\"]\ndebounce = \"50ms\"\n\
    command = [\"/bin/sh\", \"-c\", \"cat >> $HOME/told\"]\n";

fn told(stage: &Stage) -> Vec<Value> {
    let first = || Some(stage.home_file("told")).filter(|text| text.ends_with('\n'));
    let text = poll::until("a notice", PLENTY, first).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn l13_f5_the_end_of_a_loop_is_told_once_without_a_daemon() {
    let stage = Stage::with_plan();
    stage.configure(ON);
    // Its agent ends three sessions on the way, which nobody wants to know.
    stage.client_does(&format!(
        r#"hook() {{ echo "{{\"hook_event_name\":\"$1\",\"session_id\":\"s$$\",\"cwd\":\"$PWD\"}}" | taut hook --agent claude-code; }}
        hook UserPromptSubmit > /dev/null; {WORK} hook Stop > /dev/null; {FINE}"#
    ));
    assert_eq!(stage.build(&[]).code(), Some(0));
    let [one] = told(&stage).try_into().unwrap();
    assert_eq!(one["status"], "done", "{one}");
    let message = one["message"].as_str().unwrap();
    assert!(message.contains("is done: project: complete (everything is done)"), "{message}");
}

#[test]
fn l13_f5_a_loop_that_needs_a_person_is_told_as_an_error_and_shown_as_one() {
    let stage = Stage::with_plan();
    stage.configure(ON);
    stage.client_does("exit 3");
    assert_eq!(stage.build(&["--max-failures", "1"]).code(), Some(20));
    let [one] = told(&stage).try_into().unwrap();
    assert_eq!(one["status"], "error", "{one}");
    assert!(one["message"].as_str().unwrap().contains("error (the agent ended with 3"), "{one}");
    let rows = stage.list(&["agents", "--json"]);
    assert_eq!(rows[0]["status"], "error", "{rows:?}");
    assert!(rows[0]["why"].as_str().unwrap().contains("the agent ended with 3"), "{rows:?}");
}

#[test]
fn l13_i5_nobody_is_told_of_a_loop_while_it_is_off() {
    let stage = Stage::with_plan();
    stage.client_does(&format!("{WORK} {FINE}"));
    assert_eq!(stage.build(&[]).code(), Some(0));
    assert!(!stage.sandbox.taut_home().join("notify.lock").exists(), "somebody was started to tell");
    assert_eq!(stage.home_file("told"), "");
}
