//! Codex, by what the real one was seen to send and to honour.

use agents::Dialect;
use agents::codex::DIALECT;
use model::agent::FoundUsage;
use model::event::{Body, Envelope, EventKind, StartSource};
use model::fact::TranscriptTail;
use model::reply::{ByFamily, Context, Feedback, Gate, GateStop, Halt, Permission, Reply, Veto};
use model::run::{AgentOutput, AgentTrouble, Launch, Permissions};
use model::tool::ToolKind;
use serde_json::{Value, json};
use std::fs;

fn corpus(file: &str) -> String {
    let path = format!("{}/../../corpus/codex/{file}", env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn captured(name: &str) -> Envelope {
    DIALECT.read(corpus(&format!("{name}.json")).as_bytes()).unwrap()
}

#[test]
fn a1_every_captured_event_is_of_its_kind_in_its_session_and_folder() {
    for (name, kind) in [
        ("SessionStart", EventKind::SessionStart),
        ("SessionStart.compact", EventKind::SessionStart),
        ("UserPromptSubmit", EventKind::UserPromptSubmit),
        ("UserPromptSubmit.subagent", EventKind::Unknown),
        ("PreToolUse", EventKind::PreToolUse),
        ("PermissionRequest", EventKind::PermissionRequest),
        ("PostToolUse", EventKind::PostToolUse),
        ("SubagentStart", EventKind::SubagentStart),
        ("SubagentStop", EventKind::SubagentStop),
        ("Stop", EventKind::Stop),
        ("Stop.active", EventKind::Stop),
        ("Interrupt", EventKind::Stop),
        ("PreCompact", EventKind::PreCompact),
        ("PostCompact", EventKind::PostCompact),
        ("SessionEnd", EventKind::SessionEnd),
        ("PreModelRequest", EventKind::Unknown),
    ] {
        let envelope = captured(name);
        assert_eq!(envelope.kind, kind, "{name}");
        assert!(envelope.host_session.is_some_and(|id| id.starts_with("01a1")), "{name}");
        assert_eq!(envelope.cwd.as_deref(), Some("/home/dev/acme"), "{name}");
        assert!(envelope.notes.is_empty(), "{name}");
    }
}

#[test]
fn g1_a_call_says_what_it_runs_writes_and_reads() {
    for (name, tool, kind, command, paths) in [
        ("PreToolUse", "Bash", ToolKind::Shell, Some("cat a.txt && echo hi"), &[][..]),
        ("PermissionRequest", "Bash", ToolKind::Shell, Some("touch x_agents_probe"), &[]),
        ("PreToolUse.workdir", "Bash", ToolKind::Shell, Some("pwd"), &[]),
        ("PreToolUse.subagent", "Bash", ToolKind::Shell, Some("touch two; sleep 2"), &[]),
        ("PreToolUse.apply_patch", "apply_patch", ToolKind::Edit, None, &["c.txt"]),
        ("PostToolUse.apply_patch", "apply_patch", ToolKind::Edit, None, &["c.txt"]),
        ("PreToolUse.view_image", "view_image", ToolKind::Read, None, &["x.png"]),
        ("PreToolUse.spawn_agent", "spawn_agent", ToolKind::Task, None, &[]),
        ("PreToolUse.create_goal", "create_goal", ToolKind::Plan, None, &[]),
    ] {
        let envelope = captured(name);
        let call = envelope.tool().unwrap();
        assert_eq!((call.name.as_str(), call.kind, call.command()), (tool, kind, command), "{name}");
        assert_eq!(call.subject.paths, paths, "{name}");
        assert_eq!(call.use_id.is_some(), name != "PermissionRequest", "{name}");
        assert_eq!(call.subject.unread, None, "{name}");
    }
    assert_eq!(captured("PreToolUse.workdir").cwd.as_deref(), Some("/tmp"), "a call runs where its event says");
    let mcp = json!({"hook_event_name": "PreToolUse", "tool_name": "mcp__box__run", "tool_input": {"cmd": "rm -rf x"}});
    let mcp = DIALECT.read(mcp.to_string().as_bytes()).unwrap();
    assert_eq!(mcp.tool().map(|call| (call.kind, call.run_line())), Some((ToolKind::Mcp, Some("rm -rf x"))));
    let unheard = json!({"hook_event_name": "PreToolUse", "tool_name": "apply_patch", "tool_input": {"patch": 7}});
    let unheard = DIALECT.read(unheard.to_string().as_bytes()).unwrap();
    assert!(unheard.tool().unwrap().subject.unread.is_some(), "a patch that cannot be read is no pass");
}

#[test]
fn a4_a_helper_is_one_of_its_parents_session() {
    for name in ["SubagentStart", "SubagentStop", "PreToolUse.subagent", "UserPromptSubmit.subagent"] {
        let envelope = captured(name);
        let helper = envelope.sub_agent.unwrap();
        assert_eq!(helper.kind, "default", "{name}");
        assert_ne!(Some(helper.id), envelope.host_session, "{name}");
    }
    assert!(captured("PreToolUse").sub_agent.is_none());
}

#[test]
fn a_start_says_why_and_an_interrupt_ends_the_turn_for_good() {
    let Body::SessionStart(start) = captured("SessionStart.compact").body else { panic!() };
    assert_eq!((start.source, start.model.as_deref()), (StartSource::Compact, Some("mock-model")));
    let active = |name| matches!(captured(name).body, Body::Stop { hook_active: true, .. });
    assert!(active("Interrupt") && active("Stop.active") && !active("Stop"));
}

#[test]
fn a1_codex_is_recognised_by_what_it_sends_and_claude_code_is_not() {
    let recognises = DIALECT.recognises.unwrap();
    let all = |agent: &str| -> Vec<(String, Value)> {
        let folder = format!("{}/../../corpus/{agent}", env!("CARGO_MANIFEST_DIR"));
        let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        let json = files.filter(|path| path.extension().is_some_and(|end| end == "json"));
        json.map(|path| (path.display().to_string(), serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()))
            .collect()
    };
    let another = json!({"turn_id": "t", "model": "m", "prompt_id": "p"});
    assert!(!recognises(another.as_object().unwrap()), "others number their prompts");
    for (agent, own) in [("codex", true), ("claude-code", false)] {
        let cases = all(agent);
        assert!(cases.len() > 20);
        for (file, case) in cases {
            assert_eq!(recognises(case.as_object().unwrap()), own, "{file}");
        }
    }
}

fn said(name: &str, answer: ByFamily) -> Value {
    let answer = (DIALECT.encode)(&captured(name), &Reply { answer, ..Reply::default() });
    assert_eq!(answer.exit, 0);
    if answer.stdout.is_empty() { Value::Null } else { serde_json::from_str(&answer.stdout).unwrap() }
}

fn halt() -> Option<Halt> {
    Some(Halt { stop_reason: "full".into() })
}

#[test]
fn a1_each_reply_is_said_as_codex_honours_it_and_nothing_else_is() {
    let denied = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no"}});
    for stop in [GateStop::Ask { reason: "no".into() }, GateStop::Deny { reason: "no".into(), halt: halt() }] {
        assert_eq!(said("PreToolUse", ByFamily::Gate(Gate { stop: Some(stop), context: None })), denied);
    }
    let context = Gate { stop: None, context: Some("more".into()) };
    let told = |event: &str| json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": "more"}});
    assert_eq!(said("PreToolUse", ByFamily::Gate(context)), told("PreToolUse"));
    for event in ["SessionStart", "UserPromptSubmit", "SubagentStart"] {
        assert_eq!(said(event, ByFamily::Context(Context { text: Some("more".into()) })), told(event));
    }
    let deny = said("PermissionRequest", ByFamily::Permission(Permission { deny: Some("no".into()) }));
    assert_eq!(deny["hookSpecificOutput"]["decision"], json!({"behavior": "deny", "message": "no"}));
    let on = || Feedback { block: Some("go on".into()), context: Some("more".into()), halt: halt() };
    for event in ["Stop", "SubagentStop"] {
        assert_eq!(said(event, ByFamily::Feedback(on())), json!({"decision": "block", "reason": "go on"}));
    }
    assert_eq!(said("Interrupt", ByFamily::Feedback(on())), Value::Null, "nothing goes on after an interrupt");
    let after = said("PostToolUse", ByFamily::Feedback(on()));
    assert_eq!(after["hookSpecificOutput"]["additionalContext"], "go on\n\nmore");
    assert_eq!(after.get("decision"), None, "a block would take the place of what the tool gave back");
    let veto = Veto { block: Some("not now".into()), halt: halt() };
    assert_eq!(said("PreCompact", ByFamily::Veto(veto)), json!({"continue": false, "stopReason": "not now"}));
}

#[test]
fn a1_a_denial_without_words_is_one_nevertheless() {
    let stop = GateStop::Deny { reason: "  ".into(), halt: None };
    let said = said("PreToolUse", ByFamily::Gate(Gate { stop: Some(stop), context: None }));
    assert_eq!(said["hookSpecificOutput"]["permissionDecisionReason"], "  Taut says no.");
}

/// Every field of the value stands in the schema, which allows no other.
fn holds(schema: &Value, root: &Value, value: &Value) -> Result<(), String> {
    let schema = match schema["$ref"].as_str().or(schema["allOf"][0]["$ref"].as_str()) {
        Some(path) => root.pointer(&path[1..]).unwrap(),
        None => schema,
    };
    let Some(fields) = value.as_object().filter(|_| schema["type"] == "object") else {
        let words = schema["enum"].as_array();
        let constant = schema.get("const").is_none_or(|word| word == value);
        let ok = constant && words.is_none_or(|words| words.contains(value));
        return if ok { Ok(()) } else { Err(format!("{value} is none of {schema}")) };
    };
    assert_eq!(schema["additionalProperties"], false);
    let missing =
        schema["required"].as_array().into_iter().flatten().find(|name| !fields.contains_key(name.as_str().unwrap()));
    if let Some(name) = missing {
        return Err(format!("{name} is missing"));
    }
    fields.iter().try_for_each(|(name, value)| match schema["properties"].get(name) {
        Some(inner) => holds(inner, root, value),
        None => Err(format!("`{name}` is unknown")),
    })
}

#[test]
fn a1_every_answer_holds_to_codexs_own_schema_for_it() {
    let some = || Some("why".to_string());
    let replies = [
        ByFamily::Gate(Gate { stop: Some(GateStop::Ask { reason: "why".into() }), context: some() }),
        ByFamily::Gate(Gate { stop: Some(GateStop::Deny { reason: "why".into(), halt: halt() }), context: some() }),
        ByFamily::Permission(Permission { deny: some() }),
        ByFamily::Feedback(Feedback { block: some(), context: some(), halt: halt() }),
        ByFamily::Context(Context { text: some() }),
        ByFamily::Veto(Veto { block: some(), halt: halt() }),
    ];
    let mut judged = 0;
    for (event, schema) in [
        ("SessionStart", "session-start"),
        ("UserPromptSubmit", "user-prompt-submit"),
        ("PreToolUse", "pre-tool-use"),
        ("PermissionRequest", "permission-request"),
        ("PostToolUse", "post-tool-use"),
        ("SubagentStart", "subagent-start"),
        ("SubagentStop", "subagent-stop"),
        ("Stop", "stop"),
        ("PreCompact", "pre-compact"),
    ] {
        let schema: Value =
            serde_json::from_str(&corpus(&format!("schemas/{schema}.command.output.schema.json"))).unwrap();
        let envelope = captured(event);
        let own = |answer: &&ByFamily| {
            std::mem::discriminant(*answer) == std::mem::discriminant(&Reply::nothing(envelope.kind.family()).answer)
        };
        for answer in replies.iter().filter(own) {
            let reply = Reply { answer: answer.clone(), user_line: some(), ring: some(), warning: some() };
            let answer = (DIALECT.encode)(&envelope, &reply);
            let said: Value = serde_json::from_str(&answer.stdout).unwrap();
            assert_eq!(holds(&schema, &schema, &said), Ok(()), "{event}: {said}");
            judged += 1;
        }
    }
    assert!(judged >= 10, "{judged}");
    let unjudged: Value = serde_json::from_str(DIALECT.unjudged).unwrap();
    let schema: Value = serde_json::from_str(&corpus("schemas/pre-tool-use.command.output.schema.json")).unwrap();
    assert_eq!(holds(&schema, &schema, &unjudged), Ok(()));
    assert!(holds(&schema, &schema, &json!({"continue": true, "more": 1})).is_err(), "this check can fail");
}

fn heard(dialect: &Dialect, file: &str) -> AgentOutput {
    let mut heard = AgentOutput::default();
    corpus(file).lines().for_each(|line| (dialect.launch.hear)(line, &mut heard));
    heard
}

#[test]
fn l1_the_stream_of_a_run_tells_session_words_and_what_stopped_it() {
    let fine = heard(&DIALECT, "stream.jsonl");
    assert!(fine.session.is_some_and(|id| id.starts_with("01a1")));
    assert_eq!((fine.said.as_deref(), fine.failed, fine.trouble, fine.turns), (Some("bye"), false, None, 1));
    // 600 read and 60 written, at the price of the family it is made for.
    assert_eq!((fine.tool, fine.cost_micros, fine.tokens, fine.context_tokens), (None, 4_800, 660, None));
    let limited = heard(&DIALECT, "stream.429.jsonl");
    assert_eq!((limited.failed, limited.trouble), (true, Some(AgentTrouble::Limited { until: None })));
    assert!(matches!(heard(&DIALECT, "stream.500.jsonl").trouble, Some(AgentTrouble::Transient { .. })));
    assert!(matches!(heard(&DIALECT, "stream.401.jsonl").trouble, Some(AgentTrouble::Refused { .. })));
    let mut running = AgentOutput::default();
    let started = corpus("stream.jsonl");
    let started = started.lines().find(|line| line.contains("item.started")).unwrap();
    (DIALECT.launch.hear)(started, &mut running);
    assert_eq!(running.tool.as_deref(), Some("Bash"));
}

#[test]
fn l1_the_line_carries_prompt_model_and_permissions() {
    let launch = Launch {
        model: Some("gpt-5.5".into()),
        prompt: "- [ ] build".into(),
        permissions: Permissions::Skipped,
        args: vec!["--ephemeral".into()],
        ..Launch::default()
    };
    let line = (DIALECT.launch.line)(&launch);
    let words = "exec --json --skip-git-repo-check --model gpt-5.5 --dangerously-bypass-approvals-and-sandbox --ephemeral -- - [ ] build";
    assert_eq!((line.program.as_str(), line.args.join(" ").as_str(), line.stdin), ("codex", words, None));
    let long = (DIALECT.launch.line)(&Launch { prompt: "x".repeat(200_000), ..Launch::default() });
    assert_eq!((long.args.last().map(String::as_str), long.stdin.map(|text| text.len())), (Some("-"), Some(200_000)));
    let told = (DIALECT.launch.line)(&Launch {
        prompt: "p".into(),
        instructions: Some("/a/AGENTS.md".into()),
        ..Launch::default()
    });
    assert!(told.args.last().is_some_and(|prompt| prompt.contains("/a/AGENTS.md") && prompt.ends_with("\n\np")));
}

#[test]
fn a_record_says_how_full_the_context_is_and_what_was_said_last() {
    let bytes = corpus("transcript.jsonl").into_bytes();
    let reader = DIALECT.profile.transcript;
    let tail = |bytes: &[u8]| TranscriptTail { size: bytes.len() as u64, bytes: bytes.to_vec() };
    let whole = tail(&bytes);
    let FoundUsage::Usage(usage) = (reader.usage)(&whole, 0) else { panic!() };
    assert_eq!(usage.tokens, 110);
    assert_eq!((reader.last_words)(&whole).as_deref(), Some("bye"));
    let text = String::from_utf8(bytes).unwrap();
    let compacted = text.lines().position(|line| line.contains("\"type\":\"compacted\"")).unwrap();
    let until: String = text.split_inclusive('\n').take(compacted + 1).collect();
    assert_eq!((reader.usage)(&tail(until.as_bytes()), 0), FoundUsage::Reset);
    assert_eq!((reader.last_words)(&tail(until.as_bytes())), None, "a compaction's summary is nothing that was said");
}
