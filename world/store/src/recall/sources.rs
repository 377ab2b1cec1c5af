//! What the memory's rows say that is worth finding again. Read in short looks,
//! so many rows at a time; nothing here writes to the memory.

use super::entry::{Entry, RecallKind, kept};
use crate::{Error, Store};
use model::Ms;
use model::session_work::MEMORY_OFF;
use rusqlite::{Connection, OptionalExtension, Row};
use serde_json::Value;

/// One look reads so many rows.
pub(super) const BATCH: i64 = 500;

/// Rows of this many of the newest notes are read again: a note may be added to.
const NOTES_AGAIN: i64 = 50;

/// A table that is read from its first row to its last.
pub(super) struct Source {
    pub name: &'static str,
    /// The rows after the cursor: number, mark, moment, agent, session, project, and up to three texts.
    rows: &'static str,
    /// What the row with this number is marked with.
    mark: &'static str,
    last: &'static str,
    entries: fn(&SourceRow) -> Vec<Entry>,
}

/// A row on its way into the index.
struct SourceRow {
    seq: i64,
    mark: String,
    at: Ms,
    agent: String,
    session: Option<String>,
    project: Option<String>,
    /// An event's name, a message's kind, an effort's skill.
    what: String,
    text: Option<String>,
    more: Option<String>,
}

/// What a look found.
#[derive(Default)]
pub(super) struct SourceBatch {
    pub entries: Vec<Entry>,
    /// The last row's number and mark; `None` where there was no row.
    pub last: Option<(i64, String)>,
    pub full: bool,
}

/// A session without a project has none; only where no session is known, its agent's counts.
pub(super) const SOURCES: &[Source] = &[
    Source {
        name: "events",
        rows: "SELECT events.seq, events.id, events.at, events.agent, events.session,
              CASE WHEN sessions.id IS NULL THEN agents.project ELSE sessions.project END, events.event,
              CASE WHEN events.host_session LIKE 'taut-proof-%' THEN NULL ELSE events.detail END, NULL
            FROM events LEFT JOIN sessions ON sessions.id = events.session LEFT JOIN agents ON agents.id = events.agent
            WHERE events.seq > ?1 ORDER BY events.seq LIMIT ?2",
        mark: "SELECT id FROM events WHERE seq = ?1",
        last: "SELECT ifnull(max(seq), 0) FROM events",
        entries: of_event,
    },
    Source {
        name: "messages",
        rows: "SELECT messages.seq, messages.id, messages.at, ifnull(messages.from_agent, ''), messages.session,
              CASE WHEN sessions.id IS NULL THEN agents.project ELSE sessions.project END, messages.kind,
              CASE WHEN sessions.memo ->> '$.memory_off' THEN NULL ELSE messages.body END, NULL
            FROM messages LEFT JOIN sessions ON sessions.id = messages.session
              LEFT JOIN agents ON agents.id = messages.from_agent
            WHERE messages.seq > ?1 ORDER BY messages.seq LIMIT ?2",
        mark: "SELECT id FROM messages WHERE seq = ?1",
        last: "SELECT ifnull(max(seq), 0) FROM messages",
        entries: of_message,
    },
    Source {
        name: "notes",
        rows:
            "SELECT accounts.seq, accounts.session || '/' || accounts.at, accounts.at, accounts.agent, accounts.session,
              coalesce(accounts.project, sessions.project), '', accounts.body, accounts.title
            FROM accounts LEFT JOIN sessions ON sessions.id = accounts.session
            WHERE accounts.seq > ?1 ORDER BY accounts.seq LIMIT ?2",
        mark: "SELECT session || '/' || at FROM accounts WHERE seq = ?1",
        last: "SELECT ifnull(max(seq), 0) FROM accounts",
        entries: of_note,
    },
    Source {
        name: "efforts",
        rows: "SELECT efforts.row, efforts.id, efforts.started_at, efforts.agent, efforts.session, tasks.project,
              efforts.skill, efforts.title, tasks.slug
            FROM efforts JOIN tasks ON tasks.row = efforts.task
            WHERE efforts.row > ?1 ORDER BY efforts.row LIMIT ?2",
        mark: "SELECT id FROM efforts WHERE row = ?1",
        last: "SELECT ifnull(max(row), 0) FROM efforts",
        entries: of_effort,
    },
];

/// Those rows that may have changed since they were read.
const CHANGED: &[(&str, &str)] = &[
    ("notes", "SELECT max(0, ifnull(max(seq), 0) - ?1) FROM accounts"),
    (
        "efforts",
        "SELECT ifnull(min(row), (SELECT ifnull(max(row), 0) + ?1 FROM efforts)) - 1 FROM efforts WHERE finished_at IS NULL",
    ),
];

impl Source {
    /// What follows the row with that number; from the first row on where that row is another one by now.
    pub fn after(&self, store: &Store, cursor: Option<(i64, String)>) -> Result<SourceBatch, Error> {
        store.read(|conn| {
            let from = match cursor {
                Some((seq, mark)) if self.is_still(conn, seq, &mark)? => seq,
                _ => 0,
            };
            self.batch(conn, from)
        })
    }

    /// Those that were read already and may say something else by now.
    pub fn changed(&self, store: &Store) -> Result<SourceBatch, Error> {
        let Some((_, from)) = CHANGED.iter().find(|(name, _)| *name == self.name) else {
            return Ok(SourceBatch::default());
        };
        store.read(|conn| {
            let from: i64 = conn.prepare_cached(from)?.query_row([NOTES_AGAIN], |row| row.get(0))?;
            self.batch(conn, from)
        })
    }

    /// How many rows there may be after that one.
    pub fn behind(&self, store: &Store, seq: i64) -> Result<u64, Error> {
        let last: i64 = store.read(|conn| conn.prepare_cached(self.last)?.query_row([], |row| row.get(0)))?;
        Ok(u64::try_from(last.saturating_sub(seq)).unwrap_or_default())
    }

    /// A row that is gone was forgotten for its age, unless all there are come before it: then numbers begin anew.
    fn is_still(&self, conn: &Connection, seq: i64, mark: &str) -> rusqlite::Result<bool> {
        let now: Option<String> = conn.prepare_cached(self.mark)?.query_row([seq], |row| row.get(0)).optional()?;
        match now {
            Some(now) => Ok(now == mark),
            None => conn.prepare_cached(self.last)?.query_row([], |row| Ok(row.get::<_, i64>(0)? > seq)),
        }
    }

    fn batch(&self, conn: &Connection, from: i64) -> rusqlite::Result<SourceBatch> {
        let rows: Vec<SourceRow> =
            conn.prepare_cached(self.rows)?.query_map([from, BATCH], read)?.collect::<Result<_, _>>()?;
        Ok(SourceBatch {
            last: rows.last().map(|row| (row.seq, row.mark.clone())),
            full: rows.len() >= usize::try_from(BATCH).unwrap_or(usize::MAX),
            entries: rows.iter().flat_map(self.entries).collect(),
        })
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<SourceRow> {
    Ok(SourceRow {
        seq: row.get(0)?,
        mark: row.get(1)?,
        at: Ms(row.get(2)?),
        agent: row.get(3)?,
        session: row.get(4)?,
        project: row.get::<_, Option<String>>(5)?.filter(|project| !project.is_empty()),
        what: row.get(6)?,
        text: row.get(7)?,
        more: row.get(8)?,
    })
}

impl SourceRow {
    fn entry(&self, source: &str, kind: RecallKind, text: &str) -> Option<Entry> {
        let text = kept(text);
        (!text.is_empty()).then(|| Entry {
            source: source.to_string(),
            kind,
            at: self.at,
            project: self.project.clone(),
            agent: self.agent.clone(),
            session: self.session.clone(),
            text,
        })
    }
}

/// By the fields of its detail, which are the same whatever agent told it.
fn of_event(row: &SourceRow) -> Vec<Entry> {
    const SAID: &[(&str, RecallKind)] = &[
        ("prompt", RecallKind::Prompt),
        ("last_message", RecallKind::Answer),
        ("summary", RecallKind::Note),
        ("error", RecallKind::Failure),
    ];
    let Some(detail) = row.text.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok()) else {
        return Vec::new();
    };
    // What happened while memory was off is not found, also when it is on again.
    if detail.get(MEMORY_OFF).is_some() {
        return Vec::new();
    }
    let text = |name: &str| detail.get(name).and_then(Value::as_str);
    let input = detail.get("input").unwrap_or(&Value::Null);
    let mut found = Vec::new();
    for (field, kind) in SAID {
        let Some(said) = text(field) else { continue };
        let of_call = command(input).or_else(|| changed_file(input)).filter(|_| *kind == RecallKind::Failure);
        let more = text("details").filter(|_| *kind == RecallKind::Failure);
        let said = [of_call, Some(said), more].into_iter().flatten().collect::<Vec<_>>().join(": ");
        found.extend(row.entry(&format!("{}/{field}", row.mark), *kind, &said));
    }
    if row.what == "PreToolUse" {
        if let Some(line) = command(input).filter(|line| !is_own(line)) {
            let described = input.get("description").and_then(Value::as_str).map(|why| format!("  # {why}"));
            let shown = format!("{line}{}", described.unwrap_or_default());
            found.extend(row.entry(&row.mark, RecallKind::Command, &shown));
        } else if let Some(file) = changed_file(input) {
            let session = row.session.as_deref().unwrap_or(&row.mark);
            let within = row.project.as_deref().and_then(|project| file.strip_prefix(project)?.strip_prefix('/'));
            // A file that is changed again and again in one session is found once.
            found.extend(row.entry(&format!("{session}/file/{file}"), RecallKind::File, within.unwrap_or(file)));
        }
    }
    found
}

/// The line that a shell would run.
fn command(input: &Value) -> Option<&str> {
    let given = input.get("command").or_else(|| input.get("code"))?;
    given.as_str().or_else(|| given.as_array()?.last()?.as_str())
}

/// The file that a call would change: one with a text to put there.
fn changed_file(input: &Value) -> Option<&str> {
    const TEXTS: &[&str] = &["content", "new_string", "old_string", "edits", "new_source", "file_text", "patch"];
    let file = ["file_path", "notebook_path", "path"].iter().find_map(|name| input.get(name)?.as_str())?;
    TEXTS.iter().any(|name| input.get(name).is_some()).then_some(file)
}

/// What is said to Taut is kept as what it is; a search would find itself.
fn is_own(line: &str) -> bool {
    let program = line.split_whitespace().next().unwrap_or_default();
    program.rsplit('/').next() == Some("taut")
}

/// Failures of tools are found as events, with what was tried.
fn of_message(row: &SourceRow) -> Vec<Entry> {
    let body = row.text.as_deref().unwrap_or_default();
    let kind = match row.what.as_str() {
        "log" => RecallKind::Log,
        "dialogue" => RecallKind::Dialogue,
        "restart_request" | "tool_failure" | "stop_failure" => return Vec::new(),
        "host_task" => {
            let task: Value = serde_json::from_str(body).unwrap_or_default();
            let subject = task.get("subject").and_then(Value::as_str).unwrap_or_default();
            return row.entry(&row.mark, RecallKind::Message, subject).into_iter().collect();
        }
        _ => RecallKind::Message,
    };
    row.entry(&row.mark, kind, body).into_iter().collect()
}

fn of_note(row: &SourceRow) -> Vec<Entry> {
    let body: Value = row.text.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let mut said = row.more.clone().into_iter().collect();
    texts(&body, &mut said);
    row.entry(&format!("note/{}", row.mark), RecallKind::Note, &said.join("\n")).into_iter().collect()
}

/// Every text of a note, however it is laid out, in its own order.
fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) if !text.trim().is_empty() => found.push(text.clone()),
        Value::Array(all) => all.iter().for_each(|one| texts(one, found)),
        Value::Object(fields) => fields.values().for_each(|one| texts(one, found)),
        _ => {}
    }
}

fn of_effort(row: &SourceRow) -> Vec<Entry> {
    let title = row.text.as_deref().unwrap_or_default();
    let about = [title, &row.what, row.more.as_deref().unwrap_or_default()];
    let about: Vec<&str> = about.into_iter().filter(|part| !part.is_empty()).collect();
    row.entry(&row.mark, RecallKind::Effort, &about.join(" · ")).into_iter().collect()
}
