//! What a night brings: crashes, silence, denials, proofs that fail, pauses.

use super::*;

fn on_queue(iterations: Vec<(EndedAgent, WorkState)>) -> Play {
    let mut play = Play::new(iterations);
    play.terms.queue = true;
    play
}

fn said(exit: i32, words: &str) -> EndedAgent {
    EndedAgent { heard: AgentOutput { said: Some(words.into()), ..AgentOutput::default() }, ..ended(exit) }
}

fn waits(effects: &[LoopEffect]) -> Vec<(i64, &str)> {
    let mut found = Vec::new();
    for effect in effects {
        if let LoopEffect::Wait { until, why, .. } = effect {
            found.push((until.0, why.as_str()));
        }
    }
    found
}

fn failing(end: &str) -> ProofResult {
    ProofResult::Failed { end: end.into() }
}

/// A run whose agent has begun to work.
fn running(terms: &Terms, first: WorkState) -> Loop {
    let now = Ms(1_000_000);
    let (state, _) = Loop::new(now, Tally::default()).step(terms, LoopEvent::Begin, now);
    let (state, _) = state.step(terms, LoopEvent::HookEnded(HookEnd::None), now);
    let (state, _) = state.step(terms, LoopEvent::Looked(first), now);
    let (state, _) = state.step(terms, LoopEvent::HookEnded(HookEnd::None), now);
    assert_eq!(state.phase, Phase::Running);
    state
}

#[test]
fn l12_a_crash_on_the_queue_is_tried_again_after_a_pause_that_doubles() {
    let crash = |words: &str| (said(1, words), seen(5, 0));
    let (state, effects) = on_queue(vec![crash("a"), crash("b"), crash("c"), (ended(0), seen(0, 1))]).run();
    assert_eq!((state.finish, state.tally.failures), (Some(Finish::Complete), 3));
    let began = 1_000_000;
    assert_eq!(
        waits(&effects),
        [
            (began + 5_000, "the agent ended with 1: a; it is tried again"),
            (began + 15_000, "the agent ended with 1: b; it is tried again"),
            (began + 35_000, "the agent ended with 1: c; it is tried again"),
        ]
    );
    let all = (0..5).map(|nth| crash(["a", "b", "c", "d", "e"][nth])).collect();
    let (state, _) = on_queue(all).run();
    assert_eq!((state.finish, state.tally.iterations), (Some(Finish::Error), 5), "five in a row are too many");
    let mut capped = on_queue(vec![crash("a"), (ended(0), seen(0, 1))]);
    capped.terms.limits.transient_ms = 1_000;
    assert_eq!(waits(&capped.run().1)[0].0, began + 1_000);
}

#[test]
fn l12_the_same_failure_again_and_again_ends_the_run_and_digits_make_no_other() {
    let crash = |words: &str| (said(1, words), seen(5, 0));
    let (state, _) =
        on_queue(vec![crash("port 8081 is taken"), crash("port 8092 is taken"), crash("port 9 is taken")]).run();
    assert_eq!(state.finish, Some(Finish::Error));
    assert_eq!(state.why, "the same failure 3 times in a row: the agent ended with 1: port 9 is taken");
    let mut play =
        on_queue(vec![crash("x"), crash("x"), (ended(0), seen(4, 1)), crash("x"), crash("x"), (ended(0), seen(0, 2))]);
    assert_eq!(play.terms.limits.same_failures, 3);
    play.terms.limits.max_failures = Some(9);
    assert_eq!(play.finish(), Finish::Complete, "what worked in between begins the count anew");
    let mut play = on_queue(vec![crash("x"), crash("x"), crash("x"), crash("x"), (ended(0), seen(0, 2))]);
    play.terms.limits.same_failures = 0;
    assert_eq!(play.finish(), Finish::Complete, "zero never ends it");
}

#[test]
fn l12_a_forgotten_done_counts_as_a_failure_and_a_full_context_does_not() {
    let forgot = || WorkState { forgotten: Some("t1".into()), ..seen(5, 0) };
    let (state, effects) = on_queue(vec![(ended(0), forgot()), (ended(0), seen(0, 1))]).run();
    assert_eq!((state.finish, waits(&effects).len()), (Some(Finish::Complete), 1));
    let mut play = on_queue(vec![(ended(0), forgot())]);
    play.terms.limits.max_failures = Some(1);
    let (state, _) = play.run();
    assert_eq!((state.finish, state.why.as_str()), (Some(Finish::Error), "the agent ended without settling task t1"));
    let full = WorkState { restart: true, ..forgot() };
    let (state, effects) = on_queue(vec![(ended(1), full), (ended(0), seen(0, 1))]).run();
    assert_eq!((state.finish, waits(&effects).len(), state.failure), (Some(Finish::Complete), 0, None));
}

#[test]
fn l12_an_error_of_the_service_is_waited_out_on_the_queue_until_the_time_is_over() {
    let transient = || (troubled(AgentTrouble::Transient { what: "ECONNRESET".into() }), seen(5, 0));
    let mut all: Vec<_> = (0..40).map(|_| transient()).collect();
    all.push((ended(0), seen(0, 1)));
    let (state, effects) = on_queue(all).run();
    assert_eq!((state.finish, waits(&effects).len(), state.tally.iterations), (Some(Finish::Complete), 40, 1));
    let mut short = on_queue((0..40).map(|_| transient()).collect());
    short.terms.limits.max_ms = Some(60_000);
    assert_eq!(short.finish(), Finish::Limit);
}

#[test]
fn l12_an_agent_is_ended_for_its_budget_its_time_or_its_silence_but_not_while_a_tool_runs() {
    let mut terms = terms("", Flags { max_cost: Some(1.0), ..Flags::default() });
    (terms.limits.max_iteration_ms, terms.limits.max_silence_ms) = (Some(60_000), Some(10_000));
    let mut state = running(&terms, seen(5, 0));
    let heard = |cost_micros, tool: Option<&str>| AgentOutput {
        cost_micros,
        tool: tool.map(String::from),
        ..AgentOutput::default()
    };
    for (heard, ran, silent, ends) in [
        (heard(999_999, None), 59_999, 9_999, None),
        (heard(1_000_000, None), 0, 0, Some(AgentEnd::Budget)),
        (heard(0, Some("Bash")), 60_000, 0, Some(AgentEnd::TooLong)),
        (heard(0, None), 10_000, 10_000, Some(AgentEnd::Silence)),
        (heard(0, Some("Bash")), 59_000, 59_000, None),
    ] {
        assert_eq!(state.overrun(&terms, &heard, ran, silent), ends, "{heard:?} {ran} {silent}");
    }
    state.tally.cost_micros = 900_000;
    assert_eq!(
        state.overrun(&terms, &heard(100_000, None), 0, 0),
        Some(AgentEnd::Budget),
        "with what was spent before"
    );
    let silent = EndedAgent { exit: None, by: AgentEnd::Silence, ..troubled(AgentTrouble::Limited { until: None }) };
    let (state, _) = Play::new(vec![(silent, seen(5, 0))]).run();
    assert_eq!(state.finish, Some(Finish::Error), "whatever it was troubled by");
    assert_eq!(state.why, "the agent said nothing for 30 min and was ended");
    let long = EndedAgent { exit: None, by: AgentEnd::TooLong, ..ended(0) };
    assert_eq!(Play::new(vec![(long, seen(5, 0))]).run().0.why, "the iteration took longer than 4 h and was ended");
}

#[test]
fn l12_a_budget_that_was_spent_within_an_iteration_ends_the_run_unless_everything_is_done() {
    let spent = || EndedAgent { exit: None, by: AgentEnd::Budget, ..ended(0) };
    assert_eq!(on_queue(vec![(spent(), seen(4, 1))]).finish(), Finish::Budget);
    assert_eq!(Play::new(vec![(spent(), seen(0, 1))]).finish(), Finish::Complete);
}

#[test]
fn l12_an_agent_that_was_denied_things_and_did_nothing_ends_the_run_with_their_names() {
    let denied = |names: &[&str]| EndedAgent {
        heard: AgentOutput { denied: names.iter().map(|name| name.to_string()).collect(), ..AgentOutput::default() },
        ..ended(0)
    };
    let mut play = on_queue(vec![(denied(&["Write src/a.rs", "Bash git commit"]), seen(5, 0))]);
    play.terms.limits.idle_iterations = Some(9);
    let (state, _) = play.run();
    assert_eq!(state.finish, Some(Finish::NoChanges));
    for part in ["Write src/a.rs, Bash git commit", "--permissions edits", "--permissions all", "[loop] commands"] {
        assert!(state.why.contains(part), "{part}: {}", state.why);
    }
    // What holds already is no way out.
    for (mode, named) in [(Permissions::Edits, ["commands", "all"].as_slice()), (Permissions::Skipped, &[])] {
        let mut play = Play::new(vec![(denied(&["Bash make"]), seen(5, 0))]);
        play.terms.permissions = mode;
        let why = play.run().0.why;
        for way in ["edits", "commands", "all"] {
            let said = why.contains(&format!("--permissions {way}")) || why.contains(&format!("[loop] {way}"));
            assert_eq!(said, named.contains(&way), "{way}: {why}");
        }
    }
    let many = ["a", "b", "c", "d", "e", "f", "g"];
    assert!(Play::new(vec![(denied(&many), seen(5, 0))]).run().0.why.ends_with("a, b, c, d, e and 2 more"));
    let (state, _) = on_queue(vec![(denied(&["Write x"]), seen(4, 1)), (ended(0), seen(0, 2))]).run();
    assert_eq!(state.finish, Some(Finish::Complete), "it found another way");
}

#[test]
fn l10_a_plan_is_complete_only_when_it_passed_last_and_its_failure_goes_to_the_next_iteration() {
    let mut play = Play::new(vec![(ended(0), seen(0, 1)), (ended(0), seen(0, 2))]);
    play.proofs = vec![failing("2 tests failed"), ProofResult::Passed];
    let (state, effects) = play.run();
    assert_eq!((state.finish, state.tally.iterations), (Some(Finish::Complete), 2));
    assert_eq!((state.tally.last_failure, state.tally.same_failure), (None, 0));
    let proofs = effects.iter().filter(|effect| **effect == LoopEffect::Prove).count();
    assert_eq!(proofs, 2, "once after each change");
    let mut stays = Play::new((0..3).map(|nth| (ended(0), seen(0, nth + 1))).collect());
    stays.proofs = vec![failing("3 tests failed in 0.5s"), failing("3 tests failed in 0.9s")];
    let (state, _) = stays.run();
    assert_eq!(state.finish, Some(Finish::Error), "the breaker holds for it too");
    assert!(state.why.contains("3 tests failed in 0.9s"), "{}", state.why);
}

#[test]
fn l10_a_plan_that_is_half_done_may_fail_its_proof_as_often_as_it_likes() {
    let mut play = Play::new((0..6).map(|nth| (ended(0), seen(5 - nth, nth + 1))).collect());
    play.proofs = vec![failing("x"); 5];
    play.proofs.push(ProofResult::Passed);
    assert_eq!(play.finish(), Finish::Complete);
}

#[test]
fn l10_a_plan_that_looks_complete_at_the_start_is_proven_before_it_is_believed() {
    let mut play = Play::new(vec![]);
    (play.first, play.proofs) = (seen(0, 0), vec![ProofResult::Passed]);
    assert_eq!(play.finish(), Finish::Complete);
    let mut play = Play::new(vec![(ended(0), seen(0, 1))]);
    (play.first, play.proofs) = (seen(0, 0), vec![failing("red"), ProofResult::Passed]);
    let (state, effects) = play.run();
    assert_eq!((state.finish, state.tally.iterations), (Some(Finish::Complete), 1));
    assert!(effects.contains(&LoopEffect::StartAgent { iteration: 1 }), "an agent was told to mend it");
    let mut idle = Play::new(vec![(ended(0), seen(0, 0))]);
    (idle.first, idle.proofs) = (seen(0, 0), vec![failing("red")]);
    assert_eq!(idle.finish(), Finish::NoChanges);
}

#[test]
fn l10_on_the_queue_the_proof_comes_before_anything_is_let_go() {
    let (_, effects) = on_queue(vec![(ended(0), seen(0, 1))]).run();
    let at = |wanted: &LoopEffect| effects.iter().position(|effect| effect == wanted).unwrap();
    assert!(at(&LoopEffect::Prove) < at(&RELEASE), "{effects:?}");
    assert!(at(&RELEASE) < at(&LoopEffect::Record));
    let terms = Terms { queue: true, ..terms("", Flags::default()) };
    let (state, _) = running(&terms, seen(5, 0)).step(&terms, LoopEvent::Stop(Stop::Hard), Ms(2));
    let (_, effects) = state.step(&terms, LoopEvent::AgentEnded(ended(143)), Ms(3));
    assert_eq!(effects, [RELEASE, LoopEffect::Look], "a loop that is killed proves nothing");
}

#[test]
fn l10_a_proof_that_fails_on_the_queue_is_no_failure_of_the_agent_but_the_same_one_breaks() {
    let refuted = |nth: u64| (ended(0), seen(5, nth + 1));
    let mut play = on_queue((0..3).map(refuted).collect());
    play.proofs = vec![failing("no such command: cargo")];
    let (state, effects) = play.run();
    assert_eq!((state.finish, state.tally.failures, waits(&effects).len()), (Some(Finish::Error), 0, 0));
    assert!(state.why.starts_with("the same failure 3 times in a row: no such command"), "{}", state.why);
    let crash = || (said(1, "boom"), seen(5, 0));
    let mut both = on_queue(vec![crash(), crash(), (ended(0), seen(0, 1))]);
    both.proofs = vec![failing("red"), failing("red"), ProofResult::Passed];
    assert_eq!(both.finish(), Finish::Complete, "one iteration is one failure");
}

#[test]
fn l12_a_pause_comes_after_the_iteration_and_lasts_until_somebody_says_to_go_on() {
    let terms = terms("", Flags::default());
    let at = |state: Loop, event| state.step(&terms, event, Ms(1_000_001));
    let (state, effects) = at(running(&terms, seen(5, 0)), LoopEvent::Pause);
    assert!(matches!(effects.as_slice(), [LoopEffect::Say(_)]), "{effects:?}");
    let (state, effects) = at(state, LoopEvent::Pause);
    assert_eq!(effects, [], "asked twice it is nothing more");
    let (state, _) = at(state, LoopEvent::AgentEnded(ended(0)));
    let (state, _) = at(state, LoopEvent::Looked(seen(4, 1)));
    let (state, _) = at(state, LoopEvent::Proven(ProofResult::NotAsked));
    let (paused, effects) = at(state, LoopEvent::HookEnded(HookEnd::None));
    assert_eq!((paused.phase, effects), (Phase::Paused, vec![LoopEffect::Pause, LoopEffect::Save]));
    let (state, effects) = at(paused.clone(), LoopEvent::GoOn);
    assert_eq!((state.phase, effects), (Phase::Gate, vec![LoopEffect::Wake, LoopEffect::Look]));
    let (state, _) = at(state, LoopEvent::Looked(seen(4, 1)));
    assert_eq!(state.phase, Phase::Entering, "and does not pause again");
    assert_eq!(at(paused.clone(), LoopEvent::Stop(Stop::Soft)).0.finish, Some(Finish::Manual));
    assert_eq!(at(paused, LoopEvent::Pause).1, []);
}

#[test]
fn l12_a_wait_is_paused_at_once_a_pause_is_taken_back_and_the_end_is_no_place_for_one() {
    let terms = terms("", Flags::default());
    let at = |state: Loop, event| state.step(&terms, event, Ms(1_000_001));
    let later =
        WorkState { work: WorkCount::Counted { left: 2, done: 1, open: Open::At(Ms(9_000_000)) }, ..seen(2, 0) };
    let (state, _) = at(Loop::new(Ms(1), Tally::default()), LoopEvent::Begin);
    let (state, _) = at(state, LoopEvent::HookEnded(HookEnd::None));
    let (waiting, _) = at(state, LoopEvent::Looked(later));
    assert_eq!(waiting.phase, Phase::Waiting);
    let (paused, effects) = at(waiting, LoopEvent::Pause);
    assert_eq!((paused.phase, &effects[0]), (Phase::Paused, &LoopEffect::Wake));
    let (state, _) = at(running(&terms, seen(5, 0)), LoopEvent::Pause);
    let (state, effects) = at(state, LoopEvent::GoOn);
    assert!(matches!(effects.as_slice(), [LoopEffect::Say(_)]));
    let (state, _) = at(state, LoopEvent::AgentEnded(ended(0)));
    let (state, _) = at(state, LoopEvent::Looked(seen(5, 0)));
    let (over, _) = at(state, LoopEvent::HookEnded(HookEnd::None));
    assert_eq!(over.phase, Phase::Finishing, "nothing changed, so it ends");
    let (over, effects) = at(over, LoopEvent::Pause);
    assert_eq!((over.phase, effects), (Phase::Finishing, vec![]));
}

#[test]
fn l11_a_worker_whose_parent_is_gone_kills_its_agent_and_says_so() {
    let terms = Terms { queue: true, ..terms("", Flags::default()) };
    let (state, effects) = running(&terms, seen(5, 0)).step(&terms, LoopEvent::Stop(Stop::Orphaned), Ms(2));
    assert_eq!(effects, [LoopEffect::Kill]);
    let (state, _) = state.step(&terms, LoopEvent::AgentEnded(ended(143)), Ms(3));
    let (state, effects) = state.step(&terms, LoopEvent::Looked(seen(5, 0)), Ms(3));
    assert_eq!((state.finish, state.why.as_str()), (Some(Finish::Manual), "the loop that started this one is gone"));
    assert!(
        effects.iter().any(|effect| matches!(effect, LoopEffect::Release { .. }))
            && effects.contains(&LoopEffect::Record)
    );
}
