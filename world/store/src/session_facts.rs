//! What a session said last, changed and cost: beside its row, which every hook writes.

use crate::{Durability, Error, Store};
use model::Ms;
use model::session_facts::{DiffSize, SessionFacts, SessionNote};
use rusqlite::{Connection, OptionalExtension, Row, params};

macro_rules! find {
    ($words:literal) => {
        concat!(
            "SELECT ",
            $words,
            ", words_told, model, cost_usd, cost_estimated, tokens_in, tokens_out, tokens_cached, branch, tree,
             base_commit, base_files, files, added, removed, diff_note, failed_tool, updated_at
             FROM session_facts WHERE session = ?1"
        )
    };
}

const FIND: &str = find!("last_words");

/// A row shows their first line: two hundred agents' words are not read whole for it.
const FIND_FOR_ROW: &str = find!("substr(last_words, 1, 400)");

const PUT: &str = "INSERT OR REPLACE INTO session_facts (session, last_words, words_told, model, cost_usd,
      cost_estimated, tokens_in, tokens_out, tokens_cached, branch, tree, base_commit, base_files, files, added,
      removed, diff_note, failed_tool, updated_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)";

const IN_TREE: &str = "SELECT DISTINCT sessions.agent FROM session_facts
    JOIN sessions ON sessions.id = session_facts.session
    WHERE session_facts.tree = ?1 AND session_facts.session <> ?2
      AND ifnull(sessions.ended_at, ?4) >= ?3 AND sessions.started_at <= ?4
    ORDER BY sessions.agent LIMIT 20";

const FIRST_TOOL: &str = "SELECT EXISTS (SELECT 1 FROM events WHERE session = ?1 AND event = 'PreToolUse')";

impl Store {
    pub fn session_facts(&self, session: &str) -> Result<SessionFacts, Error> {
        self.read(|conn| load(conn, session).map(Option::unwrap_or_default))
    }

    /// Changes what is known of a session, as it stands in the transaction.
    pub fn note_session(&mut self, session: &str, change: impl FnOnce(&mut SessionFacts)) -> Result<(), Error> {
        self.transact(Durability::Normal, |tx| tx.verb(|conn| note(conn, session, change)))
    }

    /// Whether it has called a tool yet, of which there is an event.
    pub fn has_used_tools(&self, session: &str) -> Result<bool, Error> {
        self.read(|conn| conn.prepare_cached(FIRST_TOOL)?.query_row([session], |row| row.get(0)))
    }

    /// Agents that worked in the same work tree at some time between two moments: what was changed there may be theirs.
    pub fn agents_in_tree(&self, tree: &str, besides: &str, from: Ms, to: Ms) -> Result<Vec<String>, Error> {
        self.read(|conn| {
            let values = params![tree, besides, from.0, to.0];
            conn.prepare_cached(IN_TREE)?.query_map(values, |row| row.get(0))?.collect()
        })
    }
}

/// What an event tells.
pub(crate) fn add(conn: &Connection, session: &str, told: &SessionNote, at: Ms) -> rusqlite::Result<()> {
    let prev = match told {
        SessionNote::GoesOn { prev } => load(conn, prev)?,
        SessionNote::Began(_) | SessionNote::LastWords(_) | SessionNote::FailedTool(_) => None,
    };
    note(conn, session, |facts| {
        facts.add(told, at);
        if let Some(prev) = prev {
            facts.carry_over(prev);
        }
    })
}

/// Nothing is written where nothing but the moment is another.
pub(crate) fn note(conn: &Connection, session: &str, change: impl FnOnce(&mut SessionFacts)) -> rusqlite::Result<()> {
    let before = load(conn, session)?.unwrap_or_default();
    let mut facts = before.clone();
    change(&mut facts);
    if (SessionFacts { updated_at: facts.updated_at, ..before }) == facts {
        return Ok(());
    }
    let size = |of: fn(&DiffSize) -> u64| facts.diff.as_ref().map(|diff| of(diff).cast_signed());
    let values = params![
        session,
        facts.last_words,
        facts.words_told,
        facts.model,
        facts.cost_usd,
        facts.cost_estimated,
        facts.tokens_in.map(u64::cast_signed),
        facts.tokens_out.map(u64::cast_signed),
        facts.tokens_cached.map(u64::cast_signed),
        facts.branch,
        facts.tree,
        facts.base_commit,
        facts.base_files,
        size(|diff| diff.files),
        size(|diff| diff.added),
        size(|diff| diff.removed),
        facts.diff_note,
        facts.failed_tool,
        facts.updated_at.0,
    ];
    conn.prepare_cached(PUT)?.execute(values).map(drop)
}

pub(crate) fn load(conn: &Connection, session: &str) -> rusqlite::Result<Option<SessionFacts>> {
    conn.prepare_cached(FIND)?.query_row([session], read).optional()
}

/// With no more of the last words than a row shows.
pub(crate) fn for_row(conn: &Connection, session: &str) -> rusqlite::Result<Option<SessionFacts>> {
    conn.prepare_cached(FIND_FOR_ROW)?.query_row([session], read).optional()
}

fn read(row: &Row<'_>) -> rusqlite::Result<SessionFacts> {
    let number = |name: &str| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(name)?.map(i64::cast_unsigned));
    let diff = match (number("files")?, number("added")?, number("removed")?) {
        (Some(files), Some(added), Some(removed)) => Some(DiffSize { files, added, removed }),
        _ => None,
    };
    Ok(SessionFacts {
        last_words: row.get(0)?,
        words_told: row.get("words_told")?,
        model: row.get("model")?,
        cost_usd: row.get("cost_usd")?,
        cost_estimated: row.get("cost_estimated")?,
        tokens_in: number("tokens_in")?,
        tokens_out: number("tokens_out")?,
        tokens_cached: number("tokens_cached")?,
        branch: row.get("branch")?,
        tree: row.get("tree")?,
        base_commit: row.get("base_commit")?,
        base_files: row.get("base_files")?,
        diff,
        diff_note: row.get("diff_note")?,
        failed_tool: row.get("failed_tool")?,
        updated_at: Ms(row.get("updated_at")?),
    })
}
