//! Damaged files: moved aside, recovered as far as readable, never by mistake.

use crate::rows::{PATIENCE, agent, event, open, session};
use model::Ms;
use model::effect::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;
use store::{DATABASE, Durability, Error, EventFilter, Repair, SessionFilter, Store, repair};

const NOW: Ms = Ms(77);
const EVENTS: i64 = 600;

/// A memory with a history, all of it in the one file.
fn filled(folder: &Path) {
    let made = tempfile::tempdir().expect("a temporary folder");
    let mut store = open(made.path());
    store
        .transact(Durability::Normal, |tx| {
            tx.apply(&[Write::Session(Box::new(session("s-1"))), Write::Agent(agent("alpha"))])?;
            (0..EVENTS).try_for_each(|n| tx.apply(&[Write::Event(Box::new(event(n)))]))
        })
        .expect("the history is kept");
    store.backup(&folder.join(DATABASE)).expect("it is copied");
}

fn overwrite(folder: &Path, from: u64, length: usize) {
    let file = std::fs::OpenOptions::new().write(true).open(folder.join(DATABASE)).unwrap();
    file.write_all_at(&vec![0xAB; length], from).unwrap();
}

/// Where the rows of the events lie: pages that hold their redacted input.
fn event_pages(folder: &Path) -> Vec<u64> {
    let bytes = std::fs::read(folder.join(DATABASE)).unwrap();
    let holds = |page: &[u8]| page.windows(10).filter(|part| part == b"tool_input").count() > 2;
    (0u64..).zip(bytes.chunks(4096)).filter(|(_, page)| holds(page)).map(|(n, _)| n).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_that_is_no_database_is_moved_aside_and_work_goes_on() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join(DATABASE), "not a database, but long enough to be looked at".repeat(100)).unwrap();
    let cause = Store::open(home.path(), PATIENCE).unwrap_err();
    assert!(cause.is_corrupt() && cause.is_for_the_spool(), "{cause}");
    let aside = home.path().join("taut.db.corrupt-77");
    assert_eq!(repair(home.path(), NOW, PATIENCE).unwrap(), Repair::MovedAside(aside.clone()));
    let mut store = open(home.path());
    let salvaged = store.salvage().unwrap();
    assert_eq!((salvaged.len(), salvaged[0].rows), (1, 0));
    assert_eq!(salvaged[0].from, aside);
    assert!(store.salvage().unwrap().is_empty(), "once");
    store.transact(Durability::Normal, |tx| tx.apply(&[Write::Event(Box::new(event(1)))])).unwrap();
    let notes = store.check().unwrap().notes;
    assert!(notes.iter().any(|note| note.contains("corrupt-77") && note.contains("it is kept")), "{notes:?}");
}

#[test]
fn what_is_readable_of_a_damaged_file_comes_back_in_order_before_what_came_since() {
    let home = tempfile::tempdir().unwrap();
    filled(home.path());
    let pages = event_pages(home.path());
    overwrite(home.path(), pages[pages.len() / 2] * 4096, 4096);
    let cause = open(home.path()).events(&EventFilter::default()).unwrap_err();
    assert!(cause.is_corrupt(), "{cause}");
    assert!(matches!(repair(home.path(), NOW, Duration::from_secs(5)).unwrap(), Repair::MovedAside(_)));

    let mut store = open(home.path());
    store.transact(Durability::Normal, |tx| tx.apply(&[Write::Event(Box::new(event(1000)))])).unwrap();
    let salvaged = store.salvage().unwrap();
    assert_eq!(salvaged[0].cut_short, ["events"]);
    assert_eq!(store.sessions(&SessionFilter::default()).unwrap(), [session("s-1")]);
    assert_eq!(store.agents().unwrap(), [agent("alpha")]);
    let found: Vec<_> = store.events(&EventFilter::default()).unwrap().into_iter().map(|one| one.id).collect();
    assert!(found.len() > 500, "all but one page of them: {}", found.len());
    assert!(found.is_sorted());
    assert_eq!(found.first(), Some(&event(0).id));
    assert!(found.contains(&event(EVENTS - 1).id), "from the other end too");
    assert_eq!(found.last(), Some(&event(1000).id));
    store.transact(Durability::Normal, |tx| tx.apply(&[Write::Event(Box::new(event(1001)))])).unwrap();
    let last = store.events(&EventFilter { limit: 1, ..EventFilter::default() }).unwrap();
    assert_eq!(last, [event(1001)]);
}

#[test]
fn the_log_of_a_damaged_file_goes_with_it_and_is_read() {
    let home = tempfile::tempdir().unwrap();
    filled(home.path());
    let mut store = open(home.path());
    store.transact(Durability::Normal, |tx| tx.apply(&[Write::Event(Box::new(event(5000)))])).unwrap();
    drop(store);
    let pages = event_pages(home.path());
    overwrite(home.path(), pages[1] * 4096, 4096);
    assert!(matches!(repair(home.path(), NOW, Duration::from_secs(5)).unwrap(), Repair::MovedAside(_)));
    let mut store = open(home.path());
    assert_eq!(store.events(&EventFilter::default()).unwrap(), []);
    store.salvage().unwrap();
    assert_eq!(store.events(&EventFilter::default()).unwrap().last(), Some(&event(5000)));
}

/// A sound history under the name of a damaged file.
fn aside(folder: &Path, at: i64, events: std::ops::Range<i64>) {
    let made = tempfile::tempdir().unwrap();
    let mut store = open(made.path());
    store
        .transact(Durability::Normal, |tx| {
            events.clone().try_for_each(|n| tx.apply(&[Write::Event(Box::new(event(n)))]))
        })
        .unwrap();
    store.backup(&folder.join(format!("taut.db.corrupt-{at}"))).unwrap();
}

#[test]
fn of_several_damaged_files_all_come_back_in_the_order_they_were_written() {
    let home = tempfile::tempdir().unwrap();
    aside(home.path(), 1, 0..10);
    aside(home.path(), 2, 10..20);
    let mut store = open(home.path());
    store.transact(Durability::Normal, |tx| tx.apply(&[Write::Event(Box::new(event(20)))])).unwrap();
    assert_eq!(store.salvage().unwrap().iter().map(|one| one.rows).sum::<usize>(), 20);
    let found: Vec<_> = store.events(&EventFilter::default()).unwrap().into_iter().map(|one| one.id).collect();
    assert_eq!(found, (0..21).map(|n| event(n).id).collect::<Vec<_>>());
}

#[test]
fn nobody_is_told_to_delete_a_file_whose_rows_are_not_back() {
    let home = tempfile::tempdir().unwrap();
    aside(home.path(), 5, 0..3);
    let mut store = open(home.path());
    let told = |store: &Store| store.check().unwrap().notes.join("; ");
    let before = told(&store);
    assert!(before.contains("corrupt-5") && before.contains("not back yet"), "{before}");
    assert!(!before.contains("may go") && !before.contains("delete"), "{before}");
    assert_eq!(store.salvage().unwrap()[0].to_string().split(" of ").next(), Some("3 rows"));
    assert!(told(&store).contains("it may go"), "{}", told(&store));
}

#[test]
fn a_file_that_was_moved_aside_is_never_written_over() {
    let home = tempfile::tempdir().unwrap();
    aside(home.path(), NOW.0, 0..3);
    std::fs::write(home.path().join(DATABASE), "no database at all ".repeat(500)).unwrap();
    let moved = repair(home.path(), NOW, PATIENCE).unwrap();
    assert_eq!(moved, Repair::MovedAside(home.path().join("taut.db.corrupt-78")));
    let mut store = open(home.path());
    store.salvage().unwrap();
    assert_eq!(store.events(&EventFilter::default()).unwrap().len(), 3);
}

#[test]
fn a_sound_file_is_never_moved() {
    let home = tempfile::tempdir().unwrap();
    filled(home.path());
    let before = names(home.path());
    assert_eq!(repair(home.path(), NOW, PATIENCE).unwrap(), Repair::Sound);
    assert_eq!(names(home.path()).iter().filter(|name| name.contains("corrupt")).count(), 0, "{before:?}");
    assert_eq!(open(home.path()).events(&EventFilter::default()).unwrap().len(), 600);
}

#[test]
fn an_empty_file_is_a_new_database_and_not_a_damaged_one() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join(DATABASE), "").unwrap();
    assert!(open(home.path()).events(&EventFilter::default()).unwrap().is_empty());
}

#[test]
fn a_damaged_file_that_somebody_has_open_is_left_in_place() {
    let home = tempfile::tempdir().unwrap();
    filled(home.path());
    let pages = event_pages(home.path());
    overwrite(home.path(), pages[1] * 4096, 4096);
    // Only now: closing a file drops all locks its process has on it.
    let holder = open(home.path());
    let cause = repair(home.path(), NOW, PATIENCE).unwrap_err();
    assert!(matches!(cause, Error::StillOpen { .. }), "{cause}");
    let again = repair(home.path(), NOW, PATIENCE).unwrap_err();
    assert!(matches!(again, Error::StillOpen { .. }), "the holder's lock is still there: {again}");
    drop(holder);
    assert!(matches!(repair(home.path(), NOW, Duration::from_secs(5)).unwrap(), Repair::MovedAside(_)));
}

#[test]
fn of_many_who_repair_at_once_one_does_it() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join(DATABASE), "no database at all ".repeat(500)).unwrap();
    let outcomes: Vec<Repair> = std::thread::scope(|scope| {
        let folder = home.path();
        let repairers: Vec<_> =
            (0..8).map(|n| scope.spawn(move || repair(folder, Ms(n), Duration::from_secs(30)).unwrap())).collect();
        repairers.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let moved = outcomes.iter().filter(|outcome| matches!(outcome, Repair::MovedAside(_))).count();
    assert_eq!((moved, outcomes.len()), (1, 8), "{outcomes:?}");
    assert!(open(home.path()).check().is_ok());
}
