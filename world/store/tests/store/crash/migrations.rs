//! A power cut in the middle of a migration, from every schema there was.

use super::cuts::Cuts;
use super::fingerprint;
use super::story::{Commit, Promise, Told, state_folder};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::{DATABASE, SCHEMA, Store};
use testkit::disk::Disk;

fn steps() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    let mut steps: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    steps.sort();
    steps
}

/// A database as a taut of that schema left it.
fn of_schema(version: i64, folder: &Path) {
    let conn = Connection::open(folder.join(DATABASE)).unwrap();
    conn.pragma_update(None, "journal_mode", "WAL").unwrap();
    for step in steps().iter().take(usize::try_from(version).unwrap()) {
        conn.execute_batch(&std::fs::read_to_string(step).unwrap()).unwrap();
    }
    conn.pragma_update(None, "user_version", version).unwrap();
    for n in 0..40 {
        conn.execute("INSERT INTO projects (path, first_seen) VALUES (?1, ?2)", rusqlite::params![format!("/p{n}"), n])
            .unwrap();
    }
}

fn migrated_from(version: i64) -> Told {
    let home = tempfile::tempdir().unwrap();
    let folder = state_folder(home.path());
    of_schema(version, &folder);
    let disk = Disk::under(&folder);
    let begun = disk.len();
    let store = Store::open_and_migrate(&folder, Duration::from_secs(5)).unwrap();
    assert_eq!(store.projects().unwrap().len(), 40);
    let holds = fingerprint::of(&folder).unwrap();
    // Whoever opens it after the cut migrates it again, so there is one state it can be found in.
    let commit = Commit { what: "migrated".into(), promise: Promise::Kept, begun, acknowledged: begun, holds };
    Told { ops: disk.ops(), begun, commits: vec![commit] }
}

#[test]
fn a_migration_cut_short_is_done_again_and_every_row_is_there() {
    assert_eq!(i64::try_from(steps().len()).unwrap(), SCHEMA);
    let cuts = Cuts::from_environment(6);
    let mut broken = Vec::new();
    for version in 1..SCHEMA {
        let told = migrated_from(version);
        assert!(told.ops.len() > told.begun + 10, "a migration writes");
        let tried = cuts.power(&told).into_iter().filter_map(|(at, cut)| told.broken_by(&told.ops, at, cut).err());
        broken.extend(tried.map(|what| format!("from schema {version}: {what}")));
    }
    assert_eq!(broken, Vec::<String>::new());
}
