//! Efforts: found by the agent that has them, written as decided. What belongs
//! to them is in the files beside this one.

mod counters;
pub(crate) mod hand_overs;
pub(crate) mod history;
mod list;
pub(crate) mod pre_executed;
mod subs;
pub(crate) mod unfinished;
pub(crate) mod wordless;

pub use list::EffortFilter;
pub use pre_executed::{Collected, PreExecutedKey};

use crate::{messages, projects, sessions};
use model::effort::{Directive, Effort, EffortEnd, EffortLineage, EffortRows, MemoryWrite, PhaseStep, StoredHandOver};
use model::{Ms, Needs};
use rusqlite::{Connection, OptionalExtension, Row, named_params, params};
use serde_json::Value;

/// Enough for any real agent; a bound, so that an event cannot be made slow.
const MOST: usize = 16;
const MOST_DIRECTIVES: i64 = 256;

macro_rules! columns {
    () => {
        "efforts.id, efforts.agent, tasks.project, tasks.slug, tasks.folder, efforts.ordinal, efforts.skill, \
         efforts.session, efforts.line, efforts.phase, efforts.loading, efforts.declared, efforts.metadata, \
         efforts.files, efforts.started_at, efforts.finished_at, efforts.title, efforts.end_reason"
    };
}
pub(crate) use columns;

/// Most agents have none: this is all that efforts cost them.
pub(crate) const ANY_ACTIVE: &str =
    "SELECT row FROM efforts WHERE agent = ?1 AND finished_at IS NULL ORDER BY row DESC LIMIT 16";

pub(crate) const FETCH: &str =
    concat!("SELECT ", columns!(), " FROM efforts JOIN tasks ON tasks.row = efforts.task WHERE efforts.row = ?1");

/// What grew stale while the session that carried it was away, among the newest.
const STALE: &str = "SELECT row FROM (SELECT row, session, end_reason FROM efforts ORDER BY row DESC LIMIT 1000)
    WHERE session = ?1 AND end_reason = 'stale' LIMIT 1";

pub(crate) const DIRECTIVES: &str = "SELECT path, required, is_read FROM directives WHERE effort = ?1 LIMIT ?2";

/// Those that can close a gate: few, however many were found.
pub(crate) const UNREAD: &str = "SELECT path, required, is_read FROM directives
    WHERE effort = ?1 AND required = 1 AND is_read = 0 LIMIT ?2";

pub(crate) const NEXT_ORDINAL: &str = "SELECT COALESCE(MAX(efforts.ordinal), 0) + 1 FROM efforts
    WHERE task = (SELECT row FROM tasks WHERE project = ?1 AND slug = ?2)";

const PUT_TASK: &str = "INSERT INTO tasks (project, slug, title, priority, folder, created_at, updated_at)
    VALUES (?1, ?2, ?3, 2, ?4, ?5, ?5)
    ON CONFLICT (project, slug) DO UPDATE SET folder = COALESCE(folder, excluded.folder)
    WHERE folder IS NULL";

const PUT: &str = "INSERT INTO efforts (id, task, ordinal, agent, skill, session, line, phase, loading, declared,
      metadata, files, started_at, finished_at, title, end_reason, project)
    VALUES (:id, (SELECT row FROM tasks WHERE project = :project AND slug = :slug), :ordinal, :agent, :skill,
      :session, :line, :phase, :loading, :declared, :metadata, :files, :started_at, :finished_at, :title,
      :end_reason, :project)
    ON CONFLICT (id) DO UPDATE SET agent = excluded.agent, session = excluded.session, line = excluded.line,
      phase = excluded.phase, loading = excluded.loading, declared = excluded.declared,
      metadata = excluded.metadata, files = excluded.files, finished_at = excluded.finished_at,
      title = excluded.title, end_reason = excluded.end_reason";

const PUT_PHASE: &str = "INSERT INTO phase_history (effort, label, at, approved) VALUES (?1, ?2, ?3, ?4)";

const PUT_DIRECTIVE: &str = "INSERT INTO directives (effort, path, required, is_read) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT DO UPDATE SET required = excluded.required, is_read = excluded.is_read";

const UNREAD_AGAIN: &str = "UPDATE directives SET is_read = 0 WHERE effort = ?1 AND is_read = 1";

const SET_STATUS: &str = "UPDATE sessions SET status_text = ?2 WHERE id = ?1";

/// The newest note of the agent that has an effort, where it is about that effort.
pub(crate) fn account_of(conn: &Connection, effort: &Effort) -> rusqlite::Result<Option<StoredHandOver>> {
    let newest = hand_overs::newest(conn, &effort.agent, &effort.project, "")?;
    Ok(newest.filter(|account| account.effort.as_ref() == Some(&effort.id)))
}

/// The number the next effort of a task gets.
pub(crate) fn next_ordinal(conn: &Connection, project: &str, slug: &str) -> rusqlite::Result<i64> {
    conn.prepare_cached(NEXT_ORDINAL)?.query_row([project, slug], |row| row.get(0))
}

/// Where a task keeps its artifacts, if it has such a folder.
pub(crate) fn task_folder(conn: &Connection, project: &str, slug: &str) -> rusqlite::Result<Option<String>> {
    const FOLDER: &str = "SELECT folder FROM tasks WHERE project = ?1 AND slug = ?2";
    Ok(conn.prepare_cached(FOLDER)?.query_row([project, slug], |row| row.get(0)).optional()?.flatten())
}

/// What is known of the efforts an event is about. For an agent without one
/// this is a single look into a small index.
pub(crate) fn known(conn: &Connection, asked: &Needs) -> rusqlite::Result<EffortRows> {
    let mut known = EffortRows::default();
    let mut rows: Vec<i64> = Vec::new();
    for agent in &asked.agents {
        rows.extend(conn.prepare_cached(ANY_ACTIVE)?.query_map([agent], |row| row.get::<_, i64>(0))?.flatten());
    }
    rows.sort_unstable_by(|a, b| b.cmp(a));
    rows.dedup();
    for row in rows.into_iter().take(MOST) {
        let effort = conn.prepare_cached(FETCH)?.query_row([row], read)?;
        if !sessions::is_of_another(conn, effort.session.as_deref(), &asked.dialect)? {
            known.efforts.push(effort);
        }
    }
    if let Some(session) = &asked.resumed {
        let stale: Option<i64> = conn.prepare_cached(STALE)?.query_row([session], |row| row.get(0)).optional()?;
        let effort = stale.map(|row| conn.prepare_cached(FETCH)?.query_row([row], read)).transpose()?;
        // It is active again where the session that begins takes it over.
        known.efforts.extend(effort.map(|effort| Effort { finished_at: None, end: None, ..effort }));
    }
    if asked.hand_over || asked.history.is_some() {
        accounts(conn, asked, &mut known)?;
    }
    if let Some((session, sub_agent)) = &asked.counted {
        if !known.efforts.is_empty() || asked.counted_alone {
            known.counters = counters::load(conn, session, sub_agent)?;
        }
        if asked.sub_session {
            known.sub_session = subs::load(conn, session, sub_agent)?;
        }
    }
    for effort in &known.efforts {
        let read = |row: &Row<'_>| {
            Ok(Directive { effort: effort.id.clone(), path: row.get(0)?, required: row.get(1)?, read: row.get(2)? })
        };
        let mut statement = conn.prepare_cached(if asked.all_directives { DIRECTIVES } else { UNREAD })?;
        let found = statement.query_map(params![effort.id, MOST_DIRECTIVES], read)?;
        known.directives.extend(found.flatten());
    }
    Ok(known)
}

/// The note that stands, and what one that is to be written is made of.
fn accounts(conn: &Connection, asked: &Needs, known: &mut EffortRows) -> rusqlite::Result<()> {
    let current = asked.placed.current.as_ref();
    let project = current.map_or(&asked.project, |session| &session.project);
    for agent in current.map(|session| &session.agent).into_iter().chain(&asked.agents) {
        let newest = || hand_overs::newest(conn, agent, project, &asked.dialect);
        known.account = known.account.take().map_or_else(newest, |found| Ok(Some(found)))?;
    }
    if let Some(child) = current.filter(|session| session.parent.is_some()) {
        known.child_account = hand_overs::of_child(conn, child, "")?;
    }
    let Some(need) = asked.history.as_ref().filter(|need| !need.only_with_effort || !known.efforts.is_empty()) else {
        return Ok(());
    };
    let mut accounts = known.account.iter().chain(&known.child_account);
    let noted_at = accounts.find(|account| account.session == need.session).map(|account| account.at);
    known.history = history::of(conn, need, noted_at)?;
    known.earlier_account = match current.filter(|_| !known.history.session.is_empty()) {
        Some(child) if child.parent.is_some() => hand_overs::of_child(conn, child, &need.session)?,
        Some(session) => hand_overs::newest_but(conn, session, &need.session)?,
        None => None,
    };
    Ok(())
}

pub(crate) fn keep(conn: &Connection, keep: &MemoryWrite) -> rusqlite::Result<()> {
    match keep {
        MemoryWrite::Effort(effort) => put(conn, effort),
        MemoryWrite::Phase(PhaseStep { effort, label, at, approved }) => {
            conn.prepare_cached(PUT_PHASE)?.execute(params![effort, label, at.0, approved]).map(drop)
        }
        MemoryWrite::HandOver(stored) => hand_overs::put(conn, stored),
        MemoryWrite::Recovered { session, line } => hand_overs::mark_shown(conn, session, *line),
        MemoryWrite::Counters(counters) => counters::put(conn, counters),
        MemoryWrite::Directive(Directive { effort, path, required, read }) => {
            conn.prepare_cached(PUT_DIRECTIVE)?.execute(params![effort, path, required, read]).map(drop)
        }
        MemoryWrite::DirectivesUnread { effort } => conn.prepare_cached(UNREAD_AGAIN)?.execute([effort]).map(drop),
        MemoryWrite::SubSession(sub) => subs::put(conn, sub),
        MemoryWrite::PreExecuted(pre_executed) => pre_executed::put(conn, pre_executed),
        MemoryWrite::Message(message) => messages::put(conn, message),
        MemoryWrite::Delivered { message, at } => messages::deliver(conn, message, *at),
        MemoryWrite::Once { session, once } => sessions::mark(conn, session, *once),
        MemoryWrite::WorkEnded { work, end, at } => unfinished::end(conn, work, *end, *at),
        MemoryWrite::NoteTaken { work, agent } => unfinished::take_note(conn, work, agent),
        MemoryWrite::Followed { session, prev, conversation } => sessions::follow(conn, session, prev, conversation),
        MemoryWrite::Status { session, text } => conn.prepare_cached(SET_STATUS)?.execute([session, text]).map(drop),
    }
}

/// The task is made where there is none: it then only owns a folder.
fn put(conn: &Connection, effort: &Effort) -> rusqlite::Result<()> {
    projects::see(conn, &effort.project, effort.started_at)?;
    let title = effort.title.as_ref().unwrap_or(&effort.skill);
    let task = params![effort.project, effort.task, title, effort.folder, effort.started_at.0];
    conn.prepare_cached(PUT_TASK)?.execute(task)?;
    conn.prepare_cached(PUT)?.execute(named_params! {
        ":id": effort.id,
        ":project": effort.project,
        ":slug": effort.task,
        ":ordinal": effort.ordinal,
        ":agent": effort.agent,
        ":skill": effort.skill,
        ":session": effort.session,
        ":line": effort.line.name(),
        ":phase": effort.phase,
        ":loading": effort.loading,
        ":declared": json(&effort.declared),
        ":metadata": json(&effort.metadata),
        ":files": texts(&effort.files),
        ":started_at": effort.started_at.0,
        ":finished_at": effort.finished_at.map(|at| at.0),
        ":title": effort.title,
        ":end_reason": effort.end.map(EffortEnd::name),
    })?;
    match effort.finished_at {
        Some(at) => unfinished::close_notes_of(conn, &effort.agent, &effort.id, at),
        None => Ok(()),
    }
}

pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Effort> {
    Ok(Effort {
        id: row.get(0)?,
        agent: row.get(1)?,
        project: row.get(2)?,
        task: row.get(3)?,
        folder: row.get::<_, Option<String>>(4)?.unwrap_or_default(),
        ordinal: row.get(5)?,
        skill: row.get(6)?,
        session: row.get(7)?,
        line: EffortLineage::parse(row.get_ref(8)?.as_str()?),
        phase: row.get(9)?,
        loading: row.get(10)?,
        declared: parsed(row.get(11)?),
        metadata: parsed(row.get(12)?),
        files: list_of(row.get(13)?),
        started_at: Ms(row.get(14)?),
        finished_at: row.get::<_, Option<i64>>(15)?.map(Ms),
        title: row.get(16)?,
        end: row.get::<_, Option<String>>(17)?.as_deref().and_then(EffortEnd::parse),
    })
}

fn json(value: &Value) -> Option<String> {
    (!value.is_null()).then(|| value.to_string())
}

fn parsed(text: Option<String>) -> Value {
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// A list of texts as stored: nothing where it is empty.
fn texts(list: &[String]) -> Option<String> {
    (!list.is_empty()).then(|| Value::from(list).to_string())
}

fn list_of(text: Option<String>) -> Vec<String> {
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}
