//! What the extension was seen to send from the real agent, and what the agent's own files and stream say.

use super::{DIALECT, PROFILE, launch};
use model::agent::{FoundUsage, Usage};
use model::event::{Body, Envelope, EventKind};
use model::fact::TranscriptTail;
use model::run::{AgentOutput, AgentTrouble, Launch};
use model::tool::ToolKind;

macro_rules! captured {
    ($name:literal) => {
        DIALECT.read(include_bytes!(concat!("../../../../corpus/pi/", $name, ".json"))).unwrap()
    };
}

#[test]
fn a1_every_captured_event_is_of_its_kind() {
    for (envelope, kind) in [
        (captured!("SessionStart"), EventKind::SessionStart),
        (captured!("SessionStart.clear"), EventKind::SessionStart),
        (captured!("UserPromptSubmit"), EventKind::UserPromptSubmit),
        (captured!("PostToolUse.bash"), EventKind::PostToolUse),
        (captured!("PostToolUseFailure.read"), EventKind::PostToolUseFailure),
        (captured!("Stop"), EventKind::Stop),
        (captured!("StopFailure"), EventKind::StopFailure),
        (captured!("PreCompact"), EventKind::PreCompact),
        (captured!("PostCompact"), EventKind::PostCompact),
        (captured!("SessionEnd"), EventKind::SessionEnd),
    ] {
        assert_eq!(envelope.kind, kind, "{}", envelope.name);
        assert!(envelope.host_session.is_some() && envelope.cwd.as_deref() == Some("/home/dev/project"));
        assert!(envelope.transcript.as_deref().is_some_and(|path| path.ends_with(".jsonl")));
        assert!(envelope.notes.is_empty() && !envelope.cut && envelope.sub_agent.is_none());
    }
}

#[test]
fn g1_every_captured_call_says_what_it_would_do() {
    let of = |envelope: &Envelope, kind: ToolKind, line: Option<&str>, path: Option<&str>, acts: bool| {
        let call = envelope.tool().unwrap();
        assert_eq!((call.kind, call.command(), call.acts(), call.subject.unread), (kind, line, acts, None));
        assert_eq!(call.subject.paths.first().map(String::as_str), path);
        assert!(call.use_id.is_some());
    };
    of(&captured!("PreToolUse.bash"), ToolKind::Shell, Some("touch ran"), None, true);
    of(&captured!("PreToolUse.write"), ToolKind::Write, None, Some("a.txt"), true);
    of(&captured!("PreToolUse.edit"), ToolKind::Edit, None, Some("a.txt"), true);
    of(&captured!("PreToolUse.read"), ToolKind::Read, None, Some("a.txt"), false);
    let edit = captured!("PreToolUse.edit");
    let subject = &edit.tool().unwrap().subject;
    assert_eq!((subject.removed.as_deref(), subject.added.as_str()), (Some("hi"), "ho"));
    let other = br#"{"hook_event_name":"PreToolUse","tool_name":"powershell","tool_input":{"command":"ri x"}}"#;
    assert_eq!(DIALECT.read(other).unwrap().tool().unwrap().command(), Some("pwsh -Command 'ri x'"));
}

#[test]
fn a1_an_interrupted_turn_is_answered_with_nothing() {
    let active = |envelope: Envelope| matches!(envelope.body, Body::Stop { hook_active: true, .. });
    assert!(active(captured!("Stop.interrupted")) && !active(captured!("Stop")));
}

#[test]
fn s6_the_session_file_says_how_full_the_context_is_and_what_was_said_last() {
    let whole = include_bytes!("../../../../corpus/pi/transcript.jsonl").to_vec();
    let tail = |bytes: &[u8]| TranscriptTail { size: bytes.len() as u64, bytes: bytes.to_vec() };
    let usage = |tokens| FoundUsage::Usage(Usage { tokens, model: Some("mock-model".into()) });
    assert_eq!((PROFILE.transcript.usage)(&tail(&whole), 0), usage(120));
    assert_eq!((PROFILE.transcript.last_words)(&tail(&whole)).as_deref(), Some("bye"));
    let text = String::from_utf8(whole).unwrap();
    let at = text.find("{\"type\":\"compaction\"").unwrap();
    assert_eq!((PROFILE.transcript.usage)(&tail(&text.as_bytes()[..at]), 0), usage(127_500));
    let after = at + text[at..].find('\n').unwrap() + 1;
    assert_eq!((PROFILE.transcript.usage)(&tail(&text.as_bytes()[..after]), 0), FoundUsage::Reset);
}

#[test]
fn l1_the_line_keeps_the_prompt_apart_from_options_and_files() {
    let line = |prompt: &str| launch::line(&Launch { prompt: prompt.into(), ..Launch::default() });
    assert_eq!(line("- [ ] a").args, ["-p", "--mode", "json", "--", "- [ ] a"]);
    assert_eq!(line("@secret").args.last().map(String::as_str), Some("\n@secret"));
    let long = line(&"x".repeat(200_000));
    assert_eq!((long.args.len(), long.stdin.map(|text| text.len())), (3, Some(200_000)));
}

fn heard(stream: &str) -> AgentOutput {
    let mut output = AgentOutput::default();
    stream.lines().for_each(|line| launch::hear(line, &mut output));
    output
}

#[test]
fn l1_the_stream_tells_session_tool_size_and_last_words() {
    let stream = include_str!("../../../../corpus/pi/stream.jsonl");
    let output = heard(stream);
    assert_eq!(output.session.as_deref(), Some("01a1e3e7-dd72-718a-9b0c-490c74f3c167"));
    assert_eq!((output.turns, output.context_tokens, output.said.as_deref()), (6, Some(100), Some("bye")));
    assert_eq!((output.tool.as_deref(), output.failed, output.trouble), (None, false, None));
    let until = stream.find("tool_execution_end").unwrap();
    assert_eq!(heard(&stream[..until]).tool.as_deref(), Some("bash"));
}

#[test]
fn l6_a_refused_request_is_for_a_person_and_a_limit_passes() {
    let refused = include_str!("../../../../corpus/pi/stream.refused.jsonl");
    let output = heard(refused);
    assert!(output.failed && matches!(output.trouble, Some(AgentTrouble::Refused { .. })), "{output:?}");
    assert_eq!(heard(&refused.replace("401", "429")).trouble, Some(AgentTrouble::Limited { until: None }));
    let over = heard(&format!("{refused}{}", include_str!("../../../../corpus/pi/stream.jsonl")));
    assert_eq!((over.failed, over.trouble), (false, None));
}
