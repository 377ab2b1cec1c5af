//! Grok Build as it was captured: what its payloads mean, and what it is answered.

use crate::told::{answer, decoded, event, heard, settings_round_trip, tool};
use agents::grok::DIALECT;
use model::event::{Body, EventKind};
use model::reply::{ByFamily, Context, Feedback, Gate, GateStop, Halt, Reply, Veto};
use model::run::{AgentTrouble, Launch, Permissions};
use model::{Answer, ToolKind};
use serde_json::{Value, json};

fn told(name: &str, reply: ByFamily) -> Value {
    answer(&DIALECT, &decoded(&DIALECT, name), reply)
}

#[test]
fn a1_every_captured_event_is_of_its_kind() {
    for (name, kind) in [
        ("SessionStart", EventKind::SessionStart),
        ("UserPromptSubmit", EventKind::UserPromptSubmit),
        ("UserPromptSubmit.subagent", EventKind::Unknown),
        ("UserPromptSubmit.task_completed", EventKind::Unknown),
        ("PreToolUse", EventKind::PreToolUse),
        ("PostToolUse", EventKind::PostToolUse),
        ("PostToolUse.failed", EventKind::PostToolUseFailure),
        ("PostToolUse.grep", EventKind::PostToolUse),
        ("PostToolUseFailure", EventKind::PostToolUseFailure),
        ("Notification.permission_prompt", EventKind::Notification),
        ("SubagentStart", EventKind::SubagentStart),
        ("SubagentStop", EventKind::SubagentStop),
        ("Stop", EventKind::Stop),
        ("Stop.active", EventKind::Stop),
        ("Stop.shutdown", EventKind::Unknown),
        ("StopCancelled", EventKind::Stop),
        ("StopFailure", EventKind::StopFailure),
        ("PreCompact", EventKind::PreCompact),
        ("SessionEnd", EventKind::SessionEnd),
    ] {
        let envelope = decoded(&DIALECT, name);
        assert_eq!(envelope.kind, kind, "{name}");
        assert_eq!(envelope.cwd.as_deref(), Some("/home/user/project"), "{name}");
        assert!(envelope.host_session.is_some() && !envelope.cut && envelope.notes.is_empty(), "{name}");
    }
}

#[test]
fn a1_what_each_tool_would_do_is_read() {
    let line = Some("touch ran; echo OUT1");
    for (name, kind, command, written, read) in [
        ("PreToolUse", ToolKind::Shell, line, None, None),
        ("PreToolUse.subagent", ToolKind::Shell, line, None, None),
        ("PreToolUse.monitor", ToolKind::Shell, Some("echo mon; sleep 1"), None, None),
        ("PreToolUse.write", ToolKind::Write, None, Some("f.txt"), None),
        ("PreToolUse.search_replace", ToolKind::Edit, None, Some("f.txt"), None),
        ("PreToolUse.read_file", ToolKind::Read, None, None, Some("f.txt")),
        ("PostToolUse.failed", ToolKind::Shell, Some("echo one; exit 3"), None, None),
    ] {
        let call = tool(&decoded(&DIALECT, name));
        assert_eq!((call.kind, call.command(), call.written_file(), call.read_file()), (kind, command, written, read));
        assert!(call.use_id.is_some() && call.subject.unread.is_none(), "{name}");
    }
    assert_eq!(tool(&decoded(&DIALECT, "PreToolUse.list_dir")).subject.folder.as_deref(), Some("."));
    assert_eq!(tool(&decoded(&DIALECT, "PreToolUse.grep")).subject.paths, ["."]);
    let edit = tool(&decoded(&DIALECT, "PreToolUse.search_replace")).subject;
    assert_eq!((edit.removed.as_deref(), edit.added.as_str()), (Some("one"), "uno"));
}

/// The tool that calls a server's tools wraps their input into its own.
#[test]
fn g1_what_a_servers_tool_would_run_is_read_from_within() {
    for name in ["PreToolUse.server", "PostToolUseFailure"] {
        let call = tool(&decoded(&DIALECT, name));
        assert_eq!((call.kind, call.run_line()), (ToolKind::Mcp, Some("rm -rf x")), "{name}");
    }
    let edits = json!([{"op": "replace", "content": "a"}, {"op": "insert_after", "content": "b"}]);
    let payload = json!({"hook_event_name": "PreToolUse", "tool_name": "hashline_edit",
        "tool_input": {"file_path": "/a", "edits": edits}});
    let edit = tool(&event(&DIALECT, payload));
    assert_eq!((edit.kind, edit.written_file()), (ToolKind::Edit, Some("/a")));
    assert_eq!((edit.subject.removed.as_deref(), edit.subject.added.as_str()), (Some(""), "a\nb"));
}

#[test]
fn g1_a_call_that_grok_cut_is_read_as_far_as_it_goes_and_known_to_be_cut() {
    let envelope = decoded(&DIALECT, "PreToolUse.truncated");
    assert!(envelope.cut);
    assert_eq!(tool(&envelope).written_file(), Some("big.txt"));
    let payload = json!({"hook_event_name": "PreToolUse", "tool_name": "run_terminal_command",
        "toolInputTruncated": true, "tool_input": "{\"command\":\"rm -rf / [truncated]"});
    let call = event(&DIALECT, payload);
    assert_eq!((tool(&call).command(), call.cut), (Some("rm -rf / [truncated]"), true));
}

/// Of a payload that ended too early only the fields in its own spelling may have come.
#[test]
fn d2_its_own_spelling_alone_is_understood_too() {
    let cut = br#"{"hookEventName":"pre_tool_use","sessionId":"s","cwd":"/w","toolName":"run_terminal_command","toolInput":{"command":"rm -rf /"#;
    let envelope = DIALECT.read(cut).unwrap();
    assert_eq!(
        (envelope.kind, envelope.host_session.as_deref(), envelope.cut),
        (EventKind::PreToolUse, Some("s"), true)
    );
    assert_eq!(tool(&envelope).command(), Some("rm -rf /"));
}

#[test]
fn a2_it_is_known_by_both_names_of_an_event_and_no_other_agents_payload_is_taken_for_its() {
    let recognises = |bytes: &[u8]| {
        (DIALECT.recognises.unwrap())(serde_json::from_slice::<Value>(bytes).unwrap().as_object().unwrap())
    };
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let mut seen = 0;
    for dialect in agents::ALL.0 {
        let Ok(files) = std::fs::read_dir(corpus.join(dialect.id())) else { continue };
        for path in
            files.map(|file| file.unwrap().path()).filter(|path| path.extension().is_some_and(|end| end == "json"))
        {
            assert_eq!(recognises(&std::fs::read(&path).unwrap()), dialect.id() == DIALECT.id(), "{}", path.display());
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen}");
    for other in [
        r#"{"hookEventName": "pre_tool_use"}"#,
        r#"{"hookEventName": "PreToolUse", "hook_event_name": "PreToolUse", "workspaceRoot": "/w"}"#,
        r#"{"hookEventName": "nosuch", "workspaceRoot": "/w"}"#,
    ] {
        assert!(!recognises(other.as_bytes()), "{other}");
    }
}

#[test]
fn a4_a_helper_is_told_apart_by_its_type_and_its_start_names_it() {
    let helper = |name: &str| decoded(&DIALECT, name).sub_agent.map(|helper| (helper.id, helper.kind));
    let (parent, child) = ("01a1e02a-318d-7872-831c-ef0426e8d9a1", "01a1e02a-3426-7f32-a3c7-2033446cc5e9");
    for name in ["SubagentStart", "SubagentStop", "PreToolUse.subagent", "SessionEnd.subagent"] {
        assert_eq!(helper(name), Some((child.to_string(), "general-purpose".to_string())), "{name}");
    }
    assert_eq!(decoded(&DIALECT, "SubagentStart").host_session.as_deref(), Some(parent));
    assert_eq!(helper("PreToolUse"), None);
}

#[test]
fn a1_a_turn_that_was_broken_off_is_over_and_work_in_the_background_goes_on() {
    let stop = |name: &str| match decoded(&DIALECT, name).body {
        Body::Stop { hook_active, background, last_message } => (hook_active, background, last_message),
        other => panic!("{other:?}"),
    };
    assert_eq!(stop("StopCancelled"), (true, 0, None));
    assert_eq!(stop("Stop"), (false, 0, Some("bye".into())));
    assert_eq!(stop("Stop.background_tasks").1, 1);
    let trigger = |name: &str| match decoded(&DIALECT, name).body {
        Body::Compact { trigger, .. } => trigger,
        other => panic!("{other:?}"),
    };
    assert_eq!((trigger("PreCompact").as_str(), trigger("PreCompact.manual").as_str()), ("auto", "manual"));
}

#[test]
fn a1_a_call_is_denied_in_the_nested_form_and_never_asked_about() {
    let denied = json!({"hookSpecificOutput":
        {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no"}});
    let gate = |stop| ByFamily::Gate(Gate { stop, context: Some("c".into()) });
    let ask = GateStop::Ask { reason: "no".into() };
    let halt = GateStop::Deny { reason: "no".into(), halt: Some(Halt { stop_reason: "full".into() }) };
    assert_eq!(told("PreToolUse", gate(Some(ask.clone()))), denied);
    assert_eq!(told("PreToolUse", gate(Some(halt))), denied);
    let context = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "c"}});
    assert_eq!(told("PreToolUse", gate(None)), context);
    assert_eq!((DIALECT.settings.proof.denial)(&(DIALECT.stop_unread)(ask).stdout).as_deref(), Some("no"));
    assert!((DIALECT.settings.proof.denial)(DIALECT.unjudged).is_some());
}

#[test]
fn a1_what_is_told_after_a_tool_comes_under_the_name_of_its_event() {
    let feedback = |block: Option<&str>| {
        ByFamily::Feedback(Feedback { block: block.map(Into::into), context: Some("c".into()), halt: None })
    };
    let context = |name: &str, text: &str| json!({"hookEventName": name, "additionalContext": text});
    let said = told("PostToolUse", feedback(Some("b")));
    let block = json!({"decision": "block", "reason": "b", "hookSpecificOutput": context("PostToolUse", "c")});
    assert_eq!(said, block);
    assert_eq!(told("PostToolUse.failed", feedback(Some("b")))["hookSpecificOutput"], context("PostToolUse", "b\n\nc"));
    let failed = told("PostToolUseFailure", feedback(None));
    assert_eq!(failed, json!({"hookSpecificOutput": context("PostToolUseFailure", "c")}));
}

#[test]
fn a1_a_stop_is_sent_back_unless_the_user_broke_off_and_all_else_is_silence() {
    let feedback = || {
        let halt = Some(Halt { stop_reason: "full".into() });
        ByFamily::Feedback(Feedback { block: Some("go on".into()), context: Some("c".into()), halt })
    };
    let block = json!({"decision": "block", "reason": "go on"});
    assert_eq!((told("Stop", feedback()), told("SubagentStop", feedback())), (block.clone(), block));
    assert_eq!(told("StopCancelled", feedback()), Value::Null);
    let context = || ByFamily::Context(Context { text: Some("c".into()) });
    for name in ["SessionStart", "UserPromptSubmit", "SubagentStart"] {
        assert_eq!(told(name, context()), Value::Null, "{name}");
    }
    assert_eq!(told("PreCompact", ByFamily::Veto(Veto { block: Some("no".into()), halt: None })), Value::Null);
    let line = Some("hi".to_string());
    let reply = Reply { user_line: line.clone(), ring: line.clone(), warning: line, ..Reply::default() };
    assert_eq!((DIALECT.encode)(&decoded(&DIALECT, "SessionEnd"), &reply), Answer::default());
}

#[test]
fn l1_the_line_of_an_iteration_carries_prompt_model_and_permissions() {
    let launch = Launch {
        model: Some("grok-4.6".into()),
        prompt: "- build".into(),
        max_turns: Some(9),
        permissions: Permissions::Skipped,
        args: vec!["--no-plan".into()],
        ..Launch::default()
    };
    let line = (DIALECT.launch.line)(&launch);
    assert_eq!((line.program.as_str(), &line.stdin), ("grok", &None));
    let words = "--single=- build --output-format streaming-messages-json --model grok-4.6 --max-turns 9 --always-approve --no-plan";
    assert_eq!(line.args.join(" "), words);
    let long = (DIALECT.launch.line)(&Launch { prompt: "x".repeat(200_000), ..Launch::default() });
    assert_eq!((long.stdin.map(|text| text.len()), long.args[0].as_str()), (Some(200_000), "--prompt-file=/dev/stdin"));
}

#[test]
fn l6_a_stream_tells_session_tools_tokens_last_words_and_what_stopped_it() {
    let (done, tools) = heard(&DIALECT, "stream.jsonl");
    assert_eq!(tools, ["run_terminal_command", "write"]);
    assert_eq!(done.session.as_deref(), Some("01a1e3d8-dde8-7481-97fa-3e5eb78b9ae3"));
    assert_eq!((done.said.as_deref(), done.turns, done.failed), (Some("All is done."), 3, false));
    assert_eq!((done.context_tokens, done.tool), (Some(4301), None));
    let (refused, _) = heard(&DIALECT, "stream.refused.jsonl");
    assert!(refused.failed && matches!(refused.trouble, Some(AgentTrouble::Refused { .. })), "{refused:?}");
    let (unclear, _) = heard(&DIALECT, "stream.limit.jsonl");
    assert_eq!((unclear.failed, unclear.trouble, unclear.said.as_deref()), (true, None, Some("e: mock 429")));
    let mut busy = model::run::AgentOutput::default();
    let line = json!({"type": "result", "is_error": true, "errors": ["API error (status 503 Service Unavailable): x"]});
    (DIALECT.launch.hear)(&line.to_string(), &mut busy);
    assert_eq!(
        busy.trouble,
        Some(AgentTrouble::Transient { what: "API error (status 503 Service Unavailable): x".into() })
    );
}

#[test]
fn i1_its_hooks_are_a_file_of_ours_with_whole_numbers() {
    let made: Value = serde_json::from_str(&settings_round_trip(&DIALECT)).unwrap();
    let handler = json!({"type": "command", "command": "/opt/taut hook --agent grok", "timeout": 10});
    assert_eq!(made["hooks"]["StopCancelled"], json!([{"hooks": [handler]}]));
    let found = (DIALECT.settings.inspect)("// mine\n{}\n").unwrap();
    assert!(found.ignored_for.is_some(), "a comment makes Grok ignore the file");
}

#[test]
fn i2_hooks_that_the_user_switched_off_are_told() {
    let review = DIALECT.settings.review.as_ref().unwrap();
    let record = "global/other:stop[0].hooks[0]\nglobal/taut:pre_tool_use[0].hooks[0]\n\nglobal/taut:stop_cancelled[0].hooks[0]\n";
    assert_eq!((review.waiting)(record, "", "", str::to_string), ["PreToolUse", "StopCancelled"]);
    assert!((review.waiting)("", "", "", str::to_string).is_empty());
}

#[test]
fn i1_the_proof_is_a_call_that_it_would_make() {
    let proof = &DIALECT.settings.proof;
    let call = DIALECT.read((proof.payload)("/w", "m1", "rm -rf /").as_bytes()).unwrap();
    assert_eq!((call.kind, call.host_session.as_deref()), (EventKind::PreToolUse, Some("m1")));
    assert_eq!(tool(&call).command(), Some("rm -rf /"));
    assert_eq!(DIALECT.read((proof.farewell)("/w", "m1").as_bytes()).unwrap().kind, EventKind::SessionEnd);
}
