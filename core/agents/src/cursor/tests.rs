//! Payloads as its documentation shows them.

use super::DIALECT;
use model::event::{Body, EventKind};
use model::reply::{ByFamily, Feedback, Gate, GateStop, Reply};
use serde_json::{Value, json};

fn event(name: &str, more: Value) -> model::Envelope {
    let mut payload = json!({
        "conversation_id": "c", "generation_id": "g", "model": "m", "hook_event_name": name, "cursor_version": "3.9.16",
        "workspace_roots": ["/w"],
    });
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    DIALECT.read(payload.to_string().as_bytes()).unwrap()
}

#[test]
fn d1_a_call_is_read_from_either_of_its_events() {
    let call =
        json!({"tool_name": "Shell", "tool_input": {"command": "rm -rf x", "working_directory": "/t"}, "cwd": "/w"});
    let general = event("preToolUse", call);
    assert_eq!(general.tool().unwrap().command(), Some("cd /t\nrm -rf x"));
    assert_eq!((general.host_session.as_deref(), general.cwd.as_deref()), (Some("c"), Some("/w")));
    let shell = event("beforeShellExecution", json!({"command": "rm -rf x", "cwd": "/t"}));
    assert_eq!(shell.tool().unwrap().command(), Some("cd /t\nrm -rf x"));
    assert_eq!(event("beforeShellExecution", json!({})).tool().unwrap().subject.unread, Some("command"));
    assert_eq!(event("beforeSubmitPrompt", json!({"prompt": "go"})).body, Body::Prompt { text: "go".into() });
}

#[test]
fn d1_every_answer_is_flat_and_declared() {
    let said = |event: &model::Envelope, answer: ByFamily| {
        let answer = (DIALECT.encode)(event, &Reply { answer, ..Reply::default() });
        DIALECT.honours(event.kind, &answer).unwrap();
        serde_json::from_str::<Value>(&answer.stdout).unwrap_or_default()
    };
    let call = event("preToolUse", json!({"tool_name": "Shell", "tool_input": {"command": "ls"}}));
    let stop = Some(GateStop::Ask { reason: "no".into() });
    let denied = said(&call, ByFamily::Gate(Gate { stop, context: None }));
    assert_eq!(denied, json!({"permission": "deny", "user_message": "no", "agent_message": "no"}));
    let block = || ByFamily::Feedback(Feedback { block: Some("go on".into()), ..Feedback::default() });
    let end = event("stop", json!({"status": "completed", "loop_count": 0}));
    assert_eq!(said(&end, block()), json!({"followup_message": "go on"}));
    assert_eq!(said(&event("subagentStop", json!({"subagent_type": "x"})), block()), Value::Null);
    assert_eq!(event("stop", json!({"loop_count": 2})).kind, EventKind::Stop);
}
