//! What goes with a session, a project or a date, and what is others'.

use super::*;
use crate::forget::ForgetCount;

/// An effort with a folder, begun at a moment and carried by a session now.
fn effort(memory: &Memory, id: &str, agent: &str, begun: i64, carrier: &str) {
    let task = "INSERT INTO tasks (project, slug, title, priority, created_at, updated_at, folder)
        VALUES ('/p', ?1, 't', 2, 1, 1, '/folder/' || ?1)";
    memory.store.conn.execute(task, [id]).unwrap();
    let row =
        "INSERT INTO efforts (id, task, ordinal, agent, skill, line, loading, started_at, title, session, project)
        VALUES (?1, last_insert_rowid(), 1, ?2, 'fix', 'agent', 0, ?3, 'wisteria ' || ?1, ?4, '/p')";
    memory.store.conn.execute(row, params![id, agent, begun, carrier]).unwrap();
}

fn during(memory: &Memory, session: &str, agent: &str, from: i64, to: i64, prev: Option<&str>) {
    memory.session(session, "/p");
    let row =
        "UPDATE sessions SET agent = ?2, started_at = ?3, last_seen_at = ?4, ended_at = ?4, prev = ?5 WHERE id = ?1";
    memory.store.conn.execute(row, params![session, agent, from, to, prev]).unwrap();
}

fn forget(memory: &mut Memory, scope: &ForgetScope) -> ForgetCount {
    let counted = memory.store.forget_count(scope).unwrap();
    assert_eq!(memory.store.forget(scope).unwrap(), counted, "what was announced is what was done");
    memory.index.forget(scope, &counted.entries).unwrap();
    counted
}

fn efforts(memory: &Memory) -> Vec<String> {
    let mut all = memory.store.conn.prepare("SELECT id FROM efforts ORDER BY id").unwrap();
    all.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

/// Two sessions of one line; the first began the effort, the second carries it and its note has words of the first.
fn line_of_two() -> Memory {
    let mut memory = Memory::new();
    during(&memory, "one", "ann", 10, 20, None);
    during(&memory, "two", "ann", 30, 40, Some("one"));
    effort(&memory, "e", "ann", 15, "two");
    let note = "INSERT INTO accounts (agent, session, line, at, body) VALUES ('ann', 'two', 'agent', ?1, ?2)";
    let conn = &memory.store.conn;
    conn.execute(note, params![39, r#"{"summary": "wisteria", "mini": true, "work": {"prompts": ["wisteria"]}}"#])
        .unwrap();
    conn.execute(note, params![40, r#"{"summary": "clematis", "work": {"prompts": ["wisteria"]}}"#]).unwrap();
    memory.prompt("one", 12, "wisteria, said first");
    memory.prompt("two", 32, "clematis, said later");
    memory.event("two", 30, "SessionStart", serde_json::json!({}));
    memory.store.conn.execute("UPDATE events SET answer_stdout = 'wisteria' WHERE event = 'SessionStart'", []).unwrap();
    memory.catch_up();
    memory
}

#[test]
fn m3_what_was_carried_over_from_a_forgotten_session_goes_too() {
    let mut memory = line_of_two();
    let gone = forget(&mut memory, &ForgetScope::Session("one".into()));
    assert_eq!((gone.carried_notes, gone.shared_efforts, gone.folders.len()), (2, 1, 0));
    assert_eq!(gone.shared_folders, [std::path::PathBuf::from("/folder/e")]);
    assert!(!holds(memory.home.path(), "wisteria"), "in no file");
    memory.catch_up();
    assert!(!holds(memory.home.path(), "wisteria"), "nor does it come back");
    assert_eq!(efforts(&memory), ["e"], "others work in it");
    assert_eq!(memory.find("clematis").len(), 2, "what the other said, and what its agent wrote");
}

#[test]
fn m3_a_forgotten_session_takes_nothing_of_the_one_before_it() {
    let mut memory = line_of_two();
    let gone = forget(&mut memory, &ForgetScope::Session("two".into()));
    assert_eq!((gone.efforts, gone.shared_efforts, gone.folders.len()), (0, 1, 0));
    assert_eq!(efforts(&memory), ["e"]);
    assert!(memory.find("wisteria").contains(&"wisteria, said first".to_string()));
    assert!(!holds(memory.home.path(), "clematis"));
    let rest = forget(&mut memory, &ForgetScope::Session("one".into()));
    assert_eq!((rest.efforts, rest.folders.len()), (1, 1), "now it is the only one that worked there");
    let mut memory = line_of_two();
    forget(&mut memory, &ForgetScope::Session("one".into()));
    let rest = forget(&mut memory, &ForgetScope::Session("two".into()));
    assert_eq!((rest.efforts, rest.folders.len()), (1, 1), "the other way round");
}

#[test]
fn m3_old_work_that_was_gone_on_with_since_is_not_old() {
    let mut memory = Memory::new();
    during(&memory, "old", "ann", 10, 20, None);
    during(&memory, "new", "bob", 90, 99, None);
    effort(&memory, "left", "ann", 15, "old");
    effort(&memory, "carried", "bob", 15, "new");
    effort(&memory, "ended", "ann", 15, "old");
    memory.store.conn.execute("UPDATE efforts SET finished_at = 95 WHERE id = 'ended'", []).unwrap();
    let gone = forget(&mut memory, &ForgetScope::Before(Ms(50)));
    assert_eq!(efforts(&memory), ["carried", "ended"]);
    assert_eq!((gone.efforts, gone.shared_efforts), (1, 1));
    assert_eq!(gone.folders, [std::path::PathBuf::from("/folder/left")]);
}

#[test]
fn m3_what_a_person_told_a_projects_agents_goes_with_the_project() {
    let mut memory = Memory::new();
    memory.session("s", "/p");
    memory.session("t", "/q");
    let sent = "INSERT INTO messages (id, at, kind, from_agent, to_agent, body) VALUES (?1, 1, 'note', ?2, ?3, ?4)";
    for (id, from, to, body) in [
        ("1", None, "agent-s", "wisteria for s"),
        ("2", Some("you"), "agent-s", "wisteria of you"),
        ("3", None, "agent-t", "clematis for t"),
    ] {
        memory.store.conn.execute(sent, params![id, from, to, body]).unwrap();
    }
    memory.catch_up();
    assert_eq!(memory.find("wisteria").len(), 2);
    assert_eq!(forget(&mut memory, &ForgetScope::Project("/p".into())).messages, 2);
    assert!(!holds(memory.home.path(), "wisteria"));
    assert_eq!(memory.find("clematis"), ["clematis for t"]);
}

#[test]
fn m3_a_session_whose_client_is_gone_does_not_run() {
    let mut memory = Memory::new();
    memory.session("s", "/p");
    memory.store.conn.execute("UPDATE sessions SET ended_at = NULL, client_pid = 7, client_started = 8", []).unwrap();
    effort(&memory, "e", "agent-s", 1, "s");
    let scope = ForgetScope::Project("/p".into());
    let running = memory.store.forget_count(&scope).unwrap();
    assert_eq!((running.open_sessions, running.open_efforts, running.sessions), (1, 1, 0));
    let open = memory.store.unended_sessions().unwrap();
    assert_eq!(open, [("s".to_string(), model::ClientProcess { pid: 7, started: 8 })]);
    memory.store.count_as_ended(&["s".into()]).unwrap();
    let gone = forget(&mut memory, &scope);
    assert_eq!((gone.open_sessions, gone.open_efforts, gone.sessions, gone.efforts), (0, 0, 1, 1));
}
