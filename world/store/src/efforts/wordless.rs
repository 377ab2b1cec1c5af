//! Sessions that have written nothing down and did not come to their end: those that are open, as far as is known, whose
//! client may have died since, and those whose client was found to be gone.

use super::history;
use crate::sessions;
use model::effort::{Carrier, EffortRows, UnfinishedKind, UnfinishedWork};
use model::session::Session;
use model::session_work::{HistoryNeed, HistoryWhen, is_substantial, is_typed};
use rusqlite::{Connection, OptionalExtension};

pub(crate) const OPEN_IN_PROJECT: &str = "SELECT row FROM sessions INDEXED BY sessions_open_in_project
    WHERE project = ?1 AND ended_at IS NULL AND client_pid IS NOT NULL ORDER BY row DESC LIMIT 16";

pub(crate) const LOST_IN_PROJECT: &str = "SELECT row FROM sessions INDEXED BY sessions_lost_in_project
    WHERE project = ?1 AND end_reason IN ('client_gone', 'orphaned', 'pane_reused') ORDER BY row DESC LIMIT 16";

pub(crate) const NOTED: &str = "SELECT 1 FROM accounts WHERE agent = ?1 AND session = ?2 LIMIT 1";

pub(crate) const NEWEST_IN_CONVERSATION: &str =
    "SELECT id FROM sessions WHERE conversation = ?1 AND project IS ?2 ORDER BY row DESC LIMIT 1";

/// As work that is unfinished, besides what is known to be.
pub(crate) fn add_to(conn: &Connection, project: &str, found: &mut Vec<UnfinishedWork>) -> rusqlite::Result<()> {
    let lost = sessions::of_rows(conn, LOST_IN_PROJECT, project)?;
    for session in sessions::of_rows(conn, OPEN_IN_PROJECT, project)?.into_iter().chain(lost) {
        let known = found.iter().any(|work| work.session.as_ref() == Some(&session.id));
        if known
            || session.parent.is_some()
            || is_followed_or_noted(conn, &session)?
            || !history::any_call(conn, &session.id)?
        {
            continue;
        }
        let said = history::first_prompts(conn, &session.id)?;
        let about = said.iter().find(|prompt| is_substantial(prompt));
        let Some(title) = about.or_else(|| said.iter().find(|prompt| is_typed(prompt))).cloned() else { continue };
        let carrier = if session.open() { Carrier::Open(session.client) } else { Carrier::Nobody };
        found.push(UnfinishedWork {
            id: session.id.clone(),
            kind: UnfinishedKind::Note,
            agent: session.agent,
            session: Some(session.id),
            conversation: Some(session.conversation),
            dialect: session.memo.dialect,
            title,
            phase: None,
            seen: session.last_seen_at,
            carrier,
        });
    }
    Ok(())
}

/// What a note of it can be made of, where there is none.
pub(crate) fn load(conn: &Connection, session: &str, rows: &mut EffortRows) -> rusqlite::Result<()> {
    if rows.history.session.is_empty() {
        let need = HistoryNeed { session: session.to_string(), when: HistoryWhen::Always, only_with_effort: false };
        rows.history = history::of(conn, &need, None)?;
    }
    Ok(())
}

fn is_followed_or_noted(conn: &Connection, session: &Session) -> rusqlite::Result<bool> {
    let line = [&session.conversation, &session.project];
    let newest: Option<String> =
        conn.prepare_cached(NEWEST_IN_CONVERSATION)?.query_row(line, |row| row.get(0)).optional()?;
    let followed = newest.is_some_and(|newest| newest != session.id);
    Ok(followed || conn.prepare_cached(NOTED)?.exists([&session.agent, &session.id])?)
}
