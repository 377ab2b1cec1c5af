//! `taut` without a word: the overview, or a hook whose words its host dropped (D1).

use serde_json::json;
use std::process::{Command, Stdio};
use testkit::process::{self, Finished, ProcessInput};
use testkit::stage::{LIMIT, Stage, assert_decided, assert_denied, assert_silent};

/// What every overview begins with.
const OVERVIEW: &str = "taut ";

fn bare(stage: &Stage) -> Command {
    stage.command(&[])
}

fn given(stage: &Stage, stdin: &[u8]) -> Finished {
    process::run(bare(stage), stdin, LIMIT).unwrap()
}

fn assert_overview(done: &Finished, what: &str) {
    assert!(done.success() && done.stdout_text().starts_with(OVERVIEW), "{what}: {:?}", done.stdout_text());
    assert!(done.stdout_text().contains("guard"), "{what}: {:?}", done.stdout_text());
}

#[test]
fn d1_a_payload_on_stdin_makes_it_a_hook() {
    for stage in [Stage::without_daemon(), Stage::with_daemon()] {
        assert_silent(&given(&stage, &stage.bash("harmless", "touch ran")), "a call");
        assert_denied(&given(&stage, &stage.bash("fatal", "rm -rf ~/")), "a call");
        let unended = process::run_with(bare(&stage), ProcessInput::Unended(&stage.bash("open", "rm -rf /")), LIMIT);
        assert_denied(&unended.unwrap(), "a stdin that is never closed");
        let end = stage.payload(&json!({"hook_event_name": "SessionEnd", "reason": "other"}));
        assert_silent(&given(&stage, &end), "an end");
        assert_eq!(stage.calls(), ["harmless", "fatal", "open"]);
    }
}

#[test]
fn d1_a_payload_that_came_broken_or_large_is_a_hooks_all_the_same() {
    let stage = Stage::without_daemon();
    let mut cut = stage.bash("cut", "rm -rf /");
    cut.truncate(cut.len() - 1);
    assert_denied(&given(&stage, &cut), "cut");
    let marked = [&b"\xef\xbb\xbf\n "[..], &stage.bash("marked", "rm -rf /"), b"\ngarbage"].concat();
    assert_denied(&given(&stage, &marked), "a byte order mark before, and garbage behind");
    let large = json!({
        "tool_input": {"description": "x".repeat(1 << 20), "command": "rm -rf /"}, "tool_name": "Bash",
        "tool_use_id": "large", "hook_event_name": "PreToolUse",
    });
    assert_denied(&given(&stage, large.to_string().as_bytes()), "large, and its event last");
}

#[test]
fn d1_anything_else_on_stdin_is_the_overview() {
    let stage = Stage::without_daemon();
    let others: [&[u8]; 9] = [
        b"", b"\n", b"hi\n", b"{}", b"{\"name\":\"x\"}", b"[{\"hook_event_name\":\"PreToolUse\"}]",
        b"see {\"hook_event_name\":\"PreToolUse\"}", b"{\"hook_event_name\":7}", b"\"hook_event_name\"",
    ];
    for stdin in others {
        let what = String::from_utf8_lossy(stdin).into_owned();
        assert_overview(&given(&stage, stdin), &what);
        assert_overview(&process::run_with(bare(&stage), ProcessInput::Unended(stdin), LIMIT).unwrap(), &what);
    }
    let mut nothing = bare(&stage);
    let shown = nothing.stdin(Stdio::null()).output().unwrap();
    assert!(String::from_utf8_lossy(&shown.stdout).starts_with(OVERVIEW));
    assert!(stage.events().is_empty(), "{:?}", stage.events());
}

#[test]
fn d1_a_process_that_a_host_calls_as_a_hook_prints_nothing_but_an_answer() {
    let stage = Stage::without_daemon();
    let hosted = |input| {
        let mut command = bare(&stage);
        command.env("CLAUDE_PROJECT_DIR", stage.sandbox.project());
        process::run_with(command, input, LIMIT).unwrap()
    };
    assert_silent(&hosted(ProcessInput::Whole(b"")), "nothing at all");
    assert_decided(&hosted(ProcessInput::Unended(b"")), "ask", "nothing came in time");
    assert_decided(&hosted(ProcessInput::Whole(b"hi\n")), "ask", "what cannot be read");
    assert_denied(&hosted(ProcessInput::Whole(&stage.bash("fatal", "rm -rf /"))), "a call");
}

#[test]
fn d1_words_and_links_are_what_they_were() {
    let stage = Stage::without_daemon();
    let call = stage.bash("call", "rm -rf /");
    let version = process::run(stage.command(&["version"]), &call, LIMIT).unwrap();
    assert!(version.success() && version.stdout_text().starts_with("taut "), "{}", version.stdout_text());
    let link = stage.sandbox.tmp().join("task");
    std::os::unix::fs::symlink(stage.sandbox.bin(), &link).unwrap();
    let task = process::run(stage.sandbox.command(&link), &call, LIMIT).unwrap();
    assert!(!task.stdout_text().contains("permissionDecision"), "{}", task.stdout_text());
    assert!(stage.events().is_empty());
}
