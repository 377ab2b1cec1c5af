//! What is told, over whole days of turns: never twice, never in quiet hours, never unasked.

use super::words::clean;
use super::*;
use policy::notify::Quiet;
use proptest::prelude::*;
use serde_json::{Value, json};

const NOON: i64 = 1_800_014_400_000;

fn agent(id: &str, status: AgentStatus, since: i64) -> Agent {
    Agent {
        id: id.into(),
        named: true,
        status,
        dialect: None,
        session: Some("s".into()),
        project: "/p/acme".into(),
        since: Ms(since),
    }
}

pub(super) fn event(name: &str, tool: Option<&str>, detail: Value) -> Event {
    let (session, tool) = (Some("s".into()), tool.map(Into::into));
    Event { session, tool, detail, ..Event::noted(name, "a", "e".into(), Ms(NOON)) }
}

fn all_on() -> Notify {
    Notify { on: KINDS.to_vec(), desktop: true, terminal: true, ..Notify::default() }
}

fn look(told: &[NotifiedTurn], now: i64) -> NotifyContext<'_> {
    NotifyContext { told, now: Ms(now), offset: Offset::default() }
}

/// One look at agents that all turned by a stop or a request.
fn round(agents: &[Agent], notify: &Notify, told: &[NotifiedTurn], now: i64) -> Round {
    let cause = event("Stop", None, json!({}));
    let turned: Vec<Turned<'_>> =
        agents.iter().map(|agent| Turned { agent, notify, cause: Some(&cause), watched: false }).collect();
    notices(&turned, &look(told, now))
}

#[test]
fn f5_a_turn_is_told_once_it_has_held_and_then_no_more() {
    let (notify, agents) = (all_on(), [agent("a", AgentStatus::Attention, NOON)]);
    let early = round(&agents, &notify, &[], NOON + 1_000);
    assert_eq!((early.due.len(), early.again_ms), (0, Some(4_000)));
    let due = round(&agents, &notify, &[], NOON + 5_000);
    assert_eq!(due.due, [(AgentStatus::Attention, vec![0])]);
    let again = round(&agents, &notify, &due.told, NOON + 60_000);
    assert_eq!((again.due.len(), again.again_ms), (0, None));
    let gone = round(&[agent("a", AgentStatus::Working, NOON + 2_000)], &notify, &[], NOON + 5_000);
    assert_eq!((gone.due.len(), gone.again_ms), (0, None), "it did not hold");
}

#[test]
fn f5_many_at_once_are_told_as_one_and_those_just_after_together() {
    let notify = all_on();
    let mut agents: Vec<Agent> = (0..7).map(|n| agent(&format!("w{n}"), AgentStatus::Attention, NOON + n)).collect();
    agents.push(agent("late", AgentStatus::Attention, NOON + 1_000));
    agents.push(agent("later", AgentStatus::Attention, NOON + 2_000));
    let first = round(&agents, &notify, &[], NOON + 5_010);
    assert_eq!(first.due, [(AgentStatus::Attention, (0..7).collect())]);
    let second = round(&agents, &notify, &first.told, NOON + 7_500);
    assert_eq!((second.due.len(), second.again_ms), (0, Some(2_510)));
    let third = round(&agents, &notify, &first.told, NOON + 10_010);
    assert_eq!(third.due, [(AgentStatus::Attention, vec![7, 8])]);
    let subjects: Vec<Subject<'_>> = agents
        .iter()
        .take(7)
        .map(|agent| Subject { agent, name: &agent.id, cause: None, task: None, card: None })
        .collect();
    assert_eq!(notice(AgentStatus::Attention, &subjects).line(), "7 agents need you: w0, w1, w2, w3, w4 and 2 more");
    assert_eq!(notice(AgentStatus::Done, &subjects[..3]).line(), "3 agents are done: w0, w1, w2");
}

#[test]
fn f5_only_the_kinds_that_are_on_are_told_and_only_where_there_is_a_way() {
    let agents = [
        agent("a", AgentStatus::Attention, NOON),
        agent("b", AgentStatus::Done, NOON),
        agent("c", AgentStatus::Error, NOON),
    ];
    let only = Notify { on: vec![AgentStatus::Done], ..all_on() };
    assert_eq!(round(&agents, &only, &[], NOON + 9_000).due, [(AgentStatus::Done, vec![1])]);
    let nowhere = Notify { desktop: false, ..all_on() };
    assert_eq!(round(&agents, &nowhere, &[], NOON + 9_000), Round::default());
    assert_eq!(round(&agents, &Notify::default(), &[], NOON + 9_000), Round::default());
}

#[test]
fn f5_a_session_that_begins_or_is_closed_and_old_news_are_not_told() {
    let (notify, rested) = (all_on(), agent("a", AgentStatus::Done, NOON));
    for (name, told) in
        [("SessionStart", false), ("SessionEnd", false), ("ClientState", false), ("Stop", true), ("Notification", true)]
    {
        let cause = event(name, None, json!({}));
        let turned = Turned { agent: &rested, notify: &notify, cause: Some(&cause), watched: false };
        assert_eq!(!notices(&[turned], &look(&[], NOON + 9_000)).due.is_empty(), told, "{name}");
    }
    assert_eq!(round(&[rested], &notify, &[], NOON + 3_600_000), Round::default());
}

#[test]
fn f5_a_pane_before_the_users_eyes_is_not_announced_then_or_later() {
    let (notify, seen) = (all_on(), agent("a", AgentStatus::Attention, NOON));
    let turned = Turned { agent: &seen, notify: &notify, cause: None, watched: true };
    let first = notices(&[turned], &look(&[], NOON + 6_000));
    assert!(first.due.is_empty());
    let later = notices(&[Turned { watched: false, ..turned }], &look(&first.told, NOON + 20_000));
    assert!(later.due.is_empty());
}

/// Otherwise a clock set back by a day would silence a day.
#[test]
fn f5_a_clock_that_was_set_back_silences_nobody() {
    let day = 86_400_000;
    let told = [NotifiedTurn { agent: "a".into(), status: AgentStatus::Attention, at: Ms(NOON + day) }];
    let ahead = round(&[agent("a", AgentStatus::Attention, NOON + day)], &all_on(), &told, NOON);
    assert_eq!(ahead, Round::default(), "what lies ahead is neither told nor waited for");
    let fresh = [agent("a", AgentStatus::Attention, NOON), agent("b", AgentStatus::Done, NOON)];
    assert_eq!(round(&fresh, &all_on(), &told, NOON + 5_000).due.len(), 2);
}

#[test]
fn f5_quiet_hours_silence_everything_and_what_is_fresh_when_they_end_is_told() {
    let quiet = Notify { quiet: vec![Quiet::parse("12:00-12:05").unwrap()], ..all_on() };
    let agents = [agent("a", AgentStatus::Attention, NOON)];
    let in_it = round(&agents, &quiet, &[], NOON + 60_000);
    assert_eq!((in_it.due.len(), in_it.again_ms), (0, Some(60_000)));
    assert_eq!(round(&agents, &quiet, &[], NOON + 300_000).due.len(), 1);
}

#[test]
fn f5_a_terminal_rings_in_the_event_itself_and_at_most_once_in_an_interval() {
    let (notify, screen) = (all_on(), Some(TerminalFact::default()));
    let asks = agent("ada", AgentStatus::Attention, NOON);
    let cause = event("PermissionRequest", Some("Bash"), json!({"input": {"command": "git push"}}));
    let turn = StatusTurn { agent: &asks, name: &asks.id, event: &cause, notify: &notify, screen };
    let mut memo = ContextMemo::default();
    assert_eq!(ring(&turn, &mut memo).as_deref(), Some("ada needs you: permission for Bash (git push)"));
    assert_eq!(ring(&turn, &mut memo), None, "within the interval");
    let later = Event { at: Ms(NOON + 5_000), ..cause.clone() };
    assert!(ring(&StatusTurn { event: &later, ..turn }, &mut memo).is_some());
    let off = [
        StatusTurn { screen: None, ..turn },
        StatusTurn { notify: &Notify { terminal: false, ..all_on() }, ..turn },
        StatusTurn { notify: &Notify { on: vec![AgentStatus::Done], ..all_on() }, ..turn },
        StatusTurn { notify: &Notify { quiet: vec![Quiet::parse("11:00-13:00").unwrap()], ..all_on() }, ..turn },
    ];
    for turn in &off {
        assert_eq!(ring(turn, &mut ContextMemo::default()), None);
    }
}

#[test]
fn f5_texts_say_what_an_agent_needs() {
    let input = |input: Value| json!({ "input": input });
    for (name, tool, detail, status, line) in [
        (
            "PreToolUse",
            Some("Bash"),
            input(json!({"command": "git push"})),
            AgentStatus::Attention,
            "ada needs you: permission for Bash (git push)",
        ),
        (
            "PermissionRequest",
            Some("Edit"),
            input(json!({"file_path": "/etc/x"})),
            AgentStatus::Attention,
            "ada needs you: permission for Edit (/etc/x)",
        ),
        (
            "PreToolUse",
            Some("AskUserQuestion"),
            json!({"asks": "question", "input": {"questions": [{"question": "Which?"}]}}),
            AgentStatus::Attention,
            "ada needs you: it asks “Which?”",
        ),
        (
            "PermissionRequest",
            Some("ExitPlanMode"),
            json!({"asks": "plan", "input": {"plan": "1."}}),
            AgentStatus::Attention,
            "ada needs you: a plan to approve",
        ),
        (
            "Notification",
            None,
            json!({"message": "Claude needs input"}),
            AgentStatus::Attention,
            "ada needs you: Claude needs input",
        ),
        (
            "PostToolUseFailure",
            Some("Bash"),
            json!({"input": {"command": "make"}, "error": "\nExit code 2\nmore"}),
            AgentStatus::Error,
            "ada ran into an error: Bash (make): Exit code 2",
        ),
        ("Stop", None, json!({}), AgentStatus::Done, "ada is done"),
    ] {
        let (agent, cause) = (agent("ada", status, NOON), event(name, tool, detail));
        let said =
            notice(status, &[Subject { agent: &agent, name: &agent.id, cause: Some(&cause), task: None, card: None }]);
        assert_eq!(said.line(), line);
    }
}

#[test]
fn f5_texts_say_why_a_turn_failed_and_what_a_client_itself_tells() {
    for (name, tool, detail, status, line) in [
        ("StopFailure", None, json!({"error": "rate_limit"}), AgentStatus::Error, "ada ran into an error: rate limit"),
        (
            "StopFailure",
            None,
            json!({"error": "overloaded", "last_message": "\n API Error: 529\nmore", "details": "x"}),
            AgentStatus::Error,
            "ada ran into an error: overloaded: “API Error: 529”",
        ),
        (
            "StopFailure",
            None,
            json!({"error": "", "details": "no route"}),
            AgentStatus::Error,
            "ada ran into an error: the turn failed: “no route”",
        ),
        ("ClientGone", None, json!({}), AgentStatus::Error, "ada ran into an error: its client is gone"),
        (
            "ClientState",
            None,
            json!({"doing": "waiting", "for": "permission"}),
            AgentStatus::Attention,
            "ada needs you: a permission or a plan in its terminal",
        ),
        (
            "ClientState",
            None,
            json!({"doing": "waiting", "for": "dialog"}),
            AgentStatus::Attention,
            "ada needs you: a dialog in its terminal",
        ),
    ] {
        let (agent, cause) = (agent("ada", status, NOON), event(name, tool, detail));
        let said =
            notice(status, &[Subject { agent: &agent, name: &agent.id, cause: Some(&cause), task: None, card: None }]);
        assert_eq!(said.line(), line);
    }
}

#[test]
fn f5_the_event_for_a_program_has_the_documented_fields() {
    let agent = agent("ada", AgentStatus::Attention, NOON);
    let cause = event("Notification", None, json!({"message": "m", "status": {"from": "working", "to": "attention"}}));
    let said = notice(
        AgentStatus::Attention,
        &[Subject { agent: &agent, name: "acme·2", cause: Some(&cause), task: Some("auth/01"), card: None }],
    );
    assert_eq!(
        said.event,
        json!({
            "agent": "ada", "name": "acme·2", "status": "attention", "from": "working", "project": "/p/acme",
            "session": "s",
            "task": "auth/01", "message": "acme·2 needs you: m", "at": "2027-01-15T12:00:00.000Z", "agents": ["ada"],
        })
    );
}

/// A program that prints one field of the event writes to somebody's terminal.
#[test]
fn t6_every_field_for_a_program_of_the_users_is_clean() {
    let hostile = "x\u{1b}]52;c;eA==\u{7}\u{9b}2J\u{202e}\ry";
    let agent = Agent {
        project: hostile.into(),
        session: Some(hostile.into()),
        ..agent(hostile, AgentStatus::Attention, NOON)
    };
    let subject = Subject { agent: &agent, name: &agent.id, cause: None, task: Some(hostile), card: None };
    for subjects in [vec![subject], vec![subject, subject]] {
        let said = notice(AgentStatus::Attention, &subjects).event;
        let fields = said.as_object().unwrap().values().flat_map(|value| match value {
            Value::Array(all) => all.clone(),
            one => vec![one.clone()],
        });
        for text in fields.filter_map(|value| value.as_str().map(str::to_owned)) {
            let bad = text.chars().find(|c| c.is_control() || model::text::is_hidden(*c));
            assert_eq!(bad, None, "{text:?}");
        }
        assert!(said["task"].as_str().unwrap().starts_with("x␛]52;c;"), "{said}");
    }
}

proptest! {
    #[test]
    fn f5_no_text_of_an_agent_is_more_than_a_line(text in "\\PC*|[\\x00-\\x9f\u{202a}-\u{202e}\u{200b}]*|.*", most in 1_usize..200) {
        let shown = clean(&text, most);
        prop_assert!(shown.chars().count() <= most);
        let turns = '\u{202a}'..='\u{202e}';
        prop_assert!(shown.chars().all(|c| !c.is_control() && !turns.contains(&c)));
    }

    /// A fleet that turns at random, looked at whenever it was asked for and now and then besides.
    #[test]
    fn f5_nobody_is_told_twice_in_an_interval_nor_in_quiet_hours_nor_when_it_is_off(
        turns in prop::collection::vec((0_usize..4, 0_usize..5, 0_i64..4_000), 1..80),
        debounce_ms in prop::sample::select(vec![0_i64, 1_000, 5_000]),
        on in prop::sample::subsequence(KINDS.to_vec(), 0..=3),
        quiet in prop::sample::select(vec![None, Some("12:00-12:01"), Some("00:00-24:00")]),
    ) {
        let quiet: Vec<Quiet> = quiet.into_iter().filter_map(Quiet::parse).collect();
        let notify = Notify { on, debounce_ms, quiet, desktop: true, ..Notify::default() };
        let mut fleet: Vec<Agent> = (0..4).map(|n| agent(&format!("w{n}"), AgentStatus::Working, NOON)).collect();
        let (mut told, mut now) = (Vec::new(), NOON);
        let mut history: Vec<(String, AgentStatus, i64)> = Vec::new();
        for (who, status, wait) in turns {
            now += wait;
            let status = AgentStatus::ALL[status];
            if fleet[who].status != status {
                fleet[who] = agent(&format!("w{who}"), status, now);
            }
            for moment in [now, now + wait / 2] {
                let round = round(&fleet, &notify, &told, moment);
                prop_assert!(round.again_ms.is_none_or(|ms| ms > 0));
                for (kind, places) in &round.due {
                    prop_assert!(notify.tells(*kind));
                    prop_assert!(!notify.is_quiet(Ms(moment), Offset::default()));
                    for place in places {
                        prop_assert_eq!(fleet[*place].status, *kind, "it holds");
                        history.push((fleet[*place].id.clone(), *kind, moment));
                    }
                }
                told = round.told;
            }
            now += wait / 2;
        }
        for (n, (id, kind, at)) in history.iter().enumerate() {
            let earlier = history[..n].iter().rfind(|(other, status, _)| other == id && status == kind);
            prop_assert!(earlier.is_none_or(|(_, _, before)| at - before >= debounce_ms), "{:?}", history);
        }
    }
}
