//! Client and holder of a card in one, played on the store: what a page sees of them is what it sees of the real ones.

use model::card::{Card, CardKind, CardShown, CardState};
use model::{ClientProcess, Ms};
use serde_json::{Value, json};
use std::time::Duration;
use store::Store;
use testkit::stage::{PLENTY, Stage};
use testkit::{AgentStep, poll};

pub struct FakeHolder {
    store: Store,
    /// Lives, as far as the page can see.
    process: ClientProcess,
    session: String,
    agent: String,
    begun: i64,
}

impl FakeHolder {
    /// For an agent that has begun to work.
    pub fn of(stage: &Stage, agent: &str) -> Self {
        stage.agent(agent).play(&[AgentStep::start(), AgentStep::prompt("go")]).unwrap();
        let store = Store::open(&stage.sandbox.taut_home(), Duration::from_secs(5)).unwrap();
        let session = store.agent(agent).unwrap().unwrap().session.unwrap();
        Self {
            store,
            process: ClientProcess::default(),
            session,
            agent: agent.to_owned(),
            begun: sys::clock::wall_ms() - 60_000,
        }
    }

    pub fn beside(mut self, process: ClientProcess) -> Self {
        self.process = process;
        self
    }

    /// Asks, so many milliseconds after the first that could be asked.
    pub fn asks(&mut self, id: &str, at: i64, (kind, tool): (CardKind, &str), shown: CardShown) {
        let card = Card {
            at: Ms(self.begun + at),
            session: self.session.clone(),
            agent: self.agent.clone(),
            client: self.process,
            holder: self.process,
            kind,
            tool: tool.to_owned(),
            digest: format!("digest of {id}"),
            shown,
            ..testkit::card::waiting(id)
        };
        self.store.open_card(&card).unwrap();
    }

    pub fn asks_to_run(&mut self, id: &str, at: i64, command: &str) {
        self.asks(
            id,
            at,
            (CardKind::Permission, "Bash"),
            shown(json!({"command": command, "description": "what for"})),
        );
    }

    /// Another agent's status is another, as a hook would set it.
    pub fn turns(&self, agent: &str, status: &str) {
        let base = rusqlite::Connection::open(self.store.path()).unwrap();
        base.busy_timeout(PLENTY).unwrap();
        let set = "UPDATE agents SET status = ?2, since = ?3 WHERE id = ?1";
        assert_eq!(base.execute(set, rusqlite::params![agent, status, sys::clock::wall_ms()]).unwrap(), 1);
    }

    pub fn card(&self, id: &str) -> Card {
        self.store.card(id).unwrap().unwrap()
    }

    /// Waits for the answer, as the holder does; the card with it.
    pub fn answered(&self, id: &str) -> Card {
        let there = || Some(self.card(id)).filter(|card| card.state == CardState::Answered);
        poll::until("an answer", PLENTY, there).unwrap()
    }

    pub fn step(&mut self, id: &str, from: CardState, to: CardState) {
        assert!(self.store.step_card(id, from, to, Ms(sys::clock::wall_ms())).unwrap(), "{id} from {from:?}");
    }
}

pub fn shown(input: Value) -> CardShown {
    CardShown {
        input,
        folder: Some("/home/dev/shop".into()),
        mode: Some("default".into()),
        guard: Some("passes: no rule looks at it".into()),
        branch: Some("feature/cents".into()),
        ..CardShown::default()
    }
}
