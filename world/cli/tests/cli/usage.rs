//! `taut hook` never exits 2 by accident, however it is called (D4).

use std::process::Command;
use testkit::stage::{DAEMON, IN_PROCESS, LIMIT, Stage, assert_decided, assert_denied, assert_silent};
use testkit::{Finished, process};

const LINES: &[&[&str]] = &[
    &["hook"],
    &["hook", "--agent"],
    &["hook", "--agent="],
    &["hook", "--bogus"],
    &["hook", "--agent", "claude-code", "--bogus", "--json=7"],
    &["hook", "PreToolUse"],
    &["hook", "--help"],
    &["hook", "--version"],
    &["hook", "--", "--"],
];

fn called(stage: &Stage, args: &[&str], env: &[(&str, &str)], payload: &[u8]) -> Finished {
    let mut command = stage.sandbox.command(stage.sandbox.bin());
    command.args(args).envs(env.iter().copied());
    process::run(command, payload, LIMIT).unwrap()
}

#[test]
fn d4_a_wrong_command_line_is_still_a_hook() {
    for (stage, env) in [(Stage::new(), IN_PROCESS), (Stage::with_daemon(), DAEMON)] {
        for (nth, args) in LINES.iter().enumerate() {
            let harmless = called(&stage, args, env, &stage.bash(&format!("ls-{nth}"), "ls"));
            assert_silent(&harmless, &format!("{args:?}"));
            let fatal = called(&stage, args, env, &stage.bash(&format!("rm-{nth}"), "rm -rf /"));
            assert_denied(&fatal, &format!("{args:?}"));
        }
        assert_eq!(stage.events().len(), 2 * LINES.len());
    }
}

/// A shell closes what is to be closed before the hook begins.
fn redirected(stage: &Stage, redirect: &str, env: &[(&str, &str)]) -> Finished {
    let mut shell: Command = stage.sandbox.command("sh");
    let line = format!("exec \"$0\" hook --agent claude-code {redirect}");
    shell.arg("-c").arg(line).arg(stage.sandbox.bin()).envs(env.iter().copied());
    process::run(shell, &stage.bash("t1", "rm -rf /"), LIMIT).unwrap()
}

#[test]
fn d4_closed_pipes_are_no_reason_to_fail() {
    for (stage, env) in [(Stage::new(), IN_PROCESS), (Stage::with_daemon(), DAEMON)] {
        assert_silent(&redirected(&stage, "<&-", env), "stdin closed");
        assert_silent(&redirected(&stage, ">&-", env), "stdout closed");
        assert_silent(&redirected(&stage, "<&- >&- 2>&-", env), "all closed");
        assert_silent(&redirected(&stage, "> /dev/full", env), "stdout full");
        let whole = stage.taut(&["db", "check"]);
        assert!(whole.success(), "{}", whole.stderr_text());
        assert!(stage.calls().contains(&"t1".to_owned()), "the call that could be read was recorded");
    }
}

#[test]
fn d4_t1_empty_input_is_no_call_and_unreadable_input_is_asked_about() {
    for (stage, env) in [(Stage::new(), IN_PROCESS), (Stage::with_daemon(), DAEMON)] {
        assert_silent(&stage.hook(b"", env), "nothing");
        for bytes in [&b"\xff\xfe"[..], b"{\"hook", b"[1,2,3]"] {
            assert_decided(&stage.hook(bytes, env), "ask", &String::from_utf8_lossy(bytes));
            let unattended = [env, &[("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")]].concat();
            assert_denied(&stage.hook(bytes, &unattended), "nobody can be asked");
        }
        let names: Vec<_> = stage.events().iter().map(|event| event["event"].clone()).collect();
        assert_eq!(names, ["Unreadable"; 7]);
        let verdicts: Vec<_> = stage.events().iter().map(|event| event["verdict"].clone()).collect();
        assert_eq!(verdicts, ["pass", "ask", "deny", "ask", "deny", "ask", "deny"], "what was answered is stored");
    }
    let alone = Stage::new();
    assert!(alone.hook(b"", IN_PROCESS).stderr_text().contains("could not read the call"));
}

#[test]
fn d4_a_hook_in_a_folder_that_is_gone_still_answers() {
    let stage = Stage::new();
    let gone = stage.sandbox.root().join("gone");
    std::fs::create_dir(&gone).unwrap();
    let mut shell = stage.sandbox.command("sh");
    shell.args(["-c", "rmdir \"$PWD\"; exec \"$0\" hook --agent claude-code"]).arg(stage.sandbox.bin());
    shell.current_dir(&gone).env("TAUT_NO_DAEMON", "1");
    assert_denied(&process::run(shell, &stage.bash("t1", "rm -rf /"), LIMIT).unwrap(), "no folder");
    assert_eq!(stage.calls(), ["t1"]);
}

#[test]
fn help_is_a_word_too() {
    let stage = Stage::new();
    let (all, one) = (stage.taut(&["help"]), stage.taut(&["help", "top"]));
    assert_eq!((all.code(), one.code()), (Some(0), Some(0)), "{}", all.stderr_text());
    assert_eq!(all.stdout_text(), stage.taut(&["--help"]).stdout_text());
    assert!(one.stdout_text().contains("taut top"), "{}", one.stdout_text());
    assert_eq!(stage.taut(&["help", "nothing-of-ours"]).code(), Some(2));
}
