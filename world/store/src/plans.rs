//! Proof that the cost of an event does not grow with the history: every
//! statement on its way finds its rows by an index.

use crate::{
    EventFilter, Store, agent_names, agents, efforts, events, fleet, injections, messages, projects, prune,
    session_look_back, sessions, strikes, timeline, untold_calls,
};
use std::time::Duration;

#[test]
fn no_statement_on_the_way_of_an_event_scans_a_table() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path(), Duration::ZERO).unwrap();
    for sql in [
        agent_names::IS_CHOSEN,
        agent_names::IS_ID,
        agent_names::IS_TAKEN,
        agent_names::OWN,
        agent_names::PUT,
        agents::LOAD,
        agents::PUT,
        efforts::ANY_ACTIVE,
        efforts::hand_overs::NEWEST,
        efforts::hand_overs::NEWEST_BUT,
        efforts::hand_overs::OF_CHILD,
        efforts::hand_overs::REPLACED,
        efforts::hand_overs::TOLD,
        efforts::history::ANY_CALL,
        efforts::history::EARLIER_PROMPTS,
        efforts::history::FIRST_PROMPTS,
        efforts::history::LAST,
        efforts::history::LAST_AT,
        efforts::history::PROMPTS,
        efforts::DIRECTIVES,
        efforts::FETCH,
        efforts::NEXT_ORDINAL,
        efforts::UNREAD,
        efforts::unfinished::EFFORTS,
        efforts::unfinished::NEWEST_OF_CONVERSATION,
        efforts::unfinished::NOTES,
        efforts::unfinished::NOTE_OF_EFFORT,
        efforts::wordless::LOST_IN_PROJECT,
        efforts::wordless::NEWEST_IN_CONVERSATION,
        efforts::wordless::NOTED,
        efforts::wordless::OPEN_IN_PROJECT,
        events::ANSWERED,
        events::ANSWERED_AROUND,
        events::RECORD,
        events::SEQ_OF,
        events::TOLD_AGAIN,
        events::TOLD_ONCE,
        injections::CLEAR,
        injections::PUT,
        injections::WAITING,
        messages::COUNT,
        messages::COUNT_IN_CONVERSATION,
        messages::DELIVERED,
        messages::DUE,
        messages::DUE_IN_CONVERSATION,
        projects::SEE,
        prune::OLD_EVENTS,
        prune::OLD_INJECTIONS,
        prune::OLD_MESSAGES,
        prune::OLD_SESSIONS,
        prune::UNCLAIMED_MESSAGES,
        sessions::CONVERSATION,
        sessions::LAST_ENDED_OF_AGENT,
        sessions::LAST_ENDED_OF_CLIENT,
        sessions::LAST_ENDED_OF_CONVERSATION,
        sessions::LAST_ENDED_OF_ID,
        sessions::FETCH,
        sessions::OPEN_OF_AGENT,
        sessions::OPEN_OF_CLIENT,
        sessions::OPEN_OF_CONVERSATION,
        sessions::OPEN_OF_ID,
        sessions::OPEN_OF_PANE,
        sessions::PUT,
        sessions::TOUCH,
        strikes::DELIVER,
        strikes::GIVE,
        strikes::UNEXPIRED,
        untold_calls::ASKED,
    ] {
        for step in plan(&store, sql) {
            // What a bounded statement has found is gone through as it comes.
            let scans = step.starts_with("SCAN") && !step.starts_with("SCAN (subquery");
            assert!(!scans && !step.contains("TEMP B-TREE"), "{step}\n{sql}");
        }
    }
}

#[test]
fn the_plan_of_a_scan_would_be_noticed() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path(), Duration::ZERO).unwrap();
    let steps = plan(&store, "SELECT * FROM events WHERE detail = 'x'");
    assert!(steps.iter().any(|step| step.starts_with("SCAN events")), "{steps:?}");
}

#[test]
fn denials_are_counted_by_their_own_index() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path(), Duration::ZERO).unwrap();
    let steps = plan(&store, events::DENIED_SINCE);
    assert!(steps.iter().any(|step| step.contains("USING INDEX events_denied")), "{steps:?}");
}

/// Whoever tells of an agent's turn looks for its cause at every look, in a history of any length.
#[test]
fn f5_the_last_events_of_a_session_are_found_by_its_index_and_need_no_sorting() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path(), Duration::ZERO).unwrap();
    let steps = |filter: &EventFilter| plan(&store, &events::list_query(filter, None, None).0);
    let by_session = EventFilter { session: Some("s".into()), limit: 500, ..EventFilter::default() };
    let found = steps(&by_session);
    assert!(matches!(found.as_slice(), [one] if one.contains("USING INDEX events_by_session")), "{found:?}");
    let by_agent = EventFilter { agent: Some("a".into()), since: Some(model::Ms(1)), ..EventFilter::default() };
    assert!(steps(&by_agent).iter().any(|step| step.starts_with("SCAN")), "an agent has none");
}

/// Where an effort begins, its title is looked for among the newest events of its session alone.
#[test]
fn m6_the_last_prompt_of_a_session_is_found_among_its_newest_events_by_its_index() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path(), Duration::ZERO).unwrap();
    let steps = plan(&store, efforts::unfinished::LAST_PROMPT);
    assert!(steps.iter().any(|step| step.contains("USING INDEX events_by_session")), "{steps:?}");
    assert!(!steps.iter().any(|step| step.starts_with("SCAN events") || step.contains("TEMP B-TREE")), "{steps:?}");
}

/// The common case is that nothing waits: then it is two looks into indexes that are nearly empty.
#[test]
fn f3_messages_that_wait_are_found_by_their_own_indexes() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path(), Duration::ZERO).unwrap();
    for (sql, index) in [
        (messages::DUE, "messages_waiting"),
        (messages::DUE_IN_CONVERSATION, "messages_for_conversation"),
        (fleet::FOR_AGENTS, "messages_waiting"),
        (fleet::FOR_CONVERSATIONS, "messages_for_conversation"),
    ] {
        let steps = plan(&store, sql);
        assert!(steps.iter().any(|step| step.contains(&format!("INDEX {index}"))), "{steps:?}");
    }
}

/// What happened in which session is looked for among the latest rows, and among denials by their own index: no
/// question of a view reads a whole history.
#[test]
fn f4_sessions_of_a_tool_or_a_rule_are_found_in_a_bounded_span_of_events() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path(), Duration::ZERO).unwrap();
    for (sql, way) in [
        (session_look_back::BY_TOOL, "SEARCH events USING INTEGER PRIMARY KEY"),
        (session_look_back::BY_RULE, "SEARCH events USING INTEGER PRIMARY KEY"),
        (session_look_back::FROM, "SEARCH events USING INTEGER PRIMARY KEY"),
        (session_look_back::BY_DENIAL, "SEARCH events USING INDEX events_denied"),
        (timeline::AT_OR_AFTER, "SEARCH events USING INDEX events_by_session"),
        (timeline::LAST, "SEARCH events USING INDEX events_by_session"),
    ] {
        let steps = plan(&store, sql);
        assert!(steps.iter().any(|step| step.starts_with(way)), "{steps:?}");
        assert!(!steps.iter().any(|step| step.starts_with("SCAN events")), "{steps:?}");
    }
}

/// Every index that is written is one more page in the commit of every event.
#[test]
fn what_most_events_change_writes_no_index() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path(), Duration::ZERO).unwrap();
    assert_eq!(written(&store, sessions::TOUCH), 0);
    assert!(written(&store, sessions::PUT) > 0, "an index that is written would be noticed");
}

/// How many entries of indexes a statement may write.
fn written(store: &Store, sql: &str) -> usize {
    let mut statement = store.conn.prepare(&format!("EXPLAIN {sql}")).unwrap();
    let steps: Vec<String> =
        statement.raw_query().mapped(|row| row.get::<_, String>("opcode")).collect::<Result<_, _>>().unwrap();
    steps.iter().filter(|step| *step == "IdxInsert").count()
}

fn plan(store: &Store, sql: &str) -> Vec<String> {
    let mut statement = store.conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    statement.raw_query().mapped(|row| row.get::<_, String>("detail")).collect::<Result<_, _>>().unwrap()
}
