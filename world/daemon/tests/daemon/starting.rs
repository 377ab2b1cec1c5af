//! However many try to start a daemon, and whatever the last one left behind, there is one.

use crate::home::{DaemonHome, PATIENCE, is_gone, said, signal, until};
use daemon::{Build, DaemonLaunch, StartError};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixListener;
use std::process::Child;
use std::time::Duration;

fn launch(stage: &DaemonHome, program: &str) -> DaemonLaunch {
    DaemonLaunch {
        folder: stage.folder(),
        program: program.into(),
        args: Vec::new(),
        env: Vec::new(),
        build: Build::of_this(1),
        patience: PATIENCE,
    }
}

#[test]
fn fifty_starters_at_once_leave_one_daemon() {
    let stage = DaemonHome::new();
    let spawn = |_| stage.command(&["daemon", "start"]).spawn().unwrap();
    let starters: Vec<Child> = (0..50).map(spawn).collect();
    let answers: Vec<String> = starters.into_iter().map(|starter| said(&starter.wait_with_output().unwrap())).collect();
    assert_eq!(answers.iter().filter(|answer| answer.starts_with("Fresh")).count(), 1, "{answers:?}");
    assert_eq!(answers.iter().filter(|answer| answer.starts_with("Already")).count(), 49);
    let pid = format!("pid: {},", stage.pid());
    assert!(answers.iter().all(|answer| answer.contains(&pid)), "{answers:?}");
}

#[test]
fn starters_and_daemons_run_by_hand_at_once_leave_one_daemon() {
    let stage = DaemonHome::new();
    drop(UnixListener::bind(stage.socket()).unwrap());
    let runs: Vec<Child> = (0..8).map(|_| stage.command(&["daemon", "run"]).spawn().unwrap()).collect();
    let starts: Vec<Child> = (0..8).map(|_| stage.command(&["daemon", "start"]).spawn().unwrap()).collect();
    for start in starts {
        said(&start.wait_with_output().unwrap());
    }
    let pid = stage.pid();
    let (winner, mut others): (Vec<_>, Vec<_>) = runs.into_iter().partition(|run| run.id() == pid);
    until("the others to give up", || others.iter_mut().all(|run| run.try_wait().unwrap().is_some()));
    for run in others {
        let refused = run.wait_with_output().unwrap();
        assert!(String::from_utf8_lossy(&refused.stderr).contains("already running"), "{refused:?}");
    }
    assert_eq!(stage.pid(), pid);
    daemon::stop(&stage.folder(), PATIENCE).unwrap();
    for run in winner {
        assert!(run.wait_with_output().unwrap().status.success());
    }
}

#[test]
fn a_stale_socket_is_replaced() {
    let stage = DaemonHome::new();
    drop(UnixListener::bind(stage.socket()).unwrap());
    assert!(stage.socket().exists());
    assert!(stage.start().starts_with("Fresh"));
}

#[test]
fn a_stale_socket_is_replaced_by_a_daemon_run_by_hand() {
    let stage = DaemonHome::new();
    drop(UnixListener::bind(stage.socket()).unwrap());
    let mut daemon = stage.command(&["daemon", "run"]).spawn().unwrap();
    until("the daemon to serve", || stage.client().status().is_ok());
    daemon::stop(&stage.folder(), PATIENCE).unwrap();
    assert!(daemon.wait().unwrap().success());
}

#[test]
fn a_stale_lock_keeps_nobody_out() {
    let stage = DaemonHome::new();
    fs::write(stage.folder().join("daemon.lock"), "pid 1\nbuild 9.9.9/9/9\n").unwrap();
    fs::write(stage.folder().join("start.lock"), "").unwrap();
    assert!(stage.start().starts_with("Fresh"));
}

#[test]
fn a_killed_daemon_is_followed_by_another() {
    let stage = DaemonHome::new();
    stage.start();
    let killed = stage.pid();
    signal(killed, libc::SIGKILL);
    until("the daemon to be gone", || is_gone(killed));
    assert!(stage.client().status().unwrap_err().is_absence());
    assert!(stage.start().starts_with("Fresh"));
    assert_ne!(stage.pid(), killed);
}

#[test]
fn a_second_daemon_run_by_hand_is_refused() {
    let stage = DaemonHome::new();
    stage.start();
    let second = stage.command(&["daemon", "run"]).output().unwrap();
    assert!(!second.status.success());
    assert!(String::from_utf8_lossy(&second.stderr).contains("already running"), "{second:?}");
    assert!(stage.client().status().is_ok());
}

#[test]
fn only_a_newer_build_replaces_a_daemon() {
    let stage = DaemonHome::new();
    let start = |schema| said(&stage.command(&["daemon", "start"]).env("PROBE_SCHEMA", schema).output().unwrap());
    assert!(start("2").starts_with("Fresh"));
    let old = stage.pid();
    assert!(start("1").starts_with("Already") && start("2").starts_with("Already"));
    assert_eq!(stage.pid(), old);
    assert!(start("3").starts_with("Replaced"));
    assert!(is_gone(old));
    assert_eq!(stage.client().status().unwrap().build, Build::of_this(3));
}

#[test]
fn a_socket_that_does_not_answer_is_neither_removed_nor_replaced() {
    let stage = DaemonHome::new();
    let _mute = UnixListener::bind(stage.socket()).unwrap();
    let inode = fs::metadata(stage.socket()).unwrap().ino();
    let refused = daemon::start(&launch(&stage, "/bin/false")).unwrap_err();
    assert!(matches!(refused, StartError::CannotTell(_)), "{refused:?}");
    assert_eq!(fs::metadata(stage.socket()).unwrap().ino(), inode);
    assert!(!stage.folder().join("daemon.log").exists(), "nothing was started");
}

#[test]
fn a_file_in_the_place_of_the_socket_is_left_alone() {
    let stage = DaemonHome::new();
    fs::write(stage.socket(), "precious").unwrap();
    let refused = daemon::start(&launch(&stage, "/bin/false")).unwrap_err();
    assert!(matches!(refused, StartError::Stale(_)), "{refused:?}");
    assert_eq!(fs::read_to_string(stage.socket()).unwrap(), "precious");
}

#[test]
fn a_daemon_that_cannot_start_says_why() {
    let stage = DaemonHome::new();
    let missing = daemon::start(&launch(&stage, "/nonexistent/taut")).unwrap_err();
    assert!(matches!(missing, StartError::Spawn { .. }), "{missing:?}");
    fs::create_dir(stage.folder().join("notes")).unwrap();
    let failed = stage.command(&["daemon", "start"]).output().unwrap();
    assert!(!failed.status.success());
    assert!(String::from_utf8_lossy(&failed.stderr).contains("directory"), "{failed:?}");
}

#[test]
fn a_held_lock_without_a_socket_is_waited_for_and_then_named() {
    let stage = DaemonHome::new();
    let lock = fs::File::create(stage.folder().join("daemon.lock")).unwrap();
    lock.lock().unwrap();
    let mut launch = launch(&stage, "/bin/false");
    launch.patience = Duration::from_millis(50);
    let refused = daemon::start(&launch).unwrap_err();
    assert!(matches!(refused, StartError::Hangs { .. }), "{refused:?}");
}

#[test]
fn d7_a_hook_starts_a_daemon_without_waiting_for_it() {
    let stage = DaemonHome::new();
    let script = stage.folder().join("start.sh");
    let program = crate::home::program();
    let line = format!("TAUT_HOME='{}' exec '{}' daemon start", stage.folder().display(), program.display());
    fs::write(&script, line).unwrap();
    daemon::start_in_background(&stage.folder(), "/bin/sh".as_ref(), &[script.into()], Vec::new()).unwrap();
    until("the daemon to serve", || stage.client().status().is_ok());
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_a_hook_started_has_the_log_as_its_standard_error() {
    let stage = DaemonHome::new();
    let script = stage.folder().join("fail.sh");
    fs::write(&script, "echo 'it could not begin' >&2").unwrap();
    daemon::start_in_background(&stage.folder(), "/bin/sh".as_ref(), &[script.into()], Vec::new()).unwrap();
    let log = || fs::read_to_string(stage.folder().join("daemon.log")).unwrap_or_default();
    until("its words to be logged", || log() == "it could not begin\n");
}

#[cfg(target_os = "linux")]
#[test]
fn t8_nothing_of_its_starters_environment_is_in_a_daemon() {
    let stage = DaemonHome::new();
    let mut start = stage.command(&["daemon", "start"]);
    start.env("LD_PRELOAD", "/repo/evil.so").env("API_KEY", "hunter2").env("PATH", "/repo/bin");
    said(&start.env("PROBE_IDLE_MS", "600000").output().unwrap());
    let text = fs::read_to_string(format!("/proc/{}/environ", stage.pid())).unwrap();
    let mut names: Vec<&str> = text.split_terminator('\0').filter_map(|entry| Some(entry.split_once('=')?.0)).collect();
    names.sort_unstable();
    assert_eq!(names, ["PROBE_IDLE_MS", "TAUT_DAEMON_READY", "TAUT_HOME"]);
}

/// The agent kills the process tree of a hook, so the daemon must be nobody's child.
#[cfg(target_os = "linux")]
#[test]
fn a_daemon_is_in_a_session_of_its_own_and_nobodys_child() {
    let stage = DaemonHome::new();
    stage.start();
    let pid = stage.pid();
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    let (parent, session) = (fields[1], fields[3]);
    assert_ne!(parent, std::process::id().to_string());
    // SAFETY: asks for a number.
    let ours = unsafe { libc::getsid(0) };
    assert_ne!(session, ours.to_string());
    for fd in ["0", "1"] {
        let target = fs::read_link(format!("/proc/{pid}/fd/{fd}")).unwrap();
        assert_eq!(target.to_str(), Some("/dev/null"));
    }
}
