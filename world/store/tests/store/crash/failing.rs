//! Every call SQLite makes to the disk may fail: opening, reading, writing, flushing, cutting, locking, sharing. For
//! each verb and each of its calls: an error in words or success, never a panic; and when the disk works again the
//! database is sound, and stands as before the verb or as after it, and as after it where it said so.

use super::cuts;
use super::story::state_folder;
use engine::queue::{Actor, Claimant, SESSION_EXITED, Speaker};
use model::task::ClockReading;
use model::{Call, Environment, Ms};
use pipeline::queue::Queue;
use pipeline::{Pipeline, PipelineSetup};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::{EventFilter, Retention, Store, TaskFilter};
use tempfile::TempDir;
use testkit::disk::{Dice, Disk, DiskFailure, DiskFault};

const PROJECT: &str = "/p";
/// A lock that fails is not waited for.
const PATIENCE: Duration = Duration::from_millis(5);

type Verb = fn(&Path) -> Result<(), String>;

const VERBS: &[(&str, Verb)] = &[
    ("open", |state| open(state).map(drop)),
    ("claim", |state| {
        let claimant = Claimant::agent("w2", 600_000);
        queue(state, |queue| queue.claim_one(PROJECT, "t1", &claimant).map(drop))
    }),
    ("done", |state| {
        let actor = Actor { agent: "w1".into(), attempt: None, token: None, speaker: Speaker::Person };
        queue(state, |queue| queue.done(PROJECT, "t0", &actor, json!("result")).map(drop))
    }),
    ("release", |state| queue(state, |queue| queue.release_all("w1", SESSION_EXITED).map(drop))),
    ("check", |state| open(state)?.check().map(drop).map_err(said)),
    ("checkpoint", |state| open(state)?.checkpoint().map(drop).map_err(said)),
    ("prune", |state| open(state)?.prune(Ms(5), &Retention::default()).map(drop).map_err(said)),
    ("hook", |state| {
        let served = guarded(state);
        assert!(served.answer.stdout.contains("\"deny\""), "the guard let it pass: {:?}", served.answer);
        served.troubles.first().map_or(Ok(()), |trouble| Err(trouble.clone()))
    }),
];

fn said(error: impl std::fmt::Display) -> String {
    let text = error.to_string();
    assert!(!text.is_empty());
    text
}

fn open(state: &Path) -> Result<Store, String> {
    Store::open(state, PATIENCE).map_err(said)
}

fn queue(
    state: &Path,
    verb: impl FnOnce(&mut Queue<'_, fn() -> ClockReading>) -> Result<(), pipeline::queue::QueueError>,
) -> Result<(), String> {
    let mut store = open(state)?;
    let moment = || ClockReading { now: Ms(1_800_000_000_000), awake: 5_000, boot: "boot".into() };
    verb(&mut Queue::new(&mut store, moment as fn() -> ClockReading)).map_err(said)
}

fn guarded(state: &Path) -> pipeline::Response {
    let home = state.parent().expect("it has one").to_path_buf();
    let setting = PipelineSetup {
        state: state.into(),
        user_config: home.join("config.toml"),
        home: home.clone(),
        patience: PATIENCE,
        dialects: agents::ALL,
    };
    let input = json!({"command": "rm -rf ~"});
    let payload = json!({
        "session_id": "s", "cwd": PROJECT, "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": input,
        "tool_use_id": "toolu_1",
    });
    Pipeline::new(setting).handle(Call {
        request: "request".into(),
        agent: "claude-code".into(),
        stdin: payload.to_string().into_bytes(),
        cwd: PROJECT.into(),
        env: Environment::default(),
        parent: None,
        at: Ms(1_800_000_000_000),
    })
}

/// Three tasks, the first of them held by `w1`.
fn prepared(state: &Path) {
    let plan: String = (0..3).map(|n| format!("{{\"id\":\"t{n}\",\"t\":\"T\"}}\n")).collect();
    let claimant = Claimant::agent("w1", 600_000);
    queue(state, |queue| queue.plan_sync(PROJECT, &plan, &Speaker::Person).map(drop)).unwrap();
    queue(state, |queue| queue.claim_one(PROJECT, "t0", &claimant).map(drop)).unwrap();
}

/// How the tasks stand, and how many events there are once what was put by is taken in.
fn standing(state: &Path) -> Result<(Vec<String>, usize), String> {
    let mut store = Store::open(state, Duration::from_secs(5)).map_err(said)?;
    store.ingest_spool().map_err(said)?;
    let problems = store.check().map_err(said)?.problems;
    if !problems.is_empty() {
        return Err(problems.join("; "));
    }
    let tasks = store.tasks(PROJECT, &TaskFilter::default()).map_err(said)?;
    let line =
        |task: &model::task::Task| format!("{} {} {}", task.plan.slug, task.queued.status.name(), task.queued.attempt);
    let events = store.events(&EventFilter::default()).map_err(said)?.len();
    Ok((tasks.iter().map(line).collect(), events))
}

/// A copy of what stands in `from`, to spoil.
fn copy(from: &Path, home: &Path) -> PathBuf {
    let state = state_folder(home);
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        if !entry.file_name().to_string_lossy().ends_with("-shm") {
            std::fs::copy(entry.path(), state.join(entry.file_name())).unwrap();
        }
    }
    state
}

fn spoil(name: &str, verb: Verb, before: &Path, fault: DiskFault, good: &[(Vec<String>, usize); 2]) -> Option<String> {
    let home = tempfile::tempdir().unwrap();
    let state = copy(before, home.path());
    let disk = Disk::under(&state);
    disk.fail(Some(fault));
    let outcome = std::panic::catch_unwind(|| verb(&state));
    let call = disk.calls().get(fault.nth - 1).copied();
    let met = disk.failed() > 0;
    disk.fail(None);
    let wrong = match (outcome, standing(&state)) {
        (Err(_), _) => Some("it panicked".to_owned()),
        (_, Err(why)) => Some(why),
        (Ok(Ok(())), Ok(found)) if found != good[1] => Some(format!("acknowledged, and it stands as {found:?}")),
        (Ok(Err(_)), Ok(found)) if !good.contains(&found) => Some(format!("it stands as {found:?}")),
        _ => None,
    };
    wrong.filter(|_| met).map(|wrong| format!("{name}: {fault:?} at {call:?}: {wrong}"))
}

#[test]
fn d4_d5_whatever_call_to_the_disk_fails_nothing_acknowledged_is_lost_and_the_guard_still_denies() {
    let home = tempfile::tempdir().unwrap();
    let fresh = state_folder(&below(&home, "fresh"));
    let warm = state_folder(&below(&home, "warm"));
    prepared(&warm);
    let (mut cases, mut broken) = (Vec::new(), Vec::new());
    for (name, verb) in VERBS {
        for (before, is_fresh) in [(&warm, false), (&fresh, true)] {
            if is_fresh && !matches!(*name, "open" | "hook") {
                continue;
            }
            let clean = tempfile::tempdir().unwrap();
            let state = copy(before, clean.path());
            let unspoiled = standing(&copy(before, &below(&clean, "before"))).unwrap();
            let disk = Disk::under(&state);
            disk.fail(None);
            verb(&state).unwrap();
            let calls = disk.calls().len();
            let good = [unspoiled, standing(&state).unwrap()];
            for nth in 1..=calls {
                for failure in DiskFailure::ALL {
                    // A lock that nobody ever gives back is waited for by SQLite itself, for ten seconds.
                    let lasting: &[bool] = if failure == DiskFailure::Busy { &[false] } else { &[false, true] };
                    cases.extend(lasting.iter().map(|lasting| {
                        (*name, *verb, before.clone(), DiskFault { nth, failure, lasting: *lasting }, good.clone())
                    }));
                }
            }
        }
    }
    let mut dice = Dice::new(cuts::seed());
    for at in (1..cases.len()).rev() {
        cases.swap(at, dice.below(at + 1));
    }
    for (name, verb, before, fault, good) in cases.iter().take(cuts::many(250)) {
        broken.extend(spoil(name, *verb, before, *fault, good));
    }
    assert_eq!(broken, Vec::<String>::new(), "of {} cases", cases.len());
}

fn below(home: &TempDir, name: &str) -> PathBuf {
    let folder = home.path().join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
