//! Stops that are refused, and turns that end in errors.

use super::{Transcript, refused};
use crate::home::{Client, PipelineHome};
use model::row::AgentStatus;
use model::session::{Once, SessionState};
use proptest::prelude::*;
use serde_json::{Value, json};

fn stop(stage: &mut PipelineHome, client: &Client, fields: Value) -> Option<String> {
    refused(&stage.send(client, "Stop", fields))
}

fn background(config: &str) -> (PipelineHome, Client) {
    let mut stage = PipelineHome::new();
    stage.write("acme/.taut/config.toml", config);
    let client = stage.client("one").with("CLAUDE_SESSION_MODE", "background").with("TAUT_AGENT_ID", "w");
    stage.start(&client, "startup");
    (stage, client)
}

#[test]
fn s9_a_background_session_is_asked_once_to_report_and_goes_on_working_until_it_has() {
    let (mut stage, client) = background("[context]\nreport = true\n");
    let running = json!({"stop_hook_active": false, "background_tasks": [{"id": "b", "status": "running"}]});
    assert_eq!(stop(&mut stage, &client, running), None, "its own helpers still run");
    let helper = json!({"stop_hook_active": false, "agent_id": "h1", "agent_type": "Explore"});
    assert_eq!(stop(&mut stage, &client, helper), None, "a sub-agent has nobody to report to but its parent");
    assert_ne!(stage.current(&client).state, SessionState::Idle, "and its end is not its parent's");
    let why = stop(&mut stage, &client, json!({"stop_hook_active": false})).unwrap();
    assert!(why.starts_with("[TAUT: INFO]: Reminder - Ping before ending"), "{why}");
    assert_eq!(stage.current(&client).state, SessionState::Active);
    assert_eq!(stage.agent("w").status, AgentStatus::Working);
    assert_eq!(stop(&mut stage, &client, json!({"stop_hook_active": true})), None);
    assert_eq!(stop(&mut stage, &client, json!({"stop_hook_active": false})), None);
    assert_eq!(stage.current(&client).state, SessionState::Idle);
    assert_eq!(stage.agent("w").status, AgentStatus::Done);
    assert!(stage.current(&client).memo.has(Once::ReportAsked));
}

#[test]
fn s9_nobody_else_is_asked_and_i5_nothing_is_asked_by_itself() {
    let (mut stage, client) = background("");
    assert_eq!(stop(&mut stage, &client, json!({})), None);
    let (mut stage, client) = background("[context]\nreport = true\n");
    let person = Client { session: "two".into(), ..client.with("CLAUDE_SESSION_MODE", "interactive") };
    stage.start(&person, "startup");
    assert_eq!(stop(&mut stage, &person, json!({})), None);
}

#[test]
fn s9_one_who_has_reported_is_not_asked() {
    let (mut stage, client) = background("[context]\nreport = true\n");
    let mut session = stage.current(&client);
    session.memo.once.push(Once::Reported);
    let write = model::effect::Write::Session(Box::new(session));
    stage.pipeline.store().unwrap().transact(store::Durability::Normal, |tx| tx.apply(&[write])).unwrap();
    assert_eq!(stop(&mut stage, &client, json!({})), None);
}

#[test]
fn s9_stops_are_never_refused_more_often_in_a_row_than_the_cap_says() {
    let (mut stage, client) = background("[context]\nreport = true\n");
    let mut session = stage.current(&client);
    session.memo.stops = 3;
    let write = model::effect::Write::Session(Box::new(session));
    stage.pipeline.store().unwrap().transact(store::Durability::Normal, |tx| tx.apply(&[write])).unwrap();
    let served = stage.send(&client, "Stop", json!({}));
    assert_eq!(refused(&served), None);
    let event = served.event.unwrap();
    assert_eq!(event.rules, ["stop-limit"], "what was let go is in the record");
    assert!(event.reason.unwrap().contains("sent back 3 times in a row"));
    stage.send(&client, "UserPromptSubmit", json!({"prompt": "go on"}));
    assert!(stop(&mut stage, &client, json!({})).is_some(), "a person spoke in between");
}

/// Something that happens to an agent while nobody speaks to it.
#[derive(Debug, Clone)]
enum Alone {
    Stop {
        active: bool,
    },
    /// What the last stop was refused with comes back as a prompt, with something before it.
    OwnWords(&'static str),
    /// The context goes on in another session, in the same client.
    Compacted,
    Filled(u64),
}

fn alone() -> impl Strategy<Value = Alone> {
    prop_oneof![
        4 => any::<bool>().prop_map(|active| Alone::Stop { active }),
        3 => prop::sample::select(vec!["", "\n", "Stop hook said:\n"]).prop_map(Alone::OwnWords),
        2 => Just(Alone::Compacted),
        2 => (850_000_u64..1_000_000).prop_map(Alone::Filled),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Some clients go on for as long as a stop is refused.
    #[test]
    fn s9_no_sequence_of_stops_is_refused_for_ever(acts in prop::collection::vec(alone(), 1..60)) {
        let (mut stage, mut client) = background("[context]\nreport = true\nwarnings = true\n");
        let transcript = Transcript::new(&stage);
        let (mut refusals, mut last) = (0, String::new());
        for (at, act) in acts.iter().enumerate() {
            match act {
                Alone::Stop { active } => {
                    let served = transcript.send(&mut stage, &client, "Stop", json!({"stop_hook_active": active}));
                    if let Some(why) = refused(&served) {
                        (refusals, last) = (refusals + 1, why);
                    }
                }
                Alone::OwnWords(before) if !last.is_empty() => {
                    let prompt = format!("{before}{}\n", last.replace("\n\n", "\n"));
                    transcript.send(&mut stage, &client, "UserPromptSubmit", json!({ "prompt": prompt }));
                }
                Alone::OwnWords(_) => {}
                Alone::Compacted => {
                    transcript.send(&mut stage, &client, "PreCompact", json!({"trigger": "auto"}));
                    client.session = format!("later-{at}");
                    transcript.send(&mut stage, &client, "SessionStart", json!({"source": "compact"}));
                }
                Alone::Filled(tokens) => transcript.answer(*tokens),
            }
        }
        prop_assert!(refusals <= 3, "{refusals} of {acts:?}");
    }
}

#[test]
fn s9_a_turn_that_failed_is_kept_as_a_message_and_shown_as_an_error() {
    let (mut stage, client) = background("");
    let served = stage.send(&client, "StopFailure", json!({"error": "rate_limit"}));
    assert_eq!(served.answer.stdout, "");
    let messages = stage.pipeline.store().unwrap().messages("stop_failure").unwrap();
    let kept: Vec<_> = messages.iter().map(|one| (one.from_agent.as_deref(), one.body.as_str())).collect();
    assert_eq!(kept, [(Some("w"), "rate_limit")]);
    assert_eq!(stage.agent("w").status, AgentStatus::Error);
}

/// S7, S9: the client does not stop a second time in a row for us, so both come at once.
#[test]
fn s9_a_full_context_does_not_swallow_the_reminder_to_report() {
    let (mut stage, client) = background("[context]\nreport = true\nwarnings = true\n");
    let transcript = Transcript::new(&stage);
    transcript.answer(900_000);
    let why = refused(&transcript.stop(&mut stage, &client)).unwrap();
    assert!(why.contains("Context at 85%") && why.contains("Ping before ending"), "{why}");
    assert_eq!(refused(&transcript.stop(&mut stage, &client)), None, "each was said");
}

/// S9: a command that cannot work is no advice.
#[test]
fn s9_only_who_was_started_by_another_is_told_of_worker_done() {
    let (mut stage, client) = background("[context]\nreport = true\n");
    let why = stop(&mut stage, &client, json!({"stop_hook_active": false})).unwrap();
    assert!(!why.contains("taut worker done") && why.contains("taut send <agent>"), "{why}");
    let worker = Client { session: "two".into(), ..client.with("TAUT_AGENT_ID", "v") };
    let worker = worker.with("CLAUDE_PARENT_SESSION_ID", "one");
    stage.start(&worker, "startup");
    let why = stop(&mut stage, &worker, json!({"stop_hook_active": false})).unwrap();
    assert!(why.contains("`taut worker done"), "{why}");
}
