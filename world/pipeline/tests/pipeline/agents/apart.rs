//! Whatever two agents have in common, neither goes on with anything of the other's.

use super::{begins, fleet, speaking, works, writes};
use crate::home::{Client, Living, PipelineHome};
use crate::memory::{IMPLEMENT, Play};
use model::effort::Addressee;
use serde_json::json;

const MEMORY: &str = "[skills.implement]\nphases = [\"1: Plan\", \"2: Build\"]\nlog = true\n[memory]\nenabled = true\n";

/// What a second agent may have in common with the first.
type InCommon = fn(Client) -> Client;

const COMMON: &[(&str, InCommon)] = &[
    ("nothing but the folder", |client| client),
    ("a pane", |client| client.with("TMUX", "/tmp/tmux-1/default,1,0").with("TMUX_PANE", "%3")),
    ("a name", |client| client.with("TAUT_AGENT_ID", "ann")),
    ("a session's name", |client| client.with("TAUT_SESSION_ID", "mine")),
    ("a conversation", |client| client.with("CLAUDE_CONVERSATION_ID", "talk")),
    ("all of it", |client| {
        let client = client.with("TMUX", "/tmp/tmux-1/default,1,0").with("TMUX_PANE", "%3");
        client.with("TAUT_AGENT_ID", "ann").with("TAUT_SESSION_ID", "mine").with("CLAUDE_CONVERSATION_ID", "talk")
    }),
];

/// How the first one ended.
#[derive(Clone, Copy, Debug)]
enum Ended {
    Said,
    Died,
    /// Nobody knows its process, and it never said.
    Unknown,
}

struct Pair {
    stage: PipelineHome,
    first: Client,
    second: Client,
    _process: Living,
}

/// One agent has worked and ended; another is about to start with this in common, under the same session id.
fn pair(in_common: InCommon, ended: Ended) -> (Pair, model::session::Session) {
    let mut stage = speaking(MEMORY);
    let process = Living::new();
    let mut first = in_common(stage.client("s1").of(process.pid()));
    if matches!(ended, Ended::Unknown) {
        first.env.retain(|(name, _)| name != "CLAUDE_PID");
    }
    let before = works(&mut stage, &first);
    stage.hold("acme/one", &before.agent, Some(&before.id));
    writes(&mut stage, "m1", Addressee::Agent(before.agent.clone()));
    match ended {
        Ended::Said => stage.end(&first, "prompt_input_exit"),
        Ended::Died => drop(process),
        Ended::Unknown => {}
    }
    let process = Living::new();
    let mut second = first.clone().speaking("cousin");
    if !matches!(ended, Ended::Unknown) {
        second = second.of(process.pid());
    }
    (Pair { stage, first, second, _process: process }, before)
}

#[test]
fn a4_no_evidence_leads_from_one_agent_to_another() {
    for (what, in_common) in COMMON {
        for ended in [Ended::Said, Ended::Died, Ended::Unknown] {
            for source in ["startup", "resume", "clear"] {
                let case = format!("{what}, {ended:?}, {source}");
                let (Pair { mut stage, second, .. }, before) = pair(*in_common, ended);
                let said = begins(&mut stage, &second, source);
                let after = stage.current(&second);
                assert_eq!(said, "", "{case}");
                assert_eq!((after.prev.as_ref(), after.memo.dialect.as_deref()), (None, Some("cousin")), "{case}");
                assert_eq!(after.agent == before.agent, second.env.iter().any(|(name, _)| name == "TAUT_AGENT_ID"));
                stage.send(&second, "UserPromptSubmit", json!({"prompt": "go"}));
                stage.line(&second, "make");
                let effort = stage.efforts().remove(0);
                assert_eq!(effort.session.as_ref(), Some(&before.id), "{case}");
                let messages = stage.pipeline.store().unwrap().addressed_messages(&Default::default()).unwrap();
                let waits = messages.iter().any(|row| row.message.id == "m1");
                assert!(waits, "{case}: what was for one agent is not told to another");
                let inbox = stage.line(&second, "taut inbox").answer.stdout;
                assert!(!inbox.contains("word m1"), "{case}: {inbox}");
            }
        }
    }
}

/// The same agent, with the same evidence, does go on: the test above could fail.
#[test]
fn a4_the_same_evidence_leads_an_agent_to_itself() {
    for (what, in_common) in &COMMON[1..] {
        let (Pair { mut stage, second, .. }, before) = pair(*in_common, Ended::Died);
        let same = second.speaking("claude-code");
        let said = begins(&mut stage, &same, "resume");
        assert!(said.contains("half a bridge") && said.contains("word m1"), "{what}: {said}");
        assert_eq!(stage.current(&same).prev.as_ref(), Some(&before.id), "{what}");
    }
}

#[test]
fn a4_an_agent_that_comes_back_finds_what_it_left_whoever_was_there_meanwhile() {
    for (what, in_common) in &COMMON[1..] {
        let (Pair { mut stage, first, second, .. }, before) = pair(*in_common, Ended::Said);
        begins(&mut stage, &second, "startup");
        stage.send(&second, "UserPromptSubmit", json!({"prompt": "paint the fence"}));
        stage
            .line(&second, r#"taut session dehydrate '{"summary": "a fence", "lastAction": "x", "nextSteps": ["y"]}'"#);
        stage.end(&second, "other");
        let process = Living::new();
        let back = first.of(process.pid());
        let said = begins(&mut stage, &back, "resume");
        for part in ["half a bridge", "word m1", "Effort: implement"] {
            assert!(said.contains(part), "{what}: {part}: {said}");
        }
        assert!(!said.contains("a fence"), "{what}: {said}");
        assert_eq!(stage.current(&back).prev.as_ref(), Some(&before.id), "{what}");
    }
}

#[test]
fn a4_another_agent_in_a_pane_is_another_agent() {
    let in_common = COMMON[1].1;
    let (Pair { mut stage, second, .. }, before) = pair(in_common, Ended::Died);
    begins(&mut stage, &second, "startup");
    let after = stage.current(&second);
    assert_ne!(after.agent, before.agent);
    assert_eq!(stage.session(&before.id).end_reason.as_deref(), Some("pane_reused"));
    assert_eq!(fleet(&mut stage), [after.agent]);
}

#[test]
fn a4_of_two_agents_that_use_one_name_at_once_the_second_is_a_child() {
    for unknown in [false, true] {
        let mut stage = speaking(IMPLEMENT);
        let (one, two) = (Living::new(), Living::new());
        let name = COMMON[2].1;
        let mut first = name(stage.client("s1").of(one.pid()));
        let mut second = name(stage.client("s2").of(two.pid())).speaking("cousin");
        if unknown {
            first.env.retain(|(name, _)| name != "CLAUDE_PID");
            second.env.retain(|(name, _)| name != "CLAUDE_PID");
        }
        let elder = works(&mut stage, &first);
        assert_eq!(begins(&mut stage, &second, "startup"), "", "unknown {unknown}");
        let child = stage.current(&second);
        assert_eq!(child.parent.as_ref(), Some(&elder.id), "unknown {unknown}");
        stage.end(&second, "other");
        assert!(stage.session(&elder.id).open());
        assert_eq!(stage.agent("ann").session.as_ref(), Some(&elder.id));
    }
}

#[test]
fn a4_unfinished_work_is_offered_to_the_same_agent_only_and_taken_up_by_any_that_is_told_to() {
    let (Pair { mut stage, second, .. }, before) = pair(COMMON[0].1, Ended::Said);
    assert_eq!(begins(&mut stage, &second, "startup"), "");
    let process = Living::new();
    let other = stage.client("s3").of(process.pid());
    assert!(begins(&mut stage, &other, "startup").contains("Unfinished here"), "a session of the same agent is told");
    let effort = stage.efforts().remove(0);
    let served = stage.line(&second, &format!("taut continue {}", effort.id));
    assert_eq!(crate::memory::denial(&served), "");
    let after = stage.current(&second);
    assert_eq!(stage.efforts().remove(0).session.as_ref(), Some(&after.id), "a person may hand it over");
    assert_eq!(after.prev, None);
    assert_ne!(after.conversation, before.conversation, "its mail stays its own");
}
