//! What every plugin of ours sends and reads, whatever agent it is in.

use crate::Dialect;
use crate::settings::{GuardFailure, KnownClient, SettingsPlan};
use model::EventKind;
use model::reply::{ByFamily, Context, Feedback, Gate, GateStop, Reply};
use serde_json::{Value, json};

const PLUGINS: &[&Dialect] = &[&crate::opencode::DIALECT, &crate::pi::DIALECT];

fn answered(dialect: &Dialect, kind: EventKind, answer: ByFamily) -> String {
    let payload = json!({"hook_event_name": kind.name(), "session_id": "s", "tool_name": "bash"});
    let envelope = (dialect.decode)(payload.as_object().unwrap());
    assert_eq!(envelope.kind, kind);
    let answer = (dialect.encode)(&envelope, &Reply { answer, ..Reply::default() });
    assert_eq!((answer.exit, answer.stderr.as_str()), (0, ""));
    answer.stdout
}

fn said(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn d1_a_denial_is_one_word_with_its_reason_and_a_question_is_put_only_where_it_can_be() {
    for dialect in PLUGINS {
        let gate = |stop| ByFamily::Gate(Gate { stop: Some(stop), context: Some("more".into()) });
        let deny = answered(dialect, EventKind::PreToolUse, gate(GateStop::Deny { reason: "no".into(), halt: None }));
        assert_eq!(said(&deny), json!({"deny": "no"}));
        let ask = answered(dialect, EventKind::PreToolUse, gate(GateStop::Ask { reason: "sure?".into() }));
        let word = if dialect.profile.expresses.ask { "ask" } else { "deny" };
        assert_eq!(said(&ask), json!({word: "sure?"}));
    }
}

#[test]
fn d3_what_the_plugin_can_do_nothing_with_is_not_said() {
    let context = || ByFamily::Context(Context { text: Some("c".into()) });
    let block = || ByFamily::Feedback(Feedback { block: Some("go on".into()), ..Feedback::default() });
    for dialect in PLUGINS {
        for kind in EventKind::ALL {
            let known = super::EVENTS.iter().any(|(_, known)| known == kind);
            if known {
                assert_eq!(answered(dialect, *kind, Reply::nothing(kind.family()).answer), "", "{kind:?}");
            }
        }
        assert_eq!(said(&answered(dialect, EventKind::Stop, block())), json!({"block": "go on"}));
        assert_eq!(answered(dialect, EventKind::SubagentStop, block()), "");
        assert_eq!(said(&answered(dialect, EventKind::PostToolUse, block())), json!({"context": "go on"}));
        assert_eq!(said(&answered(dialect, EventKind::SessionStart, context())), json!({"context": "c"}));
        assert_eq!(answered(dialect, EventKind::SessionEnd, context()), "");
    }
}

#[test]
fn g1_a_call_that_the_plugin_could_not_copy_whole_is_one_that_was_cut() {
    for dialect in PLUGINS {
        let call = json!({"hook_event_name": "PreToolUse", "tool_name": "bash", "cut": true, "tool_input": {}});
        let envelope = dialect.read(call.to_string().as_bytes()).unwrap();
        assert!(envelope.cut);
        assert_eq!(envelope.tool().unwrap().subject.unread, Some("command"));
    }
}

#[test]
fn i1_the_plugin_is_put_in_brought_up_to_date_and_taken_out_and_its_proof_is_understood() {
    let plan = |command: &str| SettingsPlan {
        command: command.into(),
        client: KnownClient::Unknown,
        on_failure: GuardFailure::Block,
        allow: Vec::new(),
        results: model::session::ResultsBy::Hooks,
    };
    for dialect in PLUGINS {
        let settings = &dialect.settings;
        let made = (settings.edit)("", &plan("/opt/it's \"here\"\\/taut")).unwrap().text;
        assert!(made.contains(r#"const TAUT = "/opt/it's \"here\"\\/taut""#), "{made}");
        assert!(made.contains("const ON_FAILURE = \"block\"") && made.contains("\"CLAUDECODE\""));
        let found = (settings.inspect)(&made).unwrap();
        assert_eq!(found.entries.len(), settings.registered.len());
        assert_eq!((settings.edit)(&made, &plan("/opt/taut")).unwrap().events.len(), settings.registered.len());
        assert_eq!((settings.remove)(&made, &[]).unwrap().text, "");
        let call = dialect.read((settings.proof.payload)("/w", "m", "rm -rf /").as_bytes()).unwrap();
        assert_eq!((call.kind, call.tool().and_then(|tool| tool.command())), (EventKind::PreToolUse, Some("rm -rf /")));
        let end = dialect.read((settings.proof.farewell)("/w", "m").as_bytes()).unwrap();
        assert_eq!((end.kind, end.host_session.as_deref()), (EventKind::SessionEnd, Some("m")));
        assert!((settings.proof.denial)(dialect.unjudged).is_some());
        assert_eq!((settings.proof.denial)("{\"context\":\"x\"}"), None);
    }
}
