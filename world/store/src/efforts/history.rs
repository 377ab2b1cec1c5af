//! The last events of one session, for the note that is written of it. Bounded in
//! rows looked at, rows taken and bytes: a session may be weeks long.

use model::Ms;
use model::session_work::{HistoryNeed, HistoryWhen, PastEvent, SessionHistory};
use rusqlite::{Connection, OptionalExtension, Row};

/// Bytes of all that is taken.
const MOST_BYTES: usize = 1 << 20;

/// A call that says more than this is left out.
const LONGEST: usize = 64 * 1024;

macro_rules! of_session {
    ($($rest:literal),*) => {
        concat!(
            "SELECT seq, at, event, tool, sub_agent IS NOT NULL, detail FROM
               (SELECT seq, at, event, tool, sub_agent, detail FROM events WHERE session = ?1 ORDER BY seq DESC LIMIT 5000)
             WHERE ",
            $($rest),*
        )
    };
}

/// What tells of work, and of a call before it ran only that it asks the user.
pub(crate) const LAST: &str = of_session!(
    "event IN ('PostToolUse', 'PostToolUseFailure', 'Stop', 'StopFailure', 'PostCompact', 'TaskCreated', 'TaskCompleted',
       'UserPromptSubmit') OR (event = 'PreToolUse' AND instr(detail, '\"asks\":\"question\"') > 0) LIMIT 400"
);

/// However much was done since they were said.
pub(crate) const PROMPTS: &str = of_session!("event = 'UserPromptSubmit' LIMIT 8");

pub(crate) const FIRST_PROMPT: &str = "SELECT detail ->> '$.prompt' FROM
      (SELECT event, detail FROM events WHERE session = ?1 ORDER BY seq LIMIT 1000)
    WHERE event = 'UserPromptSubmit' LIMIT 1";

/// When the session did something last.
pub(crate) const LAST_AT: &str =
    of_session!("event IN ('PostToolUse', 'PostToolUseFailure', 'Stop', 'StopFailure', 'UserPromptSubmit') LIMIT 1");

/// Empty where the condition of the need does not hold. `noted_at`: when the session's own note was written.
pub(super) fn of(conn: &Connection, need: &HistoryNeed, noted_at: Option<Ms>) -> rusqlite::Result<SessionHistory> {
    let wanted = match (need.when, noted_at) {
        (HistoryWhen::Always, _) | (_, None) => true,
        (HistoryWhen::WithoutNote, Some(_)) => false,
        (HistoryWhen::NewerThanNote, Some(noted)) => last_at(conn, &need.session)?.is_some_and(|last| last > noted),
    };
    if !wanted {
        return Ok(SessionHistory::default());
    }
    let mut events = taken(conn, LAST, &need.session)?;
    let mut prompts = taken(conn, PROMPTS, &need.session)?;
    prompts.retain(|(seen, _)| events.iter().all(|(known, _)| known != seen));
    events.extend(prompts);
    Ok(SessionHistory {
        session: need.session.clone(),
        first_prompt: conn
            .prepare_cached(FIRST_PROMPT)?
            .query_row([&need.session], |row| row.get(0))
            .optional()?
            .flatten(),
        events: events.into_iter().map(|(_, event)| event).collect(),
    })
}

fn last_at(conn: &Connection, session: &str) -> rusqlite::Result<Option<Ms>> {
    Ok(conn.prepare_cached(LAST_AT)?.query_row([session], |row| row.get(1)).optional()?.map(Ms))
}

/// The newest first, as many as there is room for.
fn taken(conn: &Connection, sql: &str, session: &str) -> rusqlite::Result<Vec<(i64, PastEvent)>> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([session])?;
    let (mut found, mut bytes) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        let detail = row.get_ref(5)?.as_str_or_null()?.unwrap_or_default();
        bytes += detail.len();
        if bytes > MOST_BYTES {
            break;
        }
        if detail.len() <= LONGEST {
            found.push((row.get(0)?, past(row, detail)?));
        }
    }
    Ok(found)
}

fn past(row: &Row<'_>, detail: &str) -> rusqlite::Result<PastEvent> {
    Ok(PastEvent {
        at: Ms(row.get(1)?),
        event: row.get(2)?,
        tool: row.get(3)?,
        by_sub_agent: row.get(4)?,
        detail: serde_json::from_str(detail).unwrap_or_default(),
    })
}
