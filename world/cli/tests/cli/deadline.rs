//! Nothing a hook depends on can hang it (D6). The limit of the test is the only clock here.

use rusqlite::Connection;
use serde_json::json;
use std::process::{Command, Stdio};
use testkit::stage::{DAEMON, IN_PROCESS, LIMIT, Stage, assert_decided, assert_denied, assert_silent, signal};
use testkit::{poll, process};

#[test]
fn d6_a_stopped_daemon_costs_no_answer_and_stores_nothing_twice() {
    let stage = Stage::with_daemon();
    stage.hook(&stage.payload(&json!({"hook_event_name": "SessionStart", "source": "startup"})), DAEMON);
    let daemon = stage.daemon_pid().unwrap();
    signal(daemon, libc::SIGSTOP).unwrap();
    let harmless = stage.hook(&stage.bash("harmless", "ls"), DAEMON);
    let denied = stage.hook(&stage.bash("fatal", "rm -rf /"), DAEMON);
    let ended = stage.hook(&stage.payload(&json!({"hook_event_name": "SessionEnd", "reason": "other"})), DAEMON);
    signal(daemon, libc::SIGCONT).unwrap();
    assert_silent(&harmless, "stopped daemon");
    assert_denied(&denied, "stopped daemon");
    assert_silent(&ended, "stopped daemon");
    // The daemon now finds the same three calls in its socket; it serves them before this one.
    let served = poll::until("the daemon to catch up", LIMIT, || {
        let status = stage.taut(&["daemon", "status", "--json"]);
        let status: serde_json::Value = serde_json::from_str(&status.stdout_text()).ok()?;
        (status["served"].as_u64()? >= 4).then_some(())
    });
    served.unwrap();
    let names: Vec<_> = stage.events().iter().map(|event| event["event"].as_str().unwrap().to_owned()).collect();
    assert_eq!(names, ["SessionStart", "PreToolUse", "PreToolUse", "SessionEnd"]);
    let sessions = stage.list(&["sessions", "--all", "--json"]);
    assert_eq!(sessions.len(), 1, "{sessions:#?}");
    assert_eq!(sessions[0]["end_reason"], "other");
}

#[test]
fn d6_a_stdin_that_is_never_closed_is_taken_once_it_holds_a_whole_call() {
    for (stage, env) in [(Stage::new(), IN_PROCESS), (Stage::with_daemon(), DAEMON)] {
        assert_silent(&stage.hook_unended(&stage.bash("harmless", "ls"), env), "unended");
        assert_denied(&stage.hook_unended(&stage.bash("fatal", "rm -rf /"), env), "unended");
        assert_eq!(stage.calls(), ["harmless", "fatal"]);
    }
}

#[test]
fn d6_a_stdin_that_never_becomes_whole_is_judged_as_far_as_it_goes() {
    for (stage, env) in [(Stage::new(), IN_PROCESS), (Stage::with_daemon(), DAEMON)] {
        let mut cut = stage.bash("cut", "rm -rf /");
        cut.truncate(cut.len() - 1);
        assert_denied(&stage.hook_unended(&cut, env), "cut");
        assert_decided(&stage.hook_unended(b"", env), "ask", "nothing at all");
        let mut harmless = stage.bash("cut-too", "ls");
        harmless.truncate(harmless.len() - 3);
        assert_decided(&stage.hook_unended(&harmless, env), "ask", "what is missing may be anything");
        let end = stage.payload(&json!({"hook_event_name": "SessionEnd", "reason": "other"}));
        assert_silent(&stage.hook_unended(&end[..end.len() - 1], env), "a cut end");
        stage.take_in();
        assert_eq!(stage.events().len(), 4);
    }
}

/// Both at once: the daemon is stopped and the database is locked, which is the longest way there is.
#[test]
fn d6_a_stopped_daemon_and_a_locked_database_together_leave_the_guard_standing() {
    let stage = Stage::with_daemon();
    stage.hook(&stage.bash("first", "ls"), DAEMON);
    let other = Connection::open(stage.database()).unwrap();
    let daemon = stage.daemon_pid().unwrap();
    signal(daemon, libc::SIGSTOP).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let denied = stage.hook(&stage.bash("fatal", "rm -rf /"), DAEMON);
    other.execute_batch("ROLLBACK").unwrap();
    signal(daemon, libc::SIGCONT).unwrap();
    assert_denied(&denied, "both");
    stage.take_in();
    assert_eq!(stage.calls(), ["first", "fatal"]);
}

/// Five megabytes arrive and are judged within the limits of the real program.
#[test]
fn d6_a_large_call_is_answered_like_any_other() {
    for (stage, env) in [(Stage::new(), IN_PROCESS), (Stage::with_daemon(), DAEMON)] {
        let big = "x".repeat(5 << 20);
        let call = json!({
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "big",
            "tool_input": {"command": "rm -rf /", "description": big},
        });
        assert_denied(&stage.hook(&stage.payload(&call), env), "large");
        stage.take_in();
        assert_eq!(stage.calls(), ["big"]);
    }
}

/// What stands behind the first eight megabytes is not read: not even which event it is.
#[test]
fn t1_what_is_too_large_to_be_read_is_asked_about() {
    for (stage, env) in [(Stage::new(), IN_PROCESS), (Stage::with_daemon(), DAEMON)] {
        let big = "x".repeat(9 << 20);
        let before = format!(r#"{{"padding":"{big}","hook_event_name":"PreToolUse","tool_name":"Bash"}}"#);
        assert_decided(&stage.hook(before.as_bytes(), env), "ask", "no event");
        let inside = json!({
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "big",
            "tool_input": {"command": format!("echo {big}; rm -rf /")},
        });
        assert_decided(&stage.hook(&stage.payload(&inside), env), "ask", "no end");
    }
}

#[test]
fn d6_a_stdout_that_nobody_reads_does_not_hang_the_hook() {
    for (stage, env) in [(Stage::new(), IN_PROCESS), (Stage::with_daemon(), DAEMON)] {
        let (reader, writer) = std::io::pipe().unwrap();
        fill(&writer);
        let mut hook = stage.hook_command(env);
        hook.stdin(Stdio::piped()).stdout(writer.try_clone().unwrap()).stderr(writer);
        let mut child = hook.spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), &stage.bash("fatal", "rm -rf /")).unwrap();
        drop(hook);
        let ended = poll::until("the hook to end", LIMIT, || child.try_wait().unwrap());
        assert_eq!(ended.unwrap().code(), Some(0));
        drop(reader);
        assert_eq!(stage.calls(), ["fatal"]);
    }
}

/// Some hosts take any status but 0 for a denial, or for the end of the run.
#[cfg(target_os = "linux")]
#[test]
fn d6_a_hook_that_is_told_to_end_says_so_in_a_lawful_answer_and_ends_with_0() {
    let stage = Stage::new();
    for wish in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT, libc::SIGUSR1, libc::SIGXCPU] {
        let (child, open) = poll::until("a hook to be ready", LIMIT, || hook_that_catches(&stage, wish)).unwrap();
        signal(i32::try_from(child.id()).unwrap(), wish).unwrap();
        let done = child.wait_with_output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{wish}: {done:?}");
        let said: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
        assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "ask", "{wish}");
        assert!(String::from_utf8_lossy(&done.stderr).contains("told to end"), "{done:?}");
        drop(open);
    }
}

/// A hook that waits for its input and would be told of this signal; `None` where it gave up waiting before that was seen.
#[cfg(target_os = "linux")]
fn hook_that_catches(stage: &Stage, wish: i32) -> Option<(std::process::Child, std::process::ChildStdin)> {
    use std::os::unix::process::CommandExt;
    let mut hook = stage.hook_command(IN_PROCESS);
    // What whoever runs these tests has ignored (`nohup`, a shell in the background) the hook would ignore, too.
    // SAFETY: only restores what a signal does by default.
    unsafe {
        hook.pre_exec(move || {
            libc::signal(wish, libc::SIG_DFL);
            Ok(())
        });
    }
    let mut child = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let open = child.stdin.take().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let catches = |line: &str| {
        let caught = u64::from_str_radix(line.strip_prefix("SigCgt:")?.trim(), 16).ok()?;
        Some(caught >> (wish - 1) & 1 == 1)
    };
    let is_ready = || std::fs::read_to_string(&status).ok()?.lines().find_map(catches);
    let seen = poll::until("the hook to be ready or over", LIMIT, || match child.try_wait().unwrap() {
        Some(_) => Some(false),
        None => is_ready().filter(|ready| *ready),
    });
    seen.unwrap().then_some((child, open))
}

/// Writes until nothing more fits.
fn fill(writer: &std::io::PipeWriter) {
    use std::os::fd::AsRawFd;
    let fd = writer.as_raw_fd();
    // SAFETY: flags of a descriptor of this test's own, and bytes that live as long as the call.
    unsafe {
        let flags = libc::fcntl(fd, libc::F_GETFL);
        libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK);
        while libc::write(fd, [b'x'; 4096].as_ptr().cast(), 4096) > 0 {}
        while libc::write(fd, b"x".as_ptr().cast(), 1) > 0 {}
        libc::fcntl(fd, libc::F_SETFL, flags);
    }
}

/// With hardly any memory there may be no verdict, and that is no pass.
#[test]
fn t1_a_limit_of_memory_ends_in_a_denial_or_a_question_and_never_in_a_crash() {
    const STEP: u64 = 256 << 10;
    for (stage, env) in [(Stage::new(), IN_PROCESS), (Stage::with_daemon(), DAEMON)] {
        // With less the system cannot even load the program.
        let loads = |bytes: &u64| {
            let mut version = stage.sandbox.command(stage.sandbox.bin());
            version.arg("version");
            process::run(limited(version, *bytes), b"", LIMIT).is_ok_and(|done| done.success())
        };
        let least = (16..1024).map(|nth| nth * 4 * STEP).find(loads).expect("it loads with a gigabyte");
        for nth in [0, 1, 2, 3, 4, 6, 8, 12, 16, 32] {
            let hook = limited(stage.hook_command(env), least + nth * STEP);
            let done = process::run(hook, &stage.bash(&format!("fatal-{nth}"), "rm -rf /"), LIMIT).unwrap();
            let what = format!("{} bytes", least + nth * STEP);
            assert_eq!(done.code(), Some(0), "{what}: {:?} {}", done.ending, done.stderr_text());
            let said: serde_json::Value = serde_json::from_slice(&done.stdout)
                .unwrap_or_else(|_| panic!("{what}: {:?} {}", done.stdout_text(), done.stderr_text()));
            let decision = said["hookSpecificOutput"]["permissionDecision"].as_str().unwrap();
            assert!(matches!(decision, "ask" | "deny"), "{what}: {decision}");
        }
    }
}

fn limited(mut command: Command, bytes: u64) -> Command {
    use std::os::unix::process::CommandExt;
    // SAFETY: one call that is allowed between fork and exec.
    unsafe {
        command.pre_exec(move || {
            let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
            if libc::setrlimit(libc::RLIMIT_AS, &raw const limit) == 0 {
                Ok(())
            } else {
                Err(std::io::Error::last_os_error())
            }
        });
    }
    command
}
