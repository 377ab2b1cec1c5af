//! Workers and whom they work for (F3, S9, S14), and waking those who rest.

use super::messages::{Pair, told};
use crate::home::{Client, Living};
use engine::fleet::wake::{Idle, LeftAlone, PAUSE_MS, WakeDecision, counted, wake};
use model::effort::Addressee;
use model::fleet::Prompt;
use model::session::{Once, Woken};
use serde_json::{Value, json};

/// A worker that ann has started.
fn worker(pair: &mut Pair, process: &Living) -> Client {
    let client = pair.stage.client("w-1").with("TAUT_AGENT_ID", "w").with("CLAUDE_PARENT_SESSION_ID", "ann-1");
    let client = client.with("CLAUDE_SESSION_MODE", "background").of(process.pid());
    pair.stage.start(&client, "startup");
    pair.stage.send(&client, "UserPromptSubmit", json!({"prompt": "go"}));
    client
}

fn stopped(pair: &mut Pair, client: &Client) -> Value {
    let served = pair.stage.send(client, "Stop", json!({"stop_hook_active": false}));
    serde_json::from_str(&served.answer.stdout).unwrap_or_default()
}

#[test]
fn f3_s9_a_worker_that_is_done_reports_to_the_conversation_that_started_it() {
    let mut pair = Pair::configured("[context]\nreport = true\n");
    let (ann, process) = (pair.ann.clone(), Living::new());
    let client = worker(&mut pair, &process);
    assert_eq!(stopped(&mut pair, &client)["decision"], "block", "it is asked to report");
    pair.line(&client, "taut worker done --summary 'all 12 tests pass'");
    assert!(pair.stage.current(&client).memo.has(Once::Reported));
    assert_eq!(stopped(&mut pair, &client), Value::Null);
    pair.stage.end(&client, "other");
    let said = pair.tool(&ann);
    assert!(said.starts_with("[taut] Worker `w` is done and reports (quoted"), "{said}");
    assert!(said.ends_with("\n> all 12 tests pass"), "and nothing is told of its end: {said}");
}

/// By name, by conversation, by session: all of them are whom it works for.
#[test]
fn f3_s9_a_message_to_who_started_it_counts_as_a_report_too() {
    for to in ["ann", "", "ann-1"] {
        let mut pair = Pair::configured("[context]\nreport = true\n");
        let (ann, process) = (pair.ann.clone(), Living::new());
        let conversation = pair.stage.sessions()[0].conversation.clone();
        let to = if to.is_empty() { &conversation } else { to };
        let client = worker(&mut pair, &process);
        pair.line(&client, &format!("taut send {to} finished"));
        assert!(pair.stage.current(&client).memo.has(Once::Reported), "{to}");
        assert_eq!(stopped(&mut pair, &client), Value::Null);
        pair.stage.end(&client, "other");
        let said = pair.tool(&ann);
        assert!(said.starts_with("[taut] Message from agent `w`") && said.ends_with("\n> finished"), "{said}");
    }
}

/// A question to a peer is no report: who started the worker still hears that it is gone.
#[test]
fn f3_s9_a_message_to_somebody_else_ends_the_reminder_and_hides_no_end() {
    let mut pair = Pair::configured("[context]\nreport = true\n");
    let (ann, process) = (pair.ann.clone(), Living::new());
    let client = worker(&mut pair, &process);
    pair.line(&client, "taut send bob 'which port?'");
    assert_eq!(stopped(&mut pair, &client), Value::Null);
    // Nor does it in the next window.
    pair.stage.end(&client, "clear");
    let client = client.session_id("w-2");
    pair.stage.start(&client, "clear");
    assert_eq!(stopped(&mut pair, &client), Value::Null);
    pair.stage.end(&client, "other");
    let said = pair.tool(&ann);
    assert!(said.ends_with("> worker w ended without a report (other)"), "{said}");
}

#[test]
fn f3_a_worker_that_ends_without_a_word_is_reported() {
    let mut pair = Pair::new();
    let (ann, process) = (pair.ann.clone(), Living::new());
    let client = worker(&mut pair, &process);
    // A context reset is no end: the work goes on.
    pair.stage.end(&client, "clear");
    let client = client.session_id("w-2");
    pair.stage.start(&client, "clear");
    assert_eq!(pair.tool(&ann), "");
    pair.stage.end(&client, "prompt_input_exit");
    let said = pair.tool(&ann);
    assert!(said.ends_with("> worker w ended without a report (prompt_input_exit)"), "{said}");
    assert_eq!(pair.tool(&ann), "");
}

#[test]
fn f3_a_worker_that_was_killed_is_reported_when_its_place_is_taken() {
    let mut pair = Pair::new();
    let (ann, process) = (pair.ann.clone(), Living::new());
    let client = worker(&mut pair, &process);
    drop(process);
    pair.stage.start(&client.of(std::process::id()).session_id("w-next"), "startup");
    let said = pair.tool(&ann);
    assert!(said.contains("> worker w ended without a report (client_gone)"), "{said}");
}

/// A client that merely runs inside another is nobody's worker, nor is one that carries on its own conversation.
#[test]
fn f3_who_was_not_started_as_a_worker_reports_to_nobody() {
    let mut pair = Pair::new();
    let (ann, process) = (pair.ann.clone(), Living::new());
    let nested = ann.clone().session_id("nested").of(process.pid());
    pair.stage.start(&nested, "startup");
    pair.stage.end(&nested, "other");
    let conversation = pair.stage.sessions()[0].conversation.clone();
    let own = pair.stage.client("h-1").with("TAUT_AGENT_ID", "h").of(process.pid());
    let own = own.with("CLAUDE_PARENT_SESSION_ID", "ann-1").with("CLAUDE_CONVERSATION_ID", &conversation);
    pair.stage.start(&own, "startup");
    pair.line(&own, "taut worker done --summary x");
    pair.stage.end(&own, "other");
    assert_eq!(pair.letters(), []);
}

/// The host gives a sub-agent's result to its parent itself; it is told again only where that is wanted.
#[test]
fn f3_i5_a_sub_agents_end_is_told_only_where_the_configuration_says_so() {
    let done = json!({"agent_id": "a1", "agent_type": "Explore", "last_assistant_message": "found it"});
    let fork = json!({"agent_id": "a2", "agent_type": "", "last_assistant_message": "summary"});
    for (config, expected) in [("", 0), ("[fleet]\nreport_sub_agents = true\n", 1)] {
        let mut pair = Pair::configured(config);
        let ann = pair.ann.clone();
        pair.stage.send(&ann, "SubagentStop", done.clone());
        pair.stage.send(&ann, "SubagentStop", fork.clone());
        assert_eq!(pair.letters().len(), expected, "{config}");
        assert_eq!(pair.tool(&ann).ends_with("> sub-agent Explore (a1) is done: found it"), expected == 1);
    }
}

/// The event comes in the session of the teammate's lead.
#[test]
fn s14_a_teammate_that_waits_is_told_to_its_coordinator() {
    let mut pair = Pair::new();
    let ann = pair.ann.clone();
    let idle = json!({"teammate_name": "mate1", "agent_id": "amate1-2d19", "agent_type": "mate1"});
    pair.stage.send(&ann, "TeammateIdle", idle);
    assert!(pair.tool(&ann).ends_with("> teammate mate1 waits for work"));
}

/// A prompt that is our own line is nobody's word, and is told apart from one.
#[test]
fn f3_a_wake_up_tells_what_waits_and_that_no_person_spoke() {
    let mut pair = Pair::new();
    let (ann, bob) = (pair.ann.clone(), pair.bob.clone());
    pair.line(&bob, "taut send ann hello");
    let said = pair.prompt(&ann, "[2026-01-17 10:32] [taut] 1 message is waiting");
    assert!(said.contains("put there by Taut, not by a person") && said.ends_with("> hello"), "{said}");
    let said = pair.prompt(&ann, "[taut] 1 message is waiting");
    assert!(said.ends_with("Nothing waits for you any more: no answer is needed."), "{said}");
    assert_eq!(said.lines().count(), 1);
    assert_eq!(pair.prompt(&ann, "and what do you think?"), "");
}

/// Stops that were refused in a row go on counting: our own line is not a person.
#[test]
fn f3_s9_a_wake_up_does_not_count_as_a_person() {
    let mut pair = Pair::configured("[context]\nreport = true\n");
    let process = Living::new();
    let client = worker(&mut pair, &process);
    assert_eq!(stopped(&mut pair, &client)["decision"], "block");
    pair.prompt(&client, "[taut] 1 message is waiting");
    assert_eq!(pair.stage.current(&client).memo.stops, 1);
    pair.prompt(&client, "go on");
    assert_eq!(pair.stage.current(&client).memo.stops, 0);
}

/// Somebody typed behind our line and pressed Enter: what they said is theirs.
#[test]
fn f3_what_a_person_typed_behind_our_line_is_a_persons_word() {
    let mut pair = Pair::configured("[context]\nreport = true\n");
    let process = Living::new();
    let client = worker(&mut pair, &process);
    assert_eq!(stopped(&mut pair, &client)["decision"], "block");
    let said = pair.prompt(&client, "[taut] 1 message is waitingplease fix the build");
    assert_eq!(pair.stage.current(&client).memo.stops, 0);
    assert!(said.contains("put there by Taut") && said.contains("what follows them is your user's"), "{said}");
    assert!(!said.contains("not by a person"), "{said}");
}

#[test]
fn f3_only_who_rests_in_a_pane_with_something_waiting_can_be_woken() {
    let mut pair = Pair::new();
    let (bob, process) = (pair.bob.clone(), Living::new());
    let pane = |client: Client, id: &str| client.with("TMUX", "/tmp/t/default,1,0").with("TMUX_PANE", id);
    let cy = pane(pair.stage.client("cy-1").with("TAUT_AGENT_ID", "cy").of(process.pid()), "%7");
    pair.stage.start(&cy, "startup");
    pair.stage.send(&cy, "UserPromptSubmit", json!({"prompt": "go"}));
    pair.line(&bob, "taut send cy one");
    pair.line(&bob, "taut send ann 'ann has no pane'");
    let candidates = |pair: &mut Pair| pair.stage.pipeline.store().unwrap().wakeable().unwrap();
    assert_eq!(candidates(&mut pair), [], "cy works");
    pair.stage.send(&cy, "Stop", json!({}));
    let found = candidates(&mut pair);
    assert_eq!(found.len(), 1);
    let one = &found[0];
    assert_eq!((one.session.agent.as_str(), one.messages, one.wakes, one.woken_at), ("cy", 1, 0, None));
    let now = one.session.last_seen_at.plus(5_000);
    assert!(matches!(wake(&idle(one), now), WakeDecision::Paste { .. }));
    pair.stage.pipeline.store().unwrap().woken(&one.session, counted(None, now)).unwrap();
    let conversation = one.session.conversation.clone();
    pair.line(&bob, &format!("taut send {conversation} two"));
    let found = candidates(&mut pair);
    assert_eq!((found[0].messages, found[0].wakes, found[0].woken_at), (2, 0, Some(now)), "one of them is new");
    assert_eq!(pair.letters()[2].to, Some(Addressee::Conversation(conversation)));
    assert!(
        told(&pair.stage.send(&cy, "UserPromptSubmit", json!({"prompt": "[taut] 2 messages are waiting"})))
            .ends_with("> two")
    );
    assert_eq!(candidates(&mut pair), []);
}

/// Two agents that answer each other: each message is delivered, and the pause holds all the same.
#[test]
fn f3_the_pause_between_wake_ups_outlives_the_delivery_of_what_it_was_for() {
    let mut pair = Pair::new();
    let (bob, process) = (pair.bob.clone(), Living::new());
    let client = pair.stage.client("cy-1").with("TAUT_AGENT_ID", "cy").of(process.pid());
    let cy = client.with("TMUX", "/tmp/t/default,1,0").with("TMUX_PANE", "%7");
    pair.stage.start(&cy, "startup");
    let answered = |pair: &mut Pair, prompt: &str| {
        pair.stage.send(&cy, "UserPromptSubmit", json!({ "prompt": prompt }));
        pair.stage.send(&cy, "Stop", json!({}));
        pair.line(&bob, "taut send cy 'and what do you say to this?'");
        let found = pair.stage.pipeline.store().unwrap().wakeable().unwrap();
        assert_eq!((found.len(), found[0].messages, found[0].woken_at), (1, 1, None));
        found.into_iter().next().unwrap()
    };
    let first = answered(&mut pair, "go");
    let now = first.session.last_seen_at.plus(5_000);
    pair.stage.pipeline.store().unwrap().woken(&first.session, counted(None, now)).unwrap();
    let again = answered(&mut pair, "[taut] 1 message is waiting");
    assert_eq!(wake(&idle(&again), now.plus(PAUSE_MS - 1)), WakeDecision::Wait(LeftAlone::JustWoken));
    assert!(matches!(wake(&idle(&again), now.plus(PAUSE_MS)), WakeDecision::Paste { .. }));
    let later = now.plus(PAUSE_MS);
    let woken = counted(again.session.memo.woken, later);
    pair.stage.pipeline.store().unwrap().woken(&again.session, woken).unwrap();
    let third = answered(&mut pair, "[taut] 1 message is waiting");
    assert_eq!(wake(&idle(&third), later.plus(2 * PAUSE_MS - 1)), WakeDecision::Wait(LeftAlone::JustWoken), "it grows");
    let fresh = answered(&mut pair, "a person speaks");
    assert_eq!(fresh.session.memo.woken, Some(Woken { at: later, row: 0 }), "a person's word ends the row");
}

fn idle(one: &store::WakeCandidate) -> Idle {
    Idle {
        state: one.session.state,
        status: one.status,
        last_seen: one.session.last_seen_at,
        messages: one.messages,
        woken_at: one.woken_at,
        last: one.session.memo.woken,
        wakes: one.wakes,
        prompt: Prompt::Empty,
    }
}

/// G7: a session in the background has nobody to tell of its workers, and goes on with its own work.
#[test]
fn g7_a_background_session_is_not_told_of_its_workers_and_still_gets_its_post() {
    for (mode, hears) in [("background", false), ("mission", true), ("interactive", true)] {
        let mut pair = Pair::new();
        let process = Living::new();
        let boss = pair.stage.client("boss-1").with("TAUT_AGENT_ID", "boss").with("CLAUDE_SESSION_MODE", mode);
        let boss = boss.of(process.pid());
        pair.stage.start(&boss, "startup");
        pair.stage.send(&boss, "UserPromptSubmit", json!({"prompt": "go"}));
        for n in 0..7 {
            let living = Living::new();
            let worker = pair.stage.client(&format!("w-{n}")).with("TAUT_AGENT_ID", &format!("w{n}"));
            let worker = worker.with("CLAUDE_PARENT_SESSION_ID", "boss-1").of(living.pid());
            pair.stage.start(&worker, "startup");
            pair.line(&worker, &format!("taut worker done --summary 'part {n}'"));
        }
        let bob = pair.bob.clone();
        pair.line(&bob, "taut send boss 'which port?'");
        let said = format!("{}{}", pair.tool(&boss), pair.tool(&boss));
        assert_eq!(said.contains("part 0"), hears, "{mode}: {said}");
        assert!(said.contains("which port?"), "{mode}: a message from somebody is no notification: {said}");
        assert_eq!(said.contains("more: `taut inbox`"), hears, "{mode}: {said}");
        assert_eq!(pair.stage.sessions().iter().filter(|one| one.agent == "boss").count(), 1);
    }
}

/// G7: as the configuration says, for any mode.
#[test]
fn g7_what_a_mode_is_told_is_configurable() {
    for (config, hears) in [
        ("[modes.background]\ntask_notifications = true\n", true),
        ("[modes.background]\ntool_tracking = false\n", false),
    ] {
        let mut pair = Pair::configured(config);
        let process = Living::new();
        let boss = pair.stage.client("boss-1").with("TAUT_AGENT_ID", "boss").with("CLAUDE_SESSION_MODE", "background");
        let boss = boss.of(process.pid());
        pair.stage.start(&boss, "startup");
        let living = Living::new();
        let worker = pair.stage.client("w-1").with("TAUT_AGENT_ID", "w").with("CLAUDE_PARENT_SESSION_ID", "boss-1");
        let worker = worker.of(living.pid());
        pair.stage.start(&worker, "startup");
        pair.line(&worker, "taut worker done --summary finished");
        assert_eq!(pair.prompt(&boss, "go on").contains("> finished"), hears, "{config}");
    }
}
