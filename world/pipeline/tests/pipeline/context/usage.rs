//! How full a context is, as its session's row says.

use super::{Transcript, WARNINGS};
use crate::home::PipelineHome;
use serde_json::{Value, json};

#[test]
fn s6_the_usage_is_known_after_a_turn_without_any_configuration() {
    let mut stage = PipelineHome::new();
    let (client, transcript) = (stage.client("one"), Transcript::new(&stage));
    transcript.send(&mut stage, &client, "SessionStart", json!({"source": "startup"}));
    transcript.prompt(&mut stage, &client);
    assert_eq!(stage.current(&client).context_percent(), None, "unknown is unknown");
    transcript.answer(96_700);
    assert!(transcript.stop(&mut stage, &client).answer.stdout.is_empty());
    let session = stage.current(&client);
    assert_eq!((session.context_tokens, session.context_window), (Some(96_700), Some(1_000_000)));
    assert_eq!(session.context_percent(), Some(10.0));
}

#[test]
fn s6_after_tools_the_transcript_is_read_only_where_something_needs_it() {
    for (config, expected) in [("", None), (WARNINGS, Some(50_000))] {
        let mut stage = PipelineHome::new();
        stage.write("acme/.taut/config.toml", config);
        let (client, transcript) = (stage.client("one"), Transcript::new(&stage));
        transcript.send(&mut stage, &client, "SessionStart", json!({"source": "startup"}));
        transcript.answer(50_000);
        transcript.tool(&mut stage, &client, "t1");
        assert_eq!(stage.current(&client).context_tokens, expected, "{config}");
    }
}

#[test]
fn s6_a_compaction_begins_anew_and_the_answer_before_it_is_not_believed() {
    let mut stage = PipelineHome::new();
    stage.write("acme/.taut/config.toml", WARNINGS);
    let (client, transcript) = (stage.client("one"), Transcript::new(&stage));
    transcript.send(&mut stage, &client, "SessionStart", json!({"source": "startup"}));
    transcript.answer(960_000);
    assert!(super::told(&transcript.prompt(&mut stage, &client)).contains("95% - CRITICAL"));
    transcript.send(&mut stage, &client, "PreCompact", json!({"trigger": "manual"}));
    transcript.send(&mut stage, &client, "SessionStart", json!({"source": "compact"}));
    transcript.send(&mut stage, &client, "PostCompact", json!({"trigger": "manual"}));
    // The client writes the boundary only now; what is read before it says nothing.
    assert_eq!(super::told(&transcript.tool(&mut stage, &client, "t1")), "");
    assert_eq!(stage.current(&client).context_tokens, None);
    transcript
        .line(&json!({"type": "system", "subtype": "compact_boundary", "compactMetadata": {"postTokens": 2_532}}));
    transcript.prompt(&mut stage, &client);
    let session = stage.current(&client);
    assert_eq!((session.context_tokens, session.memo.warned), (Some(2_532), 0));
}

#[test]
fn s6_a_resumed_session_and_a_switch_of_models_say_it_themselves() {
    let mut stage = PipelineHome::new();
    let (client, transcript) = (stage.client("one"), Transcript::new(&stage));
    let fields = json!({"source": "resume", "context_tokens": 42_040, "model": "claude-opus-5-5"});
    transcript.send(&mut stage, &client, "SessionStart", fields);
    assert_eq!(stage.current(&client).context_tokens, Some(42_040));
    let fields = json!({"from_model": "claude-opus-5-5", "to_model": "claude-haiku-4-5", "context_tokens": 83_500});
    transcript.send(&mut stage, &client, "PostModelSwitch", fields);
    assert_eq!(stage.current(&client).context_percent(), Some(50.0));
}

#[test]
fn s6_the_window_can_be_configured() {
    let mut stage = PipelineHome::new();
    stage.write("acme/.taut/config.toml", "[context]\nwindow = 133000\n");
    let (client, transcript) = (stage.client("one"), Transcript::new(&stage));
    transcript.answer(50_000);
    transcript.prompt(&mut stage, &client);
    assert_eq!(stage.current(&client).context_percent(), Some(50.0));
}

/// The corpus in `corpus/transcripts`: what each of them says at its end.
#[test]
fn s6_every_transcript_of_the_corpus_is_read_as_expected() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/transcripts");
    let text = std::fs::read_to_string(folder.join("expected.json")).unwrap();
    let expected: serde_json::Map<String, Value> = serde_json::from_str(&text).unwrap();
    assert!(expected.len() >= 16);
    let mut stage = PipelineHome::new();
    for (name, expected) in &expected {
        let client = stage.client(name);
        let transcript = folder.join(format!("{name}.jsonl"));
        assert!(transcript.exists(), "{name}");
        stage.send(&client, "UserPromptSubmit", json!({"prompt": "x", "transcript_path": transcript}));
        let session = stage.current(&client);
        let found = json!({"tokens": session.context_tokens, "model": session.memo.model});
        assert_eq!(&found, expected, "{name}");
        stage.end(&client, "other");
    }
}

#[test]
fn s6_a_line_of_half_a_megabyte_after_the_last_answer_does_not_hide_it() {
    let mut stage = PipelineHome::new();
    let (client, transcript) = (stage.client("one"), Transcript::new(&stage));
    transcript.answer(50_000);
    transcript.line(&json!({"type": "user", "message": {"role": "user", "content": "x".repeat(500_000)}}));
    transcript.prompt(&mut stage, &client);
    assert_eq!(stage.current(&client).context_tokens, Some(50_000));
}
