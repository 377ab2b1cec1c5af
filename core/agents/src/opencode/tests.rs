//! What the plugin was seen to send from the real agent, and what the agent's own stream says.

use super::{DIALECT, launch};
use model::event::{Body, Envelope, EventKind};
use model::run::{AgentOutput, AgentTrouble, Launch, Permissions};
use model::tool::ToolKind;

macro_rules! captured {
    ($name:literal) => {
        DIALECT.read(include_bytes!(concat!("../../../../corpus/opencode/", $name, ".json"))).unwrap()
    };
}

const ROOT: &str = "ses_e1c26c090fferspO1p44n625fi";
const HELPER: &str = "ses_e1c26b1c7ffeI5EzMrKtNYlu3O";

#[test]
fn a1_every_captured_event_is_of_its_kind() {
    for (envelope, kind) in [
        (captured!("SessionStart"), EventKind::SessionStart),
        (captured!("UserPromptSubmit"), EventKind::UserPromptSubmit),
        (captured!("HelperPrompt"), EventKind::Unknown),
        (captured!("SentBackPrompt"), EventKind::Unknown),
        (captured!("StopFailure"), EventKind::StopFailure),
        (captured!("PermissionRequest.read"), EventKind::PermissionRequest),
        (captured!("PostToolUse.bash"), EventKind::PostToolUse),
        (captured!("PostToolUseFailure.read"), EventKind::PostToolUseFailure),
        (captured!("SubagentStart"), EventKind::SubagentStart),
        (captured!("SubagentStop"), EventKind::SubagentStop),
        (captured!("Stop"), EventKind::Stop),
        (captured!("PreCompact"), EventKind::PreCompact),
        (captured!("PostCompact"), EventKind::PostCompact),
        (captured!("SessionEnd"), EventKind::SessionEnd),
    ] {
        assert_eq!(envelope.kind, kind, "{}", envelope.name);
        assert!(envelope.host_session.is_some() && envelope.cwd.as_deref() == Some("/home/dev/project"));
        assert!(envelope.notes.is_empty() && !envelope.cut);
    }
}

#[test]
fn g1_every_captured_call_says_what_it_would_do() {
    type Expected<'a> = (ToolKind, Option<&'a str>, &'a [&'a str], bool);
    let of = |envelope: &Envelope, (kind, line, paths, acts): Expected<'_>| {
        let call = envelope.tool().unwrap();
        assert_eq!((call.kind, call.command(), call.acts()), (kind, line, acts), "{}", call.name);
        assert!(call.subject.paths.iter().eq(paths) && call.subject.unread.is_none(), "{:?}", call.subject);
        assert!(call.use_id.is_some());
    };
    of(&captured!("PreToolUse.bash"), (ToolKind::Shell, Some("touch ran2"), &[], true));
    of(&captured!("PreToolUse.bash.workdir"), (ToolKind::Shell, Some("cd /tmp\ntouch ran"), &[], true));
    of(&captured!("PreToolUse.write"), (ToolKind::Write, None, &["a.txt"], true));
    of(&captured!("PreToolUse.edit"), (ToolKind::Edit, None, &["a.txt"], true));
    of(&captured!("PreToolUse.read"), (ToolKind::Read, None, &["a.txt"], false));
    of(&captured!("PreToolUse.grep"), (ToolKind::Search, None, &["."], false));
    of(&captured!("PreToolUse.glob"), (ToolKind::Search, None, &[], false));
    of(&captured!("PreToolUse.todowrite"), (ToolKind::Plan, None, &[], false));
    of(&captured!("PreToolUse.task"), (ToolKind::Task, None, &[], true));
    let edit = captured!("PreToolUse.edit");
    let subject = &edit.tool().unwrap().subject;
    assert_eq!((subject.removed.as_deref(), subject.added.as_str()), (Some("hi"), "ho"));
}

#[test]
fn a1_a_helpers_events_belong_to_the_session_that_started_it() {
    for envelope in [
        captured!("SubagentStart"),
        captured!("HelperPrompt"),
        captured!("PreToolUse.bash.helper"),
        captured!("PostToolUse.bash.helper"),
        captured!("SubagentStop"),
    ] {
        let helper = envelope.sub_agent.as_ref().unwrap();
        assert_eq!((helper.id.as_str(), helper.kind.as_str()), (HELPER, "general"), "{}", envelope.name);
        assert_eq!(envelope.host_session.as_deref(), Some(ROOT));
    }
    assert_eq!(captured!("PreToolUse.task").sub_agent, None);
}

#[test]
fn a1_a_turn_without_a_terminal_or_interrupted_cannot_be_sent_back_and_one_at_a_terminal_can() {
    let active = |envelope: Envelope| matches!(envelope.body, Body::Stop { hook_active: true, .. });
    assert!(active(captured!("Stop")) && !active(captured!("Stop.terminal")) && active(captured!("Stop.interrupted")));
}

#[test]
fn l1_the_line_keeps_the_prompt_apart_from_options_and_a_long_one_is_read_from_stdin() {
    let launch = Launch {
        model: Some("openai/gpt-5".into()),
        prompt: "- [ ] a".into(),
        permissions: Permissions::Skipped,
        args: vec!["--pure".into()],
        ..Launch::default()
    };
    let line = launch::line(&launch);
    assert_eq!(line.args.join(" "), "run --format json --model openai/gpt-5 --auto --pure -- - [ ] a");
    let long = launch::line(&Launch { prompt: "x".repeat(200_000), ..Launch::default() });
    assert_eq!(
        (long.args.last().map(String::as_str), long.stdin.map(|text| text.len())),
        (Some("json"), Some(200_000))
    );
}

fn heard(stream: &str) -> AgentOutput {
    let mut output = AgentOutput::default();
    stream.lines().for_each(|line| launch::hear(line, &mut output));
    output
}

#[test]
fn l1_the_stream_tells_session_size_and_last_words() {
    let output = heard(include_str!("../../../../corpus/opencode/stream.jsonl"));
    assert_eq!(output.session.as_deref(), Some("ses_e1c25851affe9oAmZMjS7Ow06k"));
    assert_eq!((output.turns, output.context_tokens, output.said.as_deref()), (2, Some(100), Some("all done")));
    assert_eq!((output.failed, output.trouble), (false, None));
}

#[test]
fn l6_a_refused_request_is_for_a_person_and_a_limit_passes() {
    let refused = include_str!("../../../../corpus/opencode/stream.refused.jsonl");
    let output = heard(refused);
    assert!(output.failed && matches!(output.trouble, Some(AgentTrouble::Refused { .. })), "{output:?}");
    let limited = heard(&refused.replace("401", "429"));
    assert_eq!(limited.trouble, Some(AgentTrouble::Limited { until: None }));
    let over = heard(&format!("{refused}{}", include_str!("../../../../corpus/opencode/stream.jsonl")));
    assert_eq!((over.failed, over.trouble), (false, None));
}
