//! Kimi Code, as it was captured.

use crate::told::{decoded, heard};
use agents::kimi_code::DIALECT;
use model::event::{Body, EventKind};
use model::reply::{ByFamily, Context, Feedback, Gate, GateStop, Reply};
use serde_json::{Value, json};

fn event(name: &str) -> model::Envelope {
    decoded(&DIALECT, name)
}

#[test]
fn d1_calls_are_read_by_kind_command_folder_and_file() {
    let shown = |name: &str| {
        let event = event(name);
        let call = event.tool().unwrap();
        (format!("{:?}", call.kind), call.command().map(str::to_string), call.subject.paths.clone(), call.acts())
    };
    let file = || vec!["a.txt".to_string()];
    assert_eq!(shown("PreToolUse"), ("Shell".into(), Some("touch ran; echo OUT1".into()), vec![], true));
    assert_eq!(shown("PreToolUse.folder"), ("Shell".into(), Some("cd /tmp\nexit 3".into()), vec![], true));
    assert_eq!(shown("PreToolUse.Write"), ("Write".into(), None, file(), true));
    assert_eq!(shown("PreToolUse.Edit"), ("Edit".into(), None, file(), true));
    assert_eq!(shown("PreToolUse.Read"), ("Read".into(), None, file(), false));
    assert_eq!(shown("PreToolUse.Agent"), ("Task".into(), None, vec![], true));
    assert_eq!(event("PreToolUse").tool().unwrap().use_id.as_deref(), Some("call_mock_1"));
}

#[test]
fn d1_a_prompt_in_parts_a_failure_and_a_helper_are_read() {
    assert_eq!(event("UserPromptSubmit").body, Body::Prompt { text: "do it".into() });
    let Body::ToolFailed { error, .. } = event("PostToolUseFailure").body else { panic!() };
    assert!(error.starts_with("ERR1"), "{error}");
    let Body::Failure { error, details, .. } = event("StopFailure").body else { panic!() };
    assert_eq!((error.as_str(), details.as_deref()), ("APIStatusError", Some("400 mock bad request")));
    assert_eq!(event("SubagentStop").sub_agent.map(|helper| helper.kind), Some("coder".into()));
}

#[test]
fn d1_an_interrupt_is_a_stop_that_is_not_sent_back() {
    let interrupt = DIALECT.read(br#"{"hook_event_name":"Interrupt","session_id":"s"}"#).unwrap();
    assert_eq!(interrupt.kind, EventKind::Stop);
    assert!(matches!(interrupt.body, Body::Stop { hook_active: true, .. }));
    let block = Feedback { block: Some("go on".into()), ..Feedback::default() };
    let reply = Reply { answer: ByFamily::Feedback(block), ..Reply::default() };
    assert_eq!((DIALECT.encode)(&interrupt, &reply), model::Answer::default());
    let stop = (DIALECT.encode)(&event("Stop"), &reply);
    assert_eq!((stop.exit, stop.stderr.as_str(), stop.stdout.as_str()), (2, "go on\n", ""));
}

#[test]
fn d1_a_denial_is_nested_a_question_is_a_denial_and_a_prompt_gets_plain_text() {
    let denied = |stop| {
        let answer = ByFamily::Gate(Gate { stop: Some(stop), context: Some("more".into()) });
        let said = (DIALECT.encode)(&event("PreToolUse"), &Reply { answer, ..Reply::default() }).stdout;
        serde_json::from_str::<Value>(&said).unwrap()
    };
    let wanted = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no",
    }});
    assert_eq!(denied(GateStop::Deny { reason: "no".into(), halt: None }), wanted);
    assert_eq!(denied(GateStop::Ask { reason: "no".into() }), wanted);
    let told = Reply { answer: ByFamily::Context(Context { text: Some("note".into()) }), ..Reply::default() };
    assert_eq!((DIALECT.encode)(&event("UserPromptSubmit"), &told).stdout, "note\n");
    assert_eq!((DIALECT.encode)(&event("SessionStart"), &told).stdout, "");
}

#[test]
fn l1_its_stream_tells_session_turns_and_last_words() {
    let (heard, tools) = heard(&DIALECT, "stream.jsonl");
    assert_eq!(tools, ["Write", "Edit", "Read", "Bash"]);
    assert_eq!((heard.said.as_deref(), heard.turns), (Some("bye"), 5));
    assert_eq!(heard.session.as_deref(), Some("session_2fe1634c-b16e-4d7c-b99b-db80f90b19cb"));
}
