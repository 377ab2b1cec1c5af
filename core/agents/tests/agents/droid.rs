//! Droid as it was captured: what its payloads mean, and what it is answered.

use crate::told::{answer, decoded, heard, settings_round_trip};
use agents::droid::DIALECT;
use model::event::{Body, EventKind, StartSource};
use model::fact::TranscriptTail;
use model::reply::{ByFamily, Context, Feedback, Gate, GateStop, Halt, Reply, Veto};
use model::run::{AgentTrouble, Launch, Permissions};
use model::{Answer, ToolKind};
use serde_json::{Value, json};

#[test]
fn a1_every_captured_event_is_of_its_kind() {
    for (name, kind) in [
        ("SessionStart", EventKind::SessionStart),
        ("SessionStart.resume", EventKind::SessionStart),
        ("SessionStart.compact", EventKind::SessionStart),
        ("SessionStart.subagent", EventKind::SubagentStart),
        ("UserPromptSubmit", EventKind::UserPromptSubmit),
        ("UserPromptSubmit.subagent", EventKind::Unknown),
        ("PreToolUse", EventKind::PreToolUse),
        ("PostToolUse", EventKind::PostToolUse),
        ("Stop", EventKind::Stop),
        ("Stop.active", EventKind::Stop),
        ("SubagentStop", EventKind::SubagentStop),
        ("PreCompact", EventKind::PreCompact),
        ("SessionEnd", EventKind::SessionEnd),
    ] {
        let envelope = decoded(&DIALECT, name);
        assert_eq!(envelope.kind, kind, "{name}");
        assert_eq!(envelope.cwd.as_deref(), Some("/home/user/project"), "{name}");
        assert!(envelope.host_session.is_some() && !envelope.cut, "{name}");
    }
}

#[test]
fn a1_what_each_tool_would_do_is_read() {
    let file = "/home/user/project/f.txt";
    for (name, kind, command, written, read) in [
        ("PreToolUse", ToolKind::Shell, Some("touch ran; echo OUT1"), None, None),
        ("PreToolUse.subagent", ToolKind::Shell, Some("touch ran; echo OUT1"), None, None),
        ("PostToolUse", ToolKind::Shell, Some("touch ran; echo OUT1"), None, None),
        ("PreToolUse.Create", ToolKind::Write, None, Some(file), None),
        ("PreToolUse.Edit", ToolKind::Edit, None, Some(file), None),
        ("PreToolUse.ApplyPatch", ToolKind::Edit, None, Some("p.txt"), None),
        ("PostToolUse.ApplyPatch", ToolKind::Edit, None, Some("p.txt"), None),
        ("PreToolUse.Read", ToolKind::Read, None, None, Some(file)),
        ("PreToolUse.Task", ToolKind::Task, None, None, None),
    ] {
        let envelope = decoded(&DIALECT, name);
        let call = envelope.tool().unwrap();
        assert_eq!((call.kind, call.command(), call.written_file(), call.read_file()), (kind, command, written, read));
        assert!(call.use_id.is_some() && call.subject.unread.is_none(), "{name}");
    }
    let id = |name: &str| decoded(&DIALECT, name).tool().and_then(|call| call.use_id.clone());
    assert_eq!(id("PreToolUse"), id("PostToolUse"), "a result is known to be of its call");
    let looks = |name: &str| decoded(&DIALECT, name).tool().unwrap().subject.clone();
    assert_eq!(looks("PreToolUse.Grep").paths, ["."]);
    assert_eq!((looks("PreToolUse.Glob").folder.as_deref(), looks("PreToolUse.Glob").paths.len()), (Some("/tmp"), 0));
    assert_eq!(looks("PreToolUse.LS").folder.as_deref(), Some("."));
    assert_eq!(looks("PreToolUse.Skill").skill.as_deref(), Some("nosuch"));
    let server = decoded(&DIALECT, "PreToolUse.server");
    assert_eq!(server.tool().map(|call| call.kind), Some(ToolKind::Mcp));
    let edit = looks("PreToolUse.Edit");
    assert_eq!((edit.removed.as_deref(), edit.added.as_str()), (Some("one"), "uno"));
}

#[test]
fn a4_a_session_that_goes_on_under_another_id_names_the_one_before() {
    let start = |name: &str| match decoded(&DIALECT, name).body {
        Body::SessionStart(start) => (start.source, start.previous),
        other => panic!("{other:?}"),
    };
    let previous = Some("bf533403-677a-41e4-946a-9f7247b1a85e".to_string());
    assert_eq!(start("SessionStart.compact"), (StartSource::Compact, previous));
    assert_eq!(start("SessionStart.resume"), (StartSource::Resume, None));
    assert_eq!(start("SessionStart"), (StartSource::Startup, None));
}

#[test]
fn a4_a_helpers_start_is_one_of_its_parents() {
    let start = decoded(&DIALECT, "SessionStart.subagent");
    assert_eq!(start.host_session.as_deref(), Some("f86dd8fd-d457-4163-8ed6-af3befa16e96"));
    assert_eq!(start.sub_agent.map(|helper| helper.id).as_deref(), Some("895bd9c7-fabd-402d-99d8-7a38dc3818ad"));
    assert_eq!((start.body, start.transcript), (Body::Plain, None));
    let itself = json!({"hook_event_name": "SessionStart", "session_id": "a", "calling_session_id": "a"});
    assert_eq!(DIALECT.read(itself.to_string().as_bytes()).unwrap().kind, EventKind::SessionStart);
    let end = decoded(&DIALECT, "SubagentStop.awaited");
    assert!(matches!(end.body, Body::Stop { last_message: Some(said), .. } if said == "sub says hi"));
}

#[test]
fn a1_a_call_is_denied_in_the_nested_form_and_never_asked_about() {
    let denied = |extra: Value| {
        let mut said = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no"}});
        said.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        said
    };
    let gate = |stop| ByFamily::Gate(Gate { stop: Some(stop), context: Some("more".into()) });
    let ask = GateStop::Ask { reason: "no".into() };
    let deny = GateStop::Deny { reason: "no".into(), halt: None };
    let halt = GateStop::Deny { reason: "no".into(), halt: Some(Halt { stop_reason: "full".into() }) };
    assert_eq!(answer(&DIALECT, &decoded(&DIALECT, "PreToolUse"), gate(ask.clone())), denied(json!({})));
    assert_eq!(answer(&DIALECT, &decoded(&DIALECT, "PreToolUse"), gate(deny)), denied(json!({})));
    assert_eq!(
        answer(&DIALECT, &decoded(&DIALECT, "PreToolUse"), gate(halt)),
        denied(json!({"continue": false, "stopReason": "full"}))
    );
    let unread = (DIALECT.stop_unread)(ask).stdout;
    assert_eq!((DIALECT.settings.proof.denial)(&unread).as_deref(), Some("no"));
    assert!((DIALECT.settings.proof.denial)(DIALECT.unjudged).is_some());
}

#[test]
fn a1_context_is_told_where_it_is_heard_under_the_name_the_event_came_with() {
    let context = || ByFamily::Context(Context { text: Some("c".into()) });
    let told_as = |name: &str| json!({"hookSpecificOutput": {"hookEventName": name, "additionalContext": "c"}});
    assert_eq!(answer(&DIALECT, &decoded(&DIALECT, "SessionStart"), context()), told_as("SessionStart"));
    assert_eq!(answer(&DIALECT, &decoded(&DIALECT, "SessionStart.subagent"), context()), told_as("SessionStart"));
    assert_eq!(answer(&DIALECT, &decoded(&DIALECT, "UserPromptSubmit"), context()), told_as("UserPromptSubmit"));
    let feedback = Feedback { block: Some("b".into()), context: Some("c".into()), halt: None };
    let said = answer(&DIALECT, &decoded(&DIALECT, "PostToolUse"), ByFamily::Feedback(feedback));
    assert_eq!(said["hookSpecificOutput"]["additionalContext"], "b\n\nc");
}

#[test]
fn a1_a_stop_is_sent_back_and_all_else_is_silence() {
    let feedback = Feedback {
        block: Some("go on".into()),
        context: Some("c".into()),
        halt: Some(Halt { stop_reason: "full".into() }),
    };
    let feedback = || ByFamily::Feedback(feedback.clone());
    assert_eq!(
        answer(&DIALECT, &decoded(&DIALECT, "Stop"), feedback()),
        json!({"decision": "block", "reason": "go on"})
    );
    assert_eq!(answer(&DIALECT, &decoded(&DIALECT, "SubagentStop"), feedback()), Value::Null);
    let veto = ByFamily::Veto(Veto { block: Some("no".into()), halt: None });
    assert_eq!(answer(&DIALECT, &decoded(&DIALECT, "PreCompact"), veto), Value::Null);
    let line = Some("hi".to_string());
    let reply = Reply { user_line: line.clone(), ring: line.clone(), warning: line, ..Reply::default() };
    assert_eq!((DIALECT.encode)(&decoded(&DIALECT, "SessionEnd"), &reply), Answer::default());
}

#[test]
fn l1_the_line_of_an_iteration_gives_the_prompt_last() {
    let launch = Launch {
        model: Some("glm".into()),
        prompt: "- build".into(),
        permissions: Permissions::Skipped,
        args: vec!["--auto".into()],
        ..Launch::default()
    };
    let line = (DIALECT.launch.line)(&launch);
    assert_eq!((line.program.as_str(), &line.stdin), ("droid", &None));
    let words = "exec --output-format stream-json --model glm --skip-permissions-unsafe --auto -- - build";
    assert_eq!(line.args.join(" "), words);
    let long = (DIALECT.launch.line)(&Launch { prompt: "x".repeat(200_000), ..Launch::default() });
    assert_eq!(long.stdin.map(|text| text.len()), Some(200_000));
    assert!(!long.args.contains(&"--".to_string()));
}

#[test]
fn l6_a_stream_tells_session_tools_last_words_and_what_stopped_it() {
    let (done, tools) = heard(&DIALECT, "stream.jsonl");
    assert_eq!(tools, ["Execute", "Create"]);
    assert_eq!(done.session.as_deref(), Some("8e1a4cdf-5ff5-482a-aee6-cbddaf011071"));
    assert_eq!((done.said.as_deref(), done.turns, done.failed, done.tool), (Some("All is done."), 3, false, None));
    let (limited, _) = heard(&DIALECT, "stream.limit.jsonl");
    assert_eq!((limited.trouble, limited.failed), (Some(AgentTrouble::Limited { until: None }), true));
    let (refused, _) = heard(&DIALECT, "stream.refused.jsonl");
    assert_eq!((refused.trouble, refused.failed), (Some(AgentTrouble::Refused { what: "401 mock 401".into() }), true));
}

#[test]
fn its_last_words_are_read_from_its_transcript() {
    let line = |role: &str, content: Value| json!({"type": "message", "message": {"role": role, "content": content}});
    let lines = [
        line("assistant", json!([{"type": "text", "text": "first"}])),
        line("assistant", json!([{"type": "text", "text": "bye"}])),
        line("assistant", json!([{"type": "tool_use", "name": "Execute"}])),
        line("user", json!([])),
        json!({"type": "agent_turn_outcome", "reason": "completed"}),
    ];
    let bytes = lines.map(|line| line.to_string()).join("\n").into_bytes();
    let tail = TranscriptTail { size: bytes.len() as u64, bytes };
    assert_eq!((DIALECT.profile.transcript.last_words)(&tail).as_deref(), Some("bye"));
}

#[test]
fn i1_its_hooks_are_put_in_keyed_by_event_and_taken_out_to_the_last_byte() {
    let made: Value = serde_json::from_str(&settings_round_trip(&DIALECT)).unwrap();
    let handler = json!({"type": "command", "command": "/opt/taut hook --agent droid", "timeout": 10});
    assert_eq!(made["PreToolUse"], json!([{"hooks": [handler]}]));
    let off = |text: &str| (DIALECT.settings.inspect)(text).unwrap().hooks_disabled;
    assert!(off(r#"{"hooksDisabled": true}"#) && !off(r#"{"hooksDisabled": false}"#));
}

#[test]
fn i1_the_proof_is_a_call_that_it_would_make() {
    let proof = &DIALECT.settings.proof;
    let call = DIALECT.read((proof.payload)("/w", "m1", "rm -rf /").as_bytes()).unwrap();
    assert_eq!((call.kind, call.host_session.as_deref()), (EventKind::PreToolUse, Some("m1")));
    assert_eq!(call.tool().and_then(|tool| tool.command()), Some("rm -rf /"));
    assert_eq!(DIALECT.read((proof.farewell)("/w", "m1").as_bytes()).unwrap().kind, EventKind::SessionEnd);
}
