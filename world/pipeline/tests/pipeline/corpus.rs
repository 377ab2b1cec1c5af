//! Every captured payload of the real client along the way (D2, D3).

use crate::home::PipelineHome;
use model::EventKind;
use serde_json::Value;
use std::collections::BTreeSet;

#[test]
fn d2_the_corpus_holds_all_33_events() {
    let cases = testkit::corpus::claude_code().unwrap();
    let captured: BTreeSet<&str> = cases.iter().map(|case| case.event.as_str()).collect();
    let known: BTreeSet<&str> = EventKind::ALL.iter().map(|kind| kind.name()).collect();
    assert_eq!(known.len(), 33);
    assert_eq!(captured, known);
}

#[test]
fn d2_every_captured_payload_decodes_to_its_kind_with_nothing_left_out() {
    for case in testkit::corpus::claude_code().unwrap() {
        let envelope = agents::ALL.decode("claude-code", &case.bytes).unwrap();
        assert_eq!(envelope.kind.name(), case.event, "{}", case.name);
        assert_eq!(envelope.name, case.event);
        assert!(envelope.notes.is_empty(), "{}: {:?}", case.name, envelope.notes);
        assert!(envelope.host_session.is_some() && envelope.cwd.is_some(), "{}", case.name);
    }
}

/// Ordinary work: not one of the captured payloads is destructive beyond what the user was asked about.
#[test]
fn d2_d3_every_captured_payload_is_recorded_once_and_answered_lawfully() {
    let mut stage = PipelineHome::new();
    let client = stage.client("unused");
    let cases = testkit::corpus::claude_code().unwrap();
    for (nth, case) in cases.iter().enumerate() {
        let served = stage.send_bytes(&client, case.bytes.clone());
        assert!(served.troubles.is_empty(), "{}: {:?}", case.name, served.troubles);
        assert_eq!(served.answer.exit, 0, "{}", case.name);
        if !served.answer.stdout.is_empty() {
            let said: Value = serde_json::from_str(&served.answer.stdout).unwrap();
            assert_eq!(said["hookSpecificOutput"]["hookEventName"], case.event, "{}", case.name);
        }
        let events = stage.events();
        assert_eq!(events.len(), nth + 1, "{}", case.name);
        assert_eq!(events[nth].event, case.event);
    }
}

#[test]
fn d3_no_captured_payload_is_answered_with_an_allow() {
    let mut stage = PipelineHome::new();
    let client = stage.client("unused");
    for case in testkit::corpus::claude_code().unwrap() {
        let said = stage.send_bytes(&client, case.bytes).answer.stdout;
        assert!(!said.contains("\"allow\"") && !said.contains("approve"), "{}: {said}", case.name);
    }
}

#[test]
fn d2_an_unknown_event_with_unknown_fields_is_recorded_and_passes() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    let served = stage.send(&client, "MoonPhaseChanged", serde_json::json!({"phase": {"new": [1, 2]}}));
    assert_eq!(served.answer, model::Answer::default());
    assert_eq!(stage.events()[0].event, "MoonPhaseChanged");
}

/// Some agents tell one more thing once the session is over.
#[test]
fn d2_what_means_nothing_opens_no_session() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    stage.start(&client, "startup");
    stage.send(&client, "SessionEnd", serde_json::json!({"reason": "other"}));
    stage.send(&client, "MoonPhaseChanged", serde_json::json!({}));
    assert_eq!(stage.events().len(), 3);
    let sessions = stage.sessions();
    assert_eq!((sessions.len(), sessions[0].open()), (1, false), "{sessions:?}");
}
