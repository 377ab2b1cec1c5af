//! Warnings, reminders and messages, as they reach the model.

use super::{Transcript, WARNINGS, refused, told};
use crate::home::PipelineHome;
use model::Ms;
use model::effect::{Audience, Injection, Write};
use model::effort::{Addressee, MemoryWrite, Message};
use serde_json::json;
use store::Durability;

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[test]
fn s7_each_warning_comes_once_at_a_prompt_or_a_tool_and_at_a_stop_only_from_90() {
    let mut stage = PipelineHome::new();
    stage.write("acme/.taut/config.toml", WARNINGS);
    let (client, transcript) = (stage.client("one"), Transcript::new(&stage));
    transcript.send(&mut stage, &client, "SessionStart", json!({"source": "startup"}));
    transcript.answer(590_000);
    let said = told(&transcript.tool(&mut stage, &client, "t1"));
    assert_eq!(first_line(&said), "[TAUT: INFO]: Context at 60% - Consider writing reset notes soon");
    assert_eq!(told(&transcript.tool(&mut stage, &client, "t2")), "");
    assert_eq!(told(&transcript.prompt(&mut stage, &client)), "");
    transcript.answer(780_000);
    assert_eq!(refused(&transcript.stop(&mut stage, &client)), None);
    let said = told(&transcript.prompt(&mut stage, &client));
    assert_eq!(first_line(&said), "[TAUT: WARNING]: Context at 80% - Write reset notes and prepare to transition");
    transcript.answer(880_000);
    let said = refused(&transcript.stop(&mut stage, &client)).unwrap();
    assert_eq!(first_line(&said), "[TAUT: WARNING]: Context at 90% - URGENT");
    assert_eq!(refused(&transcript.stop(&mut stage, &client)), None);
    transcript.answer(930_000);
    let active = transcript.send(&mut stage, &client, "Stop", json!({"stop_hook_active": true}));
    assert_eq!(active.answer.stdout, "", "never a loop");
    assert_eq!(
        first_line(&told(&transcript.prompt(&mut stage, &client))),
        "[TAUT: WARNING]: Context at 95% - CRITICAL"
    );
    assert_eq!(stage.current(&client).memo.warned, 95);
}

#[test]
fn s7_a_background_session_is_warned_earlier_and_a_sub_agent_never() {
    let mut stage = PipelineHome::new();
    stage.write("acme/.taut/config.toml", WARNINGS);
    let transcript = Transcript::new(&stage);
    let client = stage.client("one").with("CLAUDE_SESSION_MODE", "background");
    transcript.send(&mut stage, &client, "SessionStart", json!({"source": "startup"}));
    transcript.answer(490_000);
    let fields = json!({"agent_id": "sub", "agent_type": "Explore", "tool_name": "Bash", "tool_use_id": "t0"});
    assert_eq!(told(&transcript.send(&mut stage, &client, "PostToolUse", fields)), "");
    let said = told(&transcript.tool(&mut stage, &client, "t1"));
    assert_eq!(first_line(&said), "[TAUT: INFO]: Context at 50% - Consider writing reset notes soon");
    assert!(said.ends_with("AUTONOMOUS MODE: no human backup. Nobody will save this state for you."));
}

#[test]
fn i5_a_full_context_is_silent_until_warnings_are_switched_on() {
    let mut stage = PipelineHome::new();
    let (client, transcript) = (stage.client("one"), Transcript::new(&stage));
    transcript.send(&mut stage, &client, "SessionStart", json!({"source": "startup"}));
    transcript.answer(999_000);
    for served in [
        transcript.prompt(&mut stage, &client),
        transcript.tool(&mut stage, &client, "t1"),
        transcript.stop(&mut stage, &client),
    ] {
        assert_eq!(served.answer.stdout, "");
    }
}

#[test]
fn s5_the_line_the_reminder_and_the_instructions_come_where_they_are_switched_on() {
    let mut stage = PipelineHome::new();
    stage.write(
        "acme/.taut/config.toml",
        "[context]\nruntime = true\nstatus_reminder = true\n[session]\nrequired = true\n",
    );
    let client = stage.client("one");
    stage.start(&client, "startup");
    let prompt = json!({"prompt": "go"});
    let said = told(&stage.send(&client, "UserPromptSubmit", prompt.clone()));
    assert!(said.starts_with("[Session Context] Time: 2027-01-15 08:00 UTC | Session: one"), "{said}");
    assert!(said.contains("`taut session activate <skill>`") && !said.contains("taut status"), "{said}");
    for _ in 0..12 {
        stage.done(&client, "t");
    }
    let said = told(&stage.send(&client, "UserPromptSubmit", prompt.clone()));
    assert!(said.contains("[TAUT: INFO]: Consider setting a session status with `taut status"), "{said}");
    assert!(!told(&stage.send(&client, "UserPromptSubmit", prompt.clone())).contains("Consider setting"), "once");
    stage.bash(&client, "a", "taut session activate implement");
    let said = told(&stage.send(&client, "UserPromptSubmit", prompt));
    assert!(said.contains("Skill: implement") && !said.contains("taut session activate"), "{said}");
}

#[test]
fn s5_messages_to_an_agent_are_told_once_at_its_next_prompt_and_to_no_other() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one").with("TAUT_AGENT_ID", "ada");
    stage.start(&client, "startup");
    let message = |id: &str, to: &str| {
        Write::Memory(MemoryWrite::Message(Message {
            id: id.into(),
            at: Ms(1),
            kind: "note".into(),
            from_agent: Some("bob".into()),
            to: Some(Addressee::Agent(to.into())),
            session: None,
            body: format!("hello {to}"),
        }))
    };
    let store = stage.pipeline.store().unwrap();
    store.transact(Durability::Normal, |tx| tx.apply(&[message("m1", "ada"), message("m2", "eve")])).unwrap();
    let said = told(&stage.send(&client, "UserPromptSubmit", json!({"prompt": "x"})));
    assert!(said.starts_with("[taut] Message from agent `bob` (quoted") && said.ends_with("\n> hello ada"), "{said}");
    assert_eq!(told(&stage.send(&client, "UserPromptSubmit", json!({"prompt": "y"}))), "");
}

/// S4, S14: one budget for all of it, and what has no room is not lost.
#[test]
fn s4_a_text_without_room_is_told_at_the_next_chance_and_only_then() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    let session = stage.start(&client, "startup").id;
    let long = |mark: &str| mark.repeat(4_000);
    let all = ["a", "b", "c"].map(|mark| {
        Write::Injection(Injection { session: session.clone(), audience: Audience::Model, text: long(mark) })
    });
    stage.pipeline.store().unwrap().transact(Durability::Normal, |tx| tx.apply(&all)).unwrap();
    let said = told(&stage.send(&client, "UserPromptSubmit", json!({"prompt": "x"})));
    assert!(said.contains(&long("a")) && said.contains(&long("b")) && !said.contains(&long("c")));
    assert!(told(&stage.done(&client, "t1")).contains(&long("c")));
    assert_eq!(told(&stage.done(&client, "t2")), "");
}
