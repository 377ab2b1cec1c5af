//! What a project has unfinished: efforts, and the newest note of each line of
//! sessions. Found by the project, by a task or by the end of an id.

use super::hand_overs::{self, select};
use super::{columns, read, wordless};
use crate::{Error, Store, sessions};
use model::effort::{Carrier, Effort, EffortEnd, EffortRows, UnfinishedKind, UnfinishedWork};
use model::needs::Unfinished;
use model::{ClientProcess, Ms};
use rusqlite::{Connection, OptionalExtension, Row, params};

/// More than this nobody is told of.
const MOST_NOTES: usize = 16;

/// An id is found by an end of it, in the newest of these.
const NEWEST: i64 = 2_000;

macro_rules! carried {
    () => {
        "carrier.conversation, carrier.last_seen_at, carrier.ended_at, carrier.client_pid, carrier.client_started, \
         carrier.memo ->> '$.dialect'"
    };
}

pub(crate) const EFFORTS: &str = concat!(
    "SELECT efforts.id, efforts.agent, efforts.session, COALESCE(efforts.title, efforts.skill), efforts.phase,
      efforts.started_at, ",
    carried!(),
    " FROM efforts INDEXED BY efforts_unfinished LEFT JOIN sessions AS carrier ON carrier.id = efforts.session
    WHERE efforts.project = ?1 AND efforts.finished_at IS NULL ORDER BY efforts.row DESC LIMIT 64"
);

/// What belongs to an effort goes with it.
pub(crate) const NOTES: &str = "SELECT session, agent, conversation, title, at, unfinished,
      (SELECT memo ->> '$.dialect' FROM sessions WHERE sessions.id = accounts.session)
    FROM accounts INDEXED BY accounts_offered
    WHERE project = ?1 AND closed_at IS NULL AND title IS NOT NULL AND effort IS NULL ORDER BY seq DESC LIMIT 64";

pub(crate) const NEWEST_OF_CONVERSATION: &str =
    "SELECT last_seen_at FROM sessions WHERE conversation = ?1 ORDER BY row DESC LIMIT 1";

pub(crate) const NOTE_OF_EFFORT: &str = select!("WHERE agent = ?1 AND effort = ?2 ORDER BY seq DESC LIMIT 1");

pub(crate) const LAST_PROMPT: &str = "SELECT detail FROM events WHERE seq =
      (SELECT seq FROM (SELECT seq, event, detail FROM events WHERE session = ?1 ORDER BY seq DESC LIMIT 400)
       WHERE event = 'UserPromptSubmit' AND detail ->> '$.memory_off' IS NULL LIMIT 1)";

pub(crate) fn of_project(conn: &Connection, project: &str, what: Unfinished) -> rusqlite::Result<Vec<UnfinishedWork>> {
    let mut found: Vec<UnfinishedWork> =
        conn.prepare_cached(EFFORTS)?.query_map([project], effort)?.collect::<Result<_, _>>()?;
    if what == Unfinished::EffortsAndNotes {
        found.extend(notes(conn, project)?);
    }
    Ok(found)
}

/// The newest of each line, where it says of something that waits to be done, and who has the line in hand.
fn notes(conn: &Connection, project: &str) -> rusqlite::Result<Vec<UnfinishedWork>> {
    let mut found: Vec<UnfinishedWork> = Vec::new();
    let mut done: Vec<UnfinishedWork> = Vec::new();
    let read = |row: &Row<'_>| Ok((note(row)?, row.get::<_, bool>(5)?));
    for row in conn.prepare_cached(NOTES)?.query_map([project], read)? {
        let (mut note, unfinished) = row?;
        let known = |other: &UnfinishedWork| other.agent == note.agent || other.conversation == note.conversation;
        if found.iter().chain(&done).any(known) {
            continue;
        }
        if !unfinished {
            done.push(note);
        } else if found.len() < MOST_NOTES {
            let line = note.conversation.clone().unwrap_or_default();
            let newest: Option<i64> =
                conn.prepare_cached(NEWEST_OF_CONVERSATION)?.query_row([&line], |row| row.get(0)).optional()?;
            note.seen = note.seen.max(Ms(newest.unwrap_or_default()));
            note.carrier = sessions::open_in(conn, &line, project)?.map_or(Carrier::Nobody, Carrier::Open);
            found.push(note);
        }
    }
    Ok(found)
}

/// What is asked for by name: the newest effort of the project with this id or of this task, else
/// the one thing of the project whose id ends so, what is active before what is not.
pub(crate) fn named(conn: &Connection, project: &str, name: &str, rows: &mut EffortRows) -> rusqlite::Result<()> {
    const EXACT: &str = "SELECT efforts.id FROM efforts JOIN tasks ON tasks.row = efforts.task
        WHERE tasks.project = ?1 AND (efforts.id = ?2 OR tasks.slug = ?2) ORDER BY efforts.row DESC LIMIT 1";
    const BY_END: &str = "SELECT id FROM (SELECT id, project FROM efforts ORDER BY row DESC LIMIT ?3)
        WHERE project = ?1 AND substr(id, -length(?2)) = ?2 LIMIT 2";
    let exact: Option<String> = conn.prepare_cached(EXACT)?.query_row([project, name], |row| row.get(0)).optional()?;
    if let Some(id) = exact {
        return load(conn, &id, rows);
    }
    let end = name.to_ascii_lowercase();
    if end.len() < 3 {
        return Ok(());
    }
    let mut active = of_project(conn, project, Unfinished::EffortsAndNotes)?;
    wordless::add_to(conn, project, &mut active)?;
    let mut active = active.into_iter().filter(|work| work.id.ends_with(&end));
    let ids: Vec<String> = match (active.next(), active.next()) {
        (Some(note), None) if note.kind == UnfinishedKind::Note => return load_note(conn, project, note, rows),
        (Some(one), None) => vec![one.id],
        (Some(one), Some(other)) => vec![one.id, other.id],
        (None, _) => conn
            .prepare_cached(BY_END)?
            .query_map(params![project, end, NEWEST], |row| row.get(0))?
            .collect::<Result<_, _>>()?,
    };
    match ids.as_slice() {
        [] => closed_note(conn, project, &end, rows),
        [id] => load(conn, id, rows),
        _ => {
            rows.named_twice = true;
            Ok(())
        }
    }
}

/// A note that somebody declined can be had back.
fn closed_note(conn: &Connection, project: &str, end: &str, rows: &mut EffortRows) -> rusqlite::Result<()> {
    const BY_END: &str = "SELECT session, agent, conversation, title, at, closed_at,
          (SELECT memo ->> '$.dialect' FROM sessions WHERE sessions.id = session) FROM
          (SELECT session, agent, conversation, title, at, closed_at, project, effort FROM accounts ORDER BY seq DESC LIMIT ?3)
        WHERE project = ?1 AND effort IS NULL AND closed_at IS NOT NULL AND title IS NOT NULL
          AND substr(session, -length(?2)) = ?2 LIMIT 2";
    let mut found: Vec<UnfinishedWork> =
        conn.prepare_cached(BY_END)?.query_map(params![project, end, NEWEST], note)?.collect::<Result<_, _>>()?;
    found.dedup_by(|one, other| one.id == other.id);
    rows.named_twice = found.len() > 1;
    match found.pop().filter(|_| found.is_empty()) {
        Some(work) => load_note(conn, project, work, rows),
        None => Ok(()),
    }
}

fn load(conn: &Connection, id: &str, rows: &mut EffortRows) -> rusqlite::Result<()> {
    const FETCH: &str =
        concat!("SELECT ", columns!(), " FROM efforts JOIN tasks ON tasks.row = efforts.task WHERE efforts.id = ?1");
    const CARRIED: &str = concat!(
        "SELECT efforts.id, efforts.agent, efforts.session, COALESCE(efforts.title, efforts.skill), efforts.phase,
          efforts.started_at, ",
        carried!(),
        " FROM efforts LEFT JOIN sessions AS carrier ON carrier.id = efforts.session WHERE efforts.id = ?1"
    );
    rows.named = conn.prepare_cached(FETCH)?.query_row([id], read).optional()?;
    rows.named_work = conn.prepare_cached(CARRIED)?.query_row([id], effort).optional()?;
    if let Some(work) = &rows.named_work {
        rows.named_note =
            conn.prepare_cached(NOTE_OF_EFFORT)?.query_row([&work.agent, id], hand_overs::whole).optional()?;
    }
    let carrier = rows.named_work.as_ref().and_then(|work| work.session.clone());
    if let Some(session) = carrier.filter(|_| rows.named_note.is_none()) {
        wordless::load(conn, &session, rows)?;
    }
    Ok(())
}

fn load_note(conn: &Connection, project: &str, work: UnfinishedWork, rows: &mut EffortRows) -> rusqlite::Result<()> {
    const NOTE: &str = select!("WHERE agent = ?1 AND session = ?2 AND project = ?3 ORDER BY seq DESC LIMIT 1");
    let of = [work.agent.as_str(), &work.id, project];
    rows.named_note = conn.prepare_cached(NOTE)?.query_row(of, hand_overs::whole).optional()?;
    if rows.named_note.is_none() {
        wordless::load(conn, &work.id, rows)?;
    }
    rows.named_work = Some(work);
    Ok(())
}

pub(crate) fn last_prompt(conn: &Connection, session: &str) -> rusqlite::Result<Option<String>> {
    let detail: Option<String> = conn.prepare_cached(LAST_PROMPT)?.query_row([session], |row| row.get(0)).optional()?;
    let detail = detail.and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
    Ok(detail.and_then(|detail| detail.get("prompt")?.as_str().map(str::to_string)))
}

pub(super) fn end(conn: &Connection, work: &UnfinishedWork, end: EffortEnd, at: Ms) -> rusqlite::Result<()> {
    // Not where somebody has taken it up since.
    const END: &str = "UPDATE efforts SET finished_at = ?3, end_reason = ?4, loading = 0
        WHERE id = ?1 AND session IS ?2 AND finished_at IS NULL";
    const CLOSE: &str = "UPDATE accounts SET closed_at = ?3
        WHERE closed_at IS NULL AND agent = ?1 AND (conversation = ?2 OR session = ?4)
          AND project IS (SELECT project FROM accounts WHERE agent = ?1 AND session = ?4 LIMIT 1)";
    match work.kind {
        UnfinishedKind::Effort => {
            conn.prepare_cached(END)?.execute(params![work.id, work.session, at.0, end.name()])?;
            close_notes_of(conn, &work.agent, &work.id, at)
        }
        UnfinishedKind::Note => {
            conn.prepare_cached(CLOSE)?.execute(params![work.agent, work.conversation, at.0, work.id]).map(drop)
        }
    }
}

/// What was noted for an effort that is over is told to nobody.
pub(super) fn close_notes_of(conn: &Connection, agent: &str, effort: &str, at: Ms) -> rusqlite::Result<()> {
    const CLOSE: &str = "UPDATE accounts SET closed_at = ?3 WHERE closed_at IS NULL AND agent = ?1 AND effort = ?2";
    conn.prepare_cached(CLOSE)?.execute(params![agent, effort, at.0]).map(drop)
}

/// From now on the next session of this agent finds them.
pub(super) fn take_note(conn: &Connection, work: &UnfinishedWork, agent: &str) -> rusqlite::Result<()> {
    // One that was declined is open again.
    const TAKE: &str = "UPDATE accounts SET agent = ?3, line = 'agent', closed_at = NULL
        WHERE agent = ?1 AND effort IS NULL AND (conversation = ?2 OR session = ?4)
          AND project IS (SELECT project FROM accounts WHERE agent = ?1 AND session = ?4 LIMIT 1)";
    const TAKE_OF_EFFORT: &str =
        "UPDATE accounts SET agent = ?2, line = 'agent' WHERE closed_at IS NULL AND agent = ?1 AND effort = ?3";
    match work.kind {
        UnfinishedKind::Effort => {
            conn.prepare_cached(TAKE_OF_EFFORT)?.execute([&work.agent, agent, &work.id]).map(drop)
        }
        UnfinishedKind::Note => {
            conn.prepare_cached(TAKE)?.execute(params![work.agent, work.conversation, agent, work.id]).map(drop)
        }
    }
}

impl Store {
    /// What is unfinished in a project, efforts first, the newest of each first.
    pub fn unfinished(&self, project: &str) -> Result<Vec<UnfinishedWork>, Error> {
        self.read(|conn| of_project(conn, project, Unfinished::EffortsAndNotes))
    }

    /// The projects that have active efforts.
    pub fn projects_at_work(&self) -> Result<Vec<String>, Error> {
        const LIST: &str = "SELECT DISTINCT project FROM efforts INDEXED BY efforts_unfinished
            WHERE finished_at IS NULL AND project IS NOT NULL LIMIT 256";
        self.read(|conn| conn.prepare_cached(LIST)?.query_map([], |row| row.get(0))?.collect())
    }

    /// The effort that a name stands for: a task, an id, or the end of one that no other has.
    pub fn effort_named(&self, project: &str, name: &str) -> Result<Option<Effort>, Error> {
        self.read(|conn| {
            let mut rows = EffortRows::default();
            named(conn, project, name, &mut rows)?;
            Ok(rows.named)
        })
    }
}

fn effort(row: &Row<'_>) -> rusqlite::Result<UnfinishedWork> {
    let (begun, seen): (i64, Option<i64>) = (row.get(5)?, row.get(7)?);
    Ok(UnfinishedWork {
        id: row.get(0)?,
        kind: UnfinishedKind::Effort,
        agent: row.get(1)?,
        session: row.get(2)?,
        title: row.get(3)?,
        phase: row.get(4)?,
        conversation: row.get(6)?,
        dialect: row.get(11)?,
        seen: Ms(begun.max(seen.unwrap_or_default())),
        carrier: carrier(row)?,
    })
}

/// A session that is not known any more is in nobody's hands.
fn carrier(row: &Row<'_>) -> rusqlite::Result<Carrier> {
    let (seen, ended): (Option<i64>, Option<i64>) = (row.get(7)?, row.get(8)?);
    let (pid, started): (Option<u32>, Option<i64>) = (row.get(9)?, row.get(10)?);
    let client = pid.map(|pid| ClientProcess { pid, started: started.unwrap_or_default().cast_unsigned() });
    Ok(if seen.is_some() && ended.is_none() { Carrier::Open(client) } else { Carrier::Nobody })
}

fn note(row: &Row<'_>) -> rusqlite::Result<UnfinishedWork> {
    let session: String = row.get(0)?;
    Ok(UnfinishedWork {
        id: session.clone(),
        kind: UnfinishedKind::Note,
        agent: row.get(1)?,
        session: Some(session),
        conversation: row.get(2)?,
        dialect: row.get(6)?,
        title: row.get(3)?,
        phase: None,
        seen: Ms(row.get(4)?),
        carrier: Carrier::Nobody,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Durability;
    use model::effect::Write;
    use model::effort::MemoryWrite;
    use model::session::Session;
    use std::time::Duration;

    fn store(home: &tempfile::TempDir) -> Store {
        Store::open_and_migrate(home.path(), Duration::from_secs(5)).unwrap()
    }

    fn session(store: &mut Store, id: &str, conversation: &str, ended: Option<i64>) {
        let session = Session {
            id: id.into(),
            logical_id: id.into(),
            agent: format!("agent of {conversation}"),
            conversation: conversation.into(),
            project: "/p".into(),
            last_seen_at: Ms(50),
            ended_at: ended.map(Ms),
            ..Session::default()
        };
        let write = [Write::Session(Box::new(session))];
        store.transact(Durability::Normal, |tx| tx.apply(&write)).unwrap();
    }

    fn note(store: &Store, session: &str, conversation: &str, title: Option<&str>, effort: Option<&str>) {
        let sql =
            "INSERT INTO accounts (agent, session, effort, line, at, body, project, conversation, title, unfinished)
            VALUES (?1, ?2, ?3, 'agent', 10, '{\"summary\": \"half a bridge\"}', '/p', ?4, ?5, 1)";
        let agent = format!("agent of {conversation}");
        store.conn.execute(sql, params![agent, session, effort, conversation, title]).unwrap();
    }

    fn ids(store: &Store) -> Vec<String> {
        store.unfinished("/p").unwrap().into_iter().map(|work| work.id).collect()
    }

    #[test]
    fn m1_the_newest_note_of_each_line_of_sessions_is_unfinished_and_who_has_the_line_is_known() {
        let home = tempfile::tempdir().unwrap();
        let mut store = store(&home);
        for (id, line, ended) in [("s-1aa", "one", Some(5)), ("s-2aa", "one", Some(9)), ("s-3bb", "two", None)] {
            session(&mut store, id, line, ended);
            note(&store, id, line, Some("fix the login"), None);
        }
        session(&mut store, "s-4cc", "three", Some(7));
        note(&store, "s-4cc", "three", None, None);
        note(&store, "s-4cc", "four", Some("of an effort"), Some("e"));
        assert_eq!(ids(&store), ["s-3bb", "s-2aa"], "one without a prompt in it, or of an effort, is none");
        let found = store.unfinished("/p").unwrap();
        assert_eq!((found[0].carrier, found[1].carrier), (Carrier::Open(None), Carrier::Nobody));
        assert_eq!(found[1].seen, Ms(50), "its line was heard of after it was written");
        assert_eq!(ids(&store).len(), 2);
    }

    #[test]
    fn m1_a_note_is_found_by_the_end_of_its_id_taken_by_an_agent_and_closed_with_its_line() {
        let home = tempfile::tempdir().unwrap();
        let mut store = store(&home);
        for (id, line) in [("s-1aa", "one"), ("s-2aa", "one"), ("s-3ba", "two")] {
            session(&mut store, id, line, Some(5));
            note(&store, id, line, Some("fix the login"), None);
        }
        let found = |name: &str| {
            let mut rows = EffortRows::default();
            named(&store.conn, "/p", name, &mut rows).unwrap();
            (rows.named_work.map(|work| work.id), rows.named_note.map(|note| note.hand_over.summary), rows.named_twice)
        };
        assert_eq!(found("2AA"), (Some("s-2aa".into()), Some("half a bridge".into()), false));
        assert_eq!(
            (found("aa"), found("1aa")),
            ((None, None, false), (None, None, false)),
            "too short; not the newest"
        );
        let work = Box::new(store.unfinished("/p").unwrap().remove(1));
        let apply = |store: &mut Store, keep: MemoryWrite| {
            store.transact(Durability::Normal, |tx| tx.apply(&[Write::Memory(keep)])).unwrap();
        };
        apply(&mut store, MemoryWrite::NoteTaken { work: work.clone(), agent: "bob".into() });
        let agents: Vec<String> = store.unfinished("/p").unwrap().into_iter().map(|work| work.agent).collect();
        assert_eq!(agents, ["agent of two", "bob"]);
        let work = Box::new(UnfinishedWork { agent: "bob".into(), ..*work });
        apply(&mut store, MemoryWrite::WorkEnded { work, end: EffortEnd::Declined, at: Ms(60) });
        assert_eq!(ids(&store), ["s-3ba"], "the older note of the line is closed with it");
    }
}
