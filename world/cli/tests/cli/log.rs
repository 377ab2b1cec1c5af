//! What went wrong can be seen: the daemon's log, and who names its last lines.

use serde_json::Value;
use std::fs;
use testkit::poll;
use testkit::stage::{DAEMON, IN_PROCESS, LIMIT, Stage};

/// Where a secret stands in it, in pieces so that nobody takes this file for one with a secret in it.
fn unreadable() -> (Vec<u8>, String) {
    let secret = ["ghp_", "16C7e42F292c6912E7", "710c838347Ae178B4a"].concat();
    (format!("[\"GITHUB_TOKEN={secret}\" \u{1b}]0;x").into_bytes(), secret)
}

fn troubles(stage: &Stage) -> Vec<String> {
    let lines = stage.list(&["daemon", "log", "--json"]);
    let is_trouble = |line: &&Value| ["WARN", "ERROR"].contains(&line["level"].as_str().unwrap_or_default());
    lines.iter().filter(is_trouble).map(|line| line["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_payload_that_cannot_be_read_is_in_the_log_whoever_served_it_and_the_doctor_names_it() {
    for env in [DAEMON, IN_PROCESS] {
        let stage = if env == DAEMON { Stage::with_daemon() } else { Stage::new() };
        let (payload, secret) = unreadable();
        assert_eq!(stage.hook(&payload, env).code(), Some(0));
        // On a busy machine there may be another trouble beside it.
        let unread = |line: &String| line.contains("could not read the call");
        let logged =
            poll::until("the trouble to be logged", LIMIT, || troubles(&stage).into_iter().find(unread)).unwrap();
        let shown = stage.taut(&["daemon", "log"]).stdout_text();
        assert!(shown.contains("WARN  ") && shown.contains(&logged), "{shown}");
        let file = fs::read_to_string(stage.sandbox.taut_home().join("daemon.log")).unwrap();
        assert!(!file.contains(&secret) && !file.contains('\u{1b}'), "{file}");
        let doctor = stage.taut(&["doctor"]).stdout_text();
        let named = doctor.lines().find(|line| line.contains("could not read the call")).expect(&doctor);
        assert!(named.starts_with("warn log       20"), "it says when: {named}");
        assert!(doctor.contains("→ taut daemon log"), "{doctor}");
    }
}

#[test]
fn a_call_that_goes_well_leaves_no_line_and_the_debug_level_tells_of_it() {
    for (level, told) in [("info", 0), ("debug", 1)] {
        let stage = Stage::new();
        let mut start = stage.sandbox.command(stage.sandbox.bin());
        start.args(["daemon", "start"]).env("TAUT_LOG", level);
        assert!(testkit::process::run(start, b"", LIMIT).unwrap().success());
        assert_eq!(stage.hook(&stage.bash("one", "echo hello"), DAEMON).code(), Some(0));
        let log = stage.taut(&["daemon", "log"]).stdout_text();
        assert!(log.contains("INFO  serving as process"), "{log}");
        assert_eq!(log.matches("PreToolUse").count(), told, "{log}");
    }
    let stage = Stage::new();
    stage.hook(&stage.bash("one", "echo hello"), IN_PROCESS);
    assert!(!stage.sandbox.taut_home().join("daemon.log").exists(), "nothing went wrong");
}

#[test]
fn where_nothing_is_logged_that_is_said_and_doctor_says_that_nothing_went_wrong() {
    let stage = Stage::new();
    let shown = stage.taut(&["daemon", "log"]);
    assert!(shown.success() && shown.stdout_text().is_empty(), "{}", shown.stdout_text());
    assert!(shown.stderr_text().contains("nothing is logged yet in"), "{}", shown.stderr_text());
    assert!(shown.stderr_text().contains("`taut daemon start`"), "{}", shown.stderr_text());
    let doctor = stage.taut(&["doctor"]).stdout_text();
    assert!(doctor.contains("ok   log       nothing went wrong in the last day"), "{doctor}");
}

#[test]
fn many_that_start_at_once_leave_no_trouble_in_the_log() {
    let stage = Stage::with_daemon();
    let state = stage.sandbox.taut_home();
    let log = fs::OpenOptions::new().append(true).open(state.join("daemon.log")).unwrap();
    let mut late = stage.sandbox.command(stage.sandbox.bin());
    let ended = late.args(["daemon", "run"]).stderr(log).status().unwrap();
    assert_eq!(ended.code(), Some(1));
    let lines = fs::read_to_string(state.join("daemon.log")).unwrap();
    assert_eq!(lines.lines().count(), 1, "{lines}");
}
