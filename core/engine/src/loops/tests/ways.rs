//! Every fork of the machine, on both sides: what is progress, which limit
//! holds, what counts, and what a hook is told.

use super::*;
use std::sync::atomic::{AtomicU64, Ordering};

const DAY_MS: i64 = 24 * 3_600_000;

/// A run that was begun and has looked at this.
fn looked(terms: &Terms, tally: Tally, first: WorkState) -> (Loop, Vec<LoopEffect>) {
    let now = Ms(1_000_000);
    let (state, _) = Loop::new(now, tally).step(terms, LoopEvent::Begin, now);
    let (state, _) = state.step(terms, LoopEvent::HookEnded(HookEnd::None), now);
    let (state, effects) = state.step(terms, LoopEvent::Looked(first), now);
    match effects.as_slice() {
        [LoopEffect::Prove] => state.step(terms, LoopEvent::Proven(ProofResult::NotAsked), now),
        _ => (state, effects),
    }
}

#[test]
fn l5_progress_is_a_commit_a_task_or_a_changed_tree_and_with_fresher_a_commit_alone() {
    let before = seen(5, 1);
    let other = |change: fn(&mut WorkState)| {
        let mut after = before.clone();
        change(&mut after);
        (after.progressed(&before, Progress::Any), after.progressed(&before, Progress::Commits))
    };
    assert_eq!(other(|_| ()), (false, false));
    assert_eq!(other(|after| after.commits = 2), (true, true));
    assert_eq!(other(|after| after.head = Some("amended".into())), (true, true));
    assert_eq!(other(|after| after.head = None), (false, false), "a repository that cannot be read is no commit");
    assert_eq!(other(|after| after.tree = 9), (true, false));
    assert_eq!(other(|after| after.tasks = 9), (true, false));
    assert_eq!(other(|after| after.work = seen(4, 1).work), (true, false));
    assert_eq!(other(|after| after.restart = true), (true, false));
}

#[test]
fn l5_idle_iterations_count_in_a_row_and_completion_comes_before_them() {
    let idle = |commits| (ended(0), seen(5, commits));
    let mut play = Play::new(vec![idle(0), idle(1), idle(1), idle(1)]);
    play.terms.limits.idle_iterations = Some(2);
    let (state, _) = play.run();
    assert_eq!((state.finish, state.tally.iterations), (Some(Finish::NoChanges), 4));
    let mut play = Play::new(vec![(ended(0), seen(0, 0))]);
    play.terms.limits.progress = Progress::Commits;
    assert_eq!(play.finish(), Finish::Complete, "the last box was ticked and not committed");
    let mut terms = terms("", Flags::default());
    terms.limits.max_iterations = 1;
    let done = Tally { iterations: 1, ..Tally::default() };
    assert_eq!(looked(&terms, done.clone(), seen(0, 1)).0.finish, Some(Finish::Complete), "resumed at its limit");
    assert_eq!(looked(&terms, done, seen(1, 1)).0.finish, Some(Finish::MaxIterations));
}

#[test]
fn l5_a_plan_without_anything_done_is_not_complete_and_l1_planning_does_not_stop_at_one_that_is() {
    let nothing = WorkState { work: WorkCount::Counted { left: 0, done: 0, open: Open::Now }, ..seen(0, 0) };
    assert!(!nothing.complete() && seen(0, 0).complete() && !seen(1, 0).complete());
    let mut planning = terms("", Flags::default());
    planning.mode = RunMode::Planning;
    let (state, effects) = looked(&planning, Tally::default(), seen(0, 0));
    assert_eq!((state.finish, effects), (None, vec![LoopEffect::RunHook(Hook::NextIteration)]));
}

#[test]
fn l6_an_unlimited_run_ends_after_a_day_unless_that_was_lifted() {
    let begun = Loop::new(Ms(5), Tally::default());
    let deadline = |flags: Flags| begun.deadline(&terms("", flags));
    assert_eq!(deadline(Flags::default()), Some(Ms(5 + DAY_MS)));
    assert_eq!(deadline(Flags { max_ms: Some(60_000), ..Flags::default() }), Some(Ms(60_005)));
    assert_eq!(deadline(Flags { max_ms: Some(2 * DAY_MS), ..Flags::default() }), Some(Ms(5 + DAY_MS)));
    let lifted = Flags { no_ceiling: true, max_ms: Some(2 * DAY_MS), ..Flags::default() };
    assert_eq!(deadline(lifted), Some(Ms(5 + 2 * DAY_MS)));
    assert_eq!(deadline(Flags { no_ceiling: true, ..Flags::default() }), None);
    let late = troubled(AgentTrouble::Limited { until: Some(Ms(1_000_000 + DAY_MS)) });
    let (state, effects) = Play::new(vec![(late, seen(5, 0))]).run();
    assert_eq!(state.finish, Some(Finish::Limit), "it would reset after the day");
    assert!(!effects.iter().any(|effect| matches!(effect, LoopEffect::Wait { .. })), "so it is not waited for");
}

#[test]
fn l6_skips_and_failures_count_in_a_row() {
    static ASKED: AtomicU64 = AtomicU64::new(0);
    let skips = |hook: Hook, _| match hook {
        // Two of three are skipped.
        Hook::NextIteration if ASKED.fetch_add(1, Ordering::Relaxed) % 3 < 2 => HookEnd::Code(1),
        _ => HookEnd::None,
    };
    let mut play = Play::new(vec![(ended(0), seen(4, 1)), (ended(0), seen(3, 2)), (ended(0), seen(0, 3))]);
    (play.hook, play.terms.limits.max_skips) = (skips, 3);
    assert_eq!(play.finish(), Finish::Complete);
    let mut play =
        Play::new(vec![(ended(1), seen(5, 0)), (ended(0), seen(4, 1)), (ended(1), seen(4, 1)), (ended(0), seen(0, 2))]);
    play.terms.limits.max_failures = Some(2);
    assert_eq!(play.finish(), Finish::Complete);
}

#[test]
fn l6_what_does_not_pass_ends_the_run_and_a_full_context_is_no_failure() {
    let transient = || (troubled(AgentTrouble::Transient { what: "529".into() }), seen(5, 0));
    let (state, effects) = Play::new((0..11).map(|_| transient()).collect()).run();
    let waits = effects.iter().filter(|effect| matches!(effect, LoopEffect::Wait { .. })).count();
    assert_eq!((state.finish, waits), (Some(Finish::Error), 10), "the eleventh in a row is an error");
    let mut play = Play::new(vec![(troubled(AgentTrouble::Refused { what: "login".into() }), seen(5, 0))]);
    play.terms.limits.max_failures = Some(5);
    assert_eq!(play.finish(), Finish::Error);
    let full = WorkState { restart: true, ..seen(5, 0) };
    assert_eq!(Play::new(vec![(ended(1), full), (ended(0), seen(0, 1))]).finish(), Finish::Complete);
}

#[test]
fn l4_l7_a_queue_is_waited_for_or_stuck_and_the_last_is_to_let_go_and_leave() {
    let terms = terms("", Flags::default());
    let open = |open| WorkState { work: WorkCount::Counted { left: 2, done: 1, open }, ..seen(2, 0) };
    assert_eq!(looked(&terms, Tally::default(), open(Open::Never)).0.finish, Some(Finish::Stuck));
    let (state, effects) = looked(&terms, Tally::default(), open(Open::At(Ms(1_500_000))));
    assert_eq!(state.phase, Phase::Waiting);
    assert!(matches!(effects.first(), Some(LoopEffect::Wait { until: Ms(1_500_000), .. })), "{effects:?}");
    let (_, all) = Play::new(vec![(ended(0), seen(0, 1))]).run();
    let last = &all[all.len() - 4..];
    assert_eq!(
        last,
        [
            LoopEffect::Release { reason: EXITED, counts: false },
            LoopEffect::Deregister,
            LoopEffect::Save,
            LoopEffect::End(Finish::Complete)
        ]
    );
}

#[test]
fn x2_l12_an_agent_that_was_stopped_for_an_unsure_lease_is_no_iteration_and_no_failure() {
    let unsure = || troubled(AgentTrouble::Unsure { what: "it was stopped".into() });
    let played = |iterations| {
        let mut play = Play::new(iterations);
        (play.terms.limits.max_failures, play.terms.limits.same_failures) = (Some(1), 1);
        play.run()
    };
    let (state, effects) = played(vec![(unsure(), seen(5, 0)), (unsure(), seen(5, 0)), (ended(0), seen(0, 1))]);
    assert_eq!((state.finish, state.tally.iterations, state.tally.failures), (Some(Finish::Complete), 1, 0));
    let uncounted = LoopEffect::Release { reason: crate::queue::LEASE_UNSURE, counts: false };
    assert_eq!(effects.iter().filter(|effect| **effect == uncounted).count(), 2);
    assert!(
        !effects.iter().any(|effect| matches!(effect, LoopEffect::Wait { .. })),
        "the server is there: {effects:?}"
    );
    let open = Open::At(Ms(1_005_000));
    let away = WorkState { work: WorkCount::Counted { left: 5, done: 1, open }, ..seen(5, 0) };
    let (state, effects) = played(vec![(unsure(), away)]);
    assert_eq!((state.finish, state.tally.iterations), (Some(Finish::Limit), 0), "waited for to the end of its time");
    assert!(
        effects.iter().any(|effect| matches!(effect, LoopEffect::Wait { kind: WaitKind::Tasks, .. })),
        "{effects:?}"
    );
}

/// What a worker claimed again and nobody worked on since goes back without a second count.
#[test]
fn q5_l11_an_iteration_is_counted_once_and_a_worker_goes_on_unless_its_run_ends() {
    let not_started = AgentTrouble::NotStarted { what: "no program".into() };
    let refused = AgentTrouble::Refused { what: "login".into() };
    for (end, counted, again) in [
        (ended(1), 1, true),
        (troubled(AgentTrouble::Limited { until: None }), 0, true),
        (troubled(refused), 0, false),
        (troubled(not_started), 0, false),
        (EndedAgent { by: AgentEnd::Silence, ..troubled(AgentTrouble::Limited { until: None }) }, 1, true),
    ] {
        let mut play = Play::new(vec![(end.clone(), seen(5, 0))]);
        (play.terms.limits.max_failures, play.terms.limits.max_ms) = (Some(1), Some(1_000));
        let (state, effects) = play.run();
        let counts = |effect: &&LoopEffect| matches!(effect, LoopEffect::Release { counts: true, .. });
        assert_eq!(effects.iter().filter(counts).count(), counted, "{end:?}");
        let claims = effects.iter().position(|effect| *effect == LoopEffect::ClaimAgain);
        assert_eq!(claims.is_some(), again, "{end:?}");
        let release = effects.iter().position(|effect| matches!(effect, LoopEffect::Release { .. }));
        assert!(claims.is_none_or(|claim| release < Some(claim)), "{effects:?}");
        assert_eq!(ends_all(state.finish, Some(&state.why)), !again, "{}", state.why);
    }
}

#[test]
fn l4_the_last_hook_is_cut_short_by_a_second_ctrl_c_and_by_nothing_else() {
    let terms = terms("", Flags::default());
    let (state, _) = looked(&terms, Tally::default(), seen(0, 1));
    assert_eq!(state.phase, Phase::Finishing);
    let stopped = |state: &Loop, stop| state.clone().step(&terms, LoopEvent::Stop(stop), Ms(2_000_000));
    assert_eq!(stopped(&state, Stop::TimeUp).1, []);
    let (state, effects) = stopped(&state, Stop::Soft);
    assert_eq!(effects, []);
    let (state, effects) = stopped(&state, Stop::Soft);
    assert_eq!((state.finish, effects), (Some(Finish::Complete), vec![LoopEffect::Kill]));
    for end in [HookEnd::Code(2), HookEnd::Code(9), HookEnd::TimedOut] {
        assert_eq!(end.stage(Hook::Finished, FailBehavior::Abort), HookStage::GoOn, "there is nothing left to abort");
    }
}

#[test]
fn l3_a_hook_has_half_a_minute_unless_it_was_given_another() {
    let none = BTreeMap::new();
    let settings = |file: &[(&str, &str)]| {
        let values = file.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let file = Assignments { values, ..Assignments::default() };
        let policy = policy::Policy::built_in();
        settings(Sources { flags: &Flags::default(), env: &none, policy: &policy, file: &file }).unwrap()
    };
    assert!(settings(&[]).hooks.each.values().all(|hook| hook.timeout_ms == 30_000 && hook.enabled));
    let own = settings(&[("FRESHER_HOOK_TIMEOUT", "7"), ("FRESHER_HOOK_FINISHED_ENABLED", "false")]).hooks;
    assert!(own.each.values().all(|hook| hook.timeout_ms == 7_000));
    assert_eq!((own.each[&Hook::Finished].enabled, own.each[&Hook::Started].enabled), (false, true));
}

#[test]
fn l2_each_variable_says_what_it_is_called() {
    let mut run = Loop::new(Ms(1_000), Tally::default());
    run.tally = Tally { iterations: 3, commits: 5, last_exit: Some(7), last_ms: 2_500, ..Tally::default() };
    run.finish = Some(Finish::NoChanges);
    let terms = terms("", Flags { max_iterations: Some(9), ..Flags::default() });
    let told = |hook: Hook, name: &str| {
        let all: BTreeMap<&str, String> = values(hook, &run, &terms, Ms(61_999)).into_iter().collect();
        all.get(name).cloned()
    };
    for (hook, name, value) in [
        (Hook::NextIteration, "ITERATION", "4"),
        (Hook::PostIteration, "ITERATION", "3"),
        (Hook::PostIteration, "LAST_EXIT_CODE", "7"),
        (Hook::PostIteration, "LAST_DURATION", "2"),
        (Hook::PostIteration, "COMMITS_MADE", "5"),
        (Hook::Started, "MAX_ITERATIONS", "9"),
        (Hook::Finished, "TOTAL_ITERATIONS", "3"),
        (Hook::Finished, "TOTAL_COMMITS", "5"),
        (Hook::Finished, "DURATION", "60"),
        (Hook::Finished, "FINISH_TYPE", "no_changes"),
    ] {
        assert_eq!(told(hook, name).as_deref(), Some(value), "{name} in {}", hook.name());
    }
}
