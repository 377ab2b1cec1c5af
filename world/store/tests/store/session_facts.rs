//! What is known of a session goes with it.

use crate::rows::{agent, event, open, session};
use model::Ms;
use model::effect::Write;
use model::session::Session;
use model::session_facts::SessionFacts;
use store::{Clocks, Durability, ForgetScope, Retention, Store};

const DAY: i64 = 86_400_000;

fn said(store: &mut Store, id: &str, words: &str, change: impl FnOnce(&mut Session)) {
    let mut one = Session { started_at: Ms(DAY), last_seen_at: Ms(2 * DAY), ..session(id) };
    change(&mut one);
    store.transact(Durability::Normal, |tx| tx.apply(&[Write::Session(Box::new(one))])).unwrap();
    store
        .note_session(id, |facts| {
            (facts.last_words, facts.tree, facts.updated_at) = (Some(words.into()), Some("/tree".into()), Ms(2 * DAY));
        })
        .unwrap();
}

fn words(store: &Store, id: &str) -> Option<String> {
    store.session_facts(id).unwrap().last_words
}

#[test]
fn f4_what_is_known_of_a_session_is_kept_as_it_was_told_and_pruned_with_it() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    let all = SessionFacts {
        last_words: Some("words".into()),
        words_told: true,
        model: Some("m".into()),
        cost_usd: Some(1.25),
        cost_estimated: true,
        tokens_in: Some(u64::MAX),
        tokens_out: Some(2),
        tokens_cached: Some(3),
        branch: Some("main".into()),
        tree: Some("/tree".into()),
        base_commit: Some("c".into()),
        base_files: Some("[]".into()),
        diff: Some(model::session_facts::DiffSize { files: 1, added: 2, removed: 3 }),
        diff_note: Some("n".into()),
        failed_tool: Some("Bash".into()),
        updated_at: Ms(7),
    };
    said(&mut store, "old", "x", |session| session.ended_at = Some(Ms(2 * DAY)));
    store.note_session("old", |facts| *facts = all.clone()).unwrap();
    assert_eq!(store.session_facts("old").unwrap(), all);
    said(&mut store, "young", "fresh", |session| session.ended_at = Some(Ms(199 * DAY)));
    let mut fresh = event(1);
    fresh.at = Ms(200 * DAY);
    store.transact(Durability::Normal, |tx| tx.apply(&[Write::Event(Box::new(fresh))])).unwrap();
    for day in 0..5 {
        let clocks = Clocks { now: Ms((200 + day) * DAY), since_boot_ms: day * DAY, boot: "one".into() };
        while store.prune_by(&clocks, &Retention::default()).unwrap().more {}
    }
    assert!(store.session("old").unwrap().is_none(), "the session is gone");
    assert_eq!((words(&store, "old"), words(&store, "young").as_deref()), (None, Some("fresh")));
}

#[test]
fn m3_last_words_are_forgotten_with_their_session_their_project_and_their_time() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    said(&mut store, "a", "one", |session| session.project = "/a".into());
    said(&mut store, "b", "two", |session| (session.project, session.ended_at) = ("/b".into(), Some(Ms(2 * DAY))));
    said(&mut store, "c", "three", |_| {});
    said(&mut store, "d", "four", |session| session.last_seen_at = Ms(9 * DAY));
    store.note_session("d", |facts| facts.updated_at = Ms(9 * DAY)).unwrap();
    store.note_session("d", |facts| (facts.branch, facts.updated_at) = (Some("main".into()), Ms(9 * DAY))).unwrap();
    store.forget(&ForgetScope::Project("/b".into())).unwrap();
    assert_eq!((words(&store, "a").as_deref(), words(&store, "b")), (Some("one"), None));
    store.forget(&ForgetScope::Session("a".into())).unwrap();
    assert_eq!((words(&store, "a"), words(&store, "c").as_deref()), (None, Some("three")));
    store.forget(&ForgetScope::Before(Ms(5 * DAY))).unwrap();
    assert_eq!((words(&store, "c"), words(&store, "d").as_deref()), (None, Some("four")));
}

#[test]
fn f4_a_fleet_reads_no_more_of_long_words_than_a_row_shows() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    said(&mut store, "s-1", &"long ".repeat(3_000), |_| {});
    store.transact(Durability::Normal, |tx| tx.apply(&[Write::Agent(agent("alpha"))])).unwrap();
    let fleet = store.fleet().unwrap();
    assert_eq!(fleet.members[0].facts.last_words.as_ref().map(String::len), Some(400));
    assert_eq!(words(&store, "s-1").map(|words| words.len()), Some(15_000), "a session shows them whole");
}

#[test]
fn f4_who_worked_in_the_same_work_tree_at_the_same_time_is_known() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    said(&mut store, "a", "", |session| session.agent = "ann".into());
    said(&mut store, "b", "", |session| session.agent = "bob".into());
    said(&mut store, "c", "", |session| (session.agent, session.ended_at) = ("cleo".into(), Some(Ms(DAY + 5))));
    said(&mut store, "d", "", |session| (session.agent, session.started_at) = ("dan".into(), Ms(50 * DAY)));
    said(&mut store, "e", "", |session| session.agent = "eve".into());
    store.note_session("e", |facts| facts.tree = Some("/elsewhere".into())).unwrap();
    assert_eq!(store.agents_in_tree("/tree", "a", Ms(2 * DAY), Ms(3 * DAY)).unwrap(), ["bob"]);
    assert_eq!(store.agents_in_tree("/tree", "a", Ms(DAY), Ms(60 * DAY)).unwrap(), ["bob", "cleo", "dan"]);
}
