//! The way of an event through the memory: load, apply, answered, list.

use crate::rows::{agent, denied, event, injection, open, session, waiting, who};
use model::effect::{Allowance, AllowedOnce, Audience, Strike, Write};
use model::effort::{Addressee, MemoryWrite, Message, PreExecuted};
use model::fleet::Taker;
use model::verdict::Intent;
use model::{Answer, Loaded, Ms, Needs};
use serde_json::json;
use store::{Durability, Error, EventFilter, SessionFilter, Store};

const NOW: Ms = Ms(10_000_000);

fn apply(store: &mut Store, writes: &[Write]) {
    store.transact(Durability::Normal, |tx| tx.apply(writes)).expect("the writes are kept");
}

fn ids(store: &Store, filter: &EventFilter) -> Vec<String> {
    store.events(filter).expect("events are listed").into_iter().map(|event| event.id).collect()
}

#[test]
fn what_was_written_is_loaded_as_it_was() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    apply(&mut store, &[Write::Session(Box::new(session("s-1"))), Write::Agent(agent("alpha"))]);
    let loaded = store.transact(Durability::Normal, |tx| tx.identify(&who(), NOW)).unwrap();
    assert_eq!(loaded.agent, Some(agent("alpha")));
    assert_eq!(loaded.open, [session("s-1")]);
    assert_eq!(loaded.last_ended, None);
}

#[test]
fn a_session_is_written_whole_also_where_it_is_there_already() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    apply(&mut store, &[Write::Session(Box::new(session("s-1")))]);
    for change in [
        |s: &mut model::session::Session| s.last_seen_at = Ms(99),
        |s: &mut model::session::Session| s.pane = None,
        |s: &mut model::session::Session| s.project = String::new(),
        |s: &mut model::session::Session| (s.agent, s.logical_id) = ("beta".into(), "other".into()),
        |s: &mut model::session::Session| (s.ended_at, s.end_reason) = (Some(Ms(7)), Some("clear".into())),
    ] {
        let mut changed = session("s-1");
        change(&mut changed);
        apply(&mut store, &[Write::Session(Box::new(changed.clone()))]);
        assert_eq!(store.sessions(&SessionFilter::default()).unwrap(), [changed]);
    }
}

#[test]
fn open_sessions_are_found_by_logical_id_pane_or_agent_newest_first() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    let stranger = |id: &str, at: i64| {
        let mut other = session(id);
        (other.agent, other.pane, other.logical_id) = (format!("agent-{id}"), None, format!("l-{id}"));
        other.started_at = Ms(at);
        other
    };
    let mut by_id = stranger("a", 1);
    by_id.logical_id = who().logical_id;
    let mut by_pane = stranger("b", 3);
    by_pane.pane = who().pane;
    let mut by_agent = stranger("c", 2);
    by_agent.agent = who().agent;
    let mut ended = by_agent.clone();
    (ended.id, ended.ended_at) = ("d".into(), Some(Ms(4)));
    for one in [&by_id, &by_pane, &by_agent, &stranger("e", 9), &ended] {
        apply(&mut store, &[Write::Session(Box::new(one.clone()))]);
    }
    let loaded = store.transact(Durability::Normal, |tx| tx.identify(&who(), NOW)).unwrap();
    assert_eq!(loaded.open, [by_pane, by_agent, by_id]);
    assert_eq!(loaded.last_ended, Some(ended));
}

#[test]
fn the_last_ended_of_the_logical_id_comes_before_that_of_the_agent() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    for (id, logical, at) in [("a", "logical-s-1", 5), ("b", "logical-s-1", 6), ("c", "else", 9)] {
        let mut ended = session(id);
        (ended.logical_id, ended.ended_at) = (logical.into(), Some(Ms(at)));
        apply(&mut store, &[Write::Session(Box::new(ended))]);
    }
    let loaded = store.transact(Durability::Normal, |tx| tx.identify(&who(), NOW)).unwrap();
    assert_eq!(loaded.last_ended.unwrap().id, "b");
    assert!(loaded.open.is_empty());
}

#[test]
fn an_event_is_stored_once_per_key_and_answered_the_same() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    let first = denied(1, "git-force-push");
    let mut again = event(2);
    again.key.clone_from(&first.key);
    apply(&mut store, &[Write::Event(Box::new(first.clone())), Write::Event(Box::new(event(3)))]);
    apply(&mut store, &[Write::Event(Box::new(again))]);
    assert_eq!(store.events(&EventFilter::default()).unwrap(), [first.clone(), event(3)]);
    let answers = store
        .transact(Durability::Normal, |tx| {
            Ok((tx.answered(&first.key)?, tx.answered(&event(3).key)?, tx.answered("never")?))
        })
        .unwrap();
    assert_eq!(answers, (Some(first.answer), Some(Answer::default()), None));
}

#[test]
fn events_are_listed_in_order_and_by_each_filter() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    let mut elsewhere = event(3);
    (elsewhere.agent, elsewhere.session) = ("beta".into(), None);
    for one in [event(1), denied(2, "sudo"), elsewhere, event(4)] {
        apply(&mut store, &[Write::Event(Box::new(one))]);
    }
    let all: Vec<String> = (1..=4).map(|n| event(n).id).collect();
    let of = |picked: &[usize]| picked.iter().map(|n| all[n - 1].clone()).collect::<Vec<_>>();
    let any = EventFilter::default;
    assert_eq!(ids(&store, &any()), all);
    assert_eq!(ids(&store, &EventFilter { limit: 2, ..any() }), of(&[3, 4]));
    assert_eq!(ids(&store, &EventFilter { since_key: Some(event(1).key), limit: 2, ..any() }), of(&[2, 3]));
    assert_eq!(ids(&store, &EventFilter { since: Some(event(3).at), ..any() }), of(&[3, 4]));
    assert_eq!(ids(&store, &EventFilter { agent: Some("beta".into()), ..any() }), of(&[3]));
    assert_eq!(ids(&store, &EventFilter { session: Some("s-1".into()), ..any() }), of(&[1, 2, 4]));
    assert_eq!(ids(&store, &EventFilter { only_denied: true, ..any() }), of(&[2]));
}

#[test]
fn denials_are_counted_by_rule_since_a_moment() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    let mut both = denied(3, "sudo");
    both.rules.push("pkill".into());
    both.rules.push("git-clean".into());
    both.detail = serde_json::json!({"stop": {"code": "x", "let_pass": ["git-clean"]}});
    for one in [denied(1, "sudo"), denied(2, "sudo"), both, event(4)] {
        apply(&mut store, &[Write::Event(Box::new(one))]);
    }
    assert_eq!(store.denied_since(event(2).at).unwrap(), [("sudo".to_owned(), 2), ("pkill".to_owned(), 1)]);
}

#[test]
fn g2_a_strike_is_kept_delivered_and_expires() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    let strike = |target: &str, denied_to: &str| Strike {
        session: "host-1".into(),
        rule: "git-force-push".into(),
        intent: Intent { what: "rewrite-remote".into(), target: target.into() },
        at: NOW,
        denied_to: denied_to.into(),
        delivered: false,
    };
    apply(
        &mut store,
        &[
            Write::Strike(strike("origin", "")),
            Write::Strike(strike("origin", "helper")),
            Write::StrikesDelivered { session: "host-1".into(), denied_to: String::new(), until: None },
        ],
    );
    let mut strikes =
        |now| store.transact(Durability::Normal, |tx| tx.identify(&who(), now)).expect("it loads").strikes;
    let delivered = Strike { delivered: true, ..strike("origin", "") };
    assert_eq!(strikes(NOW), [delivered.clone(), strike("origin", "helper")]);
    assert_eq!(strikes(NOW.plus(30 * 60 * 1000 - 1)).len(), 2);
    assert!(strikes(NOW.plus(30 * 60 * 1000)).is_empty());
    assert!(strikes(NOW.plus(-86_400_000)).is_empty(), "a strike of a clock set back would never expire");
}

#[test]
fn g13_what_a_person_let_through_is_kept_once_spent_forgotten_and_read_only_where_it_is_asked_for() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    let call = || AllowedOnce::Call("7kf2".into());
    let allow = |what, at| Allowance { what, by: "ann".into(), at };
    let rule = allow(AllowedOnce::Rule("a/b".into()), NOW);
    let early = allow(call(), NOW.plus(-60_000));
    apply(&mut store, &[Write::Allowance(early), Write::Allowance(allow(call(), NOW)), Write::Allowance(rule.clone())]);
    let read = |store: &mut Store, now: Ms, allowances: bool| {
        let needs = Needs { allowances, ..Needs::default() };
        let mut loaded = Loaded::default();
        store.transact(Durability::Normal, |tx| tx.load(&needs, now, &mut loaded)).unwrap();
        loaded.allowances
    };
    assert!(read(&mut store, NOW, false).is_empty());
    assert_eq!(read(&mut store, NOW, true), [allow(call(), NOW), rule.clone()], "said again, it is renewed");
    assert_eq!(read(&mut store, NOW.plus(30 * 60 * 1000), true), []);
    assert_eq!(read(&mut store, NOW.plus(-86_400_000), true), [], "of a clock set back");
    apply(&mut store, &[Write::AllowanceSpent(call())]);
    assert_eq!(read(&mut store, NOW, true), [rule]);
    store.prune(NOW.plus(86_400_000), &store::Retention::default()).unwrap();
    assert_eq!(read(&mut store, NOW, true), []);
}

#[test]
fn g13_the_events_of_a_code_are_those_it_stopped_and_let_through() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    let with = |number, detail| {
        let mut one = event(number);
        one.detail = detail;
        Write::Event(Box::new(one))
    };
    apply(
        &mut store,
        &[
            with(1, json!({"stop": {"code": "7kf2aaaa"}})),
            with(2, json!({"input": {"command": "echo '\"code\":\"7kf2'"}, "stop": {"code": "zzzz7kf2"}})),
            with(3, json!({"allowed": [{"rule": "x", "by": "y"}, {"rule": "x", "call": "7kf2aaaa"}]})),
            with(4, json!({"stop": {"code": "7kf3"}})),
        ],
    );
    let found = store.events_of_code("7kf2").unwrap();
    assert_eq!(found.iter().map(|one| one.id.clone()).collect::<Vec<_>>(), [event(1).id, event(3).id]);
}

#[test]
fn s14_an_injection_is_told_once() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    let said = |text: &str| Write::Injection(injection("s-1", text));
    apply(&mut store, &[said("one"), said("two")]);
    assert!(waiting(&mut store, "s-2").is_empty());
    let both = [injection("s-1", "one"), injection("s-1", "two")];
    assert_eq!(waiting(&mut store, "s-1"), both);
    assert_eq!(waiting(&mut store, "s-1"), both, "loading alone takes nothing");
    let model = Some(Audience::Model);
    apply(&mut store, &[Write::InjectionsShown { session: "s-1".into(), audience: model }]);
    assert_eq!(waiting(&mut store, "s-1"), both, "shown to somebody else");
    apply(&mut store, &[Write::InjectionsShown { session: "s-1".into(), audience: None }]);
    assert!(waiting(&mut store, "s-1").is_empty());
}

#[test]
fn one_failing_item_of_a_group_is_undone_alone() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    store
        .transact(Durability::Full, |tx| {
            tx.savepoint(|tx| tx.apply(&[Write::Event(Box::new(event(1)))]))?;
            let failed: Result<(), Error> = tx.savepoint(|tx| {
                tx.apply(&[Write::Event(Box::new(event(2)))])?;
                Err(Error::Refused("this one only".into()))
            });
            assert!(failed.is_err());
            tx.savepoint(|tx| tx.apply(&[Write::Event(Box::new(event(3)))]))
        })
        .unwrap();
    assert_eq!(ids(&store, &EventFilter::default()), [event(1).id, event(3).id]);
}

#[test]
fn an_error_or_a_panic_rolls_the_transaction_back() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    let failed: Result<(), Error> = store.transact(Durability::Normal, |tx| {
        tx.apply(&[Write::Event(Box::new(event(1)))])?;
        Err(Error::Refused("no".into()))
    });
    assert!(failed.is_err());
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        store.transact(Durability::Normal, |tx| {
            tx.apply(&[Write::Event(Box::new(event(2)))])?;
            panic!("in the middle");
            #[expect(unreachable_code, reason = "gives the closure its type")]
            Ok(())
        })
    }));
    assert!(panicked.is_err());
    apply(&mut store, &[Write::Event(Box::new(event(3)))]);
    assert_eq!(ids(&store, &EventFilter::default()), [event(3).id]);
}

#[test]
fn projects_are_listed_with_the_moment_they_were_first_seen() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    let mut later = session("s-2");
    later.started_at = Ms(50);
    apply(&mut store, &[Write::Session(Box::new(session("s-1"))), Write::Session(Box::new(later))]);
    let projects = store.projects().unwrap();
    assert_eq!(projects.len(), 1);
    assert_eq!((projects[0].path.as_str(), projects[0].first_seen), ("/home/dev/tree", Ms(1)));
}

/// R4: a request restarts the agent that made it, in the life it made it in.
#[test]
fn r4_a_restart_is_asked_by_one_agent_from_one_moment_on() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    let message = |id: &str, kind: &str, from: &str| {
        Write::Memory(MemoryWrite::Message(Message {
            id: id.into(),
            at: NOW,
            kind: kind.into(),
            from_agent: Some(from.into()),
            to: None,
            session: None,
            body: String::new(),
        }))
    };
    apply(&mut store, &[message("m1", "restart_request", "ann"), message("m2", "log", "bob")]);
    for (agent, since, asked) in [
        ("ann", NOW.plus(-1), true),
        ("ann", NOW, true),
        ("ann", NOW.plus(1), false),
        ("bob", Ms(0), false),
        ("eve", Ms(0), false),
    ] {
        assert_eq!(store.restart_asked(agent, since).unwrap(), asked, "{agent} since {since:?}");
    }
}

/// F3: what an agent has listed itself is neither shown to it once more nor counted among what waits.
#[test]
fn f3_messages_that_an_inbox_has_listed_are_not_among_those_that_wait() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    let id = |n: usize| format!("m{n}");
    let message = |n: usize| {
        Write::Memory(MemoryWrite::Message(Message {
            id: id(n),
            at: NOW,
            kind: "note".into(),
            from_agent: None,
            to: Some(Addressee::Agent("ann".into())),
            session: None,
            body: String::new(),
        }))
    };
    apply(&mut store, &(0..9).map(message).collect::<Vec<_>>());
    let words = vec!["inbox".to_string(), "call".to_string()];
    let listed = PreExecuted {
        session: None,
        agent: "ann".into(),
        project: "/p".into(),
        words: words.clone(),
        at: NOW,
        output: "m0\nm1".into(),
        refused: None,
    };
    apply(&mut store, &[Write::Memory(MemoryWrite::PreExecuted(listed))]);
    let mut load = |listed| {
        let messages = Some(Taker { agent: Some("ann".into()), ..Taker::default() });
        let needs = Needs { messages, listed, ..Needs::default() };
        let mut loaded = Loaded::default();
        store.transact(Durability::Normal, |tx| tx.load(&needs, NOW, &mut loaded)).unwrap();
        let first: Vec<String> = loaded.messages.first.into_iter().map(|message| message.id).collect();
        (first, loaded.messages.more, loaded.listed)
    };
    assert_eq!(load(None), ((0..5).map(id).collect(), 4, Vec::new()));
    assert_eq!(load(Some(("/p".into(), words))), ((2..7).map(id).collect(), 2, vec![id(0), id(1)]));
}
