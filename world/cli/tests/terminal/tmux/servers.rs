//! Several servers, and servers that vanish, stop, or never were.

use super::*;
use std::fs;
use std::os::unix::fs::symlink;
use testkit::stage::put_program;
use testkit::{AgentStep, FakeAgent};

#[test]
fn f2_each_server_is_painted_through_its_own_socket_though_pane_numbers_are_the_same() {
    if testkit::is_missing("tmux") {
        return;
    }
    let stage = Stage::installed().and_daemon();
    let (one, two) = (stage.tmux("one"), stage.tmux("two"));
    let (here, there) = (one.first_pane(), two.first_pane());
    assert_eq!(here, there, "both servers count from the same number");
    for tmux in [&one, &two] {
        stage.taut_in(tmux, &["tmux", "apply"]);
    }
    stage.agent_in("ada", &one, &here).play(&[AgentStep::start(), AgentStep::prompt("go"), fails()]).unwrap();
    stage.agent_in("bob", &two, &there).play(&[AgentStep::start(), AgentStep::prompt("go")]).unwrap();
    one.wait_for_style(&here, ERROR);
    two.wait_for_style(&there, WORKING);
}

#[test]
fn f2_a_pane_or_server_that_vanished_is_forgotten_and_the_others_are_painted_on() {
    if testkit::is_missing("tmux") {
        return;
    }
    let stage = Stage::installed().and_daemon();
    let (one, two) = (stage.tmux("one"), stage.tmux("two"));
    let (first, second) = (one.first_pane(), one.split());
    for tmux in [&one, &two] {
        stage.taut_in(tmux, &["tmux", "apply"]);
    }
    let mut agents: Vec<FakeAgent> =
        [("ada", &one, first.as_str()), ("bob", &one, &second), ("cyd", &two, &two.first_pane())]
            .into_iter()
            .map(|(name, tmux, pane)| stage.agent_in(name, tmux, pane))
            .collect();
    for agent in &mut agents {
        agent.play(&[AgentStep::start(), AgentStep::prompt("go")]).unwrap();
    }
    one.wait_for_style(&second, WORKING);
    one.ask(&["kill-pane", "-t", &second]);
    drop(two);
    for agent in &mut agents {
        agent.play(&[fails()]).unwrap();
    }
    one.wait_for_style(&first, ERROR);
    let log = daemon_log(&stage);
    assert!(!log.contains("panicked") && !log.contains("no such pane"), "{log}");
}

/// A server that is gone has nothing to apply and nothing to take back, unless somebody names it.
#[test]
fn f2_of_several_servers_one_that_is_gone_is_left_out_with_a_note() {
    if testkit::is_missing("tmux") {
        return;
    }
    let stage = Stage::installed().with_env("TAUT_NO_DAEMON", "1");
    let (one, two) = (stage.tmux("one"), stage.tmux("two"));
    for (name, tmux) in [("ada", &one), ("bob", &two)] {
        stage.agent_in(name, tmux, &tmux.first_pane()).play(&[AgentStep::start(), AgentStep::prompt("go")]).unwrap();
    }
    let variable = two.variable();
    let gone = variable.split(',').next().unwrap();
    drop(two);
    for verb in ["apply", "clear"] {
        let done = stage.taut(&["tmux", verb]);
        assert!(done.success(), "{verb}: {}", done.stderr_text());
        assert_eq!(done.stdout_text().lines().count(), 1, "{verb}: {}", done.stdout_text());
        assert!(done.stderr_text().contains(&format!("{gone}: no server listens there")), "{}", done.stderr_text());
        assert_eq!(stage.taut(&["tmux", verb, "--socket", gone]).code(), Some(1), "{verb} by name");
    }
}

#[test]
fn f2_a_server_that_is_stopped_holds_up_no_hook_and_no_other_server() {
    if testkit::is_missing("tmux") {
        return;
    }
    let stage = Stage::installed().and_daemon();
    let (deaf, well) = (stage.tmux("deaf"), stage.tmux("well"));
    for tmux in [&deaf, &well] {
        stage.taut_in(tmux, &["tmux", "apply"]);
    }
    let stopped = Stopped::new(&deaf);
    let mut in_deaf = stage.agent_in("ada", &deaf, "%0");
    let mut in_well = stage.agent_in("bob", &well, &well.first_pane());
    let calls = in_deaf
        .play(&[AgentStep::start(), AgentStep::prompt("go"), fails(), asks(), fails(), AgentStep::stop()])
        .unwrap();
    assert!(calls.iter().all(|call| call.finished.success() && call.finished.stdout.is_empty()), "{calls:#?}");
    assert_eq!(stage.status_of("ada"), "done", "all of it is recorded while the server is still stopped");
    in_well.play(&[AgentStep::start(), AgentStep::prompt("go"), fails()]).unwrap();
    well.wait_for_style(&well.first_pane(), ERROR);
    drop(stopped);
    // Not taken for dead: it is painted when it answers again.
    deaf.wait_for_style("%0", DONE);
}

#[test]
fn f2_without_tmux_there_is_silence() {
    let stage = Stage::installed();
    // One that cannot be started stands in the way of any that the machine has.
    stage.own_tmux("#!/nowhere/at-all\n");
    // A search path on which everything is but tmux.
    let bin = stage.sandbox.root().join("only");
    fs::create_dir(&bin).unwrap();
    symlink(stage.sandbox.bin(), bin.join("taut")).unwrap();
    let stage = Stage { sandbox: stage.sandbox.with_env("PATH", &bin) };
    stage.start_daemon();
    // Somebody listens there, so that tmux itself would be asked.
    let socket = stage.sandbox.tmp().join("s");
    let _listening = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let place = format!("{},1,0", socket.display());
    let mut agent = FakeAgent::new(&stage.sandbox)
        .with_env("TAUT_AGENT_ID", "ada")
        .with_env("TMUX", &place)
        .with_env("TMUX_PANE", "%0");
    let calls = agent.play(&[AgentStep::start(), AgentStep::prompt("go"), fails(), AgentStep::stop()]).unwrap();
    for call in calls {
        assert!(
            call.finished.success() && call.finished.stdout.is_empty() && call.finished.stderr.is_empty(),
            "{call:#?}"
        );
    }
    let mut status = stage.sandbox.command(stage.sandbox.bin());
    status.args(["tmux", "status", "--words"]).env("TMUX", &place);
    let done = testkit::process::run(status, b"", PLENTY).unwrap();
    assert_eq!((done.stdout_text().as_str(), done.stderr_text().as_str()), ("1 done\n", ""));
    let log = daemon_log(&stage);
    assert!(!log.contains("tmux") && !log.contains("panicked"), "{log}");
    let apply = stage.taut(&["tmux", "apply", "--socket", &socket.to_string_lossy()]);
    assert!(apply.stderr_text().contains("tmux is not installed"), "{}", apply.stderr_text());
}

/// A repository's settings set variables for every hook, and a daemon that a hook started has them too.
#[test]
fn f2_g11_a_tmux_on_a_repositorys_search_path_is_not_run() {
    if testkit::is_missing("tmux") {
        return;
    }
    let stage = recorded();
    let evil = stage.sandbox.root().join("evil");
    fs::create_dir(&evil).unwrap();
    put_program(&evil.join("tmux"), "#!/bin/sh\n: > \"$TMPDIR/evil-ran\"\n");
    let tmux = stage.tmux("one");
    let pane = tmux.first_pane();
    let stage = Stage { sandbox: stage.sandbox.with_env("PATH", format!("{}:/usr/bin:/bin", evil.display())) };
    stage.start_daemon();
    let mut agent = stage.agent_in("ada", &tmux, &pane);
    agent.play(&[AgentStep::start()]).unwrap();
    stage.taut_in(&tmux, &["tmux", "apply"]);
    agent.play(&[AgentStep::prompt("go"), fails()]).unwrap();
    tmux.wait_for_style(&pane, ERROR);
    assert!(!stage.sandbox.tmp().join("evil-ran").exists());
}

/// A server that does not move until this is dropped.
struct Stopped(i32);

impl Stopped {
    fn new(tmux: &TestTmux) -> Self {
        let pid = tmux.ask(&["display-message", "-p", "#{pid}"]).parse().unwrap();
        // SAFETY: a plain number; the server was started by this test.
        unsafe { libc::kill(pid, libc::SIGSTOP) };
        Self(pid)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        // SAFETY: as above; a server that is gone is nobody's any more.
        unsafe { libc::kill(self.0, libc::SIGCONT) };
    }
}

fn daemon_log(stage: &Stage) -> String {
    let files = fs::read_dir(stage.sandbox.taut_home()).unwrap().map(|entry| entry.unwrap().path());
    let logs = files.filter(|path| path.extension().is_some_and(|end| end == "log"));
    logs.map(|path| fs::read_to_string(path).unwrap_or_default()).collect()
}

#[test]
fn f2_paint_left_behind_by_a_daemon_that_was_killed_goes_with_the_next_look_of_the_bar() {
    if testkit::is_missing("tmux") {
        return;
    }
    let stage = Stage::installed().and_daemon();
    let tmux = stage.tmux("one");
    let pane = tmux.first_pane();
    stage.taut_in(&tmux, &["tmux", "apply"]);
    let mut agent = stage.agent_in("ada", &tmux, &pane);
    agent.play(&[AgentStep::start(), AgentStep::prompt("go")]).unwrap();
    tmux.wait_for_style(&pane, WORKING);
    assert!(stage.taut(&["daemon", "stop"]).success());
    agent.play(&[AgentStep::end()]).unwrap();
    stage.start_daemon();
    stage.taut_in(&tmux, &["tmux", "status"]);
    assert_eq!(tmux.pane_option(&pane, "window-style"), "");
}
