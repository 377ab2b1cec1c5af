//! Where neither database nor spool can grow: the reserve, and the count of
//! what found no place even there.

use crate::death::{child, folder_of_child};
use crate::rows::{denied, event, open};
use model::row::Event;
use model::{Level, Ms};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::Path;
use store::{Error, EventFilter, RESERVE, SpoolFailure, Unstored, note_unstored, unstored};

const ALL: i64 = 3_000;

/// Every tenth was stopped.
fn nth(n: i64) -> Event {
    if n % 10 == 0 { denied(n, "rm") } else { event(n) }
}

fn stored(folder: &Path) -> Vec<Event> {
    let mut store = open(folder);
    store.ingest_spool().expect("all of it is taken in");
    store.events(&EventFilter::default()).unwrap()
}

fn denials(events: &[Event]) -> usize {
    events.iter().filter(|event| event.verdict == Level::Deny).count()
}

/// A real disk without room. Where no mount of one's own is granted, there is none to prove it on.
#[test]
fn t4_over_a_full_disk_every_event_is_stored_or_counted_and_no_denial_is_lost() {
    if let Some(folder) = folder_of_child() {
        return three_thousand_over_a_full_disk(&folder);
    }
    let home = tempfile::tempdir().unwrap();
    let name = "full_disk::t4_over_a_full_disk_every_event_is_stored_or_counted_and_no_denial_is_lost";
    match child(name, home.path()).on_a_small_disk("8m") {
        Some(child) => assert!(child.status().unwrap().success()),
        None => testkit::skipped("nobody is granted a mount of their own here"),
    }
}

fn three_thousand_over_a_full_disk(folder: &Path) {
    drop(open(folder));
    let filler = folder.join("filler");
    fill(&filler);
    let lost: usize = std::thread::scope(|scope| {
        let writers = (0..4).map(|writer| {
            let numbers = (0..ALL).filter(move |n| n % 4 == writer);
            scope.spawn(move || numbers.filter(|n| store::spool(folder, &nth(*n)).is_err()).count())
        });
        writers.collect::<Vec<_>>().into_iter().map(|one| one.join().unwrap()).sum()
    });
    let counted = unstored(folder);
    std::fs::remove_file(filler).unwrap();
    let events = stored(folder);
    assert!(lost > 0, "the disk was not full");
    assert_eq!((counted.why, counted.denials), (SpoolFailure::DiskFull, 0));
    assert_eq!(events.len() as u64 + counted.events, ALL.unsigned_abs(), "{counted}");
    assert_eq!(denials(&events) as i64, ALL / 10);
    assert_eq!(unstored(folder), counted, "it stands until a person has seen it");
}

/// Until not one more byte can be written.
fn fill(path: &Path) {
    let file = std::fs::File::create(path).unwrap();
    let mut at = 0;
    for size in [64 * 1024, 4096, 1] {
        while file.write_all_at(&vec![1; size], at).is_ok() {
            at += size as u64;
        }
    }
}

#[test]
fn t4_a_spool_at_its_limit_loses_nothing_uncounted_and_no_denial() {
    let home = tempfile::tempdir().unwrap();
    drop(open(home.path()));
    for n in 0..ALL {
        let mut large = nth(n);
        large.answer.stdout = "x".repeat(10_000);
        // Whether it was kept is what is counted below.
        let _ = store::spool(home.path(), &large);
    }
    let counted = unstored(home.path());
    assert_eq!((counted.why, counted.denials), (SpoolFailure::SpoolFull, 0));
    assert!(counted.events > 0, "the limit was not reached");
    let events = stored(home.path());
    assert_eq!(events.len() as u64 + counted.events, ALL.unsigned_abs());
    assert_eq!(denials(&events) as i64, ALL / 10);
}

/// What blocks the spool for good: a folder in its place.
fn without_spool() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    drop(open(home.path()));
    std::fs::create_dir(home.path().join(store::SPOOL)).unwrap();
    home
}

fn take_in(home: &tempfile::TempDir) -> Vec<Event> {
    std::fs::remove_dir(home.path().join(store::SPOOL)).unwrap();
    stored(home.path())
}

/// Ordinary events until the first is lost.
fn fill_reserve(home: &tempfile::TempDir, at: Ms) -> (i64, Error) {
    for n in 0.. {
        let mut large = Event { at, ..event(n) };
        large.answer.stdout = "x".repeat(60_000);
        if let Err(lost) = store::spool(home.path(), &large) {
            return (n, lost);
        }
    }
    unreachable!("a reserve has an end")
}

#[test]
fn the_reserve_is_really_taken_private_and_not_taken_twice() {
    let home = tempfile::tempdir().unwrap();
    drop(open(home.path()));
    let found = std::fs::metadata(home.path().join(RESERVE)).unwrap();
    assert_eq!(found.permissions().mode() & 0o777, 0o600);
    assert!(found.len() >= 32 * 1024 && found.blocks() * 512 >= found.len(), "{found:?}");
    store::Store::open_and_migrate(home.path(), crate::rows::PATIENCE).unwrap();
    assert_eq!(std::fs::metadata(home.path().join(RESERVE)).unwrap().len(), found.len());
}

#[test]
fn t4_the_newest_ordinary_events_give_way_to_denials_and_are_counted() {
    let home = without_spool();
    let (kept, _) = fill_reserve(&home, Ms(5));
    let mut denied_ones = 0;
    while unstored(home.path()).events < 10 {
        let mut large = denied(100_000 + denied_ones, "rm");
        large.answer.stdout = "y".repeat(60_000);
        store::spool(home.path(), &large).unwrap();
        denied_ones += 1;
    }
    let counted = unstored(home.path());
    let events = take_in(&home);
    assert_eq!(denials(&events) as i64, denied_ones);
    assert_eq!(events.len() as u64 + counted.events, (kept + 1 + denied_ones).unsigned_abs());
    assert!(events.iter().any(|one| one.id == event(0).id), "the first are kept");
}

#[test]
fn t4_what_is_lost_is_said_once_a_minute_with_its_number_and_the_command_that_helps() {
    let home = without_spool();
    let (_, first) = fill_reserve(&home, Ms(1_000_000));
    assert!(first.is_to_be_said());
    let mut large = event(-1);
    large.answer.stdout = "x".repeat(60_000);
    let mut lose = |at: i64| {
        (large.at, large.key) = (Ms(at), format!("at {at}"));
        store::spool(home.path(), &large).unwrap_err()
    };
    let quiet: Vec<bool> = (1..5).map(|second| lose(1_000_000 + second * 10_000).is_to_be_said()).collect();
    assert_eq!(quiet, [false; 4]);
    let later = lose(1_060_000);
    assert!(later.is_to_be_said());
    let words = later.to_string();
    assert!(words.starts_with("6 events could not be stored since 19"), "{words}");
    assert!(!words.contains('Z'), "a person reads the clock on the wall: {words}");
    assert!(words.contains("taut db check"), "{words}");
    assert!(lose(1).is_to_be_said(), "a clock that was set back keeps nobody quiet for ever");
}

#[test]
fn t4_what_a_person_has_seen_is_not_said_again_and_what_comes_after_is() {
    let home = without_spool();
    let (kept, _) = fill_reserve(&home, Ms(7));
    let seen = unstored(home.path());
    note_unstored(home.path(), &seen).unwrap();
    assert!(unstored(home.path()).is_empty());
    let mut large = Event { at: Ms(9), ..event(kept + 1) };
    large.answer.stdout = "x".repeat(60_000);
    store::spool(home.path(), &large).unwrap_err();
    let since =
        Unstored { events: 1, first: Ms(9), last: Ms(9), why: SpoolFailure::NotWritable, ..Unstored::default() };
    assert_eq!(unstored(home.path()), since);
}

#[test]
fn a_torn_head_of_the_reserve_loses_none_of_what_it_holds() {
    let home = without_spool();
    (0..5).for_each(|n| store::spool(home.path(), &event(n)).unwrap());
    (5..8).for_each(|n| store::spool(home.path(), &denied(n, "rm")).unwrap());
    let file = std::fs::OpenOptions::new().write(true).open(home.path().join(RESERVE)).unwrap();
    file.write_all_at(&[0xAB; 40], 3).unwrap();
    store::spool(home.path(), &denied(8, "rm")).unwrap();
    assert_eq!(take_in(&home).len(), 9);
}

#[test]
fn an_event_too_long_for_the_reserve_is_kept_without_its_detail() {
    let home = without_spool();
    let mut large = denied(1, "rm");
    large.detail = serde_json::json!({"input": "x".repeat(100_000)});
    store::spool(home.path(), &large).unwrap();
    let [kept] = take_in(&home).try_into().unwrap();
    assert!(kept.detail["left_out_bytes"].as_u64().is_some_and(|bytes| bytes > 100_000), "{}", kept.detail);
    large.detail = kept.detail.clone();
    assert_eq!(kept, large, "what was answered is whole");
}

#[test]
fn t4_an_event_that_two_processes_cannot_keep_is_lost_once_and_one_that_a_third_keeps_is_not() {
    let home = without_spool();
    let (n, _) = fill_reserve(&home, Ms(1_000_000));
    let large = |n: i64| {
        let mut large = Event { at: Ms(1_000_000), ..event(n) };
        large.answer.stdout = "x".repeat(60_000);
        large
    };
    for twice in [n, n + 1, n + 1, n + 2, n + 2] {
        store::spool(home.path(), &large(twice)).unwrap_err();
    }
    assert_eq!(unstored(home.path()).events, 3);
    let mut store = open(home.path());
    let stored = model::effect::Write::Event(Box::new(large(n + 1)));
    store.transact(store::Durability::Normal, |tx| tx.apply(&[stored])).unwrap();
    drop(store);
    let events = take_in(&home).len() as u64;
    assert_eq!(unstored(home.path()).events, 2);
    assert_eq!(events + 2, n.unsigned_abs() + 3);
}
