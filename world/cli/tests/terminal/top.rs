//! The live view: it follows what happens, obeys keys, and gives the terminal back.

use crate::asks;
use testkit::stage::{PLENTY, Stage, TestTmux};
use testkit::{AgentStep, poll};

/// The shell has the terminal again, as it was.
fn is_given_back(tmux: &TestTmux, why: &str) {
    let back = poll::until("the usual screen", PLENTY, || {
        (tmux.ask(&["display-message", "-p", "#{alternate_on}#{cursor_flag}"]) == "01").then_some(())
    });
    assert!(back.is_ok(), "{why}: the screen is still taken");
    tmux.enter("clear; stty -a | grep -o -e '[-]*icanon' -e '[-]*echo ' | tr -d '\\n'; echo .");
    tmux.wait_until(why, |screen| screen.contains("icanonecho .") && !screen.contains("-icanon"));
}

#[test]
fn f4_top_follows_the_fleet_takes_keys_and_gives_the_terminal_back() {
    if testkit::is_missing("tmux") {
        return;
    }
    for stage in [Stage::installed().and_daemon(), Stage::installed().with_env("TAUT_NO_DAEMON", "1")] {
        let tmux = stage.tmux_shell("one");
        tmux.enter("taut top");
        tmux.wait_for("no agents yet");
        let mut ada = stage.working("ada");
        let mut bob = stage.working("bob");
        tmux.wait_until("two at work", |screen| screen.matches("● working").count() == 2);
        ada.play(&[asks()]).unwrap();
        tmux.wait_until("ada first, in need of somebody", |screen| {
            screen.lines().nth(2).is_some_and(|line| line.contains("▲ attention") && line.contains("ada"))
        });
        bob.play(&[AgentStep::bash("git push --force")]).unwrap();
        tmux.wait_for("git-force-push");

        tmux.press(&["/"]);
        tmux.enter("bob");
        tmux.wait_until("only bob", |screen| screen.contains("bob") && !screen.contains("ada"));
        tmux.press(&["Enter"]);
        tmux.wait_until("his timeline", |screen| screen.contains("» prompt") && screen.contains("following"));
        bob.play(&[AgentStep::prompt("and now the other thing")]).unwrap();
        tmux.wait_for("and now the other thing");
        tmux.press(&["Escape"]);
        tmux.wait_for("STATUS");
        tmux.press(&["Escape"]);
        tmux.wait_for("ada");
        tmux.press(&["?"]);
        tmux.wait_for("any key closes");
        tmux.press(&["x"]);
        tmux.wait_until("help gone", |screen| !screen.contains("any key closes"));
        tmux.ask(&["resize-window", "-x", "60", "-y", "12"]);
        tmux.wait_until("a smaller screen", |screen| screen.contains("ada") && !screen.contains("last verdicts"));
        tmux.press(&["q"]);
        is_given_back(&tmux, "q");
    }
}

#[test]
fn f4_a_session_that_ended_is_found_and_opened_in_top() {
    if testkit::is_missing("tmux") {
        return;
    }
    let stage = Stage::installed().with_env("TAUT_NO_DAEMON", "1");
    let mut ada = stage.working("ada");
    ada.play(&[AgentStep::prompt("mend the parser"), AgentStep::stop(), AgentStep::end()]).unwrap();
    let tmux = stage.tmux_shell("one");
    tmux.enter("taut top");
    tmux.wait_for("ada");
    tmux.press(&["e"]);
    tmux.wait_until("the sessions that ended", |screen| screen.contains("ENDED") && screen.contains("ada"));
    tmux.press(&["Enter"]);
    tmux.wait_until("its timeline", |screen| screen.contains("mend the parser") && screen.contains("ended "));
    tmux.press(&["Escape"]);
    tmux.wait_for("ENDED");
    tmux.press(&["e"]);
    tmux.wait_for("STATUS");
    tmux.press(&["q"]);
    is_given_back(&tmux, "q");
}

#[test]
fn f4_the_terminal_is_given_back_whoever_ends_or_stops_it() {
    if testkit::is_missing("tmux") {
        return;
    }
    let stage = Stage::installed().with_env("TAUT_NO_DAEMON", "1");
    stage.working("ada");
    let tmux = stage.tmux_shell("one");
    let starts = || {
        tmux.enter("sh -c 'echo $$ > $TMPDIR/pid; exec taut top'");
        tmux.wait_for("● working");
        std::fs::read_to_string(stage.sandbox.tmp().join("pid")).unwrap().trim().to_owned()
    };
    starts();
    tmux.press(&["C-c"]);
    is_given_back(&tmux, "Ctrl+C");
    let kill = |signal: &str, pid: &str| {
        let mut kill = stage.sandbox.command("kill");
        kill.args([signal, pid]);
        assert!(testkit::process::run(kill, b"", PLENTY).unwrap().success());
    };
    kill("-TERM", &starts());
    is_given_back(&tmux, "SIGTERM");

    let pid = starts();
    tmux.press(&["C-z"]);
    is_given_back(&tmux, "Ctrl+Z");
    tmux.enter("fg");
    tmux.wait_for("● working");
    tmux.press(&["?"]);
    tmux.wait_for("any key closes");
    tmux.press(&["x"]);
    kill("-TSTP", &pid);
    is_given_back(&tmux, "SIGTSTP");
    tmux.enter("fg");
    tmux.wait_for("● working");
    tmux.press(&["q"]);
    is_given_back(&tmux, "q after fg");
}

#[test]
fn f4_o_goes_to_the_agents_pane_on_this_server_and_tells_the_way_to_another() {
    if testkit::is_missing("tmux") {
        return;
    }
    let stage = Stage::installed().with_env("TAUT_NO_DAEMON", "1");
    let (tmux, eyes) = (stage.tmux_shell("one"), stage.tmux_shell("eyes"));
    let pane = tmux.ask(&["new-window", "-d", "-P", "-F", "#{pane_id}", "sleep 900"]);
    let there = |socket: &str| format!("{socket},1,0");
    let agent = |name: &str, socket: &str| {
        let mut agent = stage.agent(name).with_env("TMUX", there(socket)).with_env("TMUX_PANE", &pane);
        agent.play(&[AgentStep::start(), AgentStep::prompt("go")]).unwrap();
    };
    agent("ada", &tmux.socket.to_string_lossy());
    agent("bob", "/tmp/elsewhere");
    // Somebody has to be looking for their look to be led elsewhere.
    eyes.enter(&format!("env -u TMUX TERM=tmux-256color tmux -u -S {} attach", tmux.socket.display()));
    tmux.enter("taut top");
    tmux.wait_for("ada");
    let top = tmux.ask(&["display-message", "-p", "#{pane_id}"]);
    tmux.press(&["j", "o"]);
    tmux.wait_for("tmux -S /tmp/elsewhere attach");
    tmux.press(&["k", "o"]);
    let gone = poll::until("the agent's window", PLENTY, || {
        (tmux.ask(&["display-message", "-p", "#{pane_id}"]) == pane).then_some(())
    });
    assert!(gone.is_ok(), "still at {top}:\n{}", tmux.ask(&["capture-pane", "-p", "-t", &top]));
}
