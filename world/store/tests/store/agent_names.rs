//! What agents are called.

use crate::rows::{agent, open, session};
use model::Ms;
use model::agent_name::{AgentMatch, NameWish};
use model::effect::Write;
use model::row::{Agent, AgentStatus};
use model::session::Session;
use store::{Durability, Renamed, Retention, Store};

const PROJECT: &str = "/home/ada/acme";

fn apply(store: &mut Store, writes: &[Write]) {
    store.transact(Durability::Normal, |tx| tx.apply(writes)).unwrap();
}

/// An agent that nothing names is there from now on.
fn appears(store: &mut Store, id: &str) -> String {
    let row = Agent { named: false, session: Some(format!("s-{id}")), project: PROJECT.into(), ..agent(id) };
    let wish = NameWish { agent: id.into(), project: PROJECT.into(), at: Ms(1) };
    apply(store, &[Write::Agent(row), Write::AgentName(wish)]);
    store.agent_name(id).unwrap()
}

fn ends(store: &mut Store, id: &str) {
    apply(store, &[Write::Rest { agent: id.into(), session: format!("s-{id}"), at: Ms(2) }]);
}

#[test]
fn f4_agents_of_a_project_are_numbered_and_keep_their_numbers_when_another_ends() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    let named = ["acme-a", "acme-b", "acme-c"].map(|id| appears(&mut store, id));
    assert_eq!(named, ["acme", "acme·2", "acme·3"]);
    ends(&mut store, "acme-a");
    assert_eq!(store.agent_name("acme-b").unwrap(), "acme·2");
    assert_eq!(store.agent_name("acme-a").unwrap(), "acme", "what it did is listed under the name it had");
    assert_eq!(appears(&mut store, "acme-d"), "acme", "a number that nobody here has is given again");
    assert_eq!(appears(&mut store, "acme-a"), "acme·4", "and whoever had it has another when it comes back");
    assert_eq!(appears(&mut store, "acme-b"), "acme·2", "one that is here keeps its own");
}

#[test]
fn f4_an_agent_whose_client_died_is_listed_and_keeps_its_number() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    appears(&mut store, "acme-a");
    let crashed = Agent { named: false, status: AgentStatus::Error, session: None, ..agent("acme-a") };
    apply(&mut store, &[Write::Agent(crashed)]);
    assert_eq!(appears(&mut store, "acme-b"), "acme·2");
}

#[test]
fn f4_a_name_is_nobodys_id_and_not_what_a_person_chose_for_another() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    apply(&mut store, &[Write::Agent(agent("acme"))]);
    assert_eq!(appears(&mut store, "acme-a"), "acme·2");
    assert_eq!(store.name_agent("acme-a", "acme", Ms(3)).unwrap(), Renamed::Taken);
    assert_eq!(store.name_agent("acme-a", "Acme.3", Ms(3)).unwrap(), Renamed::To("Acme.3".into()));
    assert_eq!(appears(&mut store, "acme-b"), "acme·2");
    assert_eq!(store.name_agent("acme-b", "acme-3", Ms(3)).unwrap(), Renamed::Taken, "it is typed as the other is");
    ends(&mut store, "acme-a");
    assert_eq!(appears(&mut store, "acme-c"), "acme·4", "a chosen name waits for whom it was chosen for");
    assert_eq!(appears(&mut store, "acme-a"), "Acme.3");
    assert_eq!(store.forget_agent_name("acme-a", Ms(4)).unwrap(), "acme·3");
}

#[test]
fn f4_whoever_is_meant_is_found_by_one_function_those_that_ended_too() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    for id in ["acme-aaaaaaa", "acme-bbbbbbb"] {
        appears(&mut store, id);
    }
    let one = |store: &Store, typed: &str| match store.resolve_agent(typed).unwrap() {
        AgentMatch::One(id) => id,
        other => format!("{other:?}"),
    };
    assert_eq!(one(&store, "acme.2"), "acme-bbbbbbb");
    assert_eq!(one(&store, "acme"), "acme-aaaaaaa");
    ends(&mut store, "acme-aaaaaaa");
    assert_eq!(one(&store, "acme"), "acme-bbbbbbb", "the only one that is here");
    assert_eq!(one(&store, "acme-a"), "acme-aaaaaaa");
}

#[test]
fn f4_a_name_is_forgotten_with_the_last_that_is_listed_of_its_agent() {
    const DAY: i64 = 24 * 3_600_000;
    for (days, name) in [(3, "acme"), (99, "acme-a")] {
        let home = tempfile::tempdir().unwrap();
        let mut store = open(home.path());
        appears(&mut store, "acme-a");
        ends(&mut store, "acme-a");
        let ended = Session { agent: "acme-a".into(), ended_at: Some(Ms(2)), ..session("s-acme-a") };
        apply(&mut store, &[Write::Session(Box::new(ended))]);
        for _ in 0..2 {
            store.prune(Ms(days * DAY), &Retention::default()).unwrap();
        }
        assert_eq!(store.agent("acme-a").unwrap(), None);
        assert_eq!(store.agent_name("acme-a").unwrap(), name, "after {days} days");
    }
}
