//! The last events of one session, for the note that is written of it. Bounded in
//! rows looked at, rows taken and bytes: a session may be weeks long.

use model::Ms;
use model::session_work::{HistoryNeed, HistoryWhen, MEMORY_OFF, PastEvent, SessionHistory};
use rusqlite::{Connection, OptionalExtension, Row};

/// Bytes of all that is taken.
const MOST_BYTES: usize = 1 << 20;

/// A call that says more than this is left out.
const LONGEST: usize = 64 * 1024;

macro_rules! of_session {
    ($rest:literal) => {
        of_session!(5000, $rest)
    };
    ($rows:literal, $rest:literal) => {
        concat!(
            "SELECT seq, at, event, tool, sub_agent IS NOT NULL, detail FROM
               (SELECT seq, at, event, tool, sub_agent, detail FROM events WHERE session = ?1 ORDER BY seq DESC LIMIT ",
            $rows,
            ") WHERE ",
            $rest
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

/// Of a session that worked very long by itself.
pub(crate) const EARLIER_PROMPTS: &str = of_session!(50000, "event = 'UserPromptSubmit' LIMIT 8");

/// Those that were said while memory was off are nobody's.
pub(crate) const FIRST_PROMPTS: &str = "SELECT substr(detail ->> '$.prompt', 1, 400) FROM
      (SELECT event, sub_agent, detail FROM events WHERE session = ?1 ORDER BY seq LIMIT 1000)
    WHERE event = 'UserPromptSubmit' AND sub_agent IS NULL AND detail ->> '$.memory_off' IS NULL LIMIT 20";

pub(crate) const ANY_CALL: &str = "SELECT 1 FROM
      (SELECT event, detail FROM events WHERE session = ?1 ORDER BY seq DESC LIMIT 1000)
    WHERE event IN ('PreToolUse', 'PostToolUse', 'PostToolUseFailure') AND detail ->> '$.memory_off' IS NULL LIMIT 1";

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
    if prompts.is_empty() {
        prompts = taken(conn, EARLIER_PROMPTS, &need.session)?;
    }
    prompts.retain(|(seen, _)| events.iter().all(|(known, _)| known != seen));
    events.extend(prompts);
    Ok(SessionHistory {
        session: need.session.clone(),
        first_prompts: first_prompts(conn, &need.session)?,
        events: events.into_iter().map(|(_, event)| event).collect(),
    })
}

pub(super) fn first_prompts(conn: &Connection, session: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = conn.prepare_cached(FIRST_PROMPTS)?;
    let said = statement.query_map([session], |row| row.get::<_, Option<String>>(0))?;
    Ok(said.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// Whether anything was done in the session.
pub(super) fn any_call(conn: &Connection, session: &str) -> rusqlite::Result<bool> {
    conn.prepare_cached(ANY_CALL)?.exists([session])
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
        if detail.len() > LONGEST {
            continue;
        }
        let event = past(row, detail)?;
        if event.detail.get(MEMORY_OFF).is_none() {
            found.push((row.get(0)?, event));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;
    use std::time::Duration;

    #[test]
    fn m2_the_prompt_of_a_session_that_worked_long_by_itself_is_found() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open_and_migrate(home.path(), Duration::from_secs(5)).unwrap();
        let put = |name: &str, event: &str, detail: &str| {
            let sql = "INSERT INTO events (id, key, at, agent, session, event, verdict, micros, detail)
                VALUES (?1, ?1, 1, 'ann', 's', ?2, 'pass', 1, ?3)";
            store.conn.execute(sql, [name, event, detail]).unwrap();
        };
        store.conn.execute_batch("BEGIN").unwrap();
        put("p", "UserPromptSubmit", r#"{"prompt": "build the ark"}"#);
        for n in 0..6_000 {
            put(&n.to_string(), "PostToolUse", "{}");
        }
        store.conn.execute_batch("COMMIT").unwrap();
        let need = HistoryNeed { session: "s".into(), when: HistoryWhen::Always, only_with_effort: false };
        let found = of(&store.conn, &need, None).unwrap();
        assert!(found.events.iter().any(|event| event.detail["prompt"] == "build the ark"));
        assert_eq!(found.first_prompts, ["build the ark"]);
    }
}
