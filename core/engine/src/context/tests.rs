//! A session to measure, and what events make of its measure.

use super::*;
use model::Ms;
use model::event::{Body, Envelope, EventKind, SessionStart, SubAgent};
use model::fact::{Facts, Probe, TranscriptTail};
use model::session::{Session, SessionState};
use policy::Policy;

pub fn session() -> Session {
    Session {
        id: "id".into(),
        logical_id: "s".into(),
        host_session: Some("s".into()),
        agent: "a".into(),
        project: "/p".into(),
        transcript: Some("/t.jsonl".into()),
        state: SessionState::Active,
        ..Session::default()
    }
}

pub fn envelope(kind: EventKind, body: Body) -> Envelope {
    Envelope {
        agent: agents::DEFAULT.profile,
        kind,
        name: kind.name().into(),
        host_session: Some("s".into()),
        transcript: Some("/t.jsonl".into()),
        cwd: None,
        prompt_id: None,
        permission_mode: None,
        sub_agent: None,
        body,
        notes: Vec::new(),
        cut: false,
    }
}

fn prompt() -> Envelope {
    envelope(EventKind::UserPromptSubmit, Body::Prompt { text: "go".into() })
}

fn compacted() -> Envelope {
    envelope(EventKind::PostCompact, Body::Compact { trigger: "auto".into(), summary: None })
}

fn answer(tokens: u64) -> String {
    format!(
        "{{\"type\":\"assistant\",\"message\":{{\"id\":\"m\",\"model\":\"claude-opus-5-5\",\"usage\":{{\"input_tokens\":{tokens}}}}}}}\n"
    )
}

fn facts(transcript: &str) -> Facts {
    let tail = TranscriptTail { size: transcript.len() as u64, bytes: transcript.as_bytes().to_vec() };
    Facts { transcripts: vec![("/t.jsonl".into(), tail)], ..Facts::default() }
}

#[test]
fn s6_the_percentage_is_of_the_point_where_the_client_compacts_and_the_raw_number_is_kept() {
    let seen = observe(session(), &prompt(), &facts(&answer(483_500)), &ContextSettings::default());
    assert_eq!(seen.context_tokens, Some(483_500));
    assert_eq!((seen.context_window, seen.context_limit), (Some(1_000_000), Some(967_000)));
    assert_eq!(seen.context_percent(), Some(50.0));
}

#[test]
fn s6_a_compaction_resets_and_an_old_answer_before_it_never_comes_back() {
    let before = answer(960_000);
    let mut full = observe(session(), &prompt(), &facts(&before), &ContextSettings::default());
    full.memo.warned = 95;
    let mut reset = observe(full, &compacted(), &facts(&before), &ContextSettings::default());
    assert_eq!((reset.context_tokens, reset.context_percent()), (None, None));
    assert_eq!(reset.memo.warned, 0, "what fills up again is warned of again");
    // The boundary is written late: until then the old answer is the last one in the file.
    reset = observe(reset, &prompt(), &facts(&before), &ContextSettings::default());
    assert_eq!(reset.context_tokens, None);
    reset = observe(reset, &prompt(), &facts(&format!("{before}{}", answer(3_000))), &ContextSettings::default());
    assert_eq!(reset.context_tokens, Some(3_000));
}

#[test]
fn s6_unknown_is_unknown_and_a_transcript_without_an_answer_leaves_what_was_known() {
    let seen = observe(session(), &prompt(), &Facts::default(), &ContextSettings::default());
    assert_eq!((seen.context_tokens, seen.context_percent()), (None, None));
    let known = observe(session(), &prompt(), &facts(&answer(10)), &ContextSettings::default());
    let after = observe(known, &prompt(), &facts("{\"type\":\"user\"}\n"), &ContextSettings::default());
    assert_eq!(after.context_tokens, Some(10));
}

#[test]
fn s6_a_resumed_session_and_a_switch_of_models_tell_the_tokens_themselves() {
    let start = SessionStart {
        model: Some("claude-haiku-4-5".into()),
        context_tokens: Some(83_500),
        ..SessionStart::default()
    };
    let seen = observe(
        session(),
        &envelope(EventKind::SessionStart, Body::SessionStart(start)),
        &Facts::default(),
        &ContextSettings::default(),
    );
    assert_eq!(seen.context_percent(), Some(50.0));
    let switch = Body::ModelSwitch { to: Some("claude-opus-5-5".into()), context_tokens: Some(96_700) };
    let seen =
        observe(seen, &envelope(EventKind::PostModelSwitch, switch), &Facts::default(), &ContextSettings::default());
    assert_eq!(seen.context_percent(), Some(10.0));
}

#[test]
fn s6_the_transcript_is_read_once_a_turn_and_after_tools_only_where_something_needs_it() {
    let quiet = || ContextSettings::default();
    let loud = || ContextSettings { follows_usage: true, ..ContextSettings::default() };
    let none = Facts::default();
    let call = agents::claude_code::tools::call("Bash".into(), serde_json::Value::Null);
    let body =
        Body::ToolDone { call: call.clone(), response: model::event::ToolResponse::default(), duration_ms: None };
    let tool = envelope(EventKind::PostToolUse, body);
    assert!(observe::wanted(&prompt(), quiet, &none).is_some());
    assert!(observe::wanted(&tool, quiet, &none).is_none());
    assert!(observe::wanted(&tool, loud, &none).is_some());
    assert!(observe::wanted(&envelope(EventKind::PreToolUse, Body::Tool(call)), loud, &none).is_none());
    let sub_agent = Some(SubAgent { id: "x".into(), kind: "y".into() });
    assert!(observe::wanted(&Envelope { sub_agent, ..tool }, loud, &none).is_none());
}

#[test]
fn s6_more_is_read_once_where_the_end_says_nothing_and_never_again() {
    let mut facts = facts("");
    facts.transcripts[0].1 = TranscriptTail { size: 5_000_000, bytes: vec![b'x'; 65_536] };
    let ask = observe::wanted(&prompt(), ContextSettings::default, &facts);
    assert_eq!(ask, Some(Probe::Transcript { path: "/t.jsonl".into(), last: 1 << 20 }));
    facts.transcripts[0].1 = TranscriptTail { size: 5_000_000, bytes: vec![b'x'; 1 << 20] };
    assert_eq!(observe::wanted(&prompt(), ContextSettings::default, &facts), None);
}

#[test]
fn s5_the_line_at_a_prompt_says_where_the_session_stands() {
    let work = runtime::EffortSummary { skill: Some("implement"), phase: Some("2: Build"), heartbeat: Some((3, 10)) };
    assert_eq!(
        runtime::line(&session(), work, Ms(1_794_736_920_000)),
        "[Session Context] Time: 2026-11-15 10:02 UTC | Session: s | Skill: implement | Phase: 2: Build | Heartbeat: 3/10"
    );
    assert_eq!(
        runtime::line(&session(), runtime::EffortSummary::default(), Ms(1_794_736_920_000)),
        "[Session Context] Time: 2026-11-15 10:02 UTC | Session: s"
    );
}

#[test]
fn s5_a_session_without_a_status_is_reminded_after_two_minutes() {
    let on = ContextSettings { status_reminder: true, ..ContextSettings::default() };
    assert!(runtime::status_reminder(&session(), &on, Ms(120_000)).is_none());
    let told = runtime::status_reminder(&session(), &on, Ms(120_001)).unwrap();
    assert!(told.starts_with("[TAUT: INFO]: Consider setting a session status"));
    let busy = Session { status_text: Some("fixing".into()), ..session() };
    assert!(runtime::status_reminder(&busy, &on, Ms(500_000)).is_none());
    assert!(runtime::status_reminder(&session(), &ContextSettings::of(&Policy::built_in()), Ms(500_000)).is_none());
}

/// What the page shows is what the model reads.
#[test]
fn every_text_of_ours_stands_in_the_docs_as_the_model_sees_it() {
    let page = include_str!("../../../../docs/context.md");
    let settings = ContextSettings { warnings: true, status_reminder: true, ..ContextSettings::default() };
    let mut texts = vec![
        runtime::activation(agents::DEFAULT.profile, &settings),
        runtime::report(&settings, runtime::ReportTo::Starter),
        runtime::report(&settings, runtime::ReportTo::Anybody),
        runtime::status_reminder(&session(), &settings, Ms(500_000)).unwrap(),
    ];
    for percent in [60, 80, 90, 95] {
        let full = Session { context_tokens: Some(percent), context_limit: Some(100), ..session() };
        texts.push(warning::due(&full, &settings).unwrap().text);
        let alone = Session { mode: Some("background".into()), ..full };
        texts.extend(warning::due(&alone, &settings).unwrap().text.lines().last().map(str::to_owned));
    }
    let mut budget = ContextBudget::default();
    budget.introduce(settings.info("Session context loaded"));
    budget
        .show(Rank::Core, ShownFile { path: "/code/acme/docs/HISTORY.md".into(), title: "HISTORY".into(), text: None });
    texts.extend(budget.fit().text.unwrap().split("\n\n").map(str::to_owned));
    for text in texts {
        assert!(page.contains(&text), "docs/context.md does not show:\n{text}");
    }
}
