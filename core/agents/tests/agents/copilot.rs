//! GitHub Copilot CLI, by what the real one was seen to send and to honour.

use agents::copilot::DIALECT;
use agents::settings::{DENIED_COMMAND, GuardFailure, KnownClient, SettingsPlan, Version};
use model::agent::FoundUsage;
use model::event::{Body, Envelope, EventKind};
use model::fact::TranscriptTail;
use model::reply::{ByFamily, Context, Feedback, Gate, GateStop, Halt, Permission, Reply, Veto};
use model::run::{AgentOutput, AgentTrouble, Launch, Permissions};
use model::tool::ToolKind;
use serde_json::{Value, json};
use std::fs;

fn corpus(file: &str) -> String {
    let path = format!("{}/../../corpus/copilot/{file}", env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn captured(name: &str) -> Envelope {
    DIALECT.read(corpus(&format!("{name}.json")).as_bytes()).unwrap()
}

#[test]
fn a2_every_captured_event_is_of_its_kind_in_both_spellings() {
    for (name, kind) in [
        ("SessionStart", EventKind::SessionStart),
        ("sessionStart.camel", EventKind::SessionStart),
        ("UserPromptSubmit", EventKind::UserPromptSubmit),
        ("userPromptSubmitted.camel", EventKind::UserPromptSubmit),
        ("UserPromptSubmit.subagent", EventKind::Unknown),
        ("userPromptSubmitted.camel-subagent", EventKind::Unknown),
        ("userPromptTransformed.camel", EventKind::Unknown),
        ("PreToolUse", EventKind::PreToolUse),
        ("preToolUse.camel", EventKind::PreToolUse),
        ("PermissionRequest", EventKind::PermissionRequest),
        ("permissionRequest.camel", EventKind::PermissionRequest),
        ("PostToolUse", EventKind::PostToolUse),
        ("postToolUse.camel", EventKind::PostToolUse),
        ("PostToolUseFailure", EventKind::PostToolUseFailure),
        ("postToolUseFailure.camel", EventKind::PostToolUseFailure),
        ("Notification", EventKind::Notification),
        ("notification.camel", EventKind::Notification),
        ("SubagentStart", EventKind::SubagentStart),
        ("subagentStart.camel", EventKind::SubagentStart),
        ("SubagentStop", EventKind::SubagentStop),
        ("subagentStop.camel", EventKind::SubagentStop),
        ("Stop", EventKind::Stop),
        ("agentStop.camel", EventKind::Stop),
        ("agentStop.camel-active", EventKind::Stop),
        ("Stop.subagent", EventKind::Unknown),
        ("ErrorOccurred", EventKind::StopFailure),
        ("errorOccurred.camel", EventKind::StopFailure),
        ("PreCompact", EventKind::PreCompact),
        ("preCompact.camel", EventKind::PreCompact),
        ("SessionEnd", EventKind::SessionEnd),
        ("sessionEnd.camel", EventKind::SessionEnd),
    ] {
        let envelope = captured(name);
        assert_eq!(envelope.kind, kind, "{name}");
        assert!(envelope.host_session.is_some_and(|id| id.len() == 36), "{name}");
        assert!(envelope.cwd.is_some() && envelope.notes.is_empty() && !envelope.name.is_empty(), "{name}");
    }
}

#[test]
fn g1_a_call_says_what_it_runs_writes_and_reads_in_both_spellings() {
    let file = &["/home/dev/acme/f.txt"][..];
    let user = &["/home/user/project/f.txt"][..];
    for (name, kind, command, paths) in [
        ("PreToolUse", ToolKind::Shell, Some("cat a.txt && echo hi"), &[][..]),
        ("preToolUse.camel", ToolKind::Shell, Some("cat a.txt && echo hi"), &[]),
        ("PermissionRequest", ToolKind::Shell, Some("cat a.txt && echo hi"), &[]),
        ("PermissionRequest.create", ToolKind::Edit, None, file),
        ("PreToolUse.subagent", ToolKind::Shell, Some("touch sub"), &[]),
        ("preToolUse.camel-subagent", ToolKind::Shell, Some("touch ran; echo OUT1"), &[]),
        ("PreToolUse.create", ToolKind::Write, None, file),
        ("preToolUse.camel-create", ToolKind::Write, None, user),
        ("PreToolUse.edit", ToolKind::Edit, None, file),
        ("preToolUse.camel-edit", ToolKind::Edit, None, user),
        ("PreToolUse.apply_patch", ToolKind::Edit, None, &["zz"]),
        ("preToolUse.camel-view", ToolKind::Read, None, user),
        ("preToolUse.camel-task", ToolKind::Task, None, &[]),
        ("PreToolUse.Grep", ToolKind::Search, None, &["src", "docs"]),
        ("PreToolUse.sql", ToolKind::Plan, None, &[]),
        ("PreToolUse.skill", ToolKind::Other, None, &[]),
        ("PreToolUse.AskUserQuestion", ToolKind::Ask, None, &[]),
        ("PreToolUse.WebFetch", ToolKind::Fetch, None, &[]),
    ] {
        let envelope = captured(name);
        let call = envelope.tool().unwrap();
        assert_eq!((call.kind, call.command()), (kind, command), "{name}");
        assert_eq!(call.subject.paths, paths, "{name}");
        assert_eq!((call.subject.unread, call.run_line().is_some()), (None, command.is_some()), "{name}");
    }
    let edit = captured("PreToolUse.edit");
    let subject = &edit.tool().unwrap().subject;
    assert_eq!((subject.removed.as_deref(), subject.added.as_str()), (Some("one"), "uno"));
    assert_eq!(captured("PreToolUse.skill").tool().unwrap().subject.skill.as_deref(), Some("x"));
}

#[test]
fn g1_a_patch_as_bare_text_and_what_is_typed_into_an_open_shell_are_read() {
    let call = |tool: &str, input: Value| {
        let payload = json!({"sessionId": "s", "timestamp": 1, "cwd": "/w", "toolName": tool, "toolArgs": input});
        DIALECT.read(payload.to_string().as_bytes()).unwrap().tool().unwrap().clone()
    };
    let patch = call("apply_patch", json!("*** Begin Patch\n*** Delete File: /etc/a\n*** End Patch"));
    assert_eq!(patch.written_files(), ["/etc/a"]);
    assert_eq!(call("bash", json!("{\"command\": \"rm -rf x\"}")).command(), Some("rm -rf x"));
    assert_eq!(call("write_bash", json!({"shellId": "0", "input": "rm -rf x"})).command(), Some("rm -rf x"));
    assert_eq!(call("bash", json!({"command": 7})).subject.unread, Some("command"), "no verdict is no pass");
    assert_eq!(call("edit", json!({"path": 7})).subject.unread, Some("path"));
}

#[test]
fn a4_a_helper_is_one_of_the_session_that_it_names() {
    for name in [
        "PreToolUse.subagent", "PermissionRequest.subagent", "SubagentStart", "SubagentStop", "Stop.subagent",
        "UserPromptSubmit.subagent", "preToolUse.camel-subagent", "subagentStart.camel", "subagentStop.camel",
    ] {
        let text = corpus(&format!("{name}.json"));
        let payload: Value = serde_json::from_str(&text).unwrap();
        let told =
            |field: &str, camel: &str| payload.get(field).or(payload.get(camel)).unwrap().as_str().map(str::to_string);
        let envelope = captured(name);
        let helper = envelope.sub_agent.unwrap();
        assert_eq!(envelope.host_session, told("parent_agent_id", "parentAgentId"), "{name}");
        assert_eq!(Some(helper.id), told("agent_id", "agentId"), "{name}");
        assert_eq!(helper.kind, "general-purpose", "{name}");
    }
    assert!(captured("PreToolUse").sub_agent.is_none());
}

#[test]
fn a2_our_own_words_after_a_refused_stop_are_no_prompt() {
    let feedback = Feedback { block: Some("two tasks are open".into()), ..Feedback::default() };
    let said = said("Stop", ByFamily::Feedback(feedback));
    let prompt = |text: &Value| {
        let payload =
            json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "timestamp": "t", "prompt": text});
        DIALECT.read(payload.to_string().as_bytes()).unwrap().kind
    };
    assert_eq!(prompt(&said["reason"]), EventKind::Unknown);
    assert_eq!(prompt(&json!("two tasks are open")), EventKind::UserPromptSubmit);
    let Body::Stop { hook_active, .. } = captured("agentStop.camel-active").body else { panic!() };
    assert!(hook_active);
}

#[test]
fn a2_copilot_is_recognised_by_what_it_sends_and_no_other_is_taken_for_it() {
    let recognises = DIALECT.recognises.unwrap();
    let root = format!("{}/../../corpus", env!("CARGO_MANIFEST_DIR"));
    for dialect in agents::ALL.0 {
        let Ok(files) = fs::read_dir(format!("{root}/{}", dialect.id())) else { continue };
        let files = files.map(|file| file.unwrap().path());
        for path in files.filter(|path| path.extension().is_some_and(|end| end == "json")) {
            let case: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
            let Some(case) = case.as_object() else { continue };
            assert_eq!(recognises(case), dialect.id() == "copilot", "{}", path.display());
        }
    }
}

fn said(name: &str, answer: ByFamily) -> Value {
    let reply = Reply { answer, user_line: Some("you".into()), ring: Some("you".into()), warning: None };
    let answer = (DIALECT.encode)(&captured(name), &reply);
    assert_eq!((answer.exit, answer.stderr.as_str()), (0, ""));
    if answer.stdout.is_empty() { Value::Null } else { serde_json::from_str(&answer.stdout).unwrap() }
}

#[test]
fn a2_each_reply_is_said_flat_as_copilot_honours_it_and_nothing_else_is() {
    let halt = || Some(Halt { stop_reason: "full".into() });
    for name in ["PreToolUse", "preToolUse.camel"] {
        let gate = |stop| said(name, ByFamily::Gate(Gate { stop: Some(stop), context: Some("more".into()) }));
        let expected = |word: &str| json!({"additionalContext": "more", "permissionDecision": word, "permissionDecisionReason": "no"});
        assert_eq!(gate(GateStop::Ask { reason: "no".into() }), expected("ask"));
        assert_eq!(gate(GateStop::Deny { reason: "no".into(), halt: halt() }), expected("deny"));
    }
    let told = json!({"additionalContext": "more"});
    for name in ["SessionStart", "UserPromptSubmit", "SubagentStart", "sessionStart.camel"] {
        assert_eq!(said(name, ByFamily::Context(Context { text: Some("more".into()) })), told, "{name}");
    }
    let deny = said("PermissionRequest", ByFamily::Permission(Permission { deny: Some("no".into()) }));
    assert_eq!(deny, json!({"behavior": "deny", "message": "no"}));
    let on = || Feedback { block: Some("go on".into()), context: Some("more".into()), halt: halt() };
    for name in ["Stop", "SubagentStop", "agentStop.camel"] {
        let expected = json!({"decision": "block", "reason": "Before you stop, Taut asks: go on"});
        assert_eq!(said(name, ByFamily::Feedback(on())), expected, "{name}");
    }
    for name in ["PostToolUse", "PostToolUseFailure"] {
        assert_eq!(said(name, ByFamily::Feedback(on())), json!({"additionalContext": "go on\n\nmore"}), "{name}");
    }
    let veto = Veto { block: Some("not now".into()), halt: halt() };
    assert_eq!(said("PreCompact", ByFamily::Veto(veto)), Value::Null);
}

#[test]
fn i1_its_file_is_one_of_ours_with_the_version_it_asks_for_and_goes_as_it_came() {
    let plan = SettingsPlan {
        command: "/my tools/taut".into(),
        client: (DIALECT.settings.versions.parse)(
            "GitHub Copilot CLI 1.0.102.\nRun 'copilot update' to check for updates.\n",
        ),
        on_failure: GuardFailure::Continue,
        allow: Vec::new(),
        results: model::session::ResultsBy::Hooks,
    };
    assert_eq!(plan.client, KnownClient::Known(Version(1, 0, 102)));
    let edited = (DIALECT.settings.edit)("", &plan).unwrap();
    let file: Value = serde_json::from_str(&edited.text).unwrap();
    assert_eq!(file["version"], 1);
    let handler = json!({"type": "command", "bash": "'/my tools/taut' hook --agent copilot", "timeoutSec": 10});
    assert_eq!(file["hooks"]["PreToolUse"], json!([handler]));
    let found = (DIALECT.settings.inspect)(&edited.text).unwrap();
    assert_eq!(found.entries.len(), DIALECT.settings.registered.len());
    assert!(!found.hooks_disabled);
    assert_eq!((DIALECT.settings.remove)(&edited.text, &[]).unwrap().text, "");
    for user in [
        "{\"version\":1,\"hooks\":{\"preToolUse\":[{\"type\":\"command\",\"bash\":\"x\"}]}}",
        "{\n  \"hooks\": {}\n}\n",
    ] {
        let with = (DIALECT.settings.edit)(user, &plan).unwrap().text;
        assert_eq!((DIALECT.settings.remove)(&with, &[]).unwrap().text, user);
    }
    let off = "{\"version\":1,\"disableAllHooks\":true,\"hooks\":{}}";
    assert!((DIALECT.settings.inspect)(off).unwrap().hooks_disabled);
}

#[test]
fn i1_the_proof_is_a_call_of_its_own_and_only_a_denial_counts() {
    let proof = &DIALECT.settings.proof;
    let payload = (proof.payload)("/w", "m1", DENIED_COMMAND);
    let call = DIALECT.read(payload.as_bytes()).unwrap();
    assert_eq!((call.kind, call.host_session.as_deref()), (EventKind::PreToolUse, Some("m1")));
    assert_eq!(call.tool().and_then(|tool| tool.command()), Some(DENIED_COMMAND));
    let end = DIALECT.read((proof.farewell)("/w", "m1").as_bytes()).unwrap();
    assert_eq!((end.kind, end.host_session.as_deref()), (EventKind::SessionEnd, Some("m1")));
    let denied = (DIALECT.stop_unread)(GateStop::Deny { reason: "because".into(), halt: None }).stdout;
    assert_eq!((proof.denial)(&denied).as_deref(), Some("because"));
    for other in ["", "{}", DIALECT.unjudged] {
        assert_eq!((proof.denial)(other), None, "{other}");
    }
}

fn heard(file: &str) -> AgentOutput {
    let mut heard = AgentOutput::default();
    corpus(file).lines().for_each(|line| (DIALECT.launch.hear)(line, &mut heard));
    heard
}

#[test]
fn l1_the_stream_of_a_run_tells_session_words_and_what_stopped_it() {
    let fine = heard("stream.jsonl");
    assert_eq!(fine.session.as_deref(), Some("b3501cf2-3d90-40d6-ae33-946e2c1e01d2"));
    assert_eq!((fine.said.as_deref(), fine.failed, fine.trouble, fine.turns), (Some("bye"), false, None, 2));
    assert_eq!(fine.tool, None);
    let limited = heard("stream.429.jsonl");
    assert_eq!((limited.failed, limited.trouble), (true, Some(AgentTrouble::Limited { until: None })));
    let mut running = AgentOutput::default();
    let stream = corpus("stream.jsonl");
    (DIALECT.launch.hear)(stream.lines().find(|line| line.contains("execution_start")).unwrap(), &mut running);
    assert_eq!(running.tool.as_deref(), Some("bash"));
}

#[test]
fn l1_the_line_carries_prompt_model_and_permissions() {
    let launch = Launch {
        model: Some("gpt-5.5".into()),
        prompt: "- [ ] build".into(),
        permissions: Permissions::Skipped,
        args: vec!["--stream".into(), "off".into()],
        ..Launch::default()
    };
    let line = (DIALECT.launch.line)(&launch);
    let words =
        "--prompt=- [ ] build --output-format json --no-color --no-ask-user --model gpt-5.5 --allow-all --stream off";
    assert_eq!((line.program.as_str(), line.args.join(" ").as_str(), line.stdin), ("copilot", words, None));
    let long = (DIALECT.launch.line)(&Launch { prompt: "x".repeat(200_000), ..Launch::default() });
    assert_eq!(long.stdin.map(|text| text.len()), Some(200_000));
    assert!(!long.args.iter().any(|word| word.starts_with("--prompt")));
}

#[test]
fn a_record_says_what_was_said_last_and_not_what_a_helper_said() {
    let text = corpus("transcript.jsonl");
    let tail = |text: &str| TranscriptTail { size: text.len() as u64, bytes: text.as_bytes().to_vec() };
    let reader = DIALECT.profile.transcript;
    assert_eq!((reader.last_words)(&tail(&text)).as_deref(), Some("bye"));
    let helpers: String = text.split_inclusive('\n').take_while(|line| !line.contains("\"bye\"")).collect();
    assert!(helpers.contains("sub says"));
    assert_eq!((reader.last_words)(&tail(&helpers)), None);
    assert_eq!((reader.usage)(&tail(&text), 0), FoundUsage::Nothing);
}
