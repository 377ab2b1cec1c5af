//! A daemon that a hook started, and what it runs, have an environment of our own making (T8).

use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use testkit::stage::{LIMIT, Stage};
use testkit::{poll, process};

/// What a hook may have in its environment, from a repository or from the user's own shell.
const FOREIGN: &[(&str, &str)] = &[
    ("LD_PRELOAD", "/repo/evil.so"),
    ("LD_LIBRARY_PATH", "/repo/lib"),
    ("BASH_ENV", "/repo/evil.sh"),
    ("ANTHROPIC_API_KEY", "sk-hunter2"),
    ("GITHUB_TOKEN", "ghp_hunter2"),
    ("GIT_DIR", "/repo/.git"),
    ("CLAUDE_CODE_MESSAGING_TOKEN", "hunter2"),
];

fn assert_clean(what: &str, environment: &str) {
    for foreign in ["/repo", "hunter2", "LD_", "TOKEN", "BASH_ENV", "GIT_"] {
        assert!(!environment.contains(foreign), "{what} has {foreign}: {environment}");
    }
}

/// Starts a daemon by a hook of a session in a pane, and gives what a fake tmux of the user's says of its environment.
fn started_by_a_hook(stage: &Stage) -> String {
    let home = stage.sandbox.home();
    fs::create_dir_all(home.join(".local/bin")).unwrap();
    let tmux = home.join(".local/bin/tmux");
    let mut write = stage.sandbox.command("sh");
    // By a child, so that nobody has it open for writing when it is run.
    write.args(["-c", "printf '#!/bin/sh\\n/usr/bin/env > \"$HOME/tmux.part\"; mv \"$HOME/tmux.part\" \"$HOME/tmux.env\"\\n' > \"$0\""]);
    assert!(
        process::run(
            {
                write.arg(&tmux);
                write
            },
            b"",
            LIMIT
        )
        .unwrap()
        .success()
    );
    fs::set_permissions(&tmux, fs::Permissions::from_mode(0o755)).unwrap();
    let socket = stage.sandbox.tmp().join("tmux.sock");
    let _listens = UnixListener::bind(&socket).unwrap();
    let path = format!("/repo/bin:{}", std::env::var("PATH").unwrap_or_default());
    let place = format!("{},1,0", socket.display());
    let mut env = FOREIGN.to_vec();
    env.extend([("PATH", path.as_str()), ("TMUX", &place), ("TMUX_PANE", "%0"), ("TAUT_AGENT_ID", "ada")]);
    let start = json!({"hook_event_name": "SessionStart", "source": "startup"});
    assert!(stage.hook(&stage.payload(&start), &env).success());
    poll::until("the daemon", LIMIT, || stage.daemon_pid()).unwrap();
    poll::until("tmux to be asked", LIMIT, || fs::read_to_string(home.join("tmux.env")).ok()).unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn t8_neither_a_daemon_nor_its_tmux_has_anything_of_the_hook_that_started_it() {
    let stage = Stage::new();
    let tmux = started_by_a_hook(&stage);
    assert_clean("tmux", &tmux);
    let pid = stage.daemon_pid().unwrap();
    let daemon = fs::read_to_string(format!("/proc/{pid}/environ")).unwrap();
    assert_clean("the daemon", &daemon);
    let home = format!("HOME={}\0", stage.sandbox.home().display());
    assert!(daemon.contains(&home) && daemon.contains("PATH=") && daemon.contains("TAUT_HOME="), "{daemon}");
    assert_eq!(fs::read_link(format!("/proc/{pid}/cwd")).unwrap().to_str(), Some("/"));
}

#[cfg(target_os = "linux")]
#[test]
fn t8_a_daemon_started_by_command_has_nothing_of_the_callers_environment() {
    let stage = Stage::new();
    let mut start = stage.sandbox.command(stage.sandbox.bin());
    start.args(["daemon", "start"]).envs(FOREIGN.iter().copied()).env("PATH", "/repo/bin:/usr/bin:/bin");
    assert!(process::run(start, b"", LIMIT).unwrap().success());
    let pid = stage.daemon_pid().unwrap();
    assert_clean("the daemon", &fs::read_to_string(format!("/proc/{pid}/environ")).unwrap());
}
