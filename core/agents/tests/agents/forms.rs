//! Whatever is decided, each agent is told it in a form it honours. A wrong form is an error nowhere: the call simply runs.

use agents::Dialect;
use agents::answer_form::{FieldValue, FormPart};
use agents::dialect::Tried;
use model::card::{CardAnswer, ChosenAnswer};
use model::event::{Envelope, EventKind};
use model::reply::{ByFamily, Context, Feedback, Gate, GateStop, Halt, Permission, Reply, Veto};
use proptest::prelude::*;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

/// What the agent was seen to send.
fn captured(dialect: &'static Dialect) -> Vec<(String, Envelope)> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus")).join(dialect.id());
    let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut cases: Vec<_> = files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .filter_map(|path| Some((path.display().to_string(), dialect.read(&fs::read(&path).unwrap()).ok()?)))
        .collect();
    cases.sort_by(|left, right| left.0.cmp(&right.0));
    assert!(!cases.is_empty(), "nothing of {} is in {}", dialect.id(), folder.display());
    cases
}

type Captured = (&'static Dialect, Vec<(String, Envelope)>);

/// Those that nobody can run here have nothing captured.
static HEARD: LazyLock<Vec<Captured>> = LazyLock::new(|| {
    let real = agents::ALL.0.iter().filter(|dialect| matches!(dialect.tried, Tried::OnTheRealAgent(_)));
    real.map(|dialect| (*dialect, captured(dialect))).collect()
});

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z ]{1,20}", "\\PC{1,20}", Just("{\"decision\": \"allow\"}\n".to_string())]
}

fn halt() -> impl Strategy<Value = Option<Halt>> {
    prop::option::of(text().prop_map(|stop_reason| Halt { stop_reason }))
}

fn stop() -> impl Strategy<Value = GateStop> {
    prop_oneof![
        text().prop_map(|reason| GateStop::Ask { reason }),
        (text(), halt()).prop_map(|(reason, halt)| GateStop::Deny { reason, halt }),
    ]
}

fn reply() -> impl Strategy<Value = Reply> {
    let some = || prop::option::of(text());
    let answer = prop_oneof![
        (prop::option::of(stop()), some()).prop_map(|(stop, context)| ByFamily::Gate(Gate { stop, context })),
        some().prop_map(|deny| ByFamily::Permission(Permission { deny })),
        (some(), some(), halt()).prop_map(|(block, context, halt)| ByFamily::Feedback(Feedback {
            block,
            context,
            halt
        })),
        some().prop_map(|text| ByFamily::Context(Context { text })),
        (some(), halt()).prop_map(|(block, halt)| ByFamily::Veto(Veto { block, halt })),
        Just(ByFamily::Silent),
    ];
    (answer, some(), some(), some()).prop_map(|(answer, user_line, ring, warning)| Reply {
        answer,
        user_line,
        ring,
        warning,
    })
}

/// The same answer as the family of the event makes it.
fn is_of(reply: &Reply, kind: EventKind) -> bool {
    std::mem::discriminant(&reply.answer) == std::mem::discriminant(&Reply::nothing(kind.family()).answer)
}

#[test]
fn d3_no_form_of_any_dialect_allows_anything() {
    let never = |words: &[&str]| !words.iter().any(|word| ["allow", "approve", "yes", "proceed"].contains(word));
    for dialect in agents::ALL.0 {
        for form in dialect.forms {
            let FormPart::Field(path, FieldValue::OneOf(words)) = form.what else { continue };
            assert!(never(words), "{}: {path}", dialect.id());
        }
    }
}

/// What a person may answer is printed on one event, for one call, and says nothing that lasts or ends a turn.
#[test]
fn f1_only_a_persons_own_answer_to_a_waiting_call_can_allow() {
    for dialect in agents::ALL.0 {
        assert_eq!(dialect.answer.is_some(), !dialect.answer_forms.is_empty(), "{}", dialect.id());
        for form in dialect.answer_forms {
            assert_eq!(form.on, &[EventKind::PermissionRequest], "{}", dialect.id());
            let FormPart::Field(path, _) = form.what else { panic!("{}: {form:?}", dialect.id()) };
            assert!(!path.contains("ermissions") && !path.contains("interrupt"), "{}: {path}", dialect.id());
        }
    }
    let allow = r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}"#;
    let lasting = r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedPermissions":[]}}}"#;
    let ending = r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","interrupt":true}}}"#;
    let claude = agents::ALL.0.iter().find(|dialect| dialect.id() == "claude-code").unwrap();
    let said = |text: &str| model::Answer { stdout: text.to_string(), ..model::Answer::default() };
    assert!(claude.honours(EventKind::PermissionRequest, &said(allow)).is_err(), "the fast line never allows");
    assert!(claude.honours_person(EventKind::PermissionRequest, &said(allow)).is_ok());
    assert!(claude.honours_person(EventKind::PreToolUse, &said(allow)).is_err());
    assert!(claude.honours_person(EventKind::PermissionRequest, &said(lasting)).is_err());
    assert!(claude.honours_person(EventKind::PermissionRequest, &said(ending)).is_err());
}

fn person() -> impl Strategy<Value = CardAnswer> {
    let chosen = || (prop::collection::vec(text(), 0..3), prop::option::of(text()));
    let chosen = chosen().prop_map(|(labels, words)| ChosenAnswer { labels, words });
    prop_oneof![
        Just(CardAnswer::AllowOnce),
        text().prop_map(|words| CardAnswer::Deny { words }),
        prop::collection::btree_map(text(), chosen, 0..3).prop_map(|chosen| CardAnswer::Choose { chosen }),
        Just(CardAnswer::ApprovePlan),
        text().prop_map(|words| CardAnswer::RejectPlan { words }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn a1_no_dialect_prints_an_answer_outside_its_declared_forms(reply in reply()) {
        for (dialect, cases) in HEARD.iter() {
            for (file, envelope) in cases.iter().filter(|(_, envelope)| is_of(&reply, envelope.kind)) {
                let answer = (dialect.encode)(envelope, &reply);
                let honoured = dialect.honours(envelope.kind, &answer);
                prop_assert!(honoured.is_ok(), "{} {file}: {reply:?}: {honoured:?}", dialect.id());
            }
        }
    }

    #[test]
    fn f1_no_answer_of_a_person_is_printed_outside_its_declared_forms(answer in person(), asked in text(), label in text()) {
        let question = serde_json::json!({"questions": [{"question": asked, "options": [{"label": label}]}]});
        let answers = [answer, CardAnswer::Choose {
            chosen: [(asked.clone(), ChosenAnswer { labels: vec![label.clone()], words: None })].into(),
        }];
        for (dialect, cases) in HEARD.iter() {
            let Some(encode) = dialect.answer else { continue };
            let ask = serde_json::json!({"hook_event_name": "PermissionRequest", "session_id": "s",
                "tool_name": "AskUserQuestion", "tool_input": question});
            let ask = (String::from("a question"), dialect.read(ask.to_string().as_bytes()).unwrap());
            for (file, envelope) in cases.iter().chain([&ask]) {
                for answer in &answers {
                    let Some(printed) = encode(envelope, answer) else { continue };
                    let honoured = dialect.honours_person(envelope.kind, &printed);
                    prop_assert!(honoured.is_ok(), "{} {file}: {answer:?}: {honoured:?}", dialect.id());
                }
            }
            prop_assert!(encode(&ask.1, &answers[1]).is_some());
        }
    }

    #[test]
    fn a1_what_stops_a_call_is_told_to_every_agent_in_words(stop in stop()) {
        let (GateStop::Ask { reason } | GateStop::Deny { reason, .. }) = &stop;
        for (dialect, cases) in HEARD.iter() {
            let unread = (dialect.stop_unread)(stop.clone());
            prop_assert!(dialect.honours(EventKind::PreToolUse, &unread).is_ok(), "{}: {unread:?}", dialect.id());
            prop_assert!(!unread.stdout.is_empty(), "{}", dialect.id());
            let calls = cases.iter().filter(|(_, envelope)| envelope.kind == EventKind::PreToolUse);
            for (file, envelope) in calls {
                let gate = Gate { stop: Some(stop.clone()), context: None };
                let answer = (dialect.encode)(envelope, &Reply { answer: ByFamily::Gate(gate), ..Reply::default() });
                let said = serde_json::from_str::<serde_json::Value>(&answer.stdout).unwrap().to_string();
                let told = serde_json::json!(reason).to_string();
                prop_assert!(said.contains(told.trim_matches('"')), "{} {file}: {said}", dialect.id());
            }
        }
    }
}

#[test]
fn d3_a_reply_that_decides_nothing_prints_nothing_in_any_dialect() {
    for (dialect, cases) in HEARD.iter() {
        for (file, envelope) in cases {
            let answer = (dialect.encode)(envelope, &Reply::nothing(envelope.kind.family()));
            assert_eq!(answer, model::Answer::default(), "{} {file}", dialect.id());
        }
    }
}

#[test]
fn a1_what_is_printed_by_a_hook_that_failed_is_honoured_too() {
    for (dialect, _) in HEARD.iter() {
        let answer = model::Answer { stdout: dialect.unjudged.to_string(), ..model::Answer::default() };
        assert!(dialect.honours(EventKind::PreToolUse, &answer).is_ok(), "{}", dialect.id());
        assert!(!dialect.unjudged.is_empty(), "{}", dialect.id());
    }
}

#[test]
fn i1_the_proof_of_an_installation_opens_a_session_and_ends_it_in_every_agents_words() {
    for dialect in agents::ALL.0 {
        let proof = &dialect.settings.proof;
        let call = dialect.read((proof.payload)("/w", "mark", "rm -rf /").as_bytes()).unwrap();
        let command = call.tool().and_then(|tool| tool.command()).map(str::to_string);
        assert_eq!((call.kind, command.as_deref()), (EventKind::PreToolUse, Some("rm -rf /")), "{}", dialect.id());
        let end = dialect.read((proof.farewell)("/w", "mark").as_bytes()).unwrap();
        assert_eq!((end.kind, end.host_session), (EventKind::SessionEnd, call.host_session), "{}", dialect.id());
    }
}

#[test]
fn g1_half_a_character_in_a_payload_hides_no_line_of_its_command_from_any_agents_guard() {
    for dialect in agents::ALL.0 {
        let payload = (dialect.settings.proof.payload)("/w", "mark", "echo HALF\nrm -rf /");
        let call = dialect.read(payload.replace("HALF", "\\ud800").as_bytes()).unwrap();
        let command = call.tool().and_then(|tool| tool.command()).map(str::to_string);
        assert_eq!(command.as_deref(), Some("echo \u{fffd}\nrm -rf /"), "{}", dialect.id());
    }
}
