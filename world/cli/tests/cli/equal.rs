//! One pipeline: the daemon, the hook without one and the way itself give the same answers and the same rows (D7).

use model::row::Event;
use model::session::Session;
use model::{Answer, Call, Environment, Ms};
use pipeline::{Pipeline, PipelineSetup};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use store::{EventFilter, SessionFilter, Store};
use testkit::process;
use testkit::stage::{LIMIT, Stage};

/// The captured payloads in the order of their names, and a few that are answered with something.
fn inputs(stage: &Stage) -> Vec<(String, Vec<u8>)> {
    let mut inputs: Vec<(String, Vec<u8>)> =
        testkit::corpus::claude_code().unwrap().into_iter().map(|case| (case.name, case.bytes)).collect();
    let shell = |id: &str, command: &str| (format!("{id}: {command}"), stage.bash(id, command));
    let batch = json!({"hook_event_name": "PostToolBatch", "tool_calls": [{"tool_use_id": "strike-1"}]});
    inputs.extend([
        ("start".to_owned(), stage.payload(&json!({"hook_event_name": "SessionStart", "source": "startup"}))),
        shell("floor", "rm -rf /"),
        shell("strike-1", "git push --force"),
        shell("strike-1", "git push --force"),
        ("batch".to_owned(), stage.payload(&batch)),
        shell("strike-2", "git push --force"),
        shell("two", "git push --force; rm -rf ~"),
        shell("ask", "sudo ls"),
        ("unknown".to_owned(), stage.payload(&json!({"hook_event_name": "MoonPhaseChanged", "source": 42}))),
        ("cut".to_owned(), stage.bash("cut", "rm -rf /")[..150].to_vec()),
        ("noise".to_owned(), b"\xff\xfe{".to_vec()),
        ("empty".to_owned(), Vec::new()),
        ("end".to_owned(), stage.payload(&json!({"hook_event_name": "SessionEnd", "reason": "clear"}))),
    ]);
    inputs
}

fn through_hooks(stage: &Stage, home: &Path, no_daemon: &str) -> Vec<Answer> {
    let hook = |bytes: &[u8]| {
        let mut hook = stage.hook_command(&[("TAUT_NO_DAEMON", no_daemon)]);
        hook.env("TAUT_HOME", home);
        let done = process::run(hook, bytes, LIMIT).unwrap();
        let exit = u8::try_from(done.code().unwrap()).unwrap();
        Answer { stdout: done.stdout_text(), stderr: String::new(), exit }
    };
    inputs(stage).iter().map(|(_, bytes)| hook(bytes)).collect()
}

fn through_the_way(stage: &Stage, home: &Path) -> Vec<Answer> {
    let mut pipeline = Pipeline::new(PipelineSetup {
        state: home.to_owned(),
        home: stage.sandbox.home(),
        user_config: stage.sandbox.home().join(".config/taut/config.toml"),
        patience: Duration::from_secs(5),
        dialects: agents::ALL,
    });
    let env = BTreeMap::from([("CLAUDE_PID".to_owned(), std::process::id().to_string())]);
    let call = |stdin: &[u8]| Call {
        request: testkit::fake_agent::fresh_id(),
        agent: "claude-code".into(),
        stdin: stdin.to_vec(),
        cwd: stage.sandbox.project().to_string_lossy().into_owned(),
        env: Environment(env.clone()),
        parent: None,
        at: host::clock::now(),
    };
    let served = inputs(stage).into_iter().map(|(_, bytes)| pipeline.handle(call(&bytes)).answer);
    served.map(|answer| Answer { stderr: String::new(), ..answer }).collect()
}

/// Everything stored, with ids numbered in the order of their first use and moments taken out.
fn stored(home: &Path) -> (Vec<Session>, Vec<Value>, Vec<Event>) {
    let store = Store::open(home, Duration::from_secs(5)).unwrap();
    let mut sessions = store.sessions(&SessionFilter::default()).unwrap();
    sessions.reverse();
    let numbers: Vec<String> = sessions.iter().map(|session| session.id.clone()).collect();
    let number = |id: &String| match numbers.iter().position(|known| known == id) {
        Some(nth) => format!("session-{nth}"),
        None => id.clone(),
    };
    for session in &mut sessions {
        let ended_at = session.ended_at.map(|_| Ms(0));
        session.memo.asked_at = session.memo.asked_at.map(|_| Ms(0));
        *session = Session {
            id: number(&session.id),
            prev: session.prev.as_ref().map(number),
            parent: session.parent.as_ref().map(number),
            conversation: number(&session.conversation),
            started_at: Ms(0),
            last_seen_at: Ms(0),
            ended_at,
            ..session.clone()
        };
    }
    let mut agents: Vec<Value> = (store.agents().unwrap().iter())
        .map(|agent| {
            json!([agent.id, agent.named, agent.status.name(), agent.session.as_ref().map(number), agent.project])
        })
        .collect();
    agents.sort_by_key(Value::to_string);
    let mut events = store.events(&EventFilter::default()).unwrap();
    for event in &mut events {
        let told_by_request = !event.key.contains('/');
        *event = Event {
            id: String::new(),
            at: Ms(0),
            micros: 0,
            key: if told_by_request { "request".into() } else { event.key.clone() },
            session: event.session.as_ref().map(number),
            ..event.clone()
        };
    }
    (sessions, agents, events)
}

#[test]
fn d7_the_corpus_gives_the_same_answers_and_rows_with_the_daemon_without_it_and_along_the_way() {
    let stage = Stage::with_daemon();
    let (alone, along) = (stage.sandbox.root().join("alone"), stage.sandbox.root().join("along"));
    let daemon = through_hooks(&stage, &stage.sandbox.taut_home(), "0");
    let in_process = through_hooks(&stage, &alone, "1");
    let pipeline = through_the_way(&stage, &along);
    for (((name, _), daemon), (in_process, way)) in
        inputs(&stage).iter().zip(&daemon).zip(in_process.iter().zip(&pipeline))
    {
        assert_eq!(daemon, in_process, "{name}");
        assert_eq!(daemon, way, "{name}");
    }
    let answered = daemon.iter().filter(|answer| !answer.stdout.is_empty()).count();
    assert!(answered >= 5, "only {answered} were answered with something");
    let (sessions, agents, events) = stored(&stage.sandbox.taut_home());
    for other in [&alone, &along] {
        let (their_sessions, their_agents, their_events) = stored(other);
        assert_eq!(events.len(), their_events.len());
        for (ours, theirs) in events.iter().zip(&their_events) {
            assert_eq!(ours, theirs);
        }
        assert_eq!(sessions, their_sessions);
        assert_eq!(agents, their_agents);
    }
    assert!(events.len() > 60 && sessions.len() > 20);
    let served = stage.list(&["daemon", "status", "--json"]);
    assert!(served[0]["served"].as_u64() >= Some(60), "the daemon was not asked: {served:?}");
}
