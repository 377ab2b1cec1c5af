//! The throw-away home.

use std::collections::BTreeMap;
use std::os::unix::net::UnixListener;
use std::time::Duration;

use testkit::stage::put_program;
use testkit::{Sandbox, poll, process};

const PLENTY: Duration = Duration::from_secs(20);

#[test]
fn a_process_sees_the_sandbox_and_nothing_of_the_tester() {
    let sandbox = crate::sandbox().with_env("TAUT_AGENT_ID", "one");
    let done = process::run(sandbox.command("env"), b"", PLENTY).unwrap();
    let text = done.stdout_text();
    let env: BTreeMap<_, _> = text.lines().filter_map(|line| line.split_once('=')).collect();
    let root = sandbox.root().to_str().unwrap();
    for name in ["HOME", "TAUT_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "TMPDIR"] {
        assert!(env[name].starts_with(root), "{name}={}", env[name]);
    }
    assert_eq!(env["TAUT_AGENT_ID"], "one");
    let strangers = env.keys().filter(|name| name.starts_with("CARGO"));
    assert_eq!(strangers.count(), 0, "{env:?}");
}

#[test]
fn the_project_is_a_repository_with_one_commit_where_there_is_git() {
    let sandbox = crate::sandbox();
    let mut git = sandbox.command("git");
    git.args(["rev-list", "--count", "HEAD"]);
    if let Ok(done) = process::run(git, b"", PLENTY) {
        assert_eq!(done.stdout_text(), "1\n");
    }
    assert!(sandbox.project().join("README.md").is_file());
}

#[cfg(target_os = "linux")]
#[test]
fn a_daemon_that_left_its_group_is_found_and_ended_on_drop() {
    let sandbox = crate::sandbox();
    let mut command = sandbox.command("sh");
    command.args(["-c", "(setsid sleep 300 >/dev/null 2>&1 </dev/null &)"]);
    process::run(command, b"", PLENTY).unwrap();
    let left = poll::until("the sleeper", PLENTY, || sandbox.leftovers().pop()).unwrap();
    assert!(left.command.contains("sleep 300"), "{left:?}");
    drop(sandbox);
    assert!(!is_sleeping(left.pid), "{left:?} still runs");
}

#[cfg(target_os = "linux")]
fn is_sleeping(pid: i32) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).contains("sleep")
}

#[test]
fn a_daemon_with_a_socket_is_asked_to_stop_first() {
    let outside = tempfile::TempDir::new().unwrap();
    let bin = outside.path().join("taut");
    let asked = outside.path().join("asked");
    put_program(
        &bin,
        &format!(
            "#!/bin/sh
echo \"$*\" > '{}'
",
            asked.display()
        ),
    );
    let sandbox = Sandbox::new(bin).unwrap();
    let _socket = UnixListener::bind(sandbox.taut_home().join("taut.sock")).unwrap();
    drop(sandbox);
    assert_eq!(crate::read(&asked), "daemon stop\n");
}

#[test]
fn a_copied_program_runs_from_the_sandbox_by_name() {
    let outside = tempfile::TempDir::new().unwrap();
    let bin = outside.path().join("built");
    put_program(&bin, "#!/bin/sh\necho \"$0 $*\"\n");
    let sandbox = Sandbox::with_copy_of(&bin).unwrap();
    drop(outside);
    let expected = format!("{} hello\n", sandbox.bin().display());
    assert_eq!(sandbox.taut(&["hello"], b"").unwrap().stdout_text(), expected);
    let mut by_name = sandbox.command("taut");
    by_name.arg("hello");
    assert_eq!(process::run(by_name, b"", PLENTY).unwrap().stdout_text(), expected);
}

#[test]
fn without_a_daemon_nobody_is_asked_and_the_folder_goes() {
    let sandbox = crate::sandbox();
    let root = sandbox.root().to_owned();
    drop(sandbox);
    assert!(!root.exists());
}
