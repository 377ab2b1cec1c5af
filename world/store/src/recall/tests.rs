mod forgetting;
mod healing;
mod precision;

use super::*;
use crate::Store;
use crate::forget::ForgetScope;
use model::Ms;
use rusqlite::params;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(3600);
const DAY: i64 = 86_400_000;

/// A memory with an index beside it.
struct Memory {
    home: tempfile::TempDir,
    store: Store,
    index: RecallIndex,
}

impl Memory {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(home.path(), Duration::ZERO).unwrap();
        let index = RecallIndex::open(home.path()).unwrap();
        Self { home, store, index }
    }

    /// A session of an agent in a project, both named after one another.
    fn session(&self, id: &str, project: &str) {
        let conn = &self.store.conn;
        conn.execute("INSERT OR IGNORE INTO projects (path, first_seen) VALUES (?1, 1)", [project]).unwrap();
        let row = "INSERT INTO sessions (id, logical_id, agent, state, started_at, last_seen_at, ended_at, conversation, project, source)
            VALUES (?1, ?1, 'agent-' || ?1, 'ended', 1, 1, 2, ?1, ?2, 'startup')";
        conn.execute(row, [id, project]).unwrap();
    }

    fn event(&self, session: &str, at: i64, event: &str, detail: serde_json::Value) {
        let row = "INSERT INTO events (id, key, at, agent, session, event, verdict, micros, detail)
            VALUES (lower(hex(randomblob(16))), lower(hex(randomblob(16))), ?2, 'agent-' || ?1, ?1, ?3, 'pass', 1, ?4)";
        self.store.conn.execute(row, params![session, at, event, detail.to_string()]).unwrap();
    }

    fn prompt(&self, session: &str, at: i64, text: &str) {
        self.event(session, at, "UserPromptSubmit", serde_json::json!({"prompt": text}));
    }

    fn command(&self, session: &str, at: i64, line: &str) {
        self.event(session, at, "PreToolUse", serde_json::json!({"input": {"command": line}, "call": "t"}));
    }

    fn catch_up(&mut self) -> CatchUp {
        self.index.catch_up(&self.store, &mut |_| true, LONG).unwrap()
    }

    fn find(&self, words: &str) -> Vec<String> {
        self.search(&RecallQuery { words: words.into(), ..RecallQuery::default() })
    }

    fn search(&self, query: &RecallQuery) -> Vec<String> {
        self.index.search(query, Ms(100 * DAY)).unwrap().into_iter().map(|hit| hit.text).collect()
    }

    fn message(&self, session: &str, at: i64, kind: &str, text: &str) {
        let row = "INSERT INTO messages (id, at, kind, from_agent, session, body)
            VALUES (lower(hex(randomblob(16))), ?2, ?3, 'agent-' || ?1, ?1, ?4)";
        self.store.conn.execute(row, params![session, at, kind, text]).unwrap();
    }

    fn note(&self, session: &str, at: i64, text: &str) {
        let row = "INSERT INTO accounts (agent, session, line, at, body) VALUES ('agent-' || ?1, ?1, 'agent', ?2, ?3)";
        let body = serde_json::json!({"summary": text}).to_string();
        self.store.conn.execute(row, params![session, at, body]).unwrap();
    }
}

fn fact(text: &str) -> RecallFact {
    RecallFact { text: text.into(), at: Ms(12), agent: String::new() }
}

#[test]
fn m3_facts_of_one_place_take_the_place_of_those_alone_and_do_not_grow_old() {
    let mut memory = Memory::new();
    let places = [None, Some("/p"), Some("/p/q"), Some("/p1")];
    for (n, place) in places.into_iter().enumerate() {
        memory.index.replace_facts(place, &[fact(&format!("alder stands at {n}")), fact("an alder")], "1").unwrap();
    }
    for place in places {
        assert_eq!(memory.index.facts_mark(place).unwrap().as_deref(), Some("1"));
    }
    let at = |memory: &Memory, project: &str| {
        let query = RecallQuery { words: "alder stands".into(), project: Some(project.into()), ..Default::default() };
        let mut found = memory.search(&query);
        found.sort();
        found
    };
    assert_eq!(
        at(&memory, "/p"),
        ["alder stands at 0", "alder stands at 1", "an alder"],
        "its own, and what holds in all"
    );
    memory.index.replace_facts(Some("/p"), &[], "2").unwrap();
    memory.index.replace_facts(None, &[fact("alder stands at last")], "2").unwrap();
    assert_eq!(at(&memory, "/p"), ["alder stands at last"]);
    assert_eq!(at(&memory, "/p/q"), ["alder stands at 2", "alder stands at last", "an alder"]);
    assert_eq!(memory.find("lder stan").len(), 3, "{:?}", memory.find("lder stan"));
    assert!(memory.index.forget_older(Ms(1000 * DAY), LONG).unwrap());
    assert_eq!(memory.index.forget(&crate::forget::ForgetScope::Before(Ms(1000 * DAY)), &[]).unwrap(), 0);
    assert_eq!(at(&memory, "/p1"), ["alder stands at 3", "alder stands at last", "an alder"]);
    assert_eq!(memory.index.facts_mark(Some("/p1")).unwrap(), None, "what was forgotten is read again");
}

#[test]
fn m3_what_happened_while_memory_was_off_is_not_found_when_it_is_on_again() {
    let mut memory = Memory::new();
    memory.session("s", "/p");
    memory.session("t", "/p");
    memory.store.conn.execute("UPDATE sessions SET memo = '{\"memory_off\":true}' WHERE id = 's'", []).unwrap();
    memory.event("s", 1, "UserPromptSubmit", serde_json::json!({"prompt": "alder one", "memory_off": true}));
    memory.prompt("s", 2, "alder two");
    memory.message("s", 3, "log", "alder three");
    memory.message("t", 4, "log", "alder four");
    memory.catch_up();
    let mut found = memory.find("alder");
    found.sort();
    assert_eq!(found, ["alder four", "alder two"]);
}

#[test]
fn m3_all_that_was_said_and_done_is_found_and_each_of_its_kind() {
    let mut memory = Memory::new();
    memory.session("s", "/p");
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    memory.prompt("s", 1, "alder in a prompt");
    memory.command("s", 2, "cargo run alder");
    memory.event("s", 3, "PreToolUse", json(r#"{"input": {"file_path": "/p/src/alder_tree.rs", "content": "x"}}"#));
    memory.event(
        "s",
        4,
        "PostToolUseFailure",
        json(r#"{"input": {"command": "make alder"}, "error": "no such target"}"#),
    );
    memory.event("s", 5, "Stop", json(r#"{"last_message": "alder stands now"}"#));
    memory.event("s", 6, "PostCompact", json(r#"{"summary": "alder, summed up"}"#));
    memory.event("s", 7, "PreToolUse", json(r#"{"input": {"file_path": "/p/alder_read.rs"}}"#));
    memory.command("s", 8, "taut recall alder");
    let conn = &memory.store.conn;
    let message =
        "INSERT INTO messages (id, at, kind, from_agent, session, body) VALUES (?1, 9, ?2, 'agent-s', 's', ?3)";
    for (kind, body) in
        [("log", "alder logged"), ("dialogue", "alder?"), ("note", "alder, sent"), ("tool_failure", "alder: again")]
    {
        conn.execute(message, [kind, kind, body]).unwrap();
    }
    let note = "INSERT INTO accounts (agent, session, line, at, body) VALUES ('agent-s', 's', 'agent', 10, ?1)";
    conn.execute(note, [r#"{"summary": "alder half done", "nextSteps": ["water it"]}"#]).unwrap();
    conn.execute("INSERT INTO tasks (project, slug, title, priority, created_at, updated_at) VALUES ('/p', 'trees/01', 't', 2, 1, 1)", []).unwrap();
    let effort = "INSERT INTO efforts (id, task, ordinal, agent, skill, line, loading, started_at, title)
        VALUES ('e', 1, 1, 'agent-s', 'implement', 'agent', 0, 11, 'plant the alder')";
    conn.execute(effort, []).unwrap();
    memory.catch_up();
    memory.index.replace_facts(Some("/p"), &[fact("alder likes water")], "1").unwrap();
    let query = RecallQuery { words: "alder".into(), limit: 50, ..RecallQuery::default() };
    let found = memory.index.search(&query, Ms(20)).unwrap();
    let mut kinds: Vec<&str> = found.iter().map(|hit| hit.kind.name()).collect();
    kinds.sort_unstable();
    assert_eq!(
        kinds,
        [
            "answer", "command", "dialogue", "effort", "fact", "failure", "file", "log", "message", "note", "note",
            "prompt"
        ]
    );
    assert!(found.iter().all(|hit| hit.project.as_deref() == Some("/p")), "{found:?}");
    let text = |kind| found.iter().find(|hit| hit.kind == kind).map(|hit| hit.text.as_str());
    assert_eq!(text(RecallKind::File), Some("src/alder_tree.rs"), "as it is called within its project");
    assert_eq!(text(RecallKind::Failure), Some("make alder: no such target"), "with what was tried");
    let logs = RecallQuery { kind: Some(RecallKind::Log), ..query };
    assert_eq!(memory.search(&logs), ["alder logged"]);
}

#[test]
fn m3_a_row_is_one_entry_however_often_and_by_whomever_it_is_read() {
    let mut memory = Memory::new();
    memory.session("s", "/p");
    for at in 0..1_200 {
        memory.prompt("s", at, &format!("prompt number{at} of many"));
    }
    let mut other = RecallIndex::open(memory.home.path()).unwrap();
    assert_eq!(memory.catch_up(), CatchUp { added: 1_200, ..CatchUp::default() });
    assert_eq!(other.catch_up(&memory.store, &mut |_| true, LONG).unwrap(), CatchUp::default());
    // As after a crash that lost the cursor.
    memory.index.write(|conn| conn.execute("DELETE FROM cursors", []).map(drop)).unwrap();
    assert_eq!(memory.catch_up(), CatchUp::default());
    assert_eq!(memory.index.size(Some("/p")).unwrap().entries, 1_200);
    assert_eq!(memory.find("number1199"), ["prompt number1199 of many"]);
}

#[test]
fn m3_without_time_nothing_is_read_and_it_is_said_how_much_is_missing() {
    let mut memory = Memory::new();
    memory.session("s", "/p");
    memory.prompt("s", 1, "birch");
    let caught = memory.index.catch_up(&memory.store, &mut |_| true, Duration::ZERO).unwrap();
    assert_eq!(caught, CatchUp { behind: 1, ..CatchUp::default() });
}

#[test]
fn m3_rows_whose_numbers_are_given_again_are_read() {
    let mut memory = Memory::new();
    memory.session("s", "/p");
    for at in 0..3 {
        memory.prompt("s", at, &format!("before {at}"));
    }
    memory.catch_up();
    memory.store.conn.execute("DELETE FROM events", []).unwrap();
    for word in ["cedar", "cypress", "chestnut", "cherry"] {
        memory.prompt("s", 9, word);
    }
    memory.catch_up();
    assert_eq!(memory.find("cedar"), ["cedar"]);
    assert_eq!(memory.find("cherry"), ["cherry"]);
    assert_eq!(memory.find("before 2").first().map(String::as_str), Some("before 2"), "an entry outlives its row");
}

#[test]
fn m3_a_note_that_was_added_to_and_an_effort_that_got_a_title_are_found_as_they_are_now() {
    let mut memory = Memory::new();
    memory.session("s", "/p");
    let conn = &memory.store.conn;
    conn.execute("INSERT INTO accounts (agent, session, line, at, body) VALUES ('a', 's', 'agent', 1, '{\"summary\": \"first\"}')", []).unwrap();
    conn.execute(
        "INSERT INTO tasks (project, slug, title, priority, created_at, updated_at) VALUES ('/p', 't', 't', 2, 1, 1)",
        [],
    )
    .unwrap();
    let effort = "INSERT INTO efforts (id, task, ordinal, agent, skill, line, loading, started_at) VALUES ('e', 1, 1, 'a', 'fix', 'agent', 0, 1)";
    conn.execute(effort, []).unwrap();
    memory.catch_up();
    let conn = &memory.store.conn;
    conn.execute("UPDATE accounts SET body = '{\"summary\": \"second\"}'", []).unwrap();
    conn.execute("UPDATE efforts SET title = 'repair the sundial'", []).unwrap();
    memory.catch_up();
    assert_eq!(memory.find("second"), ["second"]);
    assert_eq!(memory.find("first"), Vec::<String>::new());
    assert_eq!(memory.find("sundial"), ["repair the sundial · fix · t"]);
}

#[test]
fn m3_a_project_whose_memory_is_off_is_not_entered_and_not_shown() {
    let mut memory = Memory::new();
    memory.session("on", "/on");
    memory.session("off", "/off");
    memory.prompt("on", 1, "dogwood on");
    memory.prompt("off", 1, "dogwood off");
    memory.index.catch_up(&memory.store, &mut |project| project != "/off", LONG).unwrap();
    assert_eq!(memory.find("dogwood"), ["dogwood on"]);
    memory.index.catch_up(&memory.store, &mut |project| project != "/on", LONG).unwrap();
    assert_eq!(memory.find("dogwood"), Vec::<String>::new(), "switched off later");
    assert_eq!(memory.find("ogwoo"), Vec::<String>::new(), "nor letter by letter");
    memory.catch_up();
    assert_eq!(memory.find("dogwood"), ["dogwood on"]);
}

#[test]
fn m3_words_are_found_inflected_begun_in_parts_and_within_others() {
    let mut memory = Memory::new();
    memory.session("s", "/p");
    let texts = [
        "The migrations of the database were failing", "edited src/login_form.rs twice",
        "renamed parseHeader to readHead", "call world::store::open first", "ログイン画面を直す", "Über die Brücke",
        "xylophonist",
    ];
    for (at, text) in texts.iter().enumerate() {
        memory.prompt("s", at as i64, text);
    }
    memory.catch_up();
    let cases: &[(&str, usize)] = &[
        ("migrate", 0),
        ("failed migration", 0),
        ("databases", 0),
        ("datab", 0),
        ("login_form.rs", 1),
        ("loginForm", 1),
        ("loginform", 1),
        ("form login", 1),
        ("LOGIN", 1),
        ("parse header", 2),
        ("parse_header", 2),
        ("parseheader", 2),
        ("header", 2),
        ("store::open", 3),
        ("world/store", 3),
        ("画面", 4),
        ("brucke", 5),
        ("Brücke", 5),
        ("lophon", 6),
    ];
    for (words, place) in cases {
        assert_eq!(memory.find(words).first().map(String::as_str), Some(texts[*place]), "{words}");
    }
}

#[test]
fn m3_no_words_are_an_error_whatever_they_are_made_of() {
    let mut memory = Memory::new();
    memory.session("s", "/p");
    memory.prompt("s", 1, "elder");
    memory.catch_up();
    let long = "elder ".repeat(5_000);
    let combining = "\u{0345} \u{093e}\u{0903} \u{20dd}";
    let hostile = [
        "", " ", "\"", "'", "\"\"\"", "*", "**", "a*b", "elder*", "(", ")(", "AND", "OR OR", "NOT", "NEAR(",
        "elder NEAR/3 x", "text:elder", "scope:p1", "{text}:x", "^elder", "-elder", "+", "\0", "el\0der", "p1 kprompt",
        "%", "_", "\\", ";--", "\u{202e}", combining, "🌳", &long, "a\u{301}",
    ];
    for words in hostile {
        let query = RecallQuery { words: words.into(), project: Some("/p\"'".into()), ..RecallQuery::default() };
        assert_eq!(memory.search(&query), Vec::<String>::new(), "{words:?}");
        memory.find(words);
    }
    assert_eq!(memory.find("kprompt"), Vec::<String>::new(), "what marks a kind is no word of the text");
    assert_eq!(memory.find(&long), ["elder"]);
}

#[test]
fn m3_the_same_text_is_listed_once_and_the_newer_of_two_comes_first() {
    let mut memory = Memory::new();
    memory.session("s", "/p");
    memory.prompt("s", 99 * DAY, "fig tree two");
    memory.prompt("s", DAY, "fig tree one");
    for at in 0..30 {
        memory.command("s", at * DAY, "plant  fig");
        memory.command("s", at * DAY, "plant fig");
    }
    memory.catch_up();
    assert_eq!(memory.find("fig").len(), 3);
    let prompts = RecallQuery { words: "fig".into(), kind: Some(RecallKind::Prompt), ..RecallQuery::default() };
    assert_eq!(memory.search(&prompts), ["fig tree two", "fig tree one"]);
}

#[test]
fn m3_a_search_keeps_to_project_agent_session_time_and_number() {
    let mut memory = Memory::new();
    memory.session("one", "/p");
    memory.session("two", "/p/inner");
    memory.prompt("one", 10, "ginkgo early");
    memory.prompt("one", 20, "ginkgo late");
    memory.prompt("two", 30, "ginkgo elsewhere");
    memory.catch_up();
    let all = RecallQuery { words: "ginkgo".into(), ..RecallQuery::default() };
    let found = |query: RecallQuery| {
        let mut found = memory.search(&query);
        found.sort();
        found
    };
    assert_eq!(found(all.clone()).len(), 3);
    assert_eq!(found(RecallQuery { project: Some("/p".into()), ..all.clone() }), ["ginkgo early", "ginkgo late"]);
    assert_eq!(found(RecallQuery { agent: Some("agent-two".into()), ..all.clone() }), ["ginkgo elsewhere"]);
    assert_eq!(found(RecallQuery { session: Some("two".into()), ..all.clone() }), ["ginkgo elsewhere"]);
    assert_eq!(found(RecallQuery { since: Some(Ms(20)), ..all.clone() }), ["ginkgo elsewhere", "ginkgo late"]);
    assert_eq!(found(RecallQuery { limit: 1, ..all.clone() }).len(), 1);
    let scanned = RecallQuery { words: "inkg".into(), project: Some("/p".into()), since: Some(Ms(20)), ..all };
    assert_eq!(found(scanned), ["ginkgo late"], "the same where letters are looked at");
}

#[test]
fn m3_a_damaged_or_older_index_is_made_again_and_a_newer_one_is_left_alone() {
    let memory = Memory::new();
    memory.session("s", "/p");
    memory.prompt("s", 1, "hazel");
    let path = memory.home.path().join(RECALL);
    let asked = RecallQuery { words: "hazel".into(), ..RecallQuery::default() };
    let recalled = |memory: &Memory| {
        let mut index = RecallIndex::open(memory.home.path()).unwrap();
        let mut catch_up = |index: &mut RecallIndex| index.catch_up(&memory.store, &mut |_| true, LONG);
        index.recall(&mut catch_up, &mut |_| true, (&asked, Ms(2))).unwrap().0.len()
    };
    assert_eq!(recalled(&memory), 1);
    std::fs::write(&path, b"this is no database, and long enough to be taken for one at a first look").unwrap();
    assert_eq!(recalled(&memory), 1, "garbage");
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.execute_batch("DELETE FROM words_data; PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    assert_eq!(recalled(&memory), 1, "a part that is found only by searching");
    conn.execute_batch("DROP TABLE cursors; PRAGMA user_version = 0").ok();
    drop(conn);
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.execute_batch("DROP TABLE cursors; PRAGMA user_version = 0").unwrap();
    assert_eq!(recalled(&memory), 1, "older");
    conn.execute_batch("PRAGMA user_version = 99").unwrap();
    assert!(matches!(RecallIndex::open(memory.home.path()), Err(crate::Error::NewerSchema { .. })));
}

#[test]
fn m3_an_index_that_cannot_be_written_can_be_searched() {
    use std::os::unix::fs::PermissionsExt;
    let mut memory = Memory::new();
    memory.session("s", "/p");
    memory.prompt("s", 1, "ivy");
    memory.catch_up();
    memory.prompt("s", 2, "ivy again");
    let Memory { home, store, index } = memory;
    drop(index);
    let mode = |mode| std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(home.path().join(RECALL), mode(0o400)).unwrap();
    std::fs::set_permissions(home.path(), mode(0o500)).unwrap();
    let opened = RecallIndex::open(home.path());
    let found = opened.and_then(|mut index| {
        let caught = index.catch_up(&store, &mut |_| true, LONG)?;
        let query = RecallQuery { words: "ivy".into(), ..RecallQuery::default() };
        Ok((index.read_only, caught.behind, index.search(&query, Ms(3))?.len()))
    });
    std::fs::set_permissions(home.path(), mode(0o700)).unwrap();
    let (read_only, behind, hits) = found.unwrap();
    // The superuser is kept from nothing.
    let expected = if read_only { (1, 1) } else { (0, 2) };
    assert_eq!((behind, hits), expected);
}

#[test]
fn m3_the_index_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let memory = Memory::new();
    for file in std::fs::read_dir(memory.home.path()).unwrap() {
        let file = file.unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o077, 0, "{:?}", file.file_name());
    }
}

#[test]
fn m3_entries_are_forgotten_for_their_age() {
    let mut memory = Memory::new();
    memory.session("s", "/p");
    for at in 1..=1_500 {
        memory.prompt("s", at, &format!("juniper {at}"));
    }
    memory.catch_up();
    assert!(memory.index.forget_older(Ms(1_400), LONG).unwrap());
    assert_eq!(memory.index.size(None).unwrap().entries, 101);
    assert_eq!(memory.find("juniper 7").iter().filter(|text| *text == "juniper 7").count(), 0);
}

/// Every file below, as bytes.
fn bytes_below(folder: &std::path::Path) -> Vec<u8> {
    let mut all = Vec::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        all.extend(if path.is_dir() { bytes_below(&path) } else { std::fs::read(&path).unwrap() });
    }
    all
}

fn holds(folder: &std::path::Path, word: &str) -> bool {
    bytes_below(folder).windows(word.len()).any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
}

#[test]
fn m3_what_is_forgotten_is_in_no_file_any_more() {
    let mut memory = Memory::new();
    memory.session("s", "/p");
    memory.session("t", "/q");
    for at in 0..300 {
        memory.prompt("s", at, &format!("quetzalcoatlus{at} {}", "filler ".repeat(20)));
        memory.prompt("t", at, &format!("velociraptor{at} {}", "filler ".repeat(20)));
    }
    memory.catch_up();
    assert!(holds(memory.home.path(), "quetzalcoatlus"));
    let scope = ForgetScope::Project("/p".into());
    let counted = memory.store.forget_count(&scope).unwrap();
    let gone = memory.store.forget(&scope).unwrap();
    assert_eq!((gone.events, gone.sessions), (300, 1));
    assert_eq!(counted, gone, "what was announced is what was done");
    assert_eq!(memory.index.count(&scope).unwrap(), 300);
    assert_eq!(memory.index.forget(&scope, &[]).unwrap(), 300);
    assert!(!holds(memory.home.path(), "quetzalcoatlus"));
    assert!(!holds(memory.home.path(), "etzalcoatlus"), "nor what an index keeps of it");
    assert!(holds(memory.home.path(), "velociraptor"));
    memory.prompt("t", 999, "velociraptor later");
    assert_eq!(memory.catch_up().added, 1, "rows that stay are not entered twice, and new ones are");
    assert_eq!(memory.find("velociraptor later").first().map(String::as_str), Some("velociraptor later"));
}

#[test]
fn m3_one_session_or_what_is_old_can_be_forgotten_and_what_runs_stays() {
    let mut memory = Memory::new();
    memory.session("s", "/p");
    memory.session("t", "/p");
    memory.prompt("s", 10, "larch of s");
    memory.prompt("t", 20, "larch of t");
    memory.store.conn.execute("UPDATE sessions SET ended_at = NULL WHERE id = 't'", []).unwrap();
    let queued = "INSERT INTO tasks (project, slug, title, priority, status, created_at, updated_at)
        VALUES ('/p', 'q/01', 'queued', 2, 'open', 1, 1)";
    memory.store.conn.execute(queued, []).unwrap();
    memory.catch_up();
    let of_s = ForgetScope::Session("s".into());
    assert_eq!(memory.store.forget(&of_s).unwrap().events, 1);
    assert_eq!(memory.index.forget(&of_s, &[]).unwrap(), 1);
    assert_eq!(memory.find("larch"), ["larch of t"]);
    let old = ForgetScope::Before(Ms(21));
    let gone = memory.store.forget(&old).unwrap();
    assert_eq!((gone.events, gone.sessions, gone.open_sessions, gone.tasks), (1, 0, 1, 1));
    memory.index.forget(&old, &[]).unwrap();
    memory.catch_up();
    assert_eq!(memory.find("larch"), Vec::<String>::new());
    assert_eq!(memory.store.session_ids("t").unwrap(), ["t"], "it runs");
    let rest = memory.store.forget(&ForgetScope::Project("/p".into())).unwrap();
    assert_eq!((rest.open_sessions, rest.tasks), (1, 1));
}
