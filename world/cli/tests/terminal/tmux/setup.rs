//! Switching on and off: what is set is taken back to the last byte.

use super::*;
use testkit::{AgentStep, poll, process};

/// A server as its owner has made it their own, in every place that Taut touches.
fn owned(tmux: &TestTmux) {
    let pane = tmux.first_pane();
    for args in [
        &["set-option", "-p", "-t", &pane, "window-style", "fg=red,bg=#102030"][..],
        &["set-option", "-w", "-t", &pane, "window-style", "bg=blue"],
        &["set-option", "-p", "-t", &pane, "@mine", "it's; #{pane_id} $HOME \"x\""],
        &["set-option", "-g", "window-status-format", "#I:#W'\"; #{?window_flags,#F,} \\"],
        &["set-option", "-g", "status-right", "#(date) it's %H:%M;"],
        &["set-hook", "-g", "pane-focus-in[0]", "display-message mine"],
        &["set-hook", "-g", "window-pane-changed[3]", "display-message 'my own'"],
        &["set-option", "-g", "@taunt", "not ours"],
    ] {
        tmux.ask(args);
    }
}

#[test]
fn f2_clear_after_apply_leaves_every_option_and_hook_as_it_was() {
    if testkit::is_missing("tmux") {
        return;
    }
    for theme in [&[][..], &["--light"]] {
        let stage = Stage::installed().with_env("TAUT_NO_DAEMON", "1");
        let tmux = stage.tmux("one");
        owned(&tmux);
        let (first, second) = (tmux.first_pane(), tmux.split());
        let before = everything(&tmux);
        for (name, pane) in [("ada", &first), ("bob", &second)] {
            stage.agent_in(name, &tmux, pane).play(&[AgentStep::start(), AgentStep::prompt("go"), fails()]).unwrap();
        }
        for _ in 0..2 {
            stage.taut_in(&tmux, &[&["tmux", "apply"], theme].concat());
        }
        stage.taut_in(&tmux, &["tmux", "status"]);
        let tint = if theme.is_empty() { ERROR } else { "bg=#fbdcdc" };
        assert_eq!(tmux.pane_option(&first, "window-style"), tint);
        assert_eq!(tmux.ask(&["show-options", "-gv", "window-status-format"]).matches("@taut_mark").count(), 1);
        let kept = tmux.ask(&["show-hooks", "-gw", "pane-focus-in"]);
        assert!(kept.contains("pane-focus-in[0] display-message mine"), "{kept}");
        stage.taut_in(&tmux, &["tmux", "clear"]);
        assert_eq!(everything(&tmux), before);
        stage.taut_in(&tmux, &["tmux", "clear"]);
        assert_eq!(everything(&tmux), before, "clearing twice is clearing once");
    }
}

#[test]
fn f2_what_the_owner_changes_meanwhile_is_theirs() {
    if testkit::is_missing("tmux") {
        return;
    }
    let stage = Stage::installed().with_env("TAUT_NO_DAEMON", "1");
    let tmux = stage.tmux("one");
    let pane = tmux.first_pane();
    stage.agent_in("ada", &tmux, &pane).play(&[AgentStep::start(), AgentStep::prompt("go")]).unwrap();
    stage.taut_in(&tmux, &["tmux", "apply"]);
    tmux.ask(&["set-option", "-p", "-t", &pane, "window-style", "bg=green"]);
    tmux.ask(&["set-option", "-g", "window-status-format", "new #{@taut_mark}"]);
    stage.taut_in(&tmux, &["tmux", "clear"]);
    assert_eq!(tmux.pane_option(&pane, "window-style"), "bg=green");
    assert_eq!(tmux.ask(&["show-options", "-gv", "window-status-format"]), "new ");
    assert_eq!(traces(&tmux), Vec::<String>::new());
}

#[test]
fn f2_the_printed_lines_can_be_sourced_and_say_what_apply_sets() {
    if testkit::is_missing("tmux") {
        return;
    }
    let stage = Stage::installed().with_env("TAUT_NO_DAEMON", "1");
    let (by_hand, applied) = (stage.tmux("hand"), stage.tmux("applied"));
    let conf = stage.sandbox.tmp().join("taut.conf");
    std::fs::write(&conf, stage.taut(&["tmux"]).stdout_text()).unwrap();
    for _ in 0..2 {
        let sourced = by_hand.run(&["source-file", &conf.to_string_lossy()]);
        assert!(sourced.success(), "{}", sourced.stderr_text());
        assert_eq!(sourced.stderr_text(), "");
    }
    stage.taut_in(&applied, &["tmux", "apply"]);
    let plain = |tmux: &TestTmux| everything(tmux).replace(&tmux.socket.display().to_string(), "SOCKET");
    let options = |text: String| text.split("list-windows").next().unwrap_or_default().to_owned();
    assert_eq!(options(plain(&by_hand)), options(plain(&applied)));
    // A server that reads them when it starts, before there is any session.
    let fresh = starting(&stage, "fresh", &conf);
    assert_eq!(fresh.ask(&["show-options", "-sv", "@taut"]), "on");
    assert_eq!(options(plain(&fresh)), options(plain(&applied)));
}

#[test]
fn f2_a_dry_run_changes_nothing_and_a_server_that_was_not_switched_on_stays_as_it_is() {
    if testkit::is_missing("tmux") {
        return;
    }
    let stage = Stage::installed().and_daemon();
    let tmux = stage.tmux("one");
    let pane = tmux.first_pane();
    let before = everything(&tmux);
    let mut agent = stage.agent_in("ada", &tmux, &pane);
    agent.play(&[AgentStep::start(), AgentStep::prompt("go"), fails()]).unwrap();
    let shown = stage.taut_in(&tmux, &["tmux", "apply", "--dry-run"]).stdout_text();
    assert!(shown.contains("set -s @taut on") && shown.contains("one: would be switched on"), "{shown}");
    stage.taut_in(&tmux, &["tmux", "status"]);
    assert_eq!(everything(&tmux), before, "nothing is painted unless it was asked for");
    stage.taut_in(&tmux, &["tmux", "apply"]);
    tmux.wait_for_style(&pane, ERROR);
    // Turned off by hand: the paint goes by itself.
    tmux.ask(&["set-option", "-s", "@taut", "off"]);
    agent.play(&[AgentStep::stop()]).unwrap();
    poll::until("the paint to go", PLENTY, || tmux.pane_option(&pane, "@taut_pane").is_empty().then_some(())).unwrap();
    assert_eq!(tmux.pane_option(&pane, "window-style"), "");
}

#[test]
fn f2_a_server_that_is_off_is_left_alone_and_switching_it_on_is_noticed_at_once() {
    if testkit::is_missing("tmux") {
        return;
    }
    let stage = recorded();
    stage.start_daemon();
    let tmux = stage.tmux("one");
    let pane = tmux.first_pane();
    let mut agent = stage.agent_in("ada", &tmux, &pane);
    agent.play(&[AgentStep::start()]).unwrap();
    let looks =
        || stage.tmux_calls().iter().filter(|call| call.contains("list-panes") && call.contains("@taut")).count();
    poll::until("the first look", PLENTY, || (looks() > 0).then_some(())).unwrap();
    let began = std::time::Instant::now();
    poll::until("a while of work", PLENTY, || {
        agent.play(&[AgentStep::prompt("go"), fails(), AgentStep::stop()]).unwrap();
        (began.elapsed() > LONGER_THAN_A_SWEEP).then_some(())
    })
    .unwrap();
    // One, and another where a busy machine let the first answer come too late.
    assert!(looks() <= 2, "nobody switched it on: {:#?}", stage.tmux_calls());
    stage.taut_in(&tmux, &["tmux", "apply"]);
    // What comes next is painted by the daemon, which would have rested longer than this waits.
    agent.play(&[AgentStep::prompt("go"), fails()]).unwrap();
    tmux.wait_for_style(&pane, ERROR);
}

/// The painter sweeps every five seconds, and looks again at what is off far more rarely.
const LONGER_THAN_A_SWEEP: std::time::Duration = std::time::Duration::from_secs(6);

#[test]
fn f2_outside_of_tmux_a_server_is_named_or_found_by_its_agents() {
    if testkit::is_missing("tmux") {
        return;
    }
    let stage = Stage::installed().with_env("TAUT_NO_DAEMON", "1");
    let nowhere = stage.taut(&["tmux", "apply"]);
    assert_eq!(nowhere.ending, testkit::Ending::Code(2));
    assert!(nowhere.stderr_text().contains("taut tmux apply --socket"), "{}", nowhere.stderr_text());
    let (one, two, other) = (stage.tmux("one"), stage.tmux("two"), stage.tmux("other"));
    for (name, tmux) in [("ada", &one), ("bob", &two)] {
        stage.agent_in(name, tmux, &tmux.first_pane()).play(&[AgentStep::start(), AgentStep::prompt("go")]).unwrap();
    }
    assert!(stage.taut(&["tmux", "apply"]).success());
    for tmux in [&one, &two] {
        assert_eq!(tmux.pane_option(&tmux.first_pane(), "window-style"), WORKING);
    }
    assert_eq!(traces(&other), Vec::<String>::new());
    let named = stage.taut(&["tmux", "apply", "--socket", &other.socket.to_string_lossy()]);
    assert!(named.success(), "{}", named.stderr_text());
    assert_eq!(other.ask(&["show-options", "-sv", "@taut"]), "on");
}

/// A server that starts with this configuration.
fn starting(stage: &Stage, name: &str, conf: &std::path::Path) -> TestTmux {
    let first = stage.tmux(name);
    first.ask(&["kill-server"]);
    let gone = || std::os::unix::net::UnixStream::connect(&first.socket).is_err().then_some(());
    testkit::poll::until("the first server to be gone", PLENTY, gone).unwrap();
    let mut command = stage.sandbox.command("tmux");
    command.arg("-S").arg(&first.socket).arg("-f").arg(conf);
    command.args(["new-session", "-d", "-x", "100", "-y", "40", "sleep 900"]);
    let done = process::run(command, b"", PLENTY).unwrap();
    assert!(done.success(), "{}", done.stderr_text());
    first
}
