//! M1: what follows a session to the next, by evidence and by nothing else.

use super::{IMPLEMENT, Play, configured, told};
use crate::home::{Client, Living, PipelineHome};
use model::Ms;
use model::effect::Write;
use model::effort::{Addressee, MemoryWrite, Message};
use proptest::prelude::*;
use serde_json::json;
use store::Durability;

const NOTE: &str = r#"{"summary": "half a bridge", "lastAction": "laid a stone", "nextSteps": ["lay another"]}"#;

/// A message that waits for this agent or conversation.
fn send(stage: &mut PipelineHome, id: &str, to: Addressee) {
    let message = Message {
        id: id.into(),
        at: Ms(1),
        kind: "note".into(),
        from_agent: Some("chief".into()),
        to: Some(to),
        session: None,
        body: format!("word {id}"),
    };
    let write = [Write::Memory(MemoryWrite::Message(message))];
    stage.pipeline.store().unwrap().transact(Durability::Normal, |tx| tx.apply(&write)).unwrap();
}

/// An unnamed agent outside tmux that has begun an effort and left a note.
fn worked(stage: &mut PipelineHome, client: &Client) -> model::session::Session {
    let first = stage.start(client, "startup");
    stage.send(client, "UserPromptSubmit", json!({"prompt": "fix the login"}));
    stage.invoke(client, "implement");
    stage.line(client, &format!("taut session dehydrate <<'EOF'\n{NOTE}\nEOF"));
    first
}

fn said_at_start(stage: &mut PipelineHome, client: &Client, source: &str) -> String {
    told(&stage.send(client, "SessionStart", json!({"source": source})))
}

fn agents(stage: &mut PipelineHome) -> Vec<String> {
    stage.pipeline.store().unwrap().agents().unwrap().into_iter().map(|agent| agent.id).collect()
}

#[test]
fn m1_a_resumed_agent_is_the_one_it_was_with_its_effort_note_and_messages() {
    for crashed in [false, true] {
        let mut stage = configured(IMPLEMENT);
        let process = Living::new();
        let client = stage.client("s1").of(process.pid());
        let first = worked(&mut stage, &client);
        if !crashed {
            stage.end(&client, "prompt_input_exit");
        }
        drop(process);
        send(&mut stage, "m1", Addressee::Agent(first.agent.clone()));
        send(&mut stage, "m2", Addressee::Conversation(first.conversation.clone()));
        let again = Living::new();
        let resumed = client.clone().of(again.pid());
        let said = said_at_start(&mut stage, &resumed, "resume");
        for part in ["Effort: implement", "half a bridge", "word m1", "word m2"] {
            assert!(said.contains(part), "crashed {crashed}: {part}: {said}");
        }
        let second = stage.current(&resumed);
        assert_eq!((&second.agent, second.prev.as_ref()), (&first.agent, Some(&first.id)));
        let effort = stage.efforts().remove(0);
        assert_eq!((&effort.agent, effort.session.as_ref()), (&first.agent, Some(&second.id)));
        assert_eq!(agents(&mut stage), std::slice::from_ref(&first.agent), "crashed {crashed}");
    }
}

/// What the process is called by its own number differs from the agent that it is.
#[test]
fn m1_later_events_of_a_resumed_agent_are_its_own() {
    let mut stage = configured(IMPLEMENT);
    let process = Living::new();
    let client = stage.client("s1").of(process.pid());
    let first = worked(&mut stage, &client);
    drop(process);
    let again = Living::new();
    let resumed = client.of(again.pid());
    let second = stage.start(&resumed, "resume");
    stage.hold("queue/01", &first.agent, None);
    stage.line(&resumed, "taut effort phase '1: Plan'");
    assert_eq!(stage.current(&resumed).id, second.id);
    assert_eq!(stage.efforts().remove(0).phase.as_deref(), Some("1: Plan"));
    send(&mut stage, "later", Addressee::Agent(first.agent.clone()));
    let said = told(&stage.send(&resumed, "UserPromptSubmit", json!({"prompt": "go on"})));
    assert!(said.contains("word later"), "{said}");
    stage.end(&resumed, "clear");
    let cleared = resumed.session_id("s2");
    let third = stage.start(&cleared, "clear");
    assert_eq!((&third.agent, third.prev.as_ref()), (&first.agent, Some(&second.id)));
    assert_eq!(third.conversation, first.conversation);
    assert_eq!(stage.efforts().remove(0).session.as_ref(), Some(&third.id));
    stage.end(&cleared, "other");
    let task = stage.pipeline.store().unwrap().transact(Durability::Normal, |tx| tx.held_by(&first.agent)).unwrap();
    assert!(task.is_empty(), "what it held is let go at its end");
    assert_eq!(agents(&mut stage), [first.agent]);
}

#[test]
fn m1_a_second_resume_beside_a_live_client_takes_nothing() {
    let mut stage = configured(IMPLEMENT);
    let client = stage.client("s1");
    let first = worked(&mut stage, &client);
    send(&mut stage, "m1", Addressee::Agent(first.agent.clone()));
    send(&mut stage, "m2", Addressee::Conversation(first.conversation.clone()));
    let process = Living::new();
    let rival = client.clone().of(process.pid());
    assert_eq!(said_at_start(&mut stage, &rival, "resume"), "");
    let second = stage.current(&rival);
    assert_eq!((second.parent.as_ref(), second.prev), (Some(&first.id), None));
    assert_eq!(stage.efforts().remove(0).session.as_ref(), Some(&first.id));
    assert!(told(&stage.send(&client, "UserPromptSubmit", json!({"prompt": "hm"}))).contains("word m1"));
}

/// The first client went on to another conversation with `/resume`; the one it left is taken up elsewhere.
#[test]
fn m1_a_session_that_a_live_client_has_left_is_followed_but_its_agent_is_not_taken() {
    let mut stage = configured(IMPLEMENT);
    let client = stage.client("s1");
    let first = worked(&mut stage, &client);
    stage.end(&client, "resume");
    stage.start(&client.clone().session_id("s0"), "resume");
    let process = Living::new();
    let other = client.of(process.pid());
    let said = said_at_start(&mut stage, &other, "resume");
    let second = stage.current(&other);
    assert_ne!(second.agent, first.agent);
    assert!(!said.contains("Effort: implement"), "{said}");
    assert_eq!(stage.efforts().remove(0).agent, first.agent);
}

/// It exited in one session and was resumed there; somebody else takes up one that it had cleared before.
#[test]
fn m1_an_older_session_of_an_agent_that_lives_elsewhere_makes_nobody_that_agent() {
    let mut stage = configured(IMPLEMENT);
    let process = Living::new();
    let old = stage.client("s1").of(process.pid());
    let first = stage.start(&old, "startup");
    stage.end(&old, "clear");
    let client = old.clone().session_id("s2");
    stage.start(&client, "clear");
    stage.invoke(&client, "implement");
    stage.end(&client, "prompt_input_exit");
    drop(process);
    let again = Living::new();
    let resumed = client.of(again.pid());
    let second = stage.start(&resumed, "resume");
    assert_eq!(second.agent, first.agent, "resumed, it is who it was");
    send(&mut stage, "m1", Addressee::Agent(first.agent.clone()));
    let third = Living::new();
    let other = old.of(third.pid());
    let said = said_at_start(&mut stage, &other, "resume");
    let beside = stage.current(&other);
    assert_eq!(beside.prev.as_ref(), Some(&first.id), "the context that it goes on with is that one");
    assert_ne!(beside.agent, first.agent, "two processes are two agents");
    assert!(!said.contains("Effort: implement") && !said.contains("word m1"), "{said}");
    let effort = stage.efforts().remove(0);
    assert_eq!((&effort.agent, effort.session.as_ref()), (&first.agent, Some(&second.id)));
    assert!(told(&stage.send(&resumed, "UserPromptSubmit", json!({"prompt": "go on"}))).contains("word m1"));
}

#[test]
fn m1_the_same_conversation_of_the_environment_is_followed_unless_it_goes_on_elsewhere() {
    let mut stage = configured(IMPLEMENT);
    let process = Living::new();
    let client = stage.client("s1").of(process.pid()).with("CLAUDE_CONVERSATION_ID", "talk");
    let first = worked(&mut stage, &client);
    let beside = Living::new();
    let rival = stage.start(&client.clone().of(beside.pid()).session_id("s2"), "startup");
    assert_eq!((rival.prev, rival.agent == first.agent), (None, false));
    stage.end(&client.clone().of(beside.pid()).session_id("s2"), "other");
    stage.end(&client, "other");
    drop(process);
    let again = Living::new();
    let next = client.of(again.pid()).session_id("s3");
    // What was last said in it was the rival's, which carried nothing.
    assert_eq!(stage.start(&next, "startup").conversation, "talk");
    assert_eq!(stage.efforts().remove(0).agent, first.agent);
}

#[test]
fn m1_an_unnamed_agent_started_with_the_conversation_of_one_that_ended_is_that_agent() {
    let mut stage = configured(IMPLEMENT);
    let process = Living::new();
    let client = stage.client("s1").of(process.pid()).with("CLAUDE_CONVERSATION_ID", "talk");
    let first = worked(&mut stage, &client);
    drop(process);
    let again = Living::new();
    let next = client.of(again.pid()).session_id("s3");
    let said = said_at_start(&mut stage, &next, "startup");
    assert!(said.contains("half a bridge") && said.contains("Effort: implement"), "{said}");
    let second = stage.current(&next);
    assert_eq!((second.prev.as_ref(), &second.agent), (Some(&first.id), &first.agent));
}

#[test]
fn m1_the_same_name_or_pane_at_a_plain_start_follows_and_an_iteration_of_a_loop_does_not() {
    let pane = [("TMUX", "/tmp/tmux-0/default,1,0"), ("TMUX_PANE", "%1")];
    let name = [("TAUT_AGENT_ID", "ann"), ("TAUT_X", "")];
    let run = [("TAUT_AGENT_ID", "ann"), ("TAUT_SUPERVISED", "run")];
    let iteration = [("TAUT_AGENT_ID", "ann"), ("TAUT_SUPERVISED", "loop")];
    let ralph = [("RALPH_AGENT_ID", "ann"), ("RALPH_X", "")];
    for (env, follows) in [(pane, true), (name, true), (run, true), (iteration, false), (ralph, false)] {
        for crashed in [false, true] {
            let mut stage = PipelineHome::new();
            let process = Living::new();
            let dressed = |client: Client| env.iter().fold(client, |client, (name, value)| client.with(name, value));
            let client = dressed(stage.client("s1").of(process.pid()).with("CLAUDE_SESSION_ROLE", "chief"));
            let first = stage.start(&client, "startup");
            if !crashed {
                stage.end(&client, "other");
            }
            drop(process);
            let next = dressed(stage.client("s2"));
            let second = stage.start(&next, "startup");
            let expected = follows.then_some(&first.id);
            assert_eq!(second.prev.as_ref(), expected, "{env:?} crashed {crashed}");
            assert_eq!(second.conversation == first.conversation, follows, "{env:?} crashed {crashed}");
            assert_eq!((second.parent, second.role), (None, None), "a new start has its own role: {env:?}");
        }
    }
}

/// Somebody gives the agent a name as it resumes.
#[test]
fn m1_an_agent_that_is_named_when_it_is_resumed_keeps_its_effort_and_note() {
    let mut stage = configured(IMPLEMENT);
    let process = Living::new();
    let client = stage.client("s1").of(process.pid());
    worked(&mut stage, &client);
    stage.end(&client, "other");
    drop(process);
    let again = Living::new();
    let named = client.of(again.pid()).with("TAUT_AGENT_ID", "ann");
    let said = said_at_start(&mut stage, &named, "resume");
    assert!(said.contains("half a bridge") && said.contains("Effort: implement"), "{said}");
    assert_eq!(stage.efforts().remove(0).agent, "ann");
}

/// A logical id that a shell's own file sets is the same in every project.
#[test]
fn m1_an_id_that_is_used_in_two_projects_carries_nothing_from_one_to_the_other() {
    let mut stage = configured(IMPLEMENT);
    let process = Living::new();
    let client = stage.client("s1").of(process.pid()).with("CLAUDE_SESSION_ID", "main");
    let first = worked(&mut stage, &client);
    stage.end(&client, "other");
    drop(process);
    let again = Living::new();
    let elsewhere = client.of(again.pid()).session_id("s2").in_folder(&stage.folder("other"));
    let said = said_at_start(&mut stage, &elsewhere, "startup");
    assert_eq!(said, "");
    assert_ne!(stage.current(&elsewhere).agent, first.agent);
    assert_eq!(stage.efforts().remove(0).agent, first.agent);
}

#[derive(Debug, Clone)]
enum Act {
    Start,
    Prompt,
    Begin,
    Note,
    Clear,
    Exit,
    Crash,
    Resume,
}

fn act() -> impl Strategy<Value = (usize, Act)> {
    let acts = [Act::Start, Act::Prompt, Act::Begin, Act::Note, Act::Clear, Act::Exit, Act::Crash, Act::Resume];
    (0_usize..2, prop::sample::select(acts.to_vec()))
}

/// One of two unnamed agents in one folder: its process, and the session it was last in.
struct Someone {
    mark: &'static str,
    process: Living,
    session: String,
    sessions: usize,
    open: bool,
}

impl Someone {
    fn client(&self, stage: &PipelineHome) -> Client {
        stage.client(&self.session).of(self.process.pid())
    }

    fn next(&mut self) {
        self.sessions += 1;
        self.session = format!("{}-{}", self.mark, self.sessions);
    }
}

fn play(stage: &mut PipelineHome, one: &mut Someone, act: &Act) -> String {
    let start = |stage: &mut PipelineHome, one: &mut Someone, source: &str| {
        one.open = true;
        let client = one.client(stage);
        stage.send(&client, "SessionStart", json!({"source": source})).answer.stdout
    };
    match act {
        Act::Start | Act::Resume if one.open => String::new(),
        Act::Start => {
            one.process = Living::new();
            one.next();
            start(stage, one, "startup")
        }
        Act::Resume => {
            one.process = Living::new();
            start(stage, one, "resume")
        }
        _ if !one.open => String::new(),
        Act::Prompt => {
            let prompt = json!({"prompt": format!("{} wants this done", one.mark)});
            stage.send(&one.client(stage), "UserPromptSubmit", prompt).answer.stdout
        }
        Act::Begin => {
            let fields = json!({"expansion_type": "slash_command", "command_name": "implement",
                "command_args": format!("of {}", one.mark), "prompt": "x"});
            stage.send(&one.client(stage), "UserPromptExpansion", fields).answer.stdout
        }
        Act::Note => {
            let note = NOTE.replace("half a bridge", &format!("bridge of {}", one.mark));
            let line = format!("taut session dehydrate <<'EOF'\n{note}\nEOF");
            stage.line(&one.client(stage), &line).answer.stdout
        }
        Act::Clear => {
            stage.end(&one.client(stage), "clear");
            one.next();
            start(stage, one, "clear")
        }
        Act::Exit => {
            stage.end(&one.client(stage), "prompt_input_exit");
            one.open = false;
            one.process = Living::new();
            String::new()
        }
        Act::Crash => {
            one.open = false;
            one.process = Living::new();
            String::new()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Two agents in one folder never mix, in whatever order they start, resume, clear, exit and crash.
    #[test]
    fn m1_nothing_of_one_agent_is_ever_told_in_a_session_of_another(acts in prop::collection::vec(act(), 4..24)) {
        let mut stage = configured(IMPLEMENT);
        let mut both = ["zebra", "walrus"].map(|mark| {
            Someone { mark, process: Living::new(), session: format!("{mark}-0"), sessions: 0, open: false }
        });
        for (who, act) in &acts {
            let other = both[1 - who].mark;
            let said = play(&mut stage, &mut both[*who], act);
            prop_assert!(!said.contains(other), "{act:?}: {said}");
            for effort in stage.efforts() {
                let carrier = effort.session.as_deref().map(|id| stage.session(id));
                prop_assert!(carrier.is_none_or(|carrier| effort.agent == carrier.agent));
            }
        }
        // No session of one bears the id of an agent of the other, and no agent has two rows.
        let sessions = stage.sessions();
        for session in &sessions {
            let mark = session.logical_id.split('-').next().unwrap_or_default();
            let same = sessions.iter().filter(|other| other.agent == session.agent);
            prop_assert!(same.into_iter().all(|other| other.logical_id.starts_with(mark)));
        }
    }
}
