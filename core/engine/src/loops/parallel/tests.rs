use super::*;
use crate::loops::{Progress, WorkCount};
use model::task::{Hold, Proposed};
use std::collections::BTreeSet;

const NOW: Ms = Ms(1_000_000);

fn task(status: TaskStatus, holder: Option<(&str, Option<bool>)>) -> Queued {
    let hold = holder.map(|(agent, proposed)| Hold {
        agent: agent.to_string(),
        session: None,
        attempt: 1,
        lease_until: NOW.plus(1),
        lease_ms: 1,
        renewed_at: NOW,
        proposed: proposed.map(|proven| Proposed { at: NOW, proven }),
    });
    Queued {
        row: 1,
        project: "/p".into(),
        slug: "t".into(),
        status,
        hold,
        attempt: 1,
        retry_count: 0,
        failures: 0,
        releases: 0,
        fail_reason: None,
        ready_at: Ms(0),
        open_blockers: 0,
    }
}

#[test]
fn l11_a_workers_work_is_its_one_task() {
    let left = |open| WorkCount::Counted { left: 1, done: 0, open };
    let resting = Queued { ready_at: NOW.plus(5), ..task(TaskStatus::Open, None) };
    for (task, expected) in [
        (task(TaskStatus::Active, Some(("me", None))), left(Open::Now)),
        (task(TaskStatus::Active, Some(("me", Some(false)))), left(Open::Now)),
        (task(TaskStatus::Active, Some(("me", Some(true)))), DONE),
        (task(TaskStatus::Active, Some(("other", Some(true)))), left(Open::Never)),
        (task(TaskStatus::Open, None), left(Open::Never)),
        (resting, left(Open::Never)),
        (task(TaskStatus::Quarantined, None), left(Open::Never)),
        (task(TaskStatus::Done, None), DONE),
        (task(TaskStatus::Deleted, None), DONE),
    ] {
        assert_eq!(work_of_worker(Some(&task), "me"), expected, "{task:?}");
    }
    assert_eq!(work_of_worker(None, "me"), DONE);
}

#[test]
fn l11_what_a_worker_leaves_decides_what_is_done_with_its_task() {
    for (task, expected) in [
        (task(TaskStatus::Active, Some(("me", Some(true)))), AfterWorker::Merge),
        (task(TaskStatus::Active, Some(("me", Some(false)))), AfterWorker::Merge),
        (task(TaskStatus::Active, Some(("me", None))), AfterWorker::GiveBack),
        (task(TaskStatus::Active, Some(("other", Some(true)))), AfterWorker::Returned),
        (task(TaskStatus::Open, None), AfterWorker::Returned),
        (task(TaskStatus::Quarantined, None), AfterWorker::Kept),
        (task(TaskStatus::Done, None), AfterWorker::Over),
        (task(TaskStatus::Deleted, None), AfterWorker::Over),
    ] {
        assert_eq!(after_worker(Some(&task), "me"), expected, "{task:?}");
    }
    assert_eq!(after_worker(None, "me"), AfterWorker::Over);
}

fn idle() -> Coordination {
    Coordination {
        working: 0,
        merging: 0,
        workers: 2,
        work: WorkCount::Counted { left: 3, done: 1, open: Open::Now },
        iterations: 0,
        iterations_given: 0,
        cost_micros: 0,
        started_at: NOW,
        stopping: false,
        paused: false,
        same_failures: 0,
        last_failure: None,
    }
}

fn limits() -> LoopLimits {
    LoopLimits {
        max_iterations: 5,
        max_ms: Some(1_000),
        ceiling_ms: None,
        max_cost_micros: Some(100),
        max_failures: None,
        same_failures: 3,
        idle_iterations: None,
        max_silence_ms: None,
        max_iteration_ms: None,
        max_skips: 1,
        transient_ms: 1,
        progress: Progress::Any,
    }
}

#[test]
fn l11_a_coordinator_starts_waits_drains_and_ends_by_what_is_so() {
    let count = |left, open| WorkCount::Counted { left, done: 1, open };
    let step = |state: Coordination, now| match coordinate(&state, &limits(), now) {
        CoordinatorStep::Start => "start".to_string(),
        CoordinatorStep::Wait(None) => "wait".to_string(),
        CoordinatorStep::Wait(Some(at)) => format!("until {}", at.0 - NOW.0),
        CoordinatorStep::Drain { finish, at_once, .. } => format!("drain {} {at_once}", finish.name()),
        CoordinatorStep::End { finish, .. } => finish.name().to_string(),
    };
    for (state, expected) in [
        (idle(), "start"),
        (Coordination { working: 1, ..idle() }, "start"),
        (Coordination { working: 2, ..idle() }, "wait"),
        (Coordination { paused: true, ..idle() }, "wait"),
        (Coordination { work: count(3, Open::At(NOW.plus(7))), ..idle() }, "until 7"),
        (Coordination { work: count(3, Open::Never), ..idle() }, "stuck"),
        (Coordination { work: count(3, Open::Never), merging: 1, ..idle() }, "wait"),
        (Coordination { work: count(0, Open::Now), ..idle() }, "complete"),
        (Coordination { work: count(0, Open::Now), merging: 1, ..idle() }, "wait"),
        // Completion is looked at before limits.
        (Coordination { work: count(0, Open::Now), cost_micros: 100, ..idle() }, "complete"),
        (Coordination { cost_micros: 100, ..idle() }, "drain budget true"),
        (Coordination { iterations: 5, ..idle() }, "drain max_iterations false"),
        (Coordination { iterations: 3, iterations_given: 4, working: 1, ..idle() }, "start"),
        (Coordination { iterations: 3, iterations_given: 5, working: 1, workers: 9, ..idle() }, "wait"),
        (Coordination { same_failures: 3, ..idle() }, "drain error false"),
        (Coordination { started_at: Ms(NOW.0 - 1_000), ..idle() }, "drain limit true"),
        (Coordination { stopping: true, ..idle() }, "manual"),
        (Coordination { stopping: true, working: 1, ..idle() }, "wait"),
    ] {
        assert_eq!(step(state.clone(), NOW), expected, "{state:?}");
    }
}

#[test]
fn l11_failures_are_alike_whatever_numbers_are_in_them_and_count_by_their_tasks() {
    for (failures, expected) in [
        (&[("a", "ended with 7 at 12:30"), ("b", "ended with 9 at 01:02")][..], 2),
        (&[("a", "ended with 7"), ("b", "was killed")], 1),
        (&[("a", "ended with 7"), ("a", "ended with 7"), ("a", "ended with 7")], 1),
        (&[("a", "ended with 7"), ("b", "ended with 7"), ("a", "ended with 7"), ("c", "ended with 7")], 3),
    ] {
        let mut alike = AlikeFailures::default();
        failures.iter().for_each(|(task, why)| alike.note(task, why));
        assert_eq!((alike.count(), alike.last()), (expected, failures.last().map(|last| last.1)), "{failures:?}");
    }
}

#[test]
fn x2_l11_agents_that_were_stopped_for_unsure_leases_are_no_failures_that_are_alike() {
    let mut alike = AlikeFailures::default();
    for task in ["a", "b", "c"] {
        alike.note(task, crate::queue::LEASE_UNSURE);
    }
    assert_eq!((alike.count(), alike.last()), (0, None));
}

#[test]
fn l11_only_a_login_or_an_account_that_ended_a_worker_ends_all() {
    let login = format!("{MAY_NOT_WORK}: login. Log in");
    for (finish, why, expected) in [
        (Some(Finish::Error), Some(login.as_str()), true),
        (Some(Finish::Manual), Some(&login), false),
        (Some(Finish::Error), Some("the agent ended with 1"), false),
        (None, None, false),
    ] {
        assert_eq!(ends_all(finish, why), expected, "{finish:?} {why:?}");
    }
}

#[test]
fn l11_while_a_conflict_is_being_solved_its_solution_alone_lands() {
    let unsolved = Waiting { unsolved: true, ..Waiting::default() };
    for (waiting, expected) in [
        (Waiting::default(), true),
        (unsolved, false),
        (Waiting { solves: true, ..unsolved }, true),
        (Waiting { in_hand: true, ..unsolved }, false),
        (Waiting { ending: true, ..unsolved }, true),
        (Waiting { ending: true, in_hand: true, ..unsolved }, false),
        (Waiting { ending: true, in_hand: true, solves: true, ..unsolved }, true),
    ] {
        assert_eq!(lands_now(waiting), expected, "{waiting:?}");
    }
}

#[test]
fn l11_a_task_waits_for_the_task_of_its_conflict_however_the_run_before_ended() {
    let proposed = || task(TaskStatus::Active, Some(("me", Some(true))));
    let open = || task(TaskStatus::Open, None);
    for (of, solver, expected) in [
        (proposed(), open(), ConflictLeft::Waits),
        (proposed(), proposed(), ConflictLeft::Waits),
        (proposed(), task(TaskStatus::Quarantined, None), ConflictLeft::Waits),
        (proposed(), task(TaskStatus::Done, None), ConflictLeft::Apart),
        (open(), open(), ConflictLeft::ClaimedFirst),
        (open(), proposed(), ConflictLeft::ClaimedFirst),
        (open(), task(TaskStatus::Deleted, None), ConflictLeft::Apart),
        (task(TaskStatus::Active, Some(("other", None))), open(), ConflictLeft::Apart),
        (task(TaskStatus::Done, None), open(), ConflictLeft::Apart),
    ] {
        assert_eq!(conflict_left(&of, &solver), expected, "{of:?} {solver:?}");
    }
}

#[test]
fn l11_hostile_slugs_become_names_that_git_and_any_folder_take_each_its_own() {
    let long = "x".repeat(300);
    let slugs =
        ["../x", "x", "X", "a b", "a/b", "a.lock", "@{-1}", "-rf", "..", "ä", "", "~^:?*[\\", ".git", &long, "x-2"];
    let mut taken = BTreeSet::new();
    for slug in slugs {
        let name = safe_name(slug, |name| taken.contains(name));
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(name.chars().all(plain) && !name.starts_with('-') && !name.ends_with('-'), "{slug}: {name}");
        assert!(!name.is_empty() && name.len() <= 70, "{slug}: {name}");
        assert!(taken.insert(name.clone()), "{slug}: {name} is another's");
    }
}

#[test]
fn l11_the_task_of_a_conflict_names_both_sides_and_has_a_name_of_its_own() {
    let conflict = Conflict {
        slug: "ü".repeat(100),
        title: "do it".into(),
        branch: "taut/x/t".into(),
        commits: vec!["abc mine".into()],
        onto: "main".into(),
        head: "0123".into(),
        their_commits: vec!["def theirs".into()],
        files: (0..80).map(|n| format!("f{n}.rs")).collect(),
    };
    let plan = conflict_task(&conflict, |slug| !slug.ends_with("-3"));
    assert!(plan.slug.starts_with("merge-ü") && plan.slug.ends_with("-3"), "{}", plan.slug);
    assert_eq!((crate::queue::slug_problem(&plan.slug), plan.priority), (None, Priority(0)));
    let told = plan.description.unwrap();
    for part in ["git merge 0123", "taut/x/t", "abc mine", "def theirs", "f49.rs", "and 30 more"] {
        assert!(told.contains(part), "{part}: {told}");
    }
}
