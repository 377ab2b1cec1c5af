//! Checkpoints, retention, check and backup.

use crate::rows::{agent, event, injection, open, session, waiting};
use model::effect::{Strike, Write};
use model::run::{Finish, Run};
use model::verdict::Intent;
use model::{ClientProcess, Ms};
use store::{Durability, EventFilter, Retention, SessionFilter, Store};

const DAY: i64 = 86_400_000;
const NOW: Ms = Ms(1_000 * DAY);

fn apply(store: &mut Store, writes: &[Write]) {
    store.transact(Durability::Normal, |tx| tx.apply(writes)).expect("the writes are kept");
}

fn at(n: i64, days_ago: i64) -> Write {
    let mut old = event(n);
    old.at = NOW.plus(-days_ago * DAY);
    Write::Event(Box::new(old))
}

#[test]
fn commits_leave_the_log_alone_and_a_checkpoint_moves_it() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    (0..1500).for_each(|n| apply(&mut store, &[Write::Event(Box::new(event(n)))]));
    let before = store.check().unwrap().log_bytes;
    assert!(before > 4 * 1024 * 1024, "no checkpoint on the way: {before}");
    let log = open(home.path()).checkpoint().unwrap();
    assert_eq!(log.pages, log.moved);
    assert!(log.bytes == 0 || log.bytes <= 16 * 1024 * 1024, "a long log is cut: {log:?}");
    assert_eq!(store.events(&EventFilter::default()).unwrap().len(), 1500);
}

#[test]
fn without_a_daemon_the_log_stays_short() {
    let home = tempfile::tempdir().unwrap();
    for n in 0..200 {
        let mut store = open(home.path());
        apply(&mut store, &[Write::Event(Box::new(event(n)))]);
        store.settle().unwrap();
        assert!(store.check().unwrap().log_bytes <= 600 * 1024);
    }
    assert_eq!(open(home.path()).events(&EventFilter::default()).unwrap().len(), 200);
}

#[test]
fn a_reader_keeps_the_log_from_being_cut_but_nobody_from_working() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    let mut reader = open(home.path());
    reader
        .transact(Durability::Normal, |tx| {
            tx.answered("anything")?;
            store.settle()?;
            store.checkpoint().map(drop)
        })
        .unwrap();
    apply(&mut store, &[Write::Event(Box::new(event(1)))]);
}

#[test]
fn what_is_old_is_forgotten_in_bounded_steps() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    (0..25).for_each(|n| apply(&mut store, &[at(n, 31)]));
    (25..30).for_each(|n| apply(&mut store, &[at(n, 29)]));
    let keep = Retention { rows: 10, ..Retention::default() };
    let mut steps = Vec::new();
    loop {
        let pruned = store.prune(NOW, &keep).unwrap();
        steps.push(pruned.events);
        if !pruned.more {
            break;
        }
    }
    assert_eq!(steps, [10, 10, 5]);
    assert_eq!(store.events(&EventFilter::default()).unwrap().len(), 5);
}

#[test]
fn above_the_size_the_oldest_events_go_however_young() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    (0..30).for_each(|n| apply(&mut store, &[at(n, 0)]));
    let keep = Retention { rows: 10, bytes: 1, ..Retention::default() };
    assert_eq!(store.prune(NOW, &keep).unwrap().events, 10);
    assert_eq!(store.events(&EventFilter::default()).unwrap()[0].id, event(10).id);
}

#[test]
fn ended_sessions_expired_strikes_and_unnamed_agents_are_forgotten_and_nobody_else() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    let ended = |id: &str, days_ago: i64| {
        let mut ended = session(id);
        (ended.ended_at, ended.agent) = (Some(NOW.plus(-days_ago * DAY)), "gone".into());
        Write::Session(Box::new(ended))
    };
    let unnamed = |id: &str| {
        let mut unnamed = agent(id);
        unnamed.named = false;
        Write::Agent(unnamed)
    };
    let strike = |at: Ms| {
        let intent = Intent { what: "remove".into(), target: format!("{at:?}") };
        let (session, rule, denied_to) = ("host".into(), "rm".into(), String::new());
        Write::Strike(Strike { session, rule, intent, at, denied_to, delivered: true })
    };
    apply(
        &mut store,
        &[
            ended("old", 91),
            ended("young", 89),
            Write::Session(Box::new(session("open"))),
            Write::Agent(agent("named")),
            unnamed("gone"),
            unnamed("alpha"),
            strike(NOW.plus(-DAY)),
            strike(NOW),
            Write::Injection(injection("old", "never told")),
        ],
    );
    let pruned = store.prune(NOW, &Retention::default()).unwrap();
    assert_eq!((pruned.sessions, pruned.agents, pruned.strikes), (1, 1, 1));
    let sessions = store.sessions(&SessionFilter::default()).unwrap();
    assert_eq!(sessions.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), ["open", "young"]);
    let mut agents: Vec<_> = store.agents().unwrap().into_iter().map(|one| one.id).collect();
    agents.sort();
    assert_eq!(agents, ["alpha", "named"]);
    assert!(waiting(&mut store, "old").is_empty());
    assert_eq!(store.prune(NOW, &Retention::default()).unwrap(), store::Pruned::default());
}

#[test]
fn runs_of_the_loop_are_forgotten_with_their_iterations_once_they_are_long_over() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    let run = |id: &str, finished_at: Option<Ms>| Run {
        id: id.into(),
        project: "/home/dev/tree".into(),
        folder: "/home/dev/tree".into(),
        runner: ClientProcess { pid: 1, started: 1 },
        started_at: Ms(1),
        finish: finished_at.map(|_| Finish::Complete),
        finished_at,
        ..Run::default()
    };
    for one in [run("old", Some(NOW.plus(-91 * DAY))), run("young", Some(NOW.plus(-DAY))), run("going", None)] {
        store.save_run(&one).unwrap();
    }
    store.prune(NOW, &Retention::default()).unwrap();
    let left: Vec<bool> = ["old", "young", "going"].map(|id| store.stored_run(id).unwrap().is_some()).to_vec();
    assert_eq!(left, [false, true, true]);
}

#[test]
fn a_check_of_a_sound_memory_finds_nothing_and_counts() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("taut");
    let mut store = open(&folder);
    apply(&mut store, &[Write::Session(Box::new(session("s"))), Write::Agent(agent("a")), at(1, 0), at(2, 0)]);
    let report = store.check().unwrap();
    assert_eq!(report.problems, Vec::<String>::new());
    assert_eq!((report.projects, report.agents, report.sessions, report.events), (1, 1, 1, 2));
    assert_eq!(report.path, folder.join("taut.db"));
}

#[test]
fn a_backup_is_one_private_file_with_everything_and_overwrites_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    apply(&mut store, &[at(1, 0)]);
    let copy = home.path().join("copy");
    std::fs::create_dir(&copy).unwrap();
    store.backup(&copy.join("taut.db")).unwrap();
    let mode = std::fs::metadata(copy.join("taut.db")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(store.backup(&copy.join("taut.db")).is_err());
    let filter = EventFilter::default();
    assert_eq!(open(&copy).events(&filter).unwrap(), store.events(&filter).unwrap());
}
