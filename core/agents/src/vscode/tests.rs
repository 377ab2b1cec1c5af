//! Payloads as its documentation shows them.

use super::DIALECT;
use model::event::Body;
use model::reply::{ByFamily, Feedback, Gate, GateStop, Reply};
use serde_json::{Value, json};

fn payload(name: &str, more: Value) -> Value {
    let mut payload = json!({
        "timestamp": "2026-02-09T10:30:00.000Z", "cwd": "/w", "sessionId": "s", "hookEventName": name,
        "transcript_path": "/t/transcript.json",
    });
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    payload
}

fn event(name: &str, more: Value) -> model::Envelope {
    DIALECT.read(payload(name, more).to_string().as_bytes()).unwrap()
}

#[test]
fn d1_calls_are_read_by_command_and_by_every_file() {
    let run = event("PreToolUse", json!({"tool_name": "run_in_terminal", "tool_input": {"command": "rm -rf x"}}));
    assert_eq!((run.tool().unwrap().command(), run.host_session.as_deref()), (Some("rm -rf x"), Some("s")));
    let edits = json!({"replacements": [{"filePath": "/a"}, {"filePath": "/b"}]});
    let edit = event("PreToolUse", json!({"tool_name": "multi_replace_string_in_file", "tool_input": edits}));
    assert_eq!((edit.tool().unwrap().written_files().len(), edit.tool().unwrap().subject.unread), (2, None));
    let unread = event("PreToolUse", json!({"tool_name": "multi_replace_string_in_file", "tool_input": {}}));
    assert!(unread.tool().unwrap().subject.unread.is_some());
    assert_eq!(event("UserPromptSubmit", json!({"prompt": "go"})).body, Body::Prompt { text: "go".into() });
}

#[test]
fn d1_a_call_in_the_usual_agents_name_is_known_for_its_own() {
    let call = payload("PreToolUse", json!({"tool_name": "run_in_terminal", "tool_input": {"command": "ls"}}));
    for named in ["claude-code", "copilot", "vscode"] {
        let read = agents_named(named, &call);
        assert_eq!(read, "vscode", "{named}");
    }
}

fn agents_named(named: &str, payload: &Value) -> &'static str {
    let named = crate::ALL.find(named).unwrap();
    crate::ALL.read(named, payload.to_string().as_bytes()).0.id()
}

#[test]
fn d1_what_copilots_command_line_sends_through_this_file_stays_copilots() {
    let call = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "timestamp": "2026-11-15T07:53:31.486Z", "cwd": "/w",
        "tool_name": "Bash", "tool_input": {"command": "ls"},
    });
    assert_eq!(agents_named("vscode", &call), "copilot");
}

#[test]
fn d1_every_answer_is_declared() {
    let said = |event: &model::Envelope, answer: ByFamily| {
        let answer = (DIALECT.encode)(event, &Reply { answer, ..Reply::default() });
        DIALECT.honours(event.kind, &answer).unwrap();
        serde_json::from_str::<Value>(&answer.stdout).unwrap_or_default()
    };
    let call = event("PreToolUse", json!({"tool_name": "run_in_terminal", "tool_input": {"command": "ls"}}));
    let stop = Some(GateStop::Ask { reason: "sure?".into() });
    let asked = said(&call, ByFamily::Gate(Gate { stop, context: None }));
    assert_eq!(asked["hookSpecificOutput"]["permissionDecision"], "ask");
    let block = ByFamily::Feedback(Feedback { block: Some("go on".into()), ..Feedback::default() });
    let end = said(&event("Stop", json!({"stop_hook_active": false})), block);
    assert_eq!(end["hookSpecificOutput"], json!({"hookEventName": "Stop", "decision": "block", "reason": "go on"}));
}
