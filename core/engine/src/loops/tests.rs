//! The machine without a runner: tables of events and what follows.

mod nights;
mod ways;

use super::*;
use model::Ms;
use model::run::{AgentOutput, AgentTrouble, Finish, Permissions, RunMode, Tally};
use std::collections::BTreeMap;

fn terms(toml: &str, flags: Flags) -> Terms {
    let layer = policy::Layer { kind: policy::LayerKind::User, file: "config".into(), text: toml.into() };
    let (policy, found) = policy::Policy::layered(&[layer], policy::Trust::Trusted);
    assert!(found.is_empty(), "{found:?}");
    let none = BTreeMap::new();
    let settings =
        settings(Sources { flags: &flags, env: &none, policy: &policy, file: &Assignments::default() }).unwrap();
    Terms {
        mode: RunMode::Building,
        queue: false,
        on_hook_failure: settings.hooks.on_failure,
        limits: settings.limits,
        permissions: settings.permissions,
        project_dir: "/p".into(),
        log_dir: "/p/.taut/logs".into(),
        plan_file: "/p/IMPLEMENTATION_PLAN.md".into(),
        spec_dir: "/p/specs".into(),
    }
}

const EXITED: &str = crate::queue::SESSION_EXITED;
/// After an iteration whose agent worked.
const RELEASE: LoopEffect = LoopEffect::Release { reason: EXITED, counts: true };

fn seen(left: u64, commits: u64) -> WorkState {
    let work = WorkCount::Counted { left, done: 3, open: Open::Now };
    WorkState { work, commits, head: Some(commits.to_string()), tree: 0, tasks: 0, restart: false, forgotten: None }
}

/// Plays a run: each iteration ends as given, hooks as `hook` says; gives what happened, in order.
struct Play {
    terms: Terms,
    hook: fn(Hook, u64) -> HookEnd,
    iterations: Vec<(EndedAgent, WorkState)>,
    first: WorkState,
    /// What the proofs say, in order; the last stands for all after it.
    proofs: Vec<ProofResult>,
}

fn ended(exit: i32) -> EndedAgent {
    EndedAgent { exit: Some(exit), ms: 1500, heard: AgentOutput::default(), by: AgentEnd::Itself }
}

fn troubled(trouble: AgentTrouble) -> EndedAgent {
    EndedAgent {
        exit: Some(1),
        ms: 1,
        heard: AgentOutput { trouble: Some(trouble), failed: true, ..AgentOutput::default() },
        by: AgentEnd::Itself,
    }
}

impl Play {
    fn new(iterations: Vec<(EndedAgent, WorkState)>) -> Self {
        Self {
            terms: terms("", Flags::default()),
            hook: |_, _| HookEnd::None,
            iterations,
            first: seen(5, 0),
            proofs: vec![ProofResult::NotAsked],
        }
    }

    fn run(mut self) -> (Loop, Vec<LoopEffect>) {
        let mut now = Ms(1_000_000);
        let mut iterations = self.iterations.into_iter();
        let mut look = self.first;
        let (mut state, mut todo) = Loop::new(now, Tally::default()).step(&self.terms, LoopEvent::Begin, now);
        let mut all = Vec::new();
        while !todo.is_empty() {
            let effect = todo.remove(0);
            all.push(effect.clone());
            let event = match effect {
                LoopEffect::RunHook(hook) => LoopEvent::HookEnded((self.hook)(hook, state.tally.iterations)),
                LoopEffect::Look => LoopEvent::Looked(look.clone()),
                LoopEffect::StartAgent { .. } => {
                    let (ended, after) = iterations.next().expect("an iteration too many");
                    look = after;
                    LoopEvent::AgentEnded(ended)
                }
                LoopEffect::Wait { until, .. } => {
                    now = until;
                    LoopEvent::WaitOver
                }
                LoopEffect::Prove if self.proofs.len() > 1 => LoopEvent::Proven(self.proofs.remove(0)),
                LoopEffect::Prove => LoopEvent::Proven(self.proofs[0].clone()),
                _ => continue,
            };
            let (next, more) = state.step(&self.terms, event, now);
            state = next;
            todo.extend(more);
        }
        assert_eq!(state.phase, Phase::Over);
        let finished = all.iter().filter(|effect| **effect == LoopEffect::RunHook(Hook::Finished)).count();
        assert_eq!(finished, 1, "finished runs once");
        (state, all)
    }

    fn finish(self) -> Finish {
        self.run().0.finish.unwrap()
    }
}

#[test]
fn l5_completion_is_seen_before_the_limit_of_the_same_iteration() {
    let mut play = Play::new(vec![(ended(0), seen(0, 1))]);
    play.terms.limits.max_iterations = 1;
    assert_eq!(play.finish(), Finish::Complete);
}

#[test]
fn l4_each_way_to_end_has_its_name() {
    let with = |change: fn(&mut Play), iterations| {
        let mut play = Play::new(iterations);
        change(&mut play);
        play.finish()
    };
    assert_eq!(with(|play| play.first = seen(0, 0), vec![]), Finish::Complete);
    assert_eq!(with(|play| play.terms.limits.max_iterations = 1, vec![(ended(0), seen(4, 1))]), Finish::MaxIterations);
    assert_eq!(with(|_| (), vec![(ended(0), seen(5, 0))]), Finish::NoChanges);
    assert_eq!(with(|_| (), vec![(ended(3), seen(4, 1))]), Finish::Error);
    assert_eq!(
        with(
            |play| play.hook = |hook, _| if hook == Hook::Finished { HookEnd::None } else { HookEnd::Code(2) },
            vec![]
        ),
        Finish::HookAbort
    );
    assert_eq!(with(|play| play.hook = |_, _| HookEnd::Code(1), vec![]), Finish::Stuck);
    let dear = EndedAgent { heard: AgentOutput { cost_micros: 2_000_000, ..AgentOutput::default() }, ..ended(0) };
    assert_eq!(
        with(|play| play.terms.limits.max_cost_micros = Some(1_500_000), vec![(dear, seen(4, 1))]),
        Finish::Budget
    );
    let later = troubled(AgentTrouble::Limited { until: Some(Ms(9_000_000)) });
    assert_eq!(with(|play| play.terms.limits.max_ms = Some(60_000), vec![(later, seen(5, 0))]), Finish::Limit);
    let refused = troubled(AgentTrouble::Refused { what: "authentication failed".into() });
    assert_eq!(with(|_| (), vec![(refused, seen(5, 0))]), Finish::Error);
}

/// ORIGINS 5.3.9, L6.
#[test]
fn defect_9_a_limit_is_waited_out_until_its_reset_and_counts_for_nothing() {
    let until = Ms(5_000_000);
    let play = Play::new(vec![
        (troubled(AgentTrouble::Limited { until: Some(until) }), seen(5, 0)),
        (troubled(AgentTrouble::Transient { what: "529".into() }), seen(5, 0)),
        (ended(0), seen(0, 1)),
    ]);
    let (state, effects) = play.run();
    assert_eq!((state.finish, state.tally.iterations, state.tally.failures), (Some(Finish::Complete), 1, 0));
    assert!(effects.iter().any(|effect| matches!(effect, LoopEffect::Wait { until: at, .. } if *at == until)));
    let after_an_iteration = effects.iter().filter_map(|effect| match effect {
        LoopEffect::Release { reason, counts } => Some((*reason, *counts)),
        _ => None,
    });
    let expected = [("the usage limit was reached", false), ("the service was not there", false), (EXITED, true)];
    assert_eq!(after_an_iteration.take(3).collect::<Vec<_>>(), expected);
}

/// ORIGINS 5.3.5.
#[test]
fn defect_5_a_hook_that_always_skips_consumes_no_number_and_is_caught() {
    let mut play = Play::new(vec![]);
    play.hook = |hook, _| if hook == Hook::NextIteration { HookEnd::Code(1) } else { HookEnd::None };
    let (state, effects) = play.run();
    assert_eq!((state.finish, state.tally.iterations), (Some(Finish::Stuck), 0));
    assert_eq!(effects.iter().filter(|effect| matches!(effect, LoopEffect::Wait { .. })).count(), 9);
}

#[test]
fn l3_failures_of_hooks_abort_only_where_that_was_asked_for() {
    for (behavior, end, stage) in [
        (FailBehavior::Continue, HookEnd::Code(3), HookStage::GoOn),
        (FailBehavior::Continue, HookEnd::TimedOut, HookStage::GoOn),
        (FailBehavior::Abort, HookEnd::Code(3), HookStage::Abort),
        (FailBehavior::Abort, HookEnd::TimedOut, HookStage::Abort),
        (FailBehavior::Abort, HookEnd::Code(1), HookStage::GoOn),
        (FailBehavior::Continue, HookEnd::Code(2), HookStage::Abort),
    ] {
        assert_eq!(end.stage(Hook::Started, behavior), stage, "{behavior:?} {end:?}");
    }
    assert_eq!(HookEnd::Code(1).stage(Hook::NextIteration, FailBehavior::Abort), HookStage::Skip);
}

#[test]
fn l4_the_first_stop_lets_the_iteration_end_and_the_second_kills() {
    let terms = terms("", Flags::default());
    let now = Ms(5);
    let at = |state: Loop, event| state.step(&terms, event, now);
    let (state, _) = at(Loop::new(now, Tally::default()), LoopEvent::Begin);
    let (state, _) = at(state, LoopEvent::HookEnded(HookEnd::None));
    let (state, _) = at(state, LoopEvent::Looked(seen(2, 0)));
    let (running, _) = at(state, LoopEvent::HookEnded(HookEnd::None));
    assert_eq!(running.phase, Phase::Running);
    let (soft, effects) = at(running, LoopEvent::Stop(Stop::Soft));
    assert!(matches!(effects.as_slice(), [LoopEffect::Say(_)]));
    let (hard, effects) = at(soft.clone(), LoopEvent::Stop(Stop::Soft));
    assert_eq!(effects, [LoopEffect::Kill]);
    for state in [soft, hard] {
        let (state, effects) = at(state, LoopEvent::AgentEnded(ended(130)));
        assert_eq!(effects, [RELEASE, LoopEffect::Look]);
        let (state, _) = at(state, LoopEvent::Looked(seen(1, 1)));
        let (state, _) = at(state, LoopEvent::Proven(ProofResult::NotAsked));
        let (state, _) = at(state, LoopEvent::HookEnded(HookEnd::None));
        assert_eq!(state.finish, Some(Finish::Manual));
    }
}

/// ORIGINS 5.3.8.
#[test]
fn defect_8_a_task_that_was_begun_is_not_done() {
    let text = "- [x] a\n- [~] b\n  * [ ] c\n- [X] d\n- 2026-01-02 [x](y)\n```\n- [ ] example\n```\n- [ ](link) no\n";
    let counted = boxes(text);
    assert_eq!((counted.pending, counted.begun, counted.done, counted.left()), (2, 1, 2, 3));
}

#[test]
fn l3_config_sh_is_read_for_assignments_and_nothing_is_run() {
    let env = BTreeMap::from([("FRESHER_HOOK_TIMEOUT".to_string(), "7".to_string())]);
    let text = "#!/bin/bash\nexport FRESHER_HOOK_TIMEOUT=\"${FRESHER_HOOK_TIMEOUT:-30}\"\nFRESHER_MODEL='opus' # why\n\
        export FRESHER_HOOKS_ENABLED=${FRESHER_HOOKS_ENABLED:-false}\nFRESHER_X=\"$(touch /tmp/x)\"\nFRESHER_Y=`id`\nPATH=/evil\n";
    let read = assignments(text, &env);
    let pairs: Vec<_> = read.values.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(pairs, ["FRESHER_HOOKS_ENABLED=false", "FRESHER_HOOK_TIMEOUT=7", "FRESHER_MODEL=opus"]);
    assert_eq!(read.unread, ["FRESHER_X", "FRESHER_Y"]);
}

#[test]
fn l6_flags_beat_the_environment_which_beats_the_file_which_beats_the_default() {
    let env = BTreeMap::from([("FRESHER_MAX_ITERATIONS".to_string(), "7".to_string())]);
    let file = BTreeMap::from([
        ("FRESHER_MAX_ITERATIONS".to_string(), "9".to_string()),
        ("FRESHER_HOOK_STARTED_ENABLED".to_string(), "false".to_string()),
    ]);
    let file = Assignments { values: file, ..Assignments::default() };
    let policy = policy::Policy::default();
    let most = |flags: &Flags, env: &BTreeMap<String, String>, file: &Assignments| {
        settings(Sources { flags, env, policy: &policy, file }).unwrap().limits.max_iterations
    };
    let (flags, none) = (Flags::default(), BTreeMap::new());
    assert_eq!(most(&Flags { max_iterations: Some(3), ..Flags::default() }, &env, &file), 3);
    assert_eq!(
        (most(&flags, &env, &file), most(&flags, &none, &file), most(&flags, &none, &Assignments::default())),
        (7, 9, 0)
    );
    let settings = settings(Sources { flags: &flags, env: &none, policy: &policy, file: &file }).unwrap();
    assert_eq!(
        (settings.hooks.each[&Hook::Started].enabled, settings.hooks.each[&Hook::Finished].enabled),
        (false, true)
    );
    assert_eq!(
        (settings.limits.ceiling_ms, settings.limits.failures(false), settings.limits.idle(false)),
        (Some(86_400_000), 1, 1)
    );
    assert_eq!(
        (duration("90s"), duration("2h"), duration("45"), duration("x")),
        (Some(90_000), Some(7_200_000), Some(45_000), None)
    );
}

/// I7: whoever says a limit in a way that cannot be read does not get a loop without one.
#[test]
fn i7_a_variable_that_cannot_be_read_is_an_error_and_no_default() {
    let policy = policy::Policy::default();
    let (flags, none) = (Flags::default(), BTreeMap::new());
    let unread = |env: &BTreeMap<String, String>, file: &Assignments| {
        let read = settings(Sources { flags: &flags, env, policy: &policy, file });
        read.map_or_else(|unread| unread.iter().map(ToString::to_string).collect::<Vec<_>>(), |_| Vec::new())
    };
    for (name, value) in [
        ("MAX_COST", "lots"),
        ("MAX_COST", "nan"),
        ("MAX_COST", "-1"),
        ("MAX_TIME", "potato"),
        ("MAX_ITERATIONS", "ten"),
        ("MAX_FAILURES", "-1"),
        ("IDLE_ITERATIONS", "x"),
        ("MAX_TURNS", "many"),
        ("HOOK_TIMEOUT", "soon"),
        ("SMART_TERMINATION", "maybe"),
        ("HOOK_FAIL_BEHAVIOR", "abrot"),
    ] {
        for prefix in ["FRESHER", "TAUT"] {
            let env = BTreeMap::from([(format!("{prefix}_{name}"), value.to_string())]);
            let said = unread(&env, &Assignments::default());
            let begins = format!("{prefix}_{name}={value} in the environment cannot be read: it is ");
            assert!(said.len() == 1 && said[0].starts_with(&begins), "{name}: {said:?}");
        }
        let run = Assignments { unread: vec![format!("FRESHER_{name}")], ..Assignments::default() };
        assert_eq!(unread(&none, &run).len(), 1, "{name} would have to be run");
    }
    let file = assignments("FRESHER_MAX_ITERATIONS=ten\nFRESHER_MAX_COST=5\n", &none);
    assert_eq!(
        unread(&none, &file),
        ["FRESHER_MAX_ITERATIONS=ten in .fresher/config.sh cannot be read: it is a whole number"]
    );
}

/// ORIGINS 5.3.1: every specified variable, in exactly the hooks it lists.
#[test]
fn defect_1_l2_every_hook_gets_exactly_its_variables() {
    let terms = terms("", Flags::default());
    let mut state = Loop::new(Ms(0), Tally::default());
    state.finish = Some(Finish::Complete);
    let names =
        |hook| values(hook, &state, &terms, Ms(90_000)).into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(" ");
    assert_eq!(names(Hook::Started), "MODE MAX_ITERATIONS PROJECT_DIR LOG_DIR STARTED_AT PLAN_FILE SPEC_DIR");
    let iteration =
        "MODE ITERATION MAX_ITERATIONS PROJECT_DIR LOG_DIR STARTED_AT LAST_EXIT_CODE LAST_DURATION COMMITS_MADE";
    assert_eq!((names(Hook::NextIteration), names(Hook::PostIteration)), (iteration.into(), iteration.into()));
    let finished = "MODE ITERATION MAX_ITERATIONS PROJECT_DIR LOG_DIR STARTED_AT FINISH_TYPE TOTAL_ITERATIONS TOTAL_COMMITS DURATION";
    assert_eq!(names(Hook::Finished), finished);
}

/// ORIGINS 5.3.7, PRODUCT §12.
#[test]
fn defect_7_l4_every_finish_type_has_its_own_exit_status() {
    let codes: Vec<_> = Finish::ALL.iter().map(|finish| (finish.name(), finish.exit())).collect();
    let expected = [
        ("complete", 0),
        ("max_iterations", 10),
        ("no_changes", 11),
        ("limit", 12),
        ("budget", 13),
        ("stuck", 14),
        ("error", 20),
        ("hook_abort", 21),
        ("manual", 130),
    ];
    assert_eq!(codes, expected);
}
