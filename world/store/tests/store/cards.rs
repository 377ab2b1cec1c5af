//! Cards go forward, one step for one caller, and are forgotten with the events of their age.

use crate::rows::open;
use model::card::{ActionPlace, AnsweredBy, Card, CardAnswer, CardKind, CardShown, CardState};
use model::{ClientProcess, Ms};
use store::{CardFilter, Clocks, ForgetScope, Retention, Store};

const DAY: i64 = 86_400_000;

fn card(id: &str, at: i64) -> Card {
    Card {
        id: id.into(),
        at: Ms(at),
        session: format!("s-{id}"),
        agent: "ada".into(),
        project: Some("/p".into()),
        dialect: "claude-code".into(),
        client: ClientProcess { pid: 7, started: u64::MAX },
        holder: ClientProcess { pid: 8, started: 9 },
        kind: CardKind::Permission,
        tool: "Bash".into(),
        digest: "d".into(),
        shown: CardShown { folder: Some("/p".into()), ..CardShown::default() },
        state: CardState::Open,
        answer: None,
        answered: None,
        ended_at: None,
    }
}

fn ids(store: &Store, over: bool) -> Vec<String> {
    store.cards(&CardFilter { over, ..CardFilter::default() }).unwrap().into_iter().map(|card| card.id).collect()
}

#[test]
fn f4_of_two_answers_one_counts_and_a_card_goes_forward_only() {
    let home = tempfile::tempdir().unwrap();
    let (mut store, mut other) = (open(home.path()), open(home.path()));
    let opened = card("a", 1);
    store.open_card(&opened).unwrap();
    assert_eq!(other.card("a").unwrap(), Some(opened));
    let by = |user: &str| AnsweredBy { user: user.into(), place: ActionPlace::Page, at: Ms(2) };
    assert!(!other.answer_card(("a", "e"), &CardAnswer::AllowOnce, &by("ada")).unwrap(), "another input");
    assert!(other.answer_card(("a", "d"), &CardAnswer::AllowOnce, &by("ada")).unwrap());
    assert!(!store.answer_card(("a", "d"), &CardAnswer::Deny { words: "no".into() }, &by("bob")).unwrap());
    let answered = store.card("a").unwrap().unwrap();
    assert_eq!((answered.state, answered.answer), (CardState::Answered, Some(CardAnswer::AllowOnce)));
    assert_eq!(answered.answered.unwrap().user, "ada");
    assert!(!store.step_card("a", CardState::Open, CardState::LetGo, Ms(3)).unwrap());
    assert!(store.step_card("a", CardState::Answered, CardState::Given, Ms(3)).unwrap());
    assert!(!other.step_card("a", CardState::Answered, CardState::AtTerminal, Ms(3)).unwrap());
    assert_eq!(ids(&store, false), ["a"], "not confirmed yet");
    assert!(store.step_card("a", CardState::Given, CardState::Used, Ms(4)).unwrap());
    assert_eq!((ids(&store, false), ids(&store, true)), (vec![], vec!["a".to_string()]));
}

#[test]
fn f4_cards_that_are_over_go_with_events_of_their_age_and_those_that_wait_stay() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    let now = 1_000 * DAY;
    for (id, ended) in [("old", 40), ("young", 20), ("waits", 0)] {
        store.open_card(&card(id, now - 50 * DAY)).unwrap();
        if ended > 0 {
            assert!(store.step_card(id, CardState::Open, CardState::AtTerminal, Ms(now - ended * DAY)).unwrap());
        }
    }
    // Nothing is forgotten on the word of a clock that was seen for the first time.
    for days in 0..3 {
        let clocks = Clocks { now: Ms(now + days * DAY), since_boot_ms: days * DAY, boot: "one".into() };
        while store.prune_by(&clocks, &Retention::default()).unwrap().more {}
    }
    assert_eq!(ids(&store, true), ["waits", "young"]);
}

#[test]
fn f4_what_is_forgotten_of_a_session_or_project_is_forgotten_of_its_cards() {
    for scope in [ForgetScope::Session("s-a".into()), ForgetScope::Project("/p".into()), ForgetScope::Before(Ms(5))] {
        let home = tempfile::tempdir().unwrap();
        let mut store = open(home.path());
        let mut other = card("b", 9);
        other.project = Some("/q".into());
        store.open_card(&card("a", 1)).unwrap();
        store.open_card(&other).unwrap();
        store.forget(&scope).unwrap();
        assert_eq!(ids(&store, true), ["b"], "{scope:?}");
    }
}
