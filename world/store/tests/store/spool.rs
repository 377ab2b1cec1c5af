//! Events that could not be stored at once are stored later, once.

use crate::rows::{denied, event, open};
use model::effect::Write;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use store::{Durability, Error, EventFilter, Ingested, SPOOL, UNREADABLE};

#[test]
fn d5_a_spooled_event_is_taken_in_as_it_was_and_once() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    store::spool(home.path(), &denied(1, "sudo")).unwrap();
    store::spool(home.path(), &event(2)).unwrap();
    store::spool(home.path(), &event(2)).unwrap();
    let mode = std::fs::metadata(home.path().join(SPOOL)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(store.ingest_spool().unwrap(), Ingested { events: 3, unreadable: 0 });
    assert_eq!(store.ingest_spool().unwrap(), Ingested::default());
    assert_eq!(store.events(&EventFilter::default()).unwrap(), [denied(1, "sudo"), event(2)]);
    assert!(!home.path().join(SPOOL).exists());
}

/// A daemon that judged too late stored its verdict; the client had answered by then.
#[test]
fn t3_what_was_answered_counts_and_not_what_was_judged_too_late() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    let late = denied(1, "rm-root");
    store.transact(Durability::Normal, |tx| tx.apply(&[Write::Event(Box::new(late.clone()))])).unwrap();
    store.undelivered(std::slice::from_ref(&late.key)).unwrap();
    let listed = |store: &store::Store| store.events(&EventFilter::default()).unwrap().pop().unwrap();
    assert_eq!(listed(&store).detail["delivered"], false, "nobody took it");
    let mut answered = event(1);
    answered.key.clone_from(&late.key);
    (answered.verdict, answered.answer.stdout) = (model::Level::Ask, "asked\n".into());
    store::spool(home.path(), &answered).unwrap();
    store.ingest_spool().unwrap();
    let stored = listed(&store);
    assert_eq!((stored.verdict, stored.answer.stdout.as_str()), (model::Level::Ask, "asked\n"));
    assert_eq!((&stored.detail["judged_late"], stored.detail.get("delivered")), (&"deny".into(), None));
    store::spool(home.path(), &answered).unwrap();
    store.ingest_spool().unwrap();
    assert_eq!(listed(&store), stored, "told twice is told once");
}

#[test]
fn a_line_cut_short_loses_itself_only() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    store::spool(home.path(), &event(1)).unwrap();
    let mut file = OpenOptions::new().append(true).open(home.path().join(SPOOL)).unwrap();
    file.write_all(b"{\"id\":\"half\",\"key\":\"\xff").unwrap();
    store::spool(home.path(), &event(2)).unwrap();
    assert_eq!(store.ingest_spool().unwrap(), Ingested { events: 2, unreadable: 1 });
    assert_eq!(store.events(&EventFilter::default()).unwrap(), [event(1), event(2)]);
    let kept = std::fs::read(home.path().join(UNREADABLE)).unwrap();
    assert_eq!(kept, b"{\"id\":\"half\",\"key\":\"\xff\n", "its bytes are kept");
    assert_eq!(store::unstored(home.path()).unreadable, 1, "and it is said");
}

#[test]
fn what_a_reader_left_when_it_died_is_taken_in_too() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    store::spool(home.path(), &event(1)).unwrap();
    std::fs::rename(home.path().join(SPOOL), home.path().join("spool.taken.jsonl")).unwrap();
    store::spool(home.path(), &event(2)).unwrap();
    assert_eq!(store.ingest_spool().unwrap().events, 2);
    assert_eq!(store.events(&EventFilter::default()).unwrap(), [event(1), event(2)]);
}

#[test]
fn what_cannot_be_taken_in_now_stays_for_later() {
    let home = tempfile::tempdir().unwrap();
    let mut holder = open(home.path());
    let mut store = open(home.path());
    store::spool(home.path(), &event(1)).unwrap();
    holder
        .transact(Durability::Normal, |_| {
            assert!(matches!(store.ingest_spool(), Err(Error::Busy { .. })));
            Ok(())
        })
        .unwrap();
    assert_eq!(store.ingest_spool().unwrap().events, 1);
}

#[test]
fn writers_and_a_reader_at_once_lose_nothing() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    store.transact(Durability::Normal, |tx| tx.apply(&[Write::Event(Box::new(event(-1)))])).unwrap();
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let folder = home.path();
                scope.spawn(move || {
                    (0..100).for_each(|n| store::spool(folder, &event(writer * 100 + n)).expect("it is kept"));
                })
            })
            .collect();
        while !writers.iter().all(|writer| writer.is_finished()) {
            store.ingest_spool().expect("it is taken in");
        }
    });
    store.ingest_spool().unwrap();
    assert_eq!(store.events(&EventFilter::default()).unwrap().len(), 401);
}

#[test]
fn a_spool_that_somebody_writes_is_not_taken_from_under_them() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    store::spool(home.path(), &event(1)).unwrap();
    let mut writer = OpenOptions::new().append(true).open(home.path().join(SPOOL)).unwrap();
    writer.lock().unwrap();
    store::spool(home.path(), &event(2)).unwrap();
    assert!(store.ingest_spool().is_err(), "it is left for later");
    let mut line = serde_json::json!({"id": "slow", "key": "slow", "at": 1_000_003}).to_string();
    line.push('\n');
    writer.write_all(line.as_bytes()).unwrap();
    drop(writer);
    assert_eq!(store.ingest_spool().unwrap().events, 3);
    let ids: Vec<_> = store.events(&EventFilter::default()).unwrap().into_iter().map(|one| one.id).collect();
    assert_eq!(ids, [event(1).id, "slow".into(), event(2).id]);
}
