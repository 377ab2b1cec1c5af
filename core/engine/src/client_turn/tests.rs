//! What a client's own word makes of a status, case by case.

use super::*;
use crate::context::tests::session;
use model::session::{Ask, SessionState};
use model::session_facts::SessionNote;
use proptest::prelude::*;

const BUSY: ClientDoing = ClientDoing::Busy;
const IDLE: ClientDoing = ClientDoing::Idle;
const DIALOG: ClientDoing = ClientDoing::Waiting(WaitingFor::Dialog);

/// Asked at, or at work since, the tenth second; its last hook was then.
const TEN: i64 = 10_000;

fn agent(status: AgentStatus) -> Agent {
    Agent {
        id: "a".into(),
        named: true,
        status,
        dialect: None,
        session: Some("id".into()),
        project: "/p".into(),
        since: Ms(TEN),
    }
}

fn asked() -> Session {
    let mut asked = Session { last_seen_at: Ms(TEN), in_flight: vec!["t1".into()], ..session() };
    asked.memo.asked_at = Some(Ms(TEN));
    asked.memo.asks = vec![Ask { by: String::new(), about: "x".into() }];
    asked
}

fn seen(doing: ClientDoing, since: i64) -> SeenClient {
    SeenClient { doing, since: Ms(since), dialog_since: None }
}

fn turn(status: AgentStatus, session: &Session, seen: &SeenClient, now: i64) -> Option<&'static str> {
    by_client(&agent(status), session, seen, Ms(now)).map(AgentStatus::name)
}

#[test]
fn f1_a_dialog_that_was_answered_is_no_attention_any_more() {
    for status in [AgentStatus::Attention, AgentStatus::Checked] {
        for (doing, expected) in [(BUSY, "working"), (IDLE, "done")] {
            let was_seen = SeenClient { dialog_since: Some(Ms(TEN - 150)), ..seen(doing, TEN + 500) };
            assert_eq!(turn(status, &asked(), &was_seen, TEN + 501), Some(expected), "at once");
            let unseen = seen(doing, TEN + 500);
            assert_eq!(turn(status, &asked(), &unseen, TEN + 1_499), None, "its dialog may be about to come");
            assert_eq!(turn(status, &asked(), &unseen, TEN + 1_500), Some(expected), "nobody saw the dialog");
            let earlier = SeenClient { dialog_since: Some(Ms(TEN - 1_000)), ..unseen };
            assert_eq!(turn(status, &asked(), &earlier, TEN + 501), None, "that was another dialog");
            for before in [TEN, TEN - 1, 0] {
                assert_eq!(turn(status, &asked(), &seen(doing, before), TEN + 90_000), None, "older than the question");
            }
        }
        assert_eq!(turn(status, &asked(), &seen(DIALOG, TEN + 100), TEN + 90_000), None, "it stands");
    }
}

/// Looking at an agent is no question, and comes between the question and its answer, or just after it.
#[test]
fn f1_a_look_does_not_keep_an_answer_from_being_seen() {
    let looked = Agent { since: Ms(TEN + 600), ..agent(AgentStatus::Checked) };
    let answered = SeenClient { dialog_since: Some(Ms(TEN + 100)), ..seen(BUSY, TEN + 500) };
    assert_eq!(by_client(&looked, &asked(), &answered, Ms(TEN + 700)), Some(AgentStatus::Working));
}

/// Sub-agents go on while their session's user is asked.
#[test]
fn f1_hooks_of_others_do_not_keep_an_answer_from_being_seen() {
    let busy = Session { last_seen_at: Ms(TEN + 9_000), ..asked() };
    assert_eq!(turn(AgentStatus::Attention, &busy, &seen(BUSY, TEN + 5_000), TEN + 9_100), Some("working"));
}

#[test]
fn f1_a_dialog_of_the_clients_own_is_attention_once_it_has_held() {
    let working = Session { last_seen_at: Ms(TEN + 9_000), ..session() };
    let at = |since: i64, now: i64| turn(AgentStatus::Working, &working, &seen(DIALOG, since), now);
    assert_eq!(at(TEN + 3_000, TEN + 3_999), None, "a hook may be about to tell of it");
    assert_eq!(at(TEN + 3_000, TEN + 4_000), Some("attention"));
    assert_eq!(at(TEN, TEN + 90_000), None, "a hook has told since that it works");
}

#[test]
fn f1_a_turn_that_esc_has_ended_is_done_once_the_client_has_been_idle() {
    let working = Session { last_seen_at: Ms(TEN + 5_000), ..session() };
    let at = |since: i64, now: i64| turn(AgentStatus::Working, &working, &seen(IDLE, since), now);
    assert_eq!(at(TEN + 6_000, TEN + 7_999), None, "between two turns it is idle for a moment");
    assert_eq!(at(TEN + 6_000, TEN + 8_000), Some("done"));
    assert_eq!(at(TEN + 4_500, TEN + 8_000), Some("done"), "the hook of what was interrupted came late");
    assert_eq!(at(TEN + 4_000, TEN + 90_000), None, "a hook has told since that it works");
    let mut background = working.clone();
    background.memo.background = true;
    assert_eq!(turn(AgentStatus::Working, &background, &seen(IDLE, TEN + 6_000), TEN + 90_000), None);
    background.memo.asked_at = Some(Ms(TEN));
    let no = turn(AgentStatus::Attention, &background, &seen(IDLE, TEN + 6_000), TEN + 90_000);
    assert_eq!(no, Some("working"), "its tasks run on");
}

#[test]
fn f1_what_is_at_rest_or_has_failed_is_left_to_hooks() {
    for status in [AgentStatus::Done, AgentStatus::Error] {
        for doing in [BUSY, IDLE, DIALOG] {
            assert_eq!(turn(status, &asked(), &seen(doing, TEN + 5_000), TEN + 90_000), None);
        }
    }
    assert_eq!(turn(AgentStatus::Working, &session(), &seen(BUSY, TEN + 5_000), TEN + 90_000), None, "as it is");
}

#[test]
fn f1_a_client_nobody_sits_at_is_followed_by_its_hooks_alone() {
    let state =
        ClientState { pid: 1, session: "s".into(), doing: BUSY, since: Some(Ms(9)), interactive: true, started: None };
    assert_eq!(SeenClient::of(&state, Ms(5), None), Some(seen(BUSY, 5)), "no later than it was seen");
    assert_eq!(SeenClient::of(&ClientState { since: None, ..state.clone() }, Ms(5), None), Some(seen(BUSY, 5)));
    assert_eq!(SeenClient::of(&ClientState { interactive: false, ..state }, Ms(5), None), None);
}

fn parts(writes: &[Write]) -> (Session, Agent, Event) {
    match writes {
        [Write::Session(session), Write::Agent(agent), Write::Event(event), ..] => {
            ((**session).clone(), agent.clone(), (**event).clone())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn f1_an_answer_takes_the_question_away_and_a_no_ends_the_turn() {
    let mut before = asked();
    before.memo.failed_tool = true;
    before.state = SessionState::ToolActive;
    let no = turned((&agent(AgentStatus::Attention), &before), &seen(IDLE, TEN + 500), Ms(TEN + 2_000), || "e".into());
    let (session, after, event) = parts(&no);
    assert_eq!((after.status, after.since, event.at), (AgentStatus::Done, Ms(TEN + 500), Ms(TEN + 500)));
    assert_eq!((session.state, session.in_flight.len(), session.memo.asks.len()), (SessionState::Idle, 0, 0));
    assert_eq!((session.memo.failed_tool, session.last_seen_at), (false, Ms(TEN + 500)));
    let cleared = Write::Fact { session: "id".into(), note: SessionNote::FailedTool(None), at: Ms(TEN + 500) };
    assert_eq!(no.get(3), Some(&cleared));
    assert_eq!(event.event, STATE);
    assert_eq!(event.detail, json!({"doing": "idle", "status": {"from": "attention", "to": "done"}}));
    let yes = turned((&agent(AgentStatus::Checked), &before), &seen(BUSY, TEN + 500), Ms(TEN + 2_000), || "e".into());
    let (session, after, _) = parts(&yes);
    assert_eq!((after.status, session.state), (AgentStatus::Working, SessionState::ToolActive));
    assert_eq!((session.in_flight.len(), session.memo.asks.len(), session.memo.failed_tool), (1, 0, true));
}

#[test]
fn f1_a_dialog_that_no_hook_told_of_is_remembered_as_a_question() {
    let working = Session { last_seen_at: Ms(TEN), ..session() };
    let dialog = seen(ClientDoing::Waiting(WaitingFor::Input), TEN + 500);
    let writes = turned((&agent(AgentStatus::Working), &working), &dialog, Ms(TEN + 2_000), || "e".into());
    let (session, after, event) = parts(&writes);
    assert_eq!((after.status, session.memo.asked_at), (AgentStatus::Attention, Some(Ms(TEN + 500))));
    assert_eq!(session.memo.asks.len(), 1);
    assert_eq!((&event.detail["doing"], &event.detail["for"]), (&json!("waiting"), &json!("input")));
}

#[test]
fn f1_a_client_that_is_gone_is_an_error_and_no_clean_end() {
    for status in [AgentStatus::Working, AgentStatus::Attention, AgentStatus::Checked] {
        let mut worker = asked();
        worker.memo.reports_to = Some("lead".into());
        let writes = gone((&agent(status), &worker), CLIENT_GONE, Ms(TEN + 500), || "e".into());
        let (session, after, event) = parts(&writes);
        assert_eq!((after.status, after.session, after.since), (AgentStatus::Error, None, Ms(TEN + 500)));
        assert_eq!((session.ended_at, session.end_reason.as_deref()), (Some(Ms(TEN + 500)), Some(CLIENT_GONE)));
        assert_eq!((event.event.as_str(), session.in_flight.len()), (GONE, 0));
        assert!(matches!(writes.get(3), Some(Write::Memory(MemoryWrite::Message(_)))), "whom it worked for is told");
    }
}

#[test]
fn f1_a_client_that_is_gone_while_it_had_nothing_to_do_ends_its_session_and_is_no_error() {
    let writes = gone((&agent(AgentStatus::Done), &session()), CLIENT_GONE, Ms(TEN + 500), || "e".into());
    let (session, after, event) = parts(&writes);
    assert_eq!((after.status, after.session, after.since), (AgentStatus::Done, None, Ms(TEN)), "no news");
    assert_eq!((session.ended_at, session.end_reason.as_deref()), (Some(Ms(TEN + 500)), Some(CLIENT_GONE)));
    assert_eq!((event.event.as_str(), event.at), (GONE, Ms(TEN + 500)));
    let failed = gone((&agent(AgentStatus::Error), &session), CLIENT_GONE, Ms(TEN + 500), || "e".into());
    assert_eq!(parts(&failed).1.status, AgentStatus::Error, "a turn that failed is still to be looked at");
}

proptest! {
    /// Whatever a client claims, a hook since then has the say, and what was turned is not turned again by the same word.
    #[test]
    fn f1_no_word_of_a_client_counts_twice_or_against_a_newer_hook(
        status in prop::sample::select(AgentStatus::ALL.to_vec()),
        doing in prop::sample::select(vec![BUSY, IDLE, DIALOG]),
        since in 0..40_000_i64,
        dialog in prop::option::of(0..40_000_i64),
        (hook, age, background) in (0..40_000_i64, 0..60_000_i64, any::<bool>()),
    ) {
        let mut before = Session { last_seen_at: Ms(hook), ..session() };
        before.memo.asked_at = Some(Ms(hook));
        before.memo.background = background;
        let agent = Agent { since: Ms(hook), ..agent(status) };
        let seen = SeenClient { doing, since: Ms(since), dialog_since: dialog.map(Ms) };
        let now = Ms(since.max(hook) + age);
        let writes = turned((&agent, &before), &seen, now, || "e".into());
        if since + LATE_HOOK_MS < hook {
            prop_assert!(writes.is_empty());
        }
        if !writes.is_empty() {
            let (session, after, _) = parts(&writes);
            prop_assert!(after.since >= agent.since && after.since <= now);
            let again = turned((&after, &session), &seen, now.plus(90_000), || "e".into());
            prop_assert!(again.is_empty(), "{:?} {:?}", after.status, again);
        }
    }
}
