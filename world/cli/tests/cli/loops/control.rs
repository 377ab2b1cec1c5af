//! Speaking to runs: stop, pause, go on.

use super::runs::{gone, hears, of, put};
use super::{FINE, WORK};
use model::Ms;
use model::run::{Finish, Run, RunProgress, RunState, RunWish};
use serde_json::json;
use testkit::stage::{Stage, summary};

#[test]
fn l13_stop_is_written_heard_and_said() {
    let stage = Stage::without_daemon();
    let run = of(&stage, "a0");
    put(&stage, &run);
    let loop_ = hears(&stage, &run, |_| {});
    let shown = stage.succeed(&["loop", "stop"]);
    assert_eq!(loop_.join().unwrap(), RunWish::Stop);
    assert!(shown.contains("run 000000a0 ends after this iteration") && shown.contains("--now"), "{shown}");
    let loop_ = hears(&stage, &run, |run| {
        (run.finish, run.finished_at) = (Some(Finish::Manual), Some(Ms(2_000)));
    });
    let [object] = stage.list(&["loop", "stop", "000000a0", "--now", "--json"]).try_into().unwrap();
    assert_eq!(loop_.join().unwrap(), RunWish::Kill);
    assert_eq!((&object["asked"], &object["heard"], &object["state"]), (&json!("kill"), &json!(true), &json!("over")));
}

#[test]
fn l13_pause_and_resume_are_heard_by_a_loop_in_another_terminal() {
    let stage = Stage::without_daemon();
    let run = of(&stage, "a0");
    put(&stage, &run);
    let pauses = |run: &mut Run| run.live.state = RunState::Paused;
    let loop_ = hears(&stage, &run, pauses);
    let shown = stage.succeed(&["loop", "pause"]);
    assert_eq!(loop_.join().unwrap(), RunWish::Pause);
    assert!(shown.contains("`taut loop resume 000000a0` goes on"), "{shown}");
    let paused = Run { live: RunProgress { state: RunState::Paused, ..RunProgress::default() }, ..run };
    let loop_ = hears(&stage, &paused, |run| run.live.state = RunState::Running);
    let shown = stage.succeed(&["loop", "resume", "000000a0"]);
    assert_eq!(loop_.join().unwrap(), RunWish::GoOn);
    assert_eq!(shown, "run 000000a0 goes on\n");
}

/// Nobody takes the wish: that is said, and the wish stays for when somebody does.
#[test]
fn l13_a_loop_that_does_not_answer_is_not_said_to_have_heard() {
    let stage = Stage::without_daemon();
    let run = of(&stage, "a0");
    put(&stage, &run);
    let done = stage.taut(&["loop", "pause"]);
    assert_eq!((done.code(), done.stdout_text().as_str()), (Some(1), ""));
    assert!(done.stderr_text().contains("has not answered"), "{}", done.stderr_text());
    assert_eq!(super::runs::store(&stage).take_wish(&run.id).unwrap(), Some(RunWish::Pause));
}

#[test]
fn l13_a_run_that_is_over_or_killed_cannot_be_asked_for_anything_and_that_ends_with_2() {
    let stage = Stage::without_daemon();
    put(&stage, &Run { runner: gone(), ..of(&stage, "a0") });
    put(&stage, &Run { finish: Some(Finish::Complete), finished_at: Some(Ms(2_000)), ..of(&stage, "b0") });
    for verb in ["stop", "pause"] {
        let done = stage.taut(&["loop", verb, "000000a0"]);
        assert_eq!(done.code(), Some(2), "{}", done.stdout_text());
        let said = done.stderr_text();
        assert!(said.contains("its process is gone") && said.contains("hint: taut loop resume 000000a0"), "{said}");
        let done = stage.taut(&["loop", verb, "000000b0"]);
        assert_eq!(done.code(), Some(2));
        assert!(done.stderr_text().contains("run 000000b0 is over: complete"), "{}", done.stderr_text());
    }
    let done = stage.taut(&["loop", "resume", "000000b0"]);
    assert_eq!(done.code(), Some(2));
    assert!(done.stderr_text().contains("nothing to go on with"), "{}", done.stderr_text());
}

#[test]
fn l13_several_loops_of_one_project_are_not_guessed_between() {
    let stage = Stage::without_daemon();
    for (end, folder) in [("a0", "/tree/a"), ("b0", "/tree/b")] {
        put(&stage, &Run { folder: folder.into(), ..of(&stage, end) });
    }
    let done = stage.taut(&["loop", "stop"]);
    assert_eq!(done.code(), Some(2));
    let said = done.stderr_text();
    assert!(said.contains("000000a0") && said.contains("/tree/b"), "{said}");
    // The one of this work tree is meant before any other.
    let here = of(&stage, "c0");
    put(&stage, &here);
    let loop_ = hears(&stage, &here, |_| {});
    stage.succeed(&["loop", "stop"]);
    assert_eq!(loop_.join().unwrap(), RunWish::Stop);
}

#[test]
fn l13_an_agent_does_not_stop_pause_or_resume_a_loop() {
    let stage = Stage::without_daemon().with_env("TAUT_AGENT_ID", "worker-1");
    let run = of(&stage, "a0");
    put(&stage, &run);
    for verb in ["stop", "pause", "resume"] {
        let done = stage.taut(&["loop", verb]);
        assert_eq!(done.code(), Some(1), "{verb}: {}", done.stdout_text());
        assert!(done.stderr_text().contains("is for people"), "{}", done.stderr_text());
    }
    assert_eq!(super::runs::store(&stage).take_wish(&run.id).unwrap(), None);
    stage.succeed(&["loop", "status"]);
}

/// The run goes on in its own folder, with the counters it had.
#[test]
fn l13_l9_a_killed_run_is_taken_up_in_its_folder_from_anywhere() {
    let stage = Stage::with_plan();
    stage.client_does("echo $$ > .git/pid; while :; do sleep 0.1; done");
    let mut going = stage.start_loop(&["loop", "build"]);
    stage.until_written(".git/pid");
    let id = stage.list(&["loop", "status", "--json"])[0]["run"].as_str().unwrap().to_string();
    going.signal(libc::SIGKILL);
    going.end();
    stage.client_does(&format!("{WORK} {FINE}"));
    let mut command = stage.command(&["loop", "resume", &id, "--json"]);
    command.current_dir(stage.sandbox.tmp());
    let done = testkit::process::run(command, b"", testkit::stage::PLENTY).unwrap();
    assert_eq!(done.code(), Some(0), "{}", done.stderr_text());
    assert_eq!((summary(&done)["run"].as_str(), summary(&done)["iterations"].as_u64()), (Some(id.as_str()), Some(3)));
}

/// The verbs on a loop that runs: it pauses after its iteration, is seen to, goes on, and is stopped while it waits.
#[test]
fn l13_a_loop_that_runs_is_paused_seen_resumed_and_stopped() {
    let stage = Stage::with_plan();
    stage.client_does(&format!(
        r#"echo x >> .git/began
        if [ "$(wc -l < .git/began)" = 2 ]; then
        echo '{{"type":"rate_limit_event","rate_limit_info":{{"status":"rejected","resetsAt":'$(( $(date +%s) + 900 ))'}}}}'
        echo '{{"type":"result","is_error":true,"api_error_status":429,"result":"limit"}}'; exit 1; fi
        until [ -e .git/go ]; do sleep 0.05; done; {WORK} {FINE}"#
    ));
    let mut going = stage.start_loop(&["loop", "build", "--permissions", "edits"]);
    stage.until_written(".git/began");
    let shown = stage.succeed(&["loop", "pause"]);
    assert!(shown.contains("pauses after this iteration"), "{shown}");
    stage.write(".git/go", "now");
    let until = |what: &str, wanted: &dyn Fn(&serde_json::Value) -> bool| {
        testkit::poll::until(what, testkit::stage::PLENTY, || {
            Some(stage.list(&["loop", "status", "--json"]).remove(0)).filter(|object| wanted(object))
        })
        .unwrap()
    };
    let paused = until("the pause", &|object| object["state"] == "paused");
    assert_eq!((&paused["status"], &paused["commits"]), (&json!("attention"), &json!(1)), "{paused}");
    let shown = stage.succeed(&["loop", "resume"]);
    assert!(shown.ends_with("goes on\n"), "{shown}");
    let waits = until("the limit", &|object| object["state"] == "waiting" && object["until"].is_string());
    assert!(waits["waits_for"].as_str().unwrap().contains("limit"), "{waits}");
    assert!(stage.succeed(&["loop", "status"]).contains(" (14 min left)"), "{}", stage.succeed(&["loop", "status"]));
    stage.succeed(&["loop", "stop"]);
    assert_eq!(going.end(), Some(130), "{}", going.printed());
    let over = stage.list(&["loop", "status", "--json"]).remove(0);
    assert_eq!((&over["state"], &over["finish"]), (&json!("over"), &json!("manual")), "{over}");
}
