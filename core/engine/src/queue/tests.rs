//! Decisions on single tasks; the state machine is in `tests/model`.

use super::*;

fn task() -> Queued {
    Queued {
        row: 1,
        project: "/p".into(),
        slug: "t".into(),
        status: TaskStatus::Open,
        hold: None,
        attempt: 0,
        retry_count: 0,
        failures: 0,
        releases: 0,
        fail_reason: None,
        ready_at: Ms(0),
        open_blockers: 0,
    }
}

fn claimant(agent: &str) -> Claimant {
    Claimant::agent(agent, 600_000)
}

fn actor(agent: &str) -> Actor {
    Actor { agent: agent.into(), attempt: None, token: None, speaker: Speaker::agent(agent) }
}

fn claimed(task: &Queued, agent: &str, now: i64) -> Queued {
    claim(task, &claimant(agent), "t0ken", Ms(now)).unwrap().after
}

fn failed(task: &Queued, reason: &str, now: i64) -> Queued {
    let actor = Actor { attempt: Some(task.attempt), speaker: Speaker::Person, ..actor("") };
    match (TaskAction { task, actor: &actor, mine: None, now: Ms(now) }).fail(reason, 0).unwrap() {
        SettleResult::Turn(turn) => turn.after,
        other => panic!("{other:?}"),
    }
}

#[test]
fn q3_attempt_numbers_rise_with_every_claim() {
    let first = claimed(&task(), "a", 0);
    let again = claimed(&release(&first, SESSION_ENDED, Ms(1)).after, "b", 2);
    assert_eq!((first.attempt, again.attempt), (1, 2));
}

#[test]
fn q3_another_agent_cannot_finish_fail_or_renew() {
    let held = claimed(&task(), "a", 0);
    let stranger = actor("b");
    let act = TaskAction { task: &held, actor: &stranger, mine: None, now: Ms(1) };
    assert!(matches!(act.done(serde_json::Value::Null, Proof::None), Err(Refusal::Held { .. })));
    assert!(matches!(act.fail("x", 0), Err(Refusal::Held { .. })));
    assert!(matches!(act.renew(1), Err(Refusal::Held { .. })));
}

/// T10: a number says which attempt is meant, the agent's name whose it is; only the token proves anything.
#[test]
fn t10_who_may_act_is_decided_by_token_then_by_speaker() {
    let turn = claim(&task(), &claimant("alice"), "t0ken", Ms(0)).unwrap();
    let (held, AttemptChange::Begun(attempt)) = (turn.after, turn.attempt) else { panic!("nothing was begun") };
    let (alice, bob, person) = (Speaker::agent("alice"), Speaker::agent("bob"), Speaker::Person);
    let refusal = |attempt_named: Option<i64>, token: Option<&str>, speaker: &Speaker| {
        let token = token.map(str::to_string);
        let actor = Actor { agent: "alice".into(), attempt: attempt_named, token, speaker: speaker.clone() };
        // As the store finds it: a wrong token finds nothing.
        let mine = Some(&attempt).filter(|attempt| actor.token.is_none() || actor.token == attempt.token);
        TaskAction { task: &held, actor: &actor, mine, now: Ms(1) }.renew(1).err()
    };
    for speaker in [&alice, &person] {
        for number in [None, Some(1)] {
            assert_eq!(refusal(number, None, speaker), None, "{speaker:?} {number:?}");
        }
    }
    for number in [None, Some(1)] {
        let not_yours = Refusal::NotYours { agent: "alice".into(), speaker: "agent bob".into() };
        assert_eq!(refusal(number, None, &bob), Some(not_yours), "{number:?}");
    }
    for speaker in [&alice, &bob, &person] {
        assert_eq!(refusal(None, Some("t0ken"), speaker), None, "{speaker:?}");
        assert_eq!(refusal(Some(1), Some("t0ken"), speaker), None, "{speaker:?}");
        assert_eq!(refusal(Some(2), Some("t0ken"), speaker), Some(Refusal::WrongToken), "{speaker:?}");
        assert_eq!(refusal(None, Some("guess"), speaker), Some(Refusal::WrongToken), "{speaker:?}");
    }
}

#[test]
fn t10_no_agent_deletes_what_another_holds_until_its_lease_is_over() {
    let held = claimed(&task(), "alice", 0);
    let bob = Speaker::agent("bob");
    assert!(matches!(delete(&held, &bob, Ms(1)), Err(Refusal::Held { .. })));
    for speaker in [Speaker::agent("alice"), Speaker::Person] {
        assert!(delete(&held, &speaker, Ms(1)).is_ok(), "{speaker:?}");
    }
    assert!(delete(&held, &bob, Ms(600_000)).is_ok());
}

#[test]
fn q3_a_lapsed_attempt_is_told_so() {
    let held = claimed(&task(), "a", 0);
    let own = actor("a");
    let act = TaskAction { task: &held, actor: &own, mine: None, now: Ms(600_000) };
    let refusal = act.done(serde_json::Value::Null, Proof::None).unwrap_err();
    assert!(matches!(refusal, Refusal::Lapsed { attempt: 1, .. }));
    assert!(refusal.sentence("t").contains("attempt 1 of task 't' lapsed at"));
    assert!(matches!(act.renew(1), Err(Refusal::Lapsed { .. })));
    assert!(matches!(act.fail("x", 0), Err(Refusal::Lapsed { .. })));
}

#[test]
fn q5_reported_failures_back_off_and_the_fifth_quarantines() {
    let mut at = task();
    for (nth, wait) in [10_000, 20_000, 40_000, 80_000].into_iter().enumerate() {
        let now = at.ready_at.0 + 1;
        at = failed(&claimed(&at, "a", at.ready_at.0), "broken", now);
        assert_eq!((at.status, at.failures, at.ready_at), (TaskStatus::Open, nth as i64 + 1, Ms(now + wait)));
        assert!(matches!(claim(&at, &claimant("a"), "t0ken", Ms(now + wait - 1)), Err(Refusal::BackingOff { .. })));
    }
    at = failed(&claimed(&at, "a", at.ready_at.0), "broken", at.ready_at.0 + 1);
    assert_eq!((at.status, at.retry_count, at.fail_reason.as_deref()), (TaskStatus::Quarantined, 5, Some("broken")));
    let again = requeue(&at, Ms(9)).unwrap().after;
    assert_eq!((again.status, again.failures, again.retry_count), (TaskStatus::Open, 0, 5));
}

#[test]
fn q5_backoff_has_jitter_and_never_exceeds_an_hour() {
    assert_eq!((backoff(1, 0), backoff(1, 999)), (10_000, 12_497));
    assert_eq!((backoff(30, 999), backoff(9, 0)), (3_600_000, 2_560_000));
}

#[test]
fn q5_what_nobody_came_to_work_on_goes_back_and_nothing_is_counted() {
    let mut at = task();
    for nth in 1..=MOST_RELEASES + 1 {
        at = hand_back(&claimed(&at, "a", nth), "the agent may not work", Ms(nth)).after;
        assert_eq!((at.status, at.releases, at.failures, at.hold.is_none()), (TaskStatus::Open, 0, 0, true));
        assert_eq!((at.retry_count, at.attempt), (0, nth), "tried by nobody, and each claim has its number");
    }
    assert_eq!(at.fail_reason.as_deref(), Some("the agent may not work"));
}

#[test]
fn q5_releases_are_claimable_at_once_and_the_tenth_quarantines() {
    let mut at = task();
    for nth in 1..10 {
        at = failed(&claimed(&at, "a", nth), CONTEXT_LIMIT, nth);
        assert_eq!((at.status, at.ready_at, at.releases), (TaskStatus::Open, Ms(0), nth));
    }
    assert_eq!(failed(&claimed(&at, "a", 99), SESSION_EXITED, 99).status, TaskStatus::Quarantined);
}

/// Q5: the history of a task says of each attempt how it ended and why.
#[test]
fn q5_an_attempt_that_is_over_keeps_its_reason() {
    let held = claimed(&task(), "a", 0);
    let over = |outcome, reason: &str| AttemptChange::Ended { number: 1, outcome, reason: Some(reason.into()) };
    assert_eq!(release(&held, CONTEXT_LIMIT, Ms(1)).attempt, over(AttemptOutcome::Released, CONTEXT_LIMIT));
    assert_eq!(reported(&held, "broken", 0, Ms(1)).attempt, over(AttemptOutcome::Failed, "broken"));
    assert_eq!(expire(&held, HolderSign::Silence, Ms(600_000)).attempt, over(AttemptOutcome::Expired, LAPSED));
}

#[test]
fn q5_failing_what_is_over_is_success_with_a_note() {
    let own = actor("a");
    let over = release(&claimed(&task(), "a", 0), CONTEXT_LIMIT, Ms(1)).after;
    let act = TaskAction { task: &over, actor: &own, mine: None, now: Ms(2) };
    assert!(matches!(act.fail("x", 0), Ok(SettleResult::Already(_))));
    assert!(matches!(act.done(serde_json::Value::Null, Proof::None), Err(Refusal::NotActive { .. })));
    let attempt = Attempt {
        number: 1,
        token: None,
        agent: "a".into(),
        session: None,
        group: None,
        claimed_at: Ms(0),
        ended_at: Some(Ms(1)),
        outcome: Some(AttemptOutcome::Released),
        reason: Some(CONTEXT_LIMIT.into()),
    };
    let taken = claimed(&over, "b", 2);
    for task in [&over, &taken] {
        let act = TaskAction { task, actor: &own, mine: Some(&attempt), now: Ms(3) };
        let Ok(SettleResult::Already(note)) = act.fail("x", 0) else {
            panic!("whoever has it now, this attempt is over")
        };
        assert!(note.contains("released"), "{note}");
    }
}

#[test]
fn q4_a_tool_in_flight_holds_the_lease_but_not_for_ever() {
    let held = claimed(&task(), "a", 0);
    let kept = expire(&held, HolderSign::ToolInFlight, Ms(600_000)).after;
    assert_eq!(kept.hold.as_ref().unwrap().lease_until, Ms(1_200_000));
    assert_eq!(expire(&held, HolderSign::ToolInFlight, Ms(LONGEST_TOOL_MS)).after.status, TaskStatus::Open);
    let gone = expire(&held, HolderSign::Silence, Ms(600_000));
    assert_eq!((gone.after.status, gone.after.retry_count, gone.after.releases), (TaskStatus::Open, 1, 1));
}

#[test]
fn q8_a_sleep_or_a_clock_set_forward_is_noticed_and_idleness_is_not() {
    let moment = |now, awake, boot: &str| ClockReading { now: Ms(now), awake, boot: boot.into() };
    let last = moment(1_000_000, 500_000, "x");
    assert!(woke(Some(&last), &moment(4_600_000, 500_100, "x")));
    assert!(!woke(Some(&last), &moment(4_600_000, 4_100_000, "x")));
    assert!(!woke(Some(&last), &moment(4_600_000, 100, "y")));
    assert!(!woke(Some(&last), &moment(0, 500_100, "x")));
    assert!(!woke(None, &last));
}

/// Q7: each reason by its kind, and the tasks it is about.
#[test]
fn q7_every_reason_is_said_with_its_tasks() {
    let some = |slug: &str| slug.to_string();
    let waiting = UnclaimableTasks {
        counts: model::task::Counts { open: 3, active: 1, quarantined: 1, ..model::task::Counts::default() },
        claimable: 1,
        blocked: vec![(some("b"), vec![some("a (open)")])],
        circle: Some(vec![some("x"), some("y")]),
        backing_off: vec![(some("r"), Ms(9_000))],
        quarantined: vec![(some("q"), some("broken"))],
        leased: vec![(some("l"), some("w1"), Ms(60_000))],
        proposed: vec![(some("s"), some("w2"))],
    };
    let reasons = why(&waiting, Ms(0));
    let told: Vec<(&str, String)> = reasons.iter().map(|why| (why.kind, why.tasks.join(" "))).collect();
    let expected = [
        ("claimable", ""),
        ("cycle", "x y"),
        ("blocked", "b"),
        ("backing_off", "r"),
        ("quarantined", "q"),
        ("leased", "l"),
        ("proposed", "s"),
    ];
    assert_eq!(told, expected.map(|(kind, tasks)| (kind, some(tasks))));
}

/// L10: the end of a session lets go of what is unfinished, and of nothing else.
#[test]
fn l10_hooks_release_what_is_unfinished_and_not_what_was_said_to_be_done() {
    let working = claimed(&task(), "a", 0);
    let said = Queued { slug: "said".into(), ..claimed(&task(), "a", 0) };
    let actor = actor("a");
    let act = TaskAction { task: &said, actor: &actor, mine: None, now: Ms(1) };
    let Ok(SettleResult::Proposed(Some(turn))) = act.done(serde_json::Value::Null, Proof::WantedBy("w".into())) else {
        panic!("a proof is wanted")
    };
    let tasks = [working, turn.after];
    let held: Vec<HeldTask<'_>> =
        tasks.iter().filter_map(|task| task.hold.as_ref().map(|hold| HeldTask { task, hold })).collect();
    let (turns, words) = release_all(&held, SESSION_ENDED, Ms(2));
    assert_eq!(turns.iter().map(|turn| turn.after.slug.as_str()).collect::<Vec<_>>(), ["t"]);
    assert_eq!(words, ["Warning: agent a session ended unexpectedly, failing task t"]);
}

/// The hook of a client's end comes before its loop knows why it ended.
#[test]
fn q5_what_a_hook_let_go_of_is_uncounted_once_it_is_known_why() {
    let mut at = Queued { releases: MOST_RELEASES - 1, retry_count: 12, failures: 3, ..task() };
    at = release(&claimed(&at, "a", 1), SESSION_ENDED, Ms(1)).after;
    assert_eq!(at.status, TaskStatus::Quarantined);
    at = uncount(&at, Ms(2)).after;
    assert_eq!((at.status, at.releases, at.retry_count, at.failures), (TaskStatus::Open, MOST_RELEASES - 1, 12, 3));
}
