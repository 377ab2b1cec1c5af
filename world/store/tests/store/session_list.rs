//! Sessions of the past, as people look for them.

use crate::rows::{agent, denied, event, open, session};
use model::effect::Write;
use model::row::{Agent, AgentStatus, Event};
use model::session::{Session, SessionState};
use model::session_facts::SessionFacts;
use model::{Level, Ms};
use store::{Durability, SessionOrder, SessionQuery, SessionStanding, Store, TimelinePosition};

const HOUR: i64 = 3_600_000;

fn ended(id: &str, at: i64) -> Write {
    let over = Session {
        state: SessionState::Ended,
        started_at: Ms(at - HOUR),
        last_seen_at: Ms(at),
        ended_at: Some(Ms(at)),
        agent: format!("agent-of-{id}"),
        ..session(id)
    };
    Write::Session(Box::new(over))
}

fn open_of(id: &str, name: &str, status: AgentStatus, since: i64) -> [Write; 2] {
    let there = Session { agent: name.into(), last_seen_at: Ms(since), ..session(id) };
    let who = Agent { status, session: Some(id.into()), since: Ms(since), ..agent(name) };
    [Write::Session(Box::new(there)), Write::Agent(who)]
}

fn stored(writes: Vec<Write>) -> (tempfile::TempDir, Store) {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    store.transact(Durability::Normal, |tx| tx.apply(&writes)).unwrap();
    (home, store)
}

fn ids(store: &Store, query: &SessionQuery) -> Vec<String> {
    store.session_page(query).unwrap().sessions.into_iter().map(|one| one.session.id).collect()
}

fn in_session(n: i64, id: &str, of: Event) -> Write {
    Write::Event(Box::new(Event { session: Some(id.into()), key: format!("{id}/{n}"), at: Ms(n), ..of }))
}

#[test]
fn f4_sessions_stand_in_the_order_of_the_fleet_and_what_is_over_stands_last() {
    let mut writes = vec![ended("old", 10 * HOUR), ended("new", 20 * HOUR)];
    writes.extend(open_of("w2", "zoe", AgentStatus::Working, 1));
    writes.extend(open_of("w1", "ada", AgentStatus::Working, 2));
    writes.extend(open_of("late", "bea", AgentStatus::Attention, 9));
    writes.extend(open_of("long", "cid", AgentStatus::Attention, 3));
    writes.extend(open_of("bad", "dan", AgentStatus::Error, 50));
    let (_home, store) = stored(writes);
    let all = ["bad", "long", "late", "w1", "w2", "new", "old"];
    assert_eq!(ids(&store, &SessionQuery::default()), all);
    let mut round = all;
    round.reverse();
    assert_eq!(ids(&store, &SessionQuery { reversed: true, ..SessionQuery::default() }), round);
    let page = store.session_page(&SessionQuery::default()).unwrap();
    assert_eq!((page.total, page.open, page.next), (7, 5, None));
    let statuses: Vec<Option<AgentStatus>> = page.sessions.iter().map(|one| one.status).collect();
    assert_eq!((statuses[0], statuses[5]), (Some(AgentStatus::Error), None));
}

#[test]
fn f4_pages_follow_by_key_without_gap_or_repetition_in_every_order() {
    let mut writes: Vec<Write> = (0..23).map(|n| ended(&format!("s-{n:02}"), HOUR * (n % 5 + 1))).collect();
    writes.extend(open_of("a", "ada", AgentStatus::Working, 2));
    writes.extend(open_of("b", "b\u{202e}\"'x", AgentStatus::Working, 2));
    let (_home, mut store) = stored(writes);
    store.note_session("s-07", |facts| *facts = SessionFacts { cost_usd: Some(2.5), ..facts.clone() }).unwrap();
    for (name, order) in SessionOrder::NAMES {
        for (reversed, by_project) in [(false, false), (true, true)] {
            let query = SessionQuery { order, reversed, by_project, ..SessionQuery::default() };
            let whole = ids(&store, &query);
            assert_eq!(whole.len(), 25);
            let (mut seen, mut after) = (Vec::new(), None);
            loop {
                let page = store.session_page(&SessionQuery { limit: 4, after, ..query.clone() }).unwrap();
                assert_eq!(page.total, 25);
                seen.extend(page.sessions.into_iter().map(|one| one.session.id));
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
            assert_eq!(seen, whole, "{name}");
        }
    }
    let by_cost = SessionQuery { order: SessionOrder::Cost, ..SessionQuery::default() };
    assert_eq!(ids(&store, &by_cost)[0], "s-07", "what cost most first");
}

#[test]
fn f4_a_session_that_changes_places_between_two_pages_leaves_no_gap() {
    let (_home, mut store) = stored((0..6).map(|n| ended(&format!("s-{n}"), HOUR * (10 - n))).collect());
    let query = SessionQuery { limit: 2, ..SessionQuery::default() };
    let next = store.session_page(&query).unwrap().next;
    let open_again = Session { agent: "agent-of-s-1".into(), started_at: Ms(0), ..session("s-1") };
    store.transact(Durability::Normal, |tx| tx.apply(&[Write::Session(Box::new(open_again))])).unwrap();
    assert_eq!(ids(&store, &SessionQuery { after: next, ..query }), ["s-2", "s-3"]);
}

#[test]
fn f4_sessions_are_chosen_by_project_agent_standing_and_day() {
    let mut writes = vec![ended("one", 10 * HOUR), ended("two", 100 * HOUR)];
    let elsewhere = Session { project: "/home/dev/other".into(), agent: "eve".into(), ..session("three") };
    writes.push(Write::Session(Box::new(elsewhere)));
    writes.extend(open_of("four", "cid", AgentStatus::Attention, 3));
    let (_home, store) = stored(writes);
    let with = |change: fn(&mut SessionQuery)| {
        let mut query = SessionQuery { order: SessionOrder::Agent, ..SessionQuery::default() };
        change(&mut query);
        ids(&store, &query)
    };
    assert_eq!(with(|query| query.project = Some("/home/dev/other".into())), ["three"]);
    assert_eq!(with(|query| query.agent = Some("agent-of-two".into())), ["two"]);
    assert_eq!(with(|query| query.standing = Some(SessionStanding::Open)), ["four", "three"]);
    assert_eq!(with(|query| query.standing = SessionStanding::parse("ended")), ["one", "two"]);
    assert_eq!(with(|query| query.standing = SessionStanding::parse("attention")), ["four"]);
    assert_eq!(with(|query| query.standing = SessionStanding::parse("active")), ["four", "three"]);
    assert_eq!(with(|query| query.standing = SessionStanding::parse("done")), [""; 0]);
    assert_eq!(with(|query| (query.since, query.until) = (Some(Ms(9 * HOUR)), Some(Ms(90 * HOUR)))), ["one"]);
    assert_eq!(with(|query| query.ids = Some(vec!["two".into(), "four".into(), "none".into()])), ["two", "four"]);
    assert_eq!(with(|query| query.ids = Some(Vec::new())), [""; 0], "a search that found nothing finds nothing");
    assert_eq!(SessionStanding::parse("nonsense"), None);
}

#[test]
fn f4_g8_sessions_are_chosen_by_the_tool_that_was_used_and_the_rule_that_stopped_something() {
    let mut writes: Vec<Write> = ["a", "b", "c", "d"].iter().map(|id| ended(id, 1000 * HOUR)).collect();
    writes.push(in_session(HOUR, "a", Event { tool: Some("WebFetch".into()), ..event(1) }));
    writes.push(in_session(2 * HOUR, "b", denied(2, "git-force-push")));
    writes.push(in_session(3 * HOUR, "c", Event { verdict: Level::Ask, ..denied(3, "git-force-push") }));
    let let_pass = Event {
        detail: serde_json::json!({"stop": {"let_pass": ["git-force-push"]}}),
        rules: vec!["git-force-push".into(), "rm-root".into()],
        ..denied(4, "rm-root")
    };
    writes.push(in_session(4 * HOUR, "d", let_pass));
    let (_home, store) = stored(writes);
    let order = SessionOrder::Agent;
    let by_tool = SessionQuery { tool: Some("WebFetch".into()), order, ..SessionQuery::default() };
    assert_eq!(ids(&store, &by_tool), ["a"]);
    let by_rule = SessionQuery { rule: Some("git-force-push".into()), order, ..SessionQuery::default() };
    assert_eq!(ids(&store, &by_rule), ["b", "c"], "what the rule itself let pass it did not stop");
    let looked = store.session_page(&by_rule).unwrap().looked.unwrap();
    assert_eq!((looked.events, looked.back_to), (4, None), "nothing was left out");
    let both = SessionQuery { tool: Some("Bash".into()), ..by_rule.clone() };
    assert_eq!(ids(&store, &both), ["b", "c"]);
    let later = SessionQuery { since: Some(Ms(2 * HOUR + 1)), ..by_rule.clone() };
    assert_eq!(ids(&store, &later), ["c"], "only what happened in the span counts");
    let earlier = SessionQuery { until: Some(Ms(2 * HOUR + 1)), ..by_tool };
    assert_eq!(ids(&store, &earlier), [""; 0], "the session had not begun by then");
    assert_eq!(store.session_page(&SessionQuery::default()).unwrap().looked, None);
}

#[test]
fn f4_a_session_is_found_by_the_beginning_of_any_of_its_ids() {
    let (_home, store) = stored(vec![ended("0199aa", HOUR), ended("0199ab", HOUR)]);
    let found = |letters: &str| -> Vec<String> {
        store.sessions_called(letters).unwrap().into_iter().map(|one| one.id).collect()
    };
    assert_eq!(found("0199a"), ["0199ab", "0199aa"]);
    assert_eq!(found("0199aa"), ["0199aa"]);
    assert_eq!(found("logical-0199ab"), ["0199ab"]);
    assert_eq!(found("%"), [""; 0], "letters are letters");
}

#[test]
fn f4_the_sessions_that_follow_or_were_started_within_one_are_known() {
    let mut writes = vec![ended("first", HOUR)];
    let next = Session { prev: Some("first".into()), ..session("next") };
    let within = Session { parent: Some("first".into()), ..session("within") };
    writes.extend([next, within].map(|one| Write::Session(Box::new(one))));
    let (_home, store) = stored(writes);
    let related = store.related_sessions("first").unwrap();
    let told: Vec<(&str, bool)> = related.iter().map(|one| (one.id.as_str(), one.follows)).collect();
    assert_eq!(told, [("next", true), ("within", false)]);
    let choices = store.session_choices().unwrap();
    assert_eq!(choices.projects, [("/home/dev/tree".to_owned(), 3)]);
    assert_eq!(choices.agents[0], ("alpha".to_owned(), 2));
}

#[test]
fn f4_a_moment_of_a_session_is_found_by_key_and_by_time_with_what_is_around_it() {
    let mut writes: Vec<Write> = (0..20).map(|n| in_session(n * 10, "s-1", event(n))).collect();
    writes.push(in_session(95, "s-2", event(1)));
    let (_home, store) = stored(writes);
    let around = |moment: &TimelinePosition| store.events_around("s-1", moment, 3).unwrap();
    let by_key = around(&TimelinePosition::Key("s-1/100".into())).unwrap();
    let keys: Vec<&str> = by_key.events.iter().map(|one| one.key.as_str()).collect();
    assert_eq!(keys, ["s-1/70", "s-1/80", "s-1/90", "s-1/100", "s-1/110", "s-1/120"]);
    assert_eq!((by_key.earlier, by_key.later, by_key.key.as_str()), (true, true, "s-1/100"));
    assert_eq!(around(&TimelinePosition::At(Ms(91))).unwrap().key, "s-1/100", "the first at that time or later");
    let last = around(&TimelinePosition::At(Ms(9_000))).unwrap();
    assert_eq!((last.key.as_str(), last.later), ("s-1/190", false));
    assert!(!around(&TimelinePosition::At(Ms(-5))).unwrap().earlier);
    assert_eq!(around(&TimelinePosition::Key("s-2/95".into())), None, "that is of another session");
}

#[test]
fn f4_a_session_whose_client_died_is_an_error_as_it_is_in_the_fleet() {
    const DAY: i64 = 24 * HOUR;
    let crashed = |id: &str, at: i64| {
        let who =
            Agent { status: AgentStatus::Error, session: None, since: Ms(at), ..agent(&format!("agent-of-{id}")) };
        [ended(id, at), Write::Agent(who)]
    };
    let mut writes = vec![ended("over", 3 * DAY)];
    writes.extend(crashed("long-ago", DAY));
    writes.extend(crashed("dead", 3 * DAY));
    writes.extend(open_of("failed", "eve", AgentStatus::Error, 3 * DAY + 1));
    writes.extend(open_of("asks", "fay", AgentStatus::Attention, 1));
    let (_home, store) = stored(writes);
    let errors = SessionQuery { standing: SessionStanding::parse("error"), ..SessionQuery::default() };
    assert_eq!(ids(&store, &errors), ["dead", "failed"]);
    let page = store.session_page(&SessionQuery::default()).unwrap();
    assert_eq!(page.sessions[0].status, Some(AgentStatus::Error));
    assert_eq!((page.total, page.open), (5, 2), "it is over all the same");
    assert_eq!(ids(&store, &SessionQuery::default()), ["dead", "failed", "asks", "over", "long-ago"]);
    let running = SessionQuery { standing: Some(SessionStanding::Open), ..SessionQuery::default() };
    assert_eq!(ids(&store, &running), ["failed", "asks"]);
}
