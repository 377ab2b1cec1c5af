//! An index that was tampered with, cannot be written or is in another's hands; and forgetting that leaves nothing.

use super::*;

/// Caught up with by these switches, and searched.
fn looked(
    index: &mut RecallIndex,
    store: &Store,
    is_on: impl Fn(&str) -> bool,
    asked: &RecallQuery,
) -> Result<Recalled, Error> {
    let mut catch_up = |index: &mut RecallIndex| index.catch_up(store, &mut |path| is_on(path), LONG);
    index.recall(&mut catch_up, &mut |path| is_on(path), (asked, Ms(2)))
}

fn recalled(memory: &Memory, words: &str, is_on: bool) -> usize {
    let asked = RecallQuery { words: words.into(), ..RecallQuery::default() };
    let mut index = RecallIndex::open(memory.home.path()).unwrap();
    looked(&mut index, &memory.store, |_| is_on, &asked).unwrap().0.len()
}

#[test]
fn m3_an_index_that_was_removed_under_an_open_one_is_made_again_at_once() {
    let mut memory = Memory::new();
    memory.session("s", "/p");
    memory.prompt("s", 1, "mulberry");
    memory.catch_up();
    // The other connection stays open, as a daemon's does, and what belongs to its file lies there.
    std::fs::remove_file(memory.home.path().join(RECALL)).unwrap();
    assert!(memory.home.path().join("recall.db-shm").exists());
    assert_eq!(recalled(&memory, "mulberry", true), 1);
    assert_eq!(recalled(&memory, "mulberry", true), 1, "and stays so");
}

#[test]
fn m3_an_index_without_one_of_its_tables_is_made_again() {
    for table in ["projects", "cursors", "entries", "words", "words_data"] {
        let memory = Memory::new();
        memory.session("s", "/p");
        memory.prompt("s", 1, "mulberry");
        assert_eq!(recalled(&memory, "mulberry", true), 1);
        let conn = rusqlite::Connection::open(memory.home.path().join(RECALL)).unwrap();
        conn.execute_batch(&format!("DROP TABLE {table}")).unwrap();
        drop(conn);
        assert_eq!(recalled(&memory, "mulberry", true), 1, "{table}");
    }
}

#[test]
fn m3_where_no_index_can_be_made_it_is_said() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("file"), b"").unwrap();
    let why = RecallIndex::open(&home.path().join("file/below")).unwrap_err().to_string();
    assert!(why.contains("there is no index") && why.contains("taut recall"), "{why}");
}

#[test]
fn m3_a_project_that_is_off_is_not_shown_even_where_nobody_can_note_it() {
    let mut memory = Memory::new();
    memory.session("s", "/p");
    memory.prompt("s", 1, "mulberry");
    memory.catch_up();
    let held = rusqlite::Connection::open(memory.home.path().join(RECALL)).unwrap();
    held.execute_batch("BEGIN IMMEDIATE").unwrap();
    memory.index.conn.busy_timeout(Duration::ZERO).unwrap();
    for words in ["mulberry", "ulberr"] {
        let asked = RecallQuery { words: words.into(), ..RecallQuery::default() };
        let mut found = |is_on| looked(&mut memory.index, &memory.store, |_| is_on, &asked).unwrap().0.len();
        assert_eq!((found(true), found(false)), (1, 0), "{words}");
    }
}

#[test]
fn m3_what_stands_within_other_words_is_found_beside_what_begins_with_it() {
    let mut memory = Memory::new();
    memory.session("s", "/p");
    for (at, text) in
        ["検索を直す", "検索の速さ", "検索画面", "日本語全文検索", "form one", "form two", "form three", "platform"]
            .iter()
            .enumerate()
    {
        memory.prompt("s", at as i64, text);
    }
    memory.catch_up();
    assert!(memory.find("検索").contains(&"日本語全文検索".to_string()), "{:?}", memory.find("検索"));
    assert!(memory.find("form").contains(&"platform".to_string()), "{:?}", memory.find("form"));
    assert_eq!(memory.find("form").last().map(String::as_str), Some("platform"), "after those that begin with it");
}

#[test]
fn m3_it_is_said_that_only_the_newest_were_looked_through_letter_by_letter() {
    let mut memory = Memory::new();
    memory.session("s", "/p");
    memory.prompt("s", 1, "platform");
    memory.catch_up();
    let asked = RecallQuery { words: "latfor".into(), ..RecallQuery::default() };
    let found = |memory: &mut Memory| {
        let (hits, caught) = looked(&mut memory.index, &memory.store, |_| true, &asked).unwrap();
        (hits.len(), caught.scanned_in_part)
    };
    assert_eq!(found(&mut memory), (1, false));
    let many = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20001)
        INSERT INTO entries (source, kind, at, agent, digest) SELECT 'x' || i, 'prompt', 2, 'a', i FROM n";
    memory.index.conn.execute_batch(many).unwrap();
    memory
        .index
        .conn
        .execute_batch("INSERT INTO words (rowid, text) SELECT id, 'x' || id FROM entries WHERE id > 1")
        .unwrap();
    assert_eq!(found(&mut memory), (0, true));
}

#[test]
fn m3_an_index_that_somebody_reads_is_not_said_to_be_forgotten() {
    let mut memory = Memory::new();
    memory.session("s", "/p");
    memory.prompt("s", 1, "mulberry");
    memory.catch_up();
    memory.index.conn.busy_timeout(Duration::ZERO).unwrap();
    let reader = rusqlite::Connection::open(memory.home.path().join(RECALL)).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM entries").unwrap();
    let scope = ForgetScope::Project("/p".into());
    let why = memory.index.forget(&scope, &[]).unwrap_err().to_string();
    assert!(why.contains("somebody reads"), "{why}");
    drop(reader);
    memory.index.forget(&scope, &[]).unwrap();
}
