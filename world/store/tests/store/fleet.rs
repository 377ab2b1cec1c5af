//! The fleet as every view reads it.

use crate::rows::{agent, denied, event, open, session};
use model::effect::Write;
use model::effort::{MemoryWrite, SubSession};
use model::row::{Agent, AgentStatus, Event};
use model::session::{ContextMemo, Session};
use model::{Level, Ms};
use store::{Durability, Store};

fn stored(writes: &[Write]) -> (tempfile::TempDir, Store) {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    store.transact(Durability::Normal, |tx| tx.apply(writes)).unwrap();
    (home, store)
}

fn working(id: &str, session: Option<&str>) -> Write {
    Write::Agent(Agent { session: session.map(str::to_owned), status: AgentStatus::Working, ..agent(id) })
}

fn call(n: i64, use_id: &str, tool: &str) -> Write {
    let key = format!("host-1/PreToolUse/{use_id}/00000000deadbeef");
    Write::Event(Box::new(Event { key, tool: Some(tool.into()), ..event(n) }))
}

#[test]
fn f1_f4_an_agent_is_shown_with_its_session_and_the_call_that_is_waited_for_longest() {
    let open_session = Session { in_flight: vec!["toolu_2".into(), "toolu_10".into()], ..session("s-1") };
    let (_home, store) = stored(&[
        Write::Session(Box::new(open_session)),
        working("alpha", Some("s-1")),
        call(1, "toolu_1", "Read"),
        call(2, "toolu_10", "Grep"),
        call(3, "toolu_2", "Bash"),
    ]);
    let fleet = store.fleet().unwrap();
    let [alpha] = fleet.members.as_slice() else { panic!("{fleet:?}") };
    assert_eq!(alpha.session.as_ref().map(|session| session.id.as_str()), Some("s-1"));
    let running = alpha.running.as_ref().unwrap();
    assert_eq!((running.tool.as_str(), running.since, running.beside), ("Grep", Ms(1_000_002), 1));
    assert_eq!(store.member("alpha").unwrap().as_ref(), Some(alpha));
    assert_eq!(store.member("nobody").unwrap(), None);
}

#[test]
fn f1_an_unnamed_agent_that_has_ended_is_forgotten_and_a_named_one_is_not() {
    let ended = Agent { named: false, session: None, ..agent("pane-3") };
    let (_home, store) = stored(&[working("alpha", None), Write::Agent(ended)]);
    let ids: Vec<String> = store.fleet().unwrap().members.into_iter().map(|member| member.agent.id).collect();
    assert_eq!(ids, ["alpha"]);
}

#[test]
fn f1_who_ended_a_day_before_the_last_change_is_listed_only_among_all() {
    const DAY: i64 = 24 * 3_600_000;
    let ended = |id: &str, since: i64| Write::Agent(Agent { session: None, since: Ms(since), ..agent(id) });
    let sleeping = Write::Agent(Agent { since: Ms(0), session: Some("s-1".into()), ..agent("asleep") });
    let (_home, store) = stored(&[ended("old", 0), ended("day", 1), ended("now", DAY + 1), sleeping]);
    let ids = |glance: store::Fleet| -> Vec<String> { glance.members.into_iter().map(|one| one.agent.id).collect() };
    assert_eq!(ids(store.fleet().unwrap()), ["now", "day", "asleep"]);
    assert_eq!(ids(store.whole_fleet().unwrap()), ["now", "day", "asleep", "old"]);
}

#[test]
fn f1_f4_what_turned_an_agent_to_attention_comes_with_it() {
    let asked = Event { at: Ms(70), event: "PermissionRequest".into(), ..event(1) };
    let after = Event { at: Ms(90), ..event(2) };
    let turned = |status| Write::Agent(Agent { since: Ms(70), status, ..agent("alpha") });
    let common =
        [Write::Session(Box::new(session("s-1"))), Write::Event(Box::new(asked)), Write::Event(Box::new(after))];
    let cause = |status| {
        let (_home, store) = stored(&[common.as_slice(), &[turned(status)]].concat());
        store.member("alpha").unwrap().unwrap().cause.map(|event| event.event)
    };
    assert_eq!(cause(AgentStatus::Attention).as_deref(), Some("PermissionRequest"));
    assert_eq!(cause(AgentStatus::Working), None, "nobody has to look");
}

#[test]
fn f1_f4_who_was_looked_at_still_says_what_it_waits_for() {
    let asked = Event { at: Ms(70), event: "PermissionRequest".into(), ..event(1) };
    let memo = ContextMemo { asked_at: Some(Ms(70)), ..ContextMemo::default() };
    let (_home, mut store) = stored(&[
        Write::Session(Box::new(Session { memo, ..session("s-1") })),
        Write::Event(Box::new(asked)),
        Write::Event(Box::new(Event { at: Ms(90), ..event(2) })),
        Write::Agent(Agent { since: Ms(70), ..agent("alpha") }),
    ]);
    store.focus("alpha", Ms(80)).unwrap();
    let member = store.member("alpha").unwrap().unwrap();
    assert_eq!((member.agent.status, member.agent.since), (AgentStatus::Checked, Ms(80)));
    assert_eq!(member.cause.map(|event| event.event).as_deref(), Some("PermissionRequest"));
}

#[test]
fn f1_f4_an_agent_whose_client_died_is_shown_with_the_session_it_died_in() {
    let over = |id: &str, at: i64| Session { ended_at: Some(Ms(at)), ..session(id) };
    let crashed = Agent { session: None, status: AgentStatus::Error, since: Ms(70), ..agent("alpha") };
    let (_home, mut store) = stored(&[
        Write::Session(Box::new(over("s-0", 20))),
        Write::Session(Box::new(over("s-1", 70))),
        Write::Agent(crashed),
    ]);
    store.note_session("s-1", |facts| facts.branch = Some("side".into())).unwrap();
    let member = store.member("alpha").unwrap().unwrap();
    assert_eq!((member.shown_session(), member.session.as_ref()), (Some("s-1"), None), "it is over");
    assert_eq!(member.facts.branch.as_deref(), Some("side"));
    let ended = Agent { session: None, status: AgentStatus::Done, since: Ms(70), ..agent("alpha") };
    store.transact(Durability::Normal, |tx| tx.apply(&[Write::Agent(ended)])).unwrap();
    assert_eq!(store.member("alpha").unwrap().unwrap().shown_session(), None, "an agent that said goodbye is at rest");
}

#[test]
fn f4_the_last_verdict_and_the_open_sub_agents_belong_to_the_agent() {
    let sub = |id: &str, ended_at| SubSession {
        session: "s-1".into(),
        sub_agent: id.into(),
        kind: "Explore".into(),
        effort: None,
        started_at: Ms(1),
        last_seen_at: Ms(1),
        ended_at,
        files: Vec::new(),
    };
    let mut writes = vec![Write::Session(Box::new(session("s-1"))), working("alpha", Some("s-1"))];
    writes.push(Write::Event(Box::new(denied(1, "rm-root"))));
    writes.push(Write::Event(Box::new(Event { verdict: Level::Ask, ..denied(2, "sudo") })));
    writes.push(Write::Event(Box::new(Event { session: Some("s-2".into()), ..denied(3, "other") })));
    writes.push(Write::Memory(MemoryWrite::SubSession(sub("a", None))));
    writes.push(Write::Memory(MemoryWrite::SubSession(sub("b", Some(Ms(5))))));
    let (_home, store) = stored(&writes);
    let fleet = store.fleet().unwrap();
    let alpha = &fleet.members[0];
    assert_eq!(alpha.verdict.as_ref().map(|event| event.rules.clone()), Some(vec!["sudo".to_owned()]));
    assert_eq!(alpha.sub_agents, 1);
    let rules =
        |most| -> Vec<String> { store.verdicts(most).unwrap().into_iter().flat_map(|event| event.rules).collect() };
    assert_eq!(rules(10), ["other", "sudo", "rm-root"]);
    assert_eq!(rules(1), ["other"]);
}

#[test]
fn f4_old_denials_are_found_however_much_has_happened_since() {
    let mut writes = vec![Write::Event(Box::new(denied(0, "rm-root")))];
    let proof = Event { key: "proof".into(), host_session: Some("taut-proof-1".into()), ..denied(0, "rm-root") };
    writes.push(Write::Event(Box::new(proof)));
    writes.extend((1..2_000).map(|n| Write::Event(Box::new(event(n)))));
    let (_home, store) = stored(&writes);
    assert_eq!(store.verdicts(5).unwrap().len(), 1);
    assert_eq!(store.denials_by_hour(Ms(0)).unwrap(), [(Ms(0), 1)]);
    assert_eq!(store.denials_by_hour(Ms(2_000_000)).unwrap(), []);
}

#[test]
fn f1_the_version_of_the_data_rises_with_what_others_commit_and_only_then() {
    let (home, store) = stored(&[working("alpha", None)]);
    let before = store.data_version().unwrap();
    assert_eq!(store.data_version().unwrap(), before);
    let mut other = open(home.path());
    other.transact(Durability::Normal, |tx| tx.apply(&[working("beta", None)])).unwrap();
    assert_ne!(store.data_version().unwrap(), before);
}
