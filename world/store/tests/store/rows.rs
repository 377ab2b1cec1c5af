//! Rows that tests store.

use model::effect::{Audience, Injection};
use model::row::{Agent, AgentStatus, Event};
use model::session::{Session, SessionState};
use model::{Answer, ClientProcess, Level, Loaded, Ms, Needs, Who};
use std::path::Path;
use std::time::Duration;
use store::{Durability, Store};

pub const PATIENCE: Duration = Duration::from_millis(50);

pub fn open(folder: &Path) -> Store {
    Store::open(folder, PATIENCE).expect("the memory opens")
}

pub fn event(n: i64) -> Event {
    Event {
        id: format!("0199-{n:012}"),
        at: Ms(1_000_000 + n),
        key: format!("host-1/PreToolUse/{n}"),
        agent: "alpha".into(),
        session: Some("s-1".into()),
        host_session: Some("host-1".into()),
        sub_agent: None,
        event: "PreToolUse".into(),
        tool: Some("Bash".into()),
        verdict: Level::Pass,
        rules: Vec::new(),
        reason: None,
        detail: serde_json::json!({"tool_input": {"command": "ls"}}),
        micros: 41,
        answer: Answer::default(),
    }
}

pub fn denied(n: i64, rule: &str) -> Event {
    Event {
        verdict: Level::Deny,
        rules: vec![rule.into()],
        reason: Some("because".into()),
        answer: Answer { stdout: "{\"no\":true}".into(), stderr: "why".into(), exit: 2 },
        ..event(n)
    }
}

pub fn session(id: &str) -> Session {
    Session {
        id: id.into(),
        logical_id: format!("logical-{id}"),
        host_session: Some("host-1".into()),
        agent: "alpha".into(),
        conversation: "c-1".into(),
        project: "/home/dev/tree".into(),
        state: SessionState::Active,
        role: Some("builder".into()),
        mode: Some("interactive".into()),
        cwd: Some("/home/dev/tree/sub".into()),
        transcript: Some("/t.jsonl".into()),
        client: Some(ClientProcess { pid: 4_000_000_000, started: u64::MAX }),
        pane: Some("/tmp/tmux-1/default %3".into()),
        source: "startup".into(),
        started_at: Ms(1),
        last_seen_at: Ms(2),
        in_flight: vec!["toolu_1".into(), "toolu_2".into()],
        context_tokens: Some(u64::MAX),
        context_window: Some(u64::MAX),
        ..Session::default()
    }
}

pub fn agent(id: &str) -> Agent {
    Agent {
        id: id.into(),
        named: true,
        status: AgentStatus::Attention,
        dialect: None,
        session: Some("s-1".into()),
        project: "/home/dev/tree".into(),
        since: Ms(5),
    }
}

pub fn who() -> Who {
    Who {
        agent: "alpha".into(),
        named: true,
        logical_id: "logical-s-1".into(),
        host_session: Some("host-1".into()),
        project: "/home/dev/tree".into(),
        pane: Some("/tmp/tmux-1/default %3".into()),
        ..Who::default()
    }
}

pub fn injection(session: &str, text: &str) -> Injection {
    Injection { session: session.into(), audience: Audience::User, text: text.into() }
}

/// What waits to be shown in a session.
pub fn waiting(store: &mut Store, session: &str) -> Vec<Injection> {
    let needs = Needs { injections: vec![session.into()], ..Needs::default() };
    let load = |tx: &store::Tx<'_>| {
        let mut loaded = Loaded::default();
        tx.load(&needs, Ms(0), &mut loaded).map(|()| loaded.waiting)
    };
    store.transact(Durability::Normal, load).unwrap()
}
