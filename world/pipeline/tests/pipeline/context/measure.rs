//! Contexts measured off the way of an event.

use super::{Transcript, WARNINGS, told};
use crate::home::PipelineHome;
use model::{Environment, Ms};
use pipeline::ContextReading;
use serde_json::json;

fn reading(stage: &PipelineHome, session: &str, tokens: Option<u64>) -> ContextReading {
    ContextReading {
        host_session: session.into(),
        agent: agents::DEFAULT.profile,
        cwd: stage.folder("acme").to_string_lossy().into_owned(),
        model: Some("claude-opus-5-5".into()),
        window: Some(533_000),
        tokens,
        cost_usd: None,
    }
}

#[test]
fn s6_what_a_status_line_says_of_the_window_wins_and_is_kept() {
    let mut stage = PipelineHome::new();
    let (client, transcript) = (stage.client("one"), Transcript::new(&stage));
    transcript.send(&mut stage, &client, "SessionStart", json!({"source": "startup"}));
    let said = reading(&stage, "one", Some(250_000));
    let session = stage.pipeline.note(&said, &Environment::default()).unwrap().unwrap();
    assert_eq!((session.context_window, session.context_percent()), (Some(533_000), Some(50.0)));
    assert_eq!(stage.session(&session.id), session);
    transcript.answer(400_000);
    transcript.prompt(&mut stage, &client);
    assert_eq!(stage.current(&client).context_percent(), Some(80.0));
    let unknown = reading(&stage, "one", None);
    stage.pipeline.note(&unknown, &Environment::default()).unwrap();
    assert_eq!(stage.current(&client).context_tokens, Some(400_000), "what it does not know it does not unlearn");
}

#[test]
fn f4_what_a_status_line_says_of_the_cost_is_kept_as_told() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    let session = stage.start(&client, "startup").id;
    let said = |cost: f64| ContextReading { cost_usd: Some(cost), ..reading(&stage, "one", None) };
    let [told, nonsense, none] = [said(0.75), said(f64::NAN), said(-1.0)];
    stage.pipeline.store().unwrap().note_session(&session, |facts| facts.cost_estimated = true).unwrap();
    for reading in [told, nonsense, none] {
        stage.pipeline.note(&reading, &Environment::default()).unwrap();
    }
    let facts = stage.pipeline.store().unwrap().session_facts(&session).unwrap();
    assert_eq!((facts.cost_usd, facts.cost_estimated), (Some(0.75), false));
    assert_eq!(facts.model.as_deref(), Some("claude-opus-5-5"));
}

#[test]
fn s6_a_status_line_speaks_for_its_own_open_session_only() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    stage.start(&client, "startup");
    for stranger in [reading(&stage, "two", Some(9)), reading(&stage, "", Some(9))] {
        assert_eq!(stage.pipeline.note(&stranger, &Environment::default()).unwrap(), None);
    }
    stage.end(&client, "other");
    let late = reading(&stage, "one", Some(9));
    assert_eq!(stage.pipeline.note(&late, &Environment::default()).unwrap(), None);
}

#[test]
fn s7_a_session_that_emits_nothing_is_measured_by_the_monitor_and_warned_at_its_next_hook() {
    let mut stage = PipelineHome::new();
    stage.write("acme/.taut/config.toml", WARNINGS);
    let (client, transcript) = (stage.client("one"), Transcript::new(&stage));
    transcript.send(&mut stage, &client, "SessionStart", json!({"source": "startup"}));
    let seen = stage.current(&client).last_seen_at;
    transcript.answer(880_000);
    assert_eq!(stage.pipeline.watch(seen.plus(30_000)).unwrap(), 1);
    let session = stage.current(&client);
    assert_eq!((session.context_tokens, session.memo.warned), (Some(880_000), 0));
    assert_eq!(session.last_seen_at, seen, "looking is not hearing");
    assert_eq!(stage.pipeline.watch(seen.plus(60_000)).unwrap(), 0, "nothing new to read");
    // This hook reads no transcript of its own.
    let fields = json!({"tool_name": "Bash", "tool_use_id": "t1", "transcript_path": "/gone.jsonl"});
    assert!(told(&stage.send(&client, "PostToolUse", fields)).contains("Context at 90% - URGENT"));
    assert_eq!(stage.pipeline.watch(Ms(seen.0 + 3 * 60 * 60 * 1000)).unwrap(), 0, "long forgotten");
}
