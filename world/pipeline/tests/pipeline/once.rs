//! The same call arriving twice is answered once and the same (D1); another call never is.

use crate::home::{PipelineHome, decision};
use serde_json::json;

#[test]
fn d1_the_same_call_twice_is_recorded_once_and_answered_the_same() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    let first = stage.bash(&client, "t1", "git push --force");
    let second = stage.bash(&client, "t1", "git push --force");
    assert_eq!(decision(&first).as_deref(), Some("deny"));
    assert_eq!(second.answer, first.answer);
    assert_eq!(stage.events().len(), 1);
}

#[test]
fn d1_a_harmless_call_twice_is_recorded_once_and_passes_twice() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    let first = stage.bash(&client, "t1", "ls");
    let second = stage.bash(&client, "t1", "ls");
    assert_eq!((first.answer.stdout.as_str(), second.answer), ("", first.answer.clone()));
    assert_eq!(stage.events().len(), 1);
}

/// Gateways before other models number their calls from one in every answer.
#[test]
fn d5_a_call_id_used_again_for_another_command_is_judged_anew() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    assert_eq!(decision(&stage.bash(&client, "call_1", "ls")), None);
    assert_eq!(decision(&stage.bash(&client, "call_1", "rm -rf /")).as_deref(), Some("deny"));
    assert_eq!(stage.events().len(), 2);
}

#[test]
fn d1_the_same_call_id_in_two_events_or_two_sessions_is_two_events() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    stage.bash(&client, "t1", "ls");
    stage.done(&client, "t1");
    stage.bash(&client.session_id("two"), "t1", "ls");
    assert_eq!(stage.events().len(), 3);
}

#[test]
fn g2_a_strike_denies_once_and_passes_after_its_denial_was_delivered() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    assert_eq!(decision(&stage.bash(&client, "t1", "git push --force")).as_deref(), Some("deny"));
    let batch_mate = stage.bash(&client, "t2", "git push --force");
    assert_eq!(decision(&batch_mate).as_deref(), Some("deny"), "the denial has not been read yet");
    let calls = json!([{"tool_use_id": "t1"}, {"tool_use_id": "t2"}]);
    stage.send(&client, "PostToolBatch", json!({"tool_calls": calls}));
    assert_eq!(decision(&stage.bash(&client, "t3", "git push --force")), None);
    let floor = stage.bash(&client, "t4", "git push --force && rm -rf /");
    assert_eq!(decision(&floor).as_deref(), Some("deny"), "a second rule in the line is still judged");
}
