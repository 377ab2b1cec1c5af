//! Qwen Code: what it was seen to send, what it honours, and what its stream and its chats say.

use crate::told::{answer, decoded, event, settings_round_trip, tool};
use agents::qwen::DIALECT;
use model::agent::{FoundUsage, Usage};
use model::event::{Body, EventKind, SubAgent};
use model::fact::TranscriptTail;
use model::reply::{ByFamily, Context, Feedback, Gate, GateStop, Halt, Permission};
use model::run::{AgentOutput, AgentTrouble, Launch, Permissions};
use model::tool::ToolKind;
use serde_json::{Value, json};

#[test]
fn a1_qwen_every_captured_payload_is_the_event_it_means() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/qwen");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let names: Vec<String> = files.filter_map(|name| name.strip_suffix(".json").map(str::to_string)).collect();
    assert!(names.len() > 25);
    for name in names {
        let envelope = decoded(&DIALECT, &name);
        let meant = match name.as_str() {
            "UserPromptSubmit.tool-result" | "UserPromptSubmit.from-stop-hook" => "Unknown",
            name => name.split('.').next().unwrap(),
        };
        assert_eq!(envelope.kind.name(), meant, "{name}");
        assert!(envelope.host_session.is_some() && envelope.cwd.is_some() && envelope.notes.is_empty(), "{name}");
    }
}

#[test]
fn a2_qwen_every_captured_call_says_what_it_would_do() {
    let file = "/home/user/project/f.txt";
    for (name, kind, command, paths, acts) in [
        ("PreToolUse", ToolKind::Shell, Some("cat a.txt && echo hi"), vec![], true),
        ("PermissionRequest", ToolKind::Shell, Some("touch ran; echo OUT1"), vec![], true),
        ("PreToolUse.monitor", ToolKind::Shell, Some("touch mon2; echo x"), vec![], true),
        ("PreToolUse.write_file", ToolKind::Write, None, vec![file], true),
        ("PreToolUse.edit", ToolKind::Edit, None, vec![file], true),
        ("PreToolUse.read_file", ToolKind::Read, None, vec![file], false),
        ("PreToolUse.agent", ToolKind::Task, None, vec![], true),
        ("PreToolUse.tool_search", ToolKind::Other, None, vec![], false),
    ] {
        let call = tool(&decoded(&DIALECT, name));
        assert_eq!((call.kind, call.run_line(), call.acts()), (kind, command, acts), "{name}");
        assert_eq!(call.subject.paths, paths, "{name}");
    }
    let elsewhere = json!({"hook_event_name": "PreToolUse", "tool_name": "run_shell_command",
        "tool_input": {"command": "rm -rf .", "directory": "/srv"}});
    assert_eq!(tool(&event(&DIALECT, elsewhere)).command(), Some("cd /srv\nrm -rf ."));
}

#[test]
fn a2_qwen_a_call_has_one_id_before_and_after_and_a_request_has_none() {
    let id = |name: &str| tool(&decoded(&DIALECT, name)).use_id;
    assert_eq!(id("PreToolUse"), id("PostToolUse"));
    assert_eq!(id("PreToolUse").as_deref(), Some("toolu_1794729091653_h4nd4jqx6"));
    assert_eq!(id("PermissionRequest"), None);
}

#[test]
fn a2_qwen_only_what_a_person_submitted_is_a_prompt() {
    assert_eq!(decoded(&DIALECT, "UserPromptSubmit").body, Body::Prompt { text: "say hi".into() });
    for name in ["UserPromptSubmit.tool-result", "UserPromptSubmit.from-stop-hook"] {
        assert_eq!(decoded(&DIALECT, name).body, Body::Plain, "{name}");
    }
}

#[test]
fn a4_qwen_sub_agents_are_told_apart_and_one_that_stops_does_not_wait_for_itself() {
    let helper = |kind: &str| Some(SubAgent { id: "general-purpose-call_mock_1".into(), kind: kind.into() });
    assert_eq!(decoded(&DIALECT, "SubagentStart").sub_agent, helper("general-purpose"));
    assert_eq!(decoded(&DIALECT, "PreToolUse.subagent").sub_agent, helper(""));
    let Body::Stop { background, last_message, .. } = decoded(&DIALECT, "SubagentStop").body else { panic!() };
    assert_eq!((background, last_message.as_deref()), (0, Some("sub says hi")));
    let waits =
        json!({"hook_event_name": "Stop", "background_tasks": [{"id": "a", "status": "running"}, {"status": "done"}]});
    assert!(matches!(event(&DIALECT, waits).body, Body::Stop { background: 1, .. }));
}

#[test]
fn a3_qwen_is_told_each_thing_in_the_one_form_it_honours() {
    let gate = |stop, context: Option<&str>| ByFamily::Gate(Gate { stop, context: context.map(str::to_string) });
    let halt = Some(Halt { stop_reason: "full".into() });
    let deny = gate(Some(GateStop::Deny { reason: "no".into(), halt }), Some("more"));
    let ask = gate(Some(GateStop::Ask { reason: "sure?".into() }), None);
    let permission = ByFamily::Permission(Permission { deny: Some("no".into()) });
    let feedback = |block: Option<&str>, context: Option<&str>| {
        let [block, context] = [block, context].map(|text| text.map(str::to_string));
        ByFamily::Feedback(Feedback { block, context, halt: None })
    };
    let context = || ByFamily::Context(Context { text: Some("more".into()) });
    let stopped = |word: &str, why: &str| {
        json!({"hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": word, "permissionDecisionReason": why
        }})
    };
    let refused = json!({"hookSpecificOutput": {
        "hookEventName": "PermissionRequest", "decision": {"behavior": "deny", "message": "no"}
    }});
    let told = |event: &str| json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": "more"}});
    for (name, reply, said) in [
        ("PreToolUse", deny, stopped("deny", "no")),
        ("PreToolUse", ask, stopped("ask", "sure?")),
        ("PreToolUse", gate(None, Some("more")), Value::Null),
        ("PermissionRequest", permission, refused),
        ("SessionStart", context(), told("SessionStart")),
        ("UserPromptSubmit", context(), told("UserPromptSubmit")),
        ("SubagentStart", context(), Value::Null),
        ("PostToolUse", feedback(Some("no"), Some("more")), told("PostToolUse")),
        ("PostToolUseFailure", feedback(None, Some("more")), told("PostToolUseFailure")),
        ("Stop", feedback(Some("go on"), None), json!({"decision": "block", "reason": "go on"})),
        ("SubagentStop", feedback(Some("go on"), None), json!({"decision": "block", "reason": "go on"})),
    ] {
        assert_eq!(answer(&DIALECT, &decoded(&DIALECT, name), reply), said, "{name}");
    }
}

#[test]
fn i1_qwen_settings_come_in_and_out_and_say_when_hooks_are_off() {
    let text = settings_round_trip(&DIALECT);
    let entry = &serde_json::from_str::<Value>(&text).unwrap()["hooks"]["PreToolUse"][0]["hooks"][0];
    assert_eq!(*entry, json!({"type": "command", "command": "/opt/taut hook --agent qwen", "timeout": 10}));
    let off = text.replacen('{', r#"{"disableAllHooks": true,"#, 1);
    assert!((DIALECT.settings.inspect)(&off).unwrap().hooks_disabled);
}

#[test]
fn l1_qwen_is_started_with_its_prompt_as_one_word_or_on_stdin() {
    let line = |prompt: &str| {
        let (permissions, max_turns, model) = (Permissions::Skipped, Some(9), Some("m".into()));
        (DIALECT.launch.line)(&Launch { prompt: prompt.into(), model, permissions, max_turns, ..Launch::default() })
    };
    let short = line("- build");
    let words = "--prompt=- build --output-format stream-json --model m --max-session-turns 9 --yolo";
    assert_eq!((short.program.as_str(), short.args.join(" ").as_str(), short.stdin), ("qwen", words, None));
    let long = line(&"x".repeat(200_000));
    assert!(long.stdin.is_some_and(|text| text.len() == 200_000) && long.args.iter().all(|arg| arg.len() < 100));
}

#[test]
fn l6_qwen_tells_its_session_its_last_words_and_what_went_wrong() {
    let heard = |lines: &str| {
        let mut heard = AgentOutput::default();
        lines.lines().for_each(|line| (DIALECT.launch.hear)(line, &mut heard));
        heard
    };
    let fine = heard(include_str!("../../../../corpus/qwen/other/stream.jsonl"));
    assert_eq!(fine.session.as_deref(), Some("aa351390-18f5-4c84-94b5-5407df109782"));
    assert_eq!(
        (fine.said.as_deref(), fine.failed, fine.turns, fine.context_tokens),
        (Some("bye"), false, 4, Some(100))
    );
    assert_eq!((fine.tool, fine.trouble), (None, None));
    let refused = heard(include_str!("../../../../corpus/qwen/other/stream.refused.jsonl"));
    assert_eq!(refused.trouble, Some(AgentTrouble::Refused { what: "mock error 401".into() }));
    assert!(refused.failed);
    let transient = heard(include_str!("../../../../corpus/qwen/other/stream.transient.jsonl"));
    assert_eq!(transient.trouble, Some(AgentTrouble::Transient { what: "mock error 500".into() }));
    let result =
        |error: &str| heard(&json!({"type": "result", "is_error": true, "error": {"message": error}}).to_string());
    assert_eq!(result("[API Error: 429 slow down]").trouble, Some(AgentTrouble::Limited { until: None }));
    assert_eq!(result("the log says [API Error: 429 x]").trouble, None);
}

#[test]
fn s6_qwen_chats_say_how_full_the_context_is_and_what_was_last_said() {
    let bytes = include_bytes!("../../../../corpus/qwen/other/transcript.jsonl").to_vec();
    let tail = TranscriptTail { size: bytes.len() as u64, bytes };
    let reader = DIALECT.profile.transcript;
    let usage = Usage { tokens: 120, model: Some("mock-model".into()) };
    assert_eq!((reader.usage)(&tail, 0), FoundUsage::Usage(usage));
    assert_eq!((reader.last_words)(&tail).as_deref(), Some("bye"));
}

#[test]
fn d2_qwen_events_of_its_lists_are_unknown_and_pass() {
    let todo = event(&DIALECT, json!({"hook_event_name": "TodoCreated", "session_id": "s"}));
    assert_eq!((todo.kind, todo.name.as_str(), todo.body), (EventKind::Unknown, "TodoCreated", Body::Plain));
}
