//! Gemini CLI: what it was seen to send, what it honours, and what its stream and its chats say.

use crate::told::{answer, decoded, event, settings_round_trip, tool};
use agents::gemini::DIALECT;
use model::agent::{FoundUsage, Usage};
use model::event::{Body, EventKind};
use model::fact::TranscriptTail;
use model::reply::{ByFamily, Context, Feedback, Gate, GateStop, Halt};
use model::run::{AgentOutput, AgentTrouble, Launch, Permissions};
use model::tool::ToolKind;
use serde_json::{Value, json};

#[test]
fn a1_gemini_every_captured_payload_is_the_event_it_means() {
    for (name, kind) in [
        ("SessionStart", EventKind::SessionStart),
        ("BeforeAgent", EventKind::UserPromptSubmit),
        ("BeforeAgent.with_context", EventKind::UserPromptSubmit),
        ("BeforeTool", EventKind::PreToolUse),
        ("AfterTool", EventKind::PostToolUse),
        ("AfterTool.exit_status", EventKind::PostToolUse),
        ("AfterTool.error", EventKind::PostToolUseFailure),
        ("AfterAgent", EventKind::Stop),
        ("AfterAgent.active", EventKind::Stop),
        ("Notification", EventKind::Notification),
        ("PreCompress", EventKind::Unknown),
        ("SessionEnd", EventKind::SessionEnd),
    ] {
        let envelope = decoded(&DIALECT, name);
        assert_eq!(envelope.kind, kind, "{name}");
        assert!(envelope.host_session.is_some() && envelope.cwd.is_some() && envelope.transcript.is_some(), "{name}");
        assert!(envelope.notes.is_empty() && envelope.sub_agent.is_none(), "{name}");
    }
}

#[test]
fn a2_gemini_every_captured_call_says_what_it_would_do() {
    for (name, kind, command, paths) in [
        ("BeforeTool", ToolKind::Shell, Some("cat a.txt && echo hi"), vec![]),
        ("BeforeTool.folder", ToolKind::Shell, Some("cd sub\nbash ./ps.sh"), vec![]),
        ("BeforeTool.of_a_sub_agent", ToolKind::Shell, Some("echo sub"), vec![]),
        ("BeforeTool.write_file", ToolKind::Write, None, vec!["f.txt"]),
        ("BeforeTool.replace", ToolKind::Edit, None, vec!["f.txt"]),
        ("BeforeTool.read_file", ToolKind::Read, None, vec!["f.txt"]),
        ("BeforeTool.invoke_agent", ToolKind::Task, None, vec![]),
    ] {
        let call = tool(&decoded(&DIALECT, name));
        assert_eq!((call.kind, call.run_line()), (kind, command), "{name}");
        assert_eq!(call.subject.paths, paths, "{name}");
    }
    let edit = tool(&decoded(&DIALECT, "BeforeTool.replace"));
    assert_eq!((edit.subject.removed.as_deref(), edit.subject.added.as_str()), (Some("one"), "uno"));
}

#[test]
fn a2_gemini_tools_that_look_do_not_act_and_those_of_servers_are_read() {
    let call = |name: &str, input: Value| {
        tool(&event(&DIALECT, json!({"hook_event_name": "BeforeTool", "tool_name": name, "tool_input": input})))
    };
    for name in ["read_file", "read_many_files", "glob", "list_directory", "grep_search", "write_todos", "ask_user"] {
        assert!(!call(name, json!({})).acts(), "{name}");
    }
    for name in ["run_shell_command", "web_fetch", "invoke_agent", "save_memory", "activate_skill", "tomorrows_tool"] {
        assert!(call(name, json!({})).acts(), "{name}");
    }
    assert_eq!(call("read_many_files", json!({"include": ["a", "b"]})).subject.paths, ["a", "b"]);
    let names = call("glob", json!({"pattern": "*.rs", "dir_path": "/etc"})).subject;
    assert_eq!((names.folder.as_deref(), names.pattern.as_deref(), names.paths), (Some("/etc"), Some("*.rs"), vec![]));
    let server = call("mcp_box_shell", json!({"command": "rm -rf x"}));
    assert_eq!((server.kind, server.run_line()), (ToolKind::Mcp, Some("rm -rf x")));
    assert_eq!(call("activate_skill", json!({"name": "deploy"})).subject.skill.as_deref(), Some("deploy"));
    assert_eq!(call("run_shell_command", json!({"command": 7})).subject.unread, Some("command"));
}

#[test]
fn a2_gemini_a_call_and_its_result_have_one_id_and_others_have_another() {
    let id = |name: &str| tool(&decoded(&DIALECT, name)).use_id;
    assert_eq!(id("BeforeTool"), id("AfterTool"));
    assert_eq!(id("BeforeTool.write_file"), id("AfterTool.write_file"));
    assert!(id("BeforeTool").is_some() && id("BeforeTool") != id("BeforeTool.folder"));
}

#[test]
fn a2_gemini_a_prompt_is_the_users_own_words_and_ours_are_none() {
    let prompt = |text: &str| event(&DIALECT, json!({"hook_event_name": "BeforeAgent", "prompt": text}));
    let with_context = decoded(&DIALECT, "BeforeAgent.with_context").body;
    assert_eq!(with_context, Body::Prompt { text: "do it".into() });
    let block = Feedback { block: Some("write your report".into()), ..Feedback::default() };
    let said = answer(&DIALECT, &decoded(&DIALECT, "AfterAgent"), ByFamily::Feedback(block));
    let back = prompt(said["reason"].as_str().unwrap());
    assert_eq!((back.kind, back.body), (EventKind::Unknown, Body::Plain));
    assert_eq!(prompt("Before lunch").kind, EventKind::UserPromptSubmit);
}

#[test]
fn a2_gemini_a_turn_ends_with_its_last_words_and_a_failed_tool_with_its_error() {
    let active = decoded(&DIALECT, "AfterAgent.active").body;
    assert_eq!(active, Body::Stop { hook_active: true, last_message: Some("bye\nbye2".into()), background: 0 });
    let Body::ToolFailed { error, .. } = decoded(&DIALECT, "AfterTool.error").body else { panic!() };
    assert_eq!(error, "File not found: /home/dev/acme/missing.txt");
    let Body::Notification { kind, .. } = decoded(&DIALECT, "Notification").body else { panic!() };
    assert_eq!(kind, "permission_prompt");
}

#[test]
fn a3_gemini_is_told_each_thing_in_the_one_form_it_honours() {
    let deny = |halt| ByFamily::Gate(Gate { stop: Some(GateStop::Deny { reason: "no".into(), halt }), context: None });
    let ask = ByFamily::Gate(Gate { stop: Some(GateStop::Ask { reason: "sure?".into() }), context: None });
    let feedback = |block: Option<&str>, context: Option<&str>| {
        let [block, context] = [block, context].map(|text| text.map(str::to_string));
        ByFamily::Feedback(Feedback { block, context, halt: None })
    };
    let context = || ByFamily::Context(Context { text: Some("more".into()) });
    let told = |event: &str| json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": "more"}});
    let halted = json!({"decision": "deny", "reason": "no", "continue": false, "stopReason": "full"});
    for (name, reply, said) in [
        ("BeforeTool", deny(None), json!({"decision": "deny", "reason": "no"})),
        ("BeforeTool", deny(Some(Halt { stop_reason: "full".into() })), halted),
        ("BeforeTool", ask, json!({"decision": "deny", "reason": "sure?"})),
        ("SessionStart", context(), told("SessionStart")),
        ("BeforeAgent", context(), told("BeforeAgent")),
        ("AfterTool", feedback(None, Some("more")), told("AfterTool")),
        ("AfterTool", feedback(Some("no"), None), Value::Null),
        ("AfterTool.error", feedback(None, Some("more")), Value::Null),
        ("AfterAgent", feedback(None, Some("more")), Value::Null),
        (
            "AfterAgent",
            feedback(Some("go on"), None),
            json!({"decision": "deny", "reason": "Before you stop, Taut asks: go on"}),
        ),
    ] {
        assert_eq!(answer(&DIALECT, &decoded(&DIALECT, name), reply), said, "{name}");
    }
}

#[test]
fn i1_gemini_settings_come_in_and_out_and_say_when_hooks_are_off() {
    let text = settings_round_trip(&DIALECT);
    let entry = &serde_json::from_str::<Value>(&text).unwrap()["hooks"]["BeforeTool"][0]["hooks"][0];
    let wanted = json!({"type": "command", "command": "/opt/taut hook --agent gemini", "timeout": 10_000});
    assert_eq!(*entry, wanted);
    let off =
        |more: &str| (DIALECT.settings.inspect)(&text.replacen('{', &format!("{{{more},"), 1)).unwrap().hooks_disabled;
    assert!(off(r#""hooksConfig": {"enabled": false}"#));
    assert!(off(r#""hooksConfig": {"disabled": ["/opt/taut hook --agent gemini"]}"#));
    assert!(!off(r#""hooksConfig": {"enabled": true, "disabled": ["lint"]}"#));
}

#[test]
fn l1_gemini_is_started_with_its_prompt_as_one_word_or_on_stdin() {
    let line = |prompt: &str, permissions| {
        let model = Some("gemini-2.5-pro".to_string());
        (DIALECT.launch.line)(&Launch { prompt: prompt.into(), model, permissions, ..Launch::default() })
    };
    let short = line("- build", Permissions::Skipped);
    let words = ["--prompt=- build", "--output-format", "stream-json", "--model", "gemini-2.5-pro", "--yolo"];
    assert_eq!(
        (short.program.as_str(), short.args.as_slice(), short.stdin),
        ("gemini", &words.map(String::from)[..], None)
    );
    let long = line(&"x".repeat(200_000), Permissions::Asked);
    assert!(long.stdin.is_some_and(|text| text.len() == 200_000) && long.args.iter().all(|arg| arg.len() < 100));
}

#[test]
fn l6_gemini_tells_its_session_its_last_words_and_what_went_wrong() {
    let heard = |lines: &str| {
        let mut heard = AgentOutput::default();
        lines.lines().for_each(|line| (DIALECT.launch.hear)(line, &mut heard));
        heard
    };
    let fine = heard(include_str!("../../../../corpus/gemini/other/stream.jsonl"));
    assert_eq!(fine.session.as_deref(), Some("5533e474-a6a7-4ca4-bc3e-d2bba0ee20f1"));
    assert_eq!((fine.said.as_deref(), fine.failed, fine.tool, fine.trouble), (Some("byebye2"), false, None, None));
    let refused = heard(include_str!("../../../../corpus/gemini/other/stream.refused.jsonl"));
    assert!(refused.failed);
    assert_eq!(refused.trouble, Some(AgentTrouble::Refused { what: "mock UNAUTHENTICATED".into() }));
    let limited = heard(include_str!("../../../../corpus/gemini/other/stream.limited.jsonl"));
    assert_eq!((limited.failed, limited.trouble), (true, Some(AgentTrouble::Limited { until: None })));
    let transient = heard(include_str!("../../../../corpus/gemini/other/stream.transient.jsonl"));
    assert_eq!(transient.trouble, Some(AgentTrouble::Transient { what: "mock INTERNAL".into() }));
    let running = heard(r#"{"type":"tool_use","tool_name":"run_shell_command"}"#);
    assert_eq!(running.tool.as_deref(), Some("run_shell_command"));
}

#[test]
fn s6_gemini_chats_say_how_full_the_context_is_and_what_was_last_said() {
    let bytes = include_bytes!("../../../../corpus/gemini/other/transcript.jsonl").to_vec();
    let tail = TranscriptTail { size: bytes.len() as u64, bytes };
    let reader = DIALECT.profile.transcript;
    let usage = Usage { tokens: 120, model: Some("gemini-2.5-flash".into()) };
    assert_eq!((reader.usage)(&tail, 0), FoundUsage::Usage(usage));
    assert_eq!((reader.last_words)(&tail).as_deref(), Some("bye2"));
}
