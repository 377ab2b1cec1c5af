//! Opening under every circumstance the memory may meet.

use crate::death::child;
use crate::rows::{PATIENCE, event, open};
use model::effect::Write;
use std::fs::{Permissions, metadata, set_permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;
use store::{ConnectionState, DATABASE, Durability, Error, EventFilter, Store};

fn mode(path: &Path) -> u32 {
    metadata(path).expect("it is there").permissions().mode() & 0o777
}

#[test]
fn the_library_is_one_that_loses_no_commit() {
    let number = |text: &str| text.split('.').map(|part| part.parse().unwrap()).collect::<Vec<u32>>();
    let home = tempfile::tempdir().unwrap();
    let found = open(home.path()).check().unwrap().sqlite;
    assert!(number(found) >= number(store::OLDEST_SQLITE), "{found}");
}

#[test]
fn d9_the_folder_the_file_and_its_log_are_private() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("deep/taut");
    let mut store = open(&folder);
    store.transact(Durability::Normal, |tx| tx.apply(&[Write::Event(Box::new(event(1)))])).unwrap();
    assert_eq!(mode(&folder), 0o700);
    for name in ["taut.db", "taut.db-wal", "taut.db-shm", "taut.db.lock"] {
        assert_eq!(mode(&folder.join(name)), 0o600, "{name}");
    }
}

#[test]
fn d9_a_file_that_others_may_read_is_made_private_again() {
    let home = tempfile::tempdir().unwrap();
    drop(open(home.path()));
    set_permissions(home.path().join(DATABASE), Permissions::from_mode(0o644)).unwrap();
    drop(open(home.path()));
    assert_eq!(mode(&home.path().join(DATABASE)), 0o600);
}

#[test]
fn d6_a_locked_database_is_given_up_and_named() {
    let home = tempfile::tempdir().unwrap();
    let mut holder = open(home.path());
    let mut other = open(home.path());
    other.set_patience(Duration::from_millis(1)).unwrap();
    holder
        .transact(Durability::Normal, |_| {
            let busy = other.transact(Durability::Normal, |_| Ok(())).unwrap_err();
            assert!(matches!(busy, Error::Busy { .. }), "{busy}");
            assert!(busy.is_for_the_spool());
            assert!(other.events(&EventFilter::default()).is_ok(), "reading goes on");
            assert!(Store::open(home.path(), PATIENCE).is_ok(), "opening goes on");
            Ok(())
        })
        .unwrap();
    assert!(other.transact(Durability::Normal, |_| Ok(())).is_ok());
}

#[test]
fn many_first_openers_make_one_database() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("new");
    std::thread::scope(|scope| {
        for n in 0..16 {
            let folder = &folder;
            scope.spawn(move || {
                let mut store = Store::open(folder, Duration::from_secs(30)).expect("every opener gets in");
                store
                    .transact(Durability::Normal, |tx| tx.apply(&[Write::Event(Box::new(event(n)))]))
                    .expect("and writes");
            });
        }
    });
    assert_eq!(open(&folder).events(&EventFilter::default()).unwrap().len(), 16);
}

#[test]
fn a_file_that_was_replaced_or_removed_under_a_connection_is_noticed() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("taut");
    let store = open(&folder);
    assert_eq!((store.standing(), store.stale()), (ConnectionState::Same, false));
    std::fs::rename(folder.join(DATABASE), folder.join("elsewhere")).unwrap();
    assert_eq!((store.standing(), store.stale()), (ConnectionState::Vanished, true));
    std::fs::copy(folder.join("elsewhere"), folder.join(DATABASE)).unwrap();
    assert_eq!((store.standing(), store.stale()), (ConnectionState::Replaced, true));
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(store.standing(), ConnectionState::Vanished);
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("file"), "").unwrap();
    let cause = Store::open(&home.path().join("file/taut"), PATIENCE).unwrap_err();
    assert!(matches!(cause, Error::File { .. }), "{cause}");
    assert!(Store::open_existing_read_only(&home.path().join("none")).is_err());
    assert!(!home.path().join("none").exists());
}

#[test]
fn reading_only_sees_what_is_there_and_writes_nothing() {
    let home = tempfile::tempdir().unwrap();
    let mut writer = open(home.path());
    writer.transact(Durability::Normal, |tx| tx.apply(&[Write::Event(Box::new(event(1)))])).unwrap();
    let mut reader = Store::open_existing_read_only(home.path()).unwrap();
    assert_eq!(reader.events(&EventFilter::default()).unwrap(), [event(1)]);
    let refused = reader.transact(Durability::Normal, |tx| tx.apply(&[Write::Event(Box::new(event(2)))]));
    assert!(matches!(refused, Err(Error::ReadOnly { .. })));
}

/// Root may write anything, so the child is nobody where the tests run as root.
fn for_somebody_who_may_only_read(folder: &Path) {
    let chmod = |files: u32, folders: u32| {
        for entry in std::fs::read_dir(folder).expect("it is a folder") {
            set_permissions(entry.expect("an entry").path(), Permissions::from_mode(files)).expect("chmod");
        }
        set_permissions(folder, Permissions::from_mode(folders)).expect("chmod");
    };
    chmod(0o444, 0o555);
    let status =
        child("opening::a_read_only_folder_refuses_writes_by_name_and_can_be_read", folder).without_rights().status();
    chmod(0o600, 0o700);
    assert!(status.expect("the child ran").success());
}

#[test]
fn a_read_only_folder_refuses_writes_by_name_and_can_be_read() {
    if let Some(folder) = crate::death::folder_of_child() {
        return as_somebody_who_may_only_read(&folder);
    }
    let home = tempfile::tempdir().unwrap();
    set_permissions(home.path(), Permissions::from_mode(0o755)).unwrap();
    let folder = home.path().join("taut # 1?%");
    let mut writer = open(&folder);
    writer.transact(Durability::Normal, |tx| tx.apply(&[Write::Event(Box::new(event(1)))])).unwrap();
    let still = home.path().join("still");
    std::fs::create_dir(&still).unwrap();
    writer.backup(&still.join(DATABASE)).unwrap();
    drop(writer);
    for_somebody_who_may_only_read(&folder);
    for_somebody_who_may_only_read(&still);
}

fn as_somebody_who_may_only_read(folder: &Path) {
    let written = Store::open(folder, PATIENCE)
        .and_then(|mut store| store.transact(Durability::Normal, |tx| tx.apply(&[Write::Event(Box::new(event(2)))])));
    assert!(matches!(written, Err(Error::ReadOnly { .. } | Error::CannotOpen { .. })), "{written:?}");
    assert!(store::spool(folder, &event(2)).is_err());
    let reader = Store::open_existing_read_only(folder).expect("it can be read");
    assert_eq!(reader.events(&EventFilter::default()).unwrap(), [event(1)]);
    assert!(Store::open(&folder.join("new"), PATIENCE).is_err());
}
