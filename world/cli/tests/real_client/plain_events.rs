//! The plain configuration: no event after a call is registered, and what came of each call is stored all the same.

use crate::recorded::{RecordedClient, assert_went_well, is_proof};
use serde_json::{Value, json};
use std::time::Duration;
use testkit::{ClientLaunch, Script, Turn};

/// A model takes longer than that for an answer.
const THOUGHT: Duration = Duration::from_millis(500);

fn script(notes: &std::path::Path) -> Script {
    let push = "git push --force";
    let turns = [
        Turn::bash("echo bad >&2; exit 3"),
        Turn::bash("echo one > one.txt").and_bash("echo two").and_call("Read", json!({"file_path": notes})),
        Turn::bash(push).and_bash("echo between").and_bash(push),
        Turn::bash(push),
        Turn::bash("echo last"),
        Turn::say("done"),
    ];
    turns.into_iter().fold(Script::new(), |script, turn| script.main(turn.after(THOUGHT)))
}

fn played(stage: &RecordedClient) -> Vec<Value> {
    let notes = stage.sandbox.project().join("notes.md");
    std::fs::write(&notes, "alpha\n").unwrap();
    let run = ClientLaunch::new(&stage.sandbox, script(&notes)).run(&stage.client).unwrap();
    assert_went_well(&run);
    stage.events().into_iter().filter(|event| !is_proof(event)).collect()
}

/// What was asked of the guard and what it said, and what came of each call; the sandboxes differ in their paths.
fn told(events: &[Value], stage: &RecordedClient) -> Vec<String> {
    let root = stage.sandbox.root().canonicalize().unwrap().to_string_lossy().into_owned();
    let of_calls = events
        .iter()
        .filter(|event| matches!(event["event"].as_str(), Some("PreToolUse" | "PostToolUse" | "PostToolUseFailure")));
    let shown = |event: &Value| {
        let detail = &event["detail"];
        let bytes = &detail["response"]["bytes"];
        let text = json!([
            detail["call"], event["event"], event["tool"], event["verdict"], detail["input"], detail["error"], bytes
        ])
        .to_string();
        text.replace(&root, "")
    };
    let mut told: Vec<String> = of_calls.map(shown).collect();
    told.sort();
    told
}

#[test]
fn d2_g2_without_events_after_calls_the_record_and_the_strikes_are_the_same_on_the_real_client() {
    let (plain, all) = (RecordedClient::plain(), RecordedClient::new());
    let (read, heard) = (played(&plain), played(&all));
    let fired: Vec<String> = plain.heard().into_iter().map(|heard| heard.event).collect();
    assert!(fired.iter().all(|event| !event.starts_with("PostTool")), "{fired:?}");
    assert_eq!(told(&read, &plain), told(&heard, &all));
    let denied = |events: &[Value]| events.iter().filter(|event| event["verdict"] == "deny").count();
    assert_eq!((denied(&read), denied(&heard)), (2, 2), "twice within one answer, and then it had been read");
    let lasts = |event: &&Value| event["event"] == "PostToolUse" && event["detail"]["duration_ms"].as_u64().is_some();
    assert_eq!(read.iter().filter(lasts).count(), 5);
    for stage in [&plain, &all] {
        let sessions = stage.sessions();
        let session = sessions.iter().find(|session| !is_proof(session)).unwrap();
        assert_eq!((&session["state"], &session["end_reason"]), (&json!("ended"), &json!("other")));
    }
}
