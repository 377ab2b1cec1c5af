//! Mistral Vibe, as it was captured.

use crate::told::{decoded, heard};
use agents::vibe::DIALECT;
use model::event::{Body, EventKind};
use model::reply::{ByFamily, Feedback, Gate, GateStop, Reply};
use serde_json::{Value, json};

fn event(name: &str) -> model::Envelope {
    decoded(&DIALECT, name)
}

fn said(event: &model::Envelope, answer: ByFamily) -> Value {
    let said = (DIALECT.encode)(event, &Reply { answer, ..Reply::default() });
    assert_eq!(said.exit, 0);
    serde_json::from_str(&said.stdout).unwrap_or_default()
}

#[test]
fn d1_calls_are_read_by_kind_command_and_file() {
    let shown = |name: &str| {
        let event = event(name);
        let call = event.tool().unwrap();
        (format!("{:?}", call.kind), call.command().map(str::to_string), call.subject.paths.clone(), call.acts())
    };
    let file = || vec!["a.txt".to_string()];
    assert_eq!(shown("pre_tool"), ("Shell".into(), Some("touch ran; echo OUT1".into()), vec![], true));
    assert_eq!(shown("pre_tool.from-typescript"), ("Shell".into(), Some("touch ran2".into()), vec![], true));
    assert_eq!(shown("pre_tool.write_file"), ("Write".into(), None, file(), true));
    assert_eq!(shown("pre_tool.edit"), ("Edit".into(), None, file(), true));
    assert_eq!(shown("pre_tool.read_file"), ("Read".into(), None, file(), false));
    assert_eq!(shown("pre_tool.todo"), ("Plan".into(), None, vec![], false));
}

#[test]
fn d1_a_failed_tool_and_a_helper_are_told_apart_by_their_fields() {
    let failed = event("post_tool.denied-by-user");
    assert_eq!(failed.kind, EventKind::PostToolUseFailure);
    assert!(matches!(failed.body, Body::ToolFailed { ref error, .. } if error.contains("denied")));
    assert_eq!(event("post_tool").kind, EventKind::PostToolUse);
    assert_eq!(event("post_agent").kind, EventKind::Stop);
    let helper = br#"{"hook_event_name":"post_agent","session_id":"child","parent_session_id":"parent"}"#;
    let helper = DIALECT.read(helper).unwrap();
    assert_eq!((helper.kind, helper.host_session.as_deref()), (EventKind::SubagentStop, Some("parent")));
    assert_eq!(helper.sub_agent.map(|helper| helper.id).as_deref(), Some("child"));
}

#[test]
fn d1_denials_context_and_a_refused_stop_have_its_own_form() {
    let gate = |stop| ByFamily::Gate(Gate { stop: Some(stop), context: None });
    let wanted = json!({"decision": "deny", "reason": "no"});
    assert_eq!(said(&event("pre_tool"), gate(GateStop::Deny { reason: "no".into(), halt: None })), wanted);
    assert_eq!(said(&event("pre_tool"), gate(GateStop::Ask { reason: "no".into() })), wanted);
    let block = Feedback { block: Some("go on".into()), ..Feedback::default() };
    assert_eq!(said(&event("post_agent"), ByFamily::Feedback(block)), json!({"decision": "deny", "reason": "go on"}));
    let context = Feedback { context: Some("note".into()), ..Feedback::default() };
    let told = json!({"hook_specific_output": {"additional_context": "note"}});
    assert_eq!(said(&event("post_tool"), ByFamily::Feedback(context)), told);
}

#[test]
fn l1_its_stream_tells_session_and_last_words() {
    let (heard, _) = heard(&DIALECT, "stream.jsonl");
    assert_eq!((heard.said.as_deref(), heard.tool.as_deref()), (Some("bye"), None));
    assert_eq!(heard.session.as_deref(), Some("60c34ec0-d3dc-6f44-f328-ae567ecaf5b2"));
}
