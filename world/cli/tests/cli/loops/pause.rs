//! Pausing: after the iteration, until somebody says to go on; and wishes that others write.

use super::{FINE, WORK};
use testkit::poll;
use testkit::stage::{PLENTY, RunningLoop, Stage, put_program};

const GATED: &str = "echo x >> .git/starts; until [ -e .git/go ]; do sleep 0.05; done;";

fn wish(stage: &Stage, wish: &str) {
    let conn = rusqlite::Connection::open(stage.sandbox.taut_home().join("taut.db")).unwrap();
    conn.busy_timeout(PLENTY).unwrap();
    assert_eq!(conn.execute("UPDATE runs SET wish = ?1 WHERE finished_at IS NULL", [wish]).unwrap(), 1);
}

fn state(stage: &Stage) -> String {
    let conn = rusqlite::Connection::open(stage.sandbox.taut_home().join("taut.db")).unwrap();
    conn.query_row("SELECT state FROM runs", [], |row| row.get(0)).unwrap()
}

fn until_paused(stage: &Stage, going: &RunningLoop) {
    let paused = || (state(stage) == "paused" && going.printed().contains("paused after iteration")).then_some(());
    poll::until("the pause", PLENTY, paused).unwrap();
}

#[test]
fn l4_l12_sigquit_pauses_after_the_iteration_and_the_agent_does_not_get_it() {
    let stage = Stage::with_plan();
    stage.client_does(&format!("{GATED} {WORK} echo whole >> .git/ended; {FINE}"));
    let mut going = stage.start_loop(&["loop", "build"]);
    stage.until_written(".git/starts");
    // The whole foreground group gets it, as from a terminal, and twice.
    let group = -i32::try_from(going.child.id()).unwrap();
    // SAFETY: the group of our own child.
    unsafe { libc::kill(group, libc::SIGQUIT) };
    poll::until("the word", PLENTY, || going.printed().contains("then the loop pauses").then_some(())).unwrap();
    // SAFETY: the same.
    unsafe { libc::kill(group, libc::SIGQUIT) };
    stage.write(".git/go", "now");
    until_paused(&stage, &going);
    assert_eq!((stage.read(".git/ended"), stage.read(".git/starts")), ("whole\n".into(), "x\n".into()));
    assert!(going.printed().contains("`taut loop resume "), "{}", going.printed());
    wish(&stage, "go_on");
    assert_eq!(going.end(), Some(0), "{}", going.printed());
    assert_eq!(stage.read(".git/starts").lines().count(), 3);
}

#[test]
fn l13_a_run_stops_after_its_iteration_or_at_once_when_somebody_writes_so() {
    for asked in ["stop", "kill"] {
        let stage = Stage::with_plan();
        stage.client_does(&format!("{GATED} {WORK} echo whole > .git/ended; {FINE}"));
        let mut going = stage.start_loop(&["loop", "build"]);
        stage.until_written(".git/starts");
        wish(&stage, asked);
        if asked == "stop" {
            poll::until("the word", PLENTY, || going.printed().contains("waiting for this iteration").then_some(()))
                .unwrap();
            stage.write(".git/go", "now");
        }
        assert_eq!(going.end(), Some(130), "{asked}: {}", going.printed());
        assert_eq!(stage.read(".git/starts"), "x\n", "{asked}");
        assert_eq!(stage.path(".git/ended").exists(), asked == "stop");
    }
}

#[test]
fn l13_ctrl_c_ends_a_loop_that_is_paused() {
    let stage = Stage::with_plan();
    stage.loop_hook("finished", "echo $FRESHER_FINISH_TYPE >> .git/finished");
    stage.client_does(&format!("{GATED} {WORK} {FINE}"));
    let mut going = stage.start_loop(&["loop", "build"]);
    stage.until_written(".git/starts");
    wish(&stage, "pause");
    poll::until("the word", PLENTY, || going.printed().contains("then the loop pauses").then_some(())).unwrap();
    stage.write(".git/go", "now");
    until_paused(&stage, &going);
    going.signal(libc::SIGINT);
    assert_eq!(going.end(), Some(130), "{}", going.printed());
    assert_eq!((stage.read(".git/finished"), stage.read(".git/starts")), ("manual\n".into(), "x\n".into()));
}

/// The client asks for the pause itself, because what is typed is typed before the loop begins.
#[test]
fn l12_at_a_terminal_a_paused_loop_asks_lets_the_plan_be_edited_and_goes_on_or_stops() {
    for (typed, code) in [("?\ne\ng\n", Some(0)), ("s\n", Some(130))] {
        let stage = Stage::with_plan();
        put_program(
            &stage.sandbox.root().join("bin/edit"),
            "#!/bin/sh\necho '- [x] all' > \"$2\"; echo $1 > .git/edited\n",
        );
        stage.client_does(&format!(
            "echo x >> .git/starts; [ -e .git/asked ] || kill -QUIT $PPID; touch .git/asked; {WORK} {FINE}"
        ));
        stage.sandbox.trust_project().unwrap();
        let args = ["loop", "build", "--permissions", "ask"];
        let done = stage.sandbox.at_terminal(&args, typed, &[("EDITOR", "edit --wait")]).unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), code, "{typed:?}: {said}");
        assert!(said.contains("paused after iteration 1") && said.contains("e: edit the plan"), "{said}");
        assert_eq!(stage.read(".git/starts"), "x\n", "{typed:?}: {said}");
        if typed.contains('e') {
            assert_eq!(
                (stage.read(".git/edited").trim(), stage.read("IMPLEMENTATION_PLAN.md").trim()),
                ("--wait", "- [x] all")
            );
            assert_eq!(said.matches("g: go on").count(), 3, "asked again after each answer that is none: {said}");
        }
    }
}
