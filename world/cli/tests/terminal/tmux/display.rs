//! What is seen: tints, the focus, windows, the bar.

use super::*;
use serde_json::{Value, json};
use testkit::{AgentStep, poll};

#[test]
fn f2_every_status_has_its_tint_and_the_focused_pane_is_black() {
    if testkit::is_missing("tmux") {
        return;
    }
    let stage = Stage::installed().and_daemon();
    let tmux = stage.tmux("one");
    let (first, second) = (tmux.first_pane(), tmux.split());
    stage.taut_in(&tmux, &["tmux", "apply"]);
    let mut agent = stage.agent_in("ada", &tmux, &second);
    agent.play(&[AgentStep::start(), AgentStep::prompt("go")]).unwrap();
    tmux.wait_for_style(&second, WORKING);
    assert_eq!(tmux.pane_option(&second, "window-active-style"), "bg=#000000");
    agent.play(&[asks()]).unwrap();
    tmux.wait_for_style(&second, ATTENTION);
    agent.play(&[fails()]).unwrap();
    tmux.wait_for_style(&second, ERROR);
    agent.play(&[AgentStep::stop()]).unwrap();
    tmux.wait_for_style(&second, DONE);
    assert_eq!(tmux.pane_option(&first, "window-style"), "", "a pane without an agent is left alone");

    // As the eyes of a person at a terminal have it: that terminal is a pane of another server.
    agent.play(&[fails()]).unwrap();
    tmux.wait_for_style(&second, ERROR);
    let eyes = stage.tmux("eyes");
    // Said rather than asked: the terminal's answer may come late.
    tmux.ask(&["set-option", "-as", "terminal-features", ",tmux-256color:RGB"]);
    let attach = format!("env -u TMUX TERM=tmux-256color tmux -u -S {} attach", tmux.socket.display());
    eyes.ask(&["set-option", "-g", "status", "off"]);
    let screen = eyes.ask(&["new-window", "-P", "-F", "#{pane_id}", &attach]);
    let sees = |what: &str, code: &str| {
        poll::until(what, PLENTY, || {
            eyes.ask(&["capture-pane", "-p", "-e", "-t", &screen]).contains(code).then_some(())
        })
        .unwrap();
    };
    sees("the tint of an error", "48;2;61;32;32");
    tmux.ask(&["select-pane", "-t", &second]);
    sees("the black of the focus", "48;2;0;0;0");
    let seen = eyes.ask(&["capture-pane", "-p", "-e", "-t", &screen]);
    assert!(!seen.contains("48;2;61;32;32"), "the focused pane wears no tint, and nothing was repainted for it");
}

#[test]
fn f2_a_window_shows_the_worst_of_its_panes_and_keeps_its_name() {
    if testkit::is_missing("tmux") {
        return;
    }
    let stage = Stage::installed().with_env("TAUT_NO_DAEMON", "1");
    let tmux = stage.tmux("one");
    let (first, second, other) = (tmux.first_pane(), tmux.split(), tmux.window());
    let names = tmux.ask(&["list-windows", "-F", "#{window_name}"]);
    for (name, pane, end) in
        [("ada", &first, AgentStep::stop()), ("bob", &second, asks()), ("cyd", &other, AgentStep::stop())]
    {
        stage.agent_in(name, &tmux, pane).play(&[AgentStep::start(), AgentStep::prompt("go"), end]).unwrap();
    }
    stage.taut_in(&tmux, &["tmux", "apply"]);
    assert_eq!(tmux.window_option(&first, "@taut_status"), "attention");
    assert_eq!(tmux.window_option(&other, "@taut_status"), "done");
    let list = tmux.ask(&["list-windows", "-F", "#{T:window-status-format}"]);
    assert!(
        list.contains("#[fg=#f0b450,bg=#1a1f26]▲#[default]") && list.contains("#[fg=#94a0ad,bg=#1a1f26]○#[default]"),
        "{list}"
    );
    assert_eq!(tmux.ask(&["list-windows", "-F", "#{window_name}"]), names);
    tmux.ask(&["kill-pane", "-t", &second]);
    stage.taut_in(&tmux, &["tmux", "status"]);
    assert_eq!(tmux.window_option(&first, "@taut_status"), "done", "a pane that vanished counts no more");
}

#[test]
fn f2_the_aggregate_tells_the_same_numbers_as_the_list_of_agents() {
    let stage = Stage::installed().with_env("TAUT_NO_DAEMON", "1");
    let status = |args: &[&str]| stage.taut(args).stdout_text();
    assert_eq!(status(&["tmux", "status"]), "\n");
    for (name, end) in [("ada", AgentStep::prompt("more")), ("bob", AgentStep::prompt("more")), ("cyd", asks())] {
        let mut agent = testkit::FakeAgent::new(&stage.sandbox).with_env("TAUT_AGENT_ID", name);
        agent.play(&[AgentStep::start(), AgentStep::prompt("go"), end]).unwrap();
    }
    assert_eq!(
        status(&["tmux", "status"]),
        "#[fg=#f0b450,bg=#1a1f26]▲1#[default] #[fg=#6fce9c,bg=#1a1f26]●2#[default]\n"
    );
    assert_eq!(status(&["tmux", "status", "--words"]), "1 attention, 2 working\n");
    let counts: Value = serde_json::from_str(&status(&["tmux", "status", "--json"])).unwrap();
    let wanted = json!({"error": 0, "attention": 1, "working": 2, "checked": 0, "done": 0, "worst": "attention"});
    assert_eq!(counts, wanted);
    assert_eq!(stage.taut(&["agents", "--json"]).stdout_text().lines().count(), 3);
}

#[test]
fn f2_the_bar_of_an_attached_client_shows_the_aggregate_and_paints_without_a_daemon() {
    if testkit::is_missing("tmux") {
        return;
    }
    let stage = Stage::installed().with_env("TAUT_NO_DAEMON", "1");
    let (tmux, eyes) = (stage.tmux("one"), stage.tmux("eyes"));
    let pane = tmux.first_pane();
    tmux.ask(&["set-option", "-g", "status-interval", "1"]);
    stage.taut_in(&tmux, &["tmux", "apply"]);
    let attach = format!("env -u TMUX TERM=tmux-256color tmux -u -S {} attach", tmux.socket.display());
    let screen = eyes.ask(&["new-window", "-P", "-F", "#{pane_id}", &attach]);
    stage.agent_in("ada", &tmux, &pane).play(&[AgentStep::start(), AgentStep::prompt("go"), asks()]).unwrap();
    let shown = poll::until("the bar", PLENTY, || {
        let bar = eyes.ask(&["capture-pane", "-p", "-t", &screen]);
        bar.lines().last().filter(|bar| bar.contains("▲1") && bar.contains("▲ ")).map(str::to_owned)
    });
    assert!(shown.is_ok(), "{}", eyes.ask(&["capture-pane", "-p", "-t", &screen]));
    assert_eq!(tmux.pane_option(&pane, "window-style"), ATTENTION);
}

#[test]
fn f2_the_bar_has_the_counts_at_once_whatever_its_interval() {
    if testkit::is_missing("tmux") {
        return;
    }
    let stage = Stage::installed();
    stage.start_daemon();
    let (tmux, eyes) = (stage.tmux("one"), stage.tmux("eyes"));
    let pane = tmux.first_pane();
    // Left to itself the bar would show what was there when it was first drawn.
    tmux.ask(&["set-option", "-g", "status-interval", "0"]);
    stage.taut_in(&tmux, &["tmux", "apply"]);
    let attach = format!("env -u TMUX TERM=tmux-256color tmux -u -S {} attach", tmux.socket.display());
    let screen = eyes.ask(&["new-window", "-P", "-F", "#{pane_id}", &attach]);
    let shows = |count: &str| {
        let shown = poll::until("the bar", PLENTY, || {
            let bar = eyes.ask(&["capture-pane", "-p", "-t", &screen]);
            bar.lines().last().filter(|bar| bar.contains(count)).map(str::to_owned)
        });
        assert!(shown.is_ok(), "{count}: {}", eyes.ask(&["capture-pane", "-p", "-t", &screen]));
    };
    stage.agent_in("ada", &tmux, &pane).play(&[AgentStep::start(), AgentStep::prompt("go"), asks()]).unwrap();
    shows("▲1");
    // Those in no pane of the server are counted too, and nothing of them is painted.
    for (name, count) in [("bob", "▲2"), ("cyd", "▲3")] {
        stage.agent(name).play(&[AgentStep::start(), AgentStep::prompt("go"), asks()]).unwrap();
        shows(count);
    }
}

#[test]
fn f2_nothing_that_has_not_changed_is_painted_again() {
    if testkit::is_missing("tmux") {
        return;
    }
    let stage = recorded();
    stage.start_daemon();
    let tmux = stage.tmux("one");
    let pane = tmux.first_pane();
    stage.taut_in(&tmux, &["tmux", "apply"]);
    let mut agent = stage.agent_in("ada", &tmux, &pane);
    agent.play(&[AgentStep::start(), AgentStep::prompt("go"), fails()]).unwrap();
    tmux.wait_for_style(&pane, ERROR);
    agent.play(&[AgentStep::stop()]).unwrap();
    tmux.wait_for_style(&pane, DONE);
    // What was painted is what the server was told, so nothing is told twice.
    let before = painted(&stage);
    assert!(before >= 3, "apply, the error and the end were told: {:#?}", stage.tmux_calls());
    agent.play(&[AgentStep::stop(), AgentStep::stop()]).unwrap();
    stage.taut_in(&tmux, &["tmux", "apply"]);
    assert_eq!(
        painted(&stage),
        before + 1,
        "apply sets its own lines again and paints nothing: {:#?}",
        stage.tmux_calls()
    );
}

/// How often something was set.
fn painted(stage: &Stage) -> usize {
    stage.tmux_calls().iter().filter(|call| call.contains("source-file")).count()
}

#[test]
fn f1_f2_looking_at_a_pane_that_waits_turns_attention_into_checked() {
    if testkit::is_missing("tmux") {
        return;
    }
    let stage = Stage::installed().and_daemon();
    let (tmux, eyes) = (stage.tmux("one"), stage.tmux("eyes"));
    let (first, second, other) = (tmux.first_pane(), tmux.split(), tmux.window());
    stage.taut_in(&tmux, &["tmux", "apply"]);
    let attach = format!("env -u TMUX TERM=tmux-256color tmux -u -S {} attach", tmux.socket.display());
    eyes.ask(&["new-window", &attach]);
    poll::until("the client", PLENTY, || (!tmux.ask(&["list-clients"]).is_empty()).then_some(())).unwrap();
    for (name, pane, look) in
        [("ada", &second, ["select-pane", "-t", &second]), ("bob", &other, ["select-window", "-t", &other])]
    {
        let mut agent = stage.agent_in(name, &tmux, pane);
        agent.play(&[AgentStep::start(), AgentStep::prompt("go"), asks()]).unwrap();
        tmux.wait_for_style(pane, ATTENTION);
        assert_eq!(stage.status_of(name), "attention");
        tmux.ask(&look);
        tmux.wait_for_style(pane, CHECKED);
        assert_eq!(stage.status_of(name), "checked");
    }
    assert_eq!(tmux.pane_option(&first, "window-style"), "");
}
