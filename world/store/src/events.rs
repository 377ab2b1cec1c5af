//! Events: every hook call as it happened, once per key.

use crate::{Durability, Error, Store};
use model::row::Event;
use model::{Answer, Level, Ms};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};

/// Which events to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// Only those stored after the one with this key; an unknown key is ignored.
    pub since_key: Option<String>,
    /// Only those stored before the one with this key; an unknown key is ignored.
    pub before_key: Option<String>,
    /// Only those that happened at this moment or later.
    pub since: Option<Ms>,
    /// Only those that happened before this moment.
    pub until: Option<Ms>,
    pub agent: Option<String>,
    pub session: Option<String>,
    /// Only those of sessions in this project.
    pub project: Option<String>,
    pub only_denied: bool,
    /// Only calls of this tool.
    pub tool: Option<String>,
    /// Only those on which this rule had a word.
    pub rule: Option<String>,
    /// Not the proofs of `taut init` and `taut doctor`.
    pub without_proofs: bool,
    /// At most so many; zero means all. The newest of them, or with `since_key`
    /// the ones that follow it.
    pub limit: usize,
}

pub(crate) const ANSWERED: &str = "SELECT answer_stdout, answer_stderr, answer_exit FROM events WHERE key = ?1";

pub(crate) const ANSWERED_AROUND: &str =
    "SELECT 1 FROM events WHERE key >= ?1 AND key < ?2 AND at BETWEEN ?3 AND ?4 LIMIT 1";

pub(crate) const TOLD_ONCE: &str = "SELECT answer_stdout, answer_stderr, answer_exit, key, verdict FROM events
    WHERE key >= ?1 AND key < ?2 AND at BETWEEN ?3 AND ?4 AND json_extract(detail, '$.asked') = ?5";

/// It waits for no other hook any more, and its answer is given now.
pub(crate) const TOLD_AGAIN: &str =
    "UPDATE events SET detail = json_remove(detail, '$.asked', '$.delivered') WHERE key = ?1";

/// Numbered behind all that ever were, those included that are forgotten.
pub(crate) const RECORD: &str = "INSERT INTO events (seq, id, key, at, agent, session, host_session, sub_agent, event,
      tool, verdict, micros, rules, answer_exit, answer_stdout, answer_stderr, reason, detail)
    VALUES (1 + max(ifnull((SELECT max(seq) FROM events), 0),
        ifnull((SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'events.last'), 0)),
      ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
    ON CONFLICT DO NOTHING";

/// An answer that nobody was there to take.
const NOT_DELIVERED: &str = "UPDATE events SET detail = json_set(ifnull(detail, '{}'), '$.delivered', json('false'))
    WHERE key = ?1";

const DELIVERED: &str = "UPDATE events SET detail = json_remove(detail, '$.delivered')
    WHERE key = ?1 AND json_extract(detail, '$.delivered') IS NOT NULL";

/// The verdict that was stored is kept beside the one that was answered.
const ANSWERED_INSTEAD: &str = "UPDATE events SET verdict = ?2, rules = ?3, reason = ?4, answer_exit = ?5,
      answer_stdout = ?6, answer_stderr = ?7,
      detail = json_remove(json_set(ifnull(detail, '{}'), '$.judged_late', verdict), '$.delivered')
    WHERE key = ?1 AND (verdict != ?2 OR answer_stdout IS NOT ?6)";

pub(crate) const SEQ_OF: &str = "SELECT seq FROM events WHERE key = ?1";

pub(crate) const DENIED_SINCE: &str = "SELECT rule.value, count(*) FROM events, json_each(events.rules) AS rule
    WHERE verdict = 'deny' AND at >= ?1 AND ifnull(host_session, '') NOT LIKE 'taut-proof-%'
      AND rule.value NOT IN (SELECT value FROM json_each(events.detail, '$.stop.let_pass'))
    GROUP BY 1 ORDER BY 2 DESC, 1";

macro_rules! columns {
    () => {
        "id, key, at, agent, session, host_session, sub_agent, event, tool, verdict, micros, rules, \
         answer_exit, answer_stdout, answer_stderr, reason, detail"
    };
}

pub(crate) use columns;

pub(crate) const COLUMNS: &str = columns!();
const LIST: &str = concat!("SELECT ", columns!(), " FROM events WHERE 1");

pub(crate) fn answered(conn: &Connection, key: &str) -> rusqlite::Result<Option<Answer>> {
    conn.prepare_cached(ANSWERED)?.query_row([key], answer).optional()
}

/// Calls that ask for the same: their keys begin so, up to a slash, and they came so many milliseconds before or after
/// this moment at most. A clock that was set back leaves older ones in the future.
#[derive(Debug, Clone, Copy)]
pub struct SameCalls<'a> {
    pub begins: &'a str,
    pub at: Ms,
    pub within: i64,
}

/// A call that one of two hooks was told, and the other not yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToldOnce {
    pub key: String,
    /// What it was answered, where that stopped it.
    pub stop: Option<Answer>,
}

impl SameCalls<'_> {
    /// The character that follows the slash.
    fn end(&self) -> String {
        format!("{}0", self.begins.trim_end_matches('/'))
    }

    fn moments(&self) -> [i64; 2] {
        [self.at.plus(-self.within).0, self.at.plus(self.within).0]
    }

    /// Whether one of them was answered.
    pub(crate) fn answered(&self, conn: &Connection) -> rusqlite::Result<bool> {
        let [from, to] = self.moments();
        conn.prepare_cached(ANSWERED_AROUND)?.exists(params![self.begins, self.end(), from, to])
    }

    /// The one that waits for its other hook to ask this; of several one that was stopped.
    pub(crate) fn told_once(&self, conn: &Connection, asked: &str) -> rusqlite::Result<Option<ToldOnce>> {
        let [from, to] = self.moments();
        let mut found = conn.prepare_cached(TOLD_ONCE)?;
        let rows = found.query_map(params![self.begins, self.end(), from, to, asked], |row| {
            let stopped = Level::parse(row.get_ref(4)?.as_str()?).is_none_or(|level| level >= Level::Ask);
            let stop = stopped.then(|| answer(row)).transpose()?;
            Ok(ToldOnce { key: row.get(3)?, stop: stop.filter(|stop| *stop != Answer::default()) })
        })?;
        let rows = rows.collect::<rusqlite::Result<Vec<_>>>()?;
        Ok(rows.into_iter().max_by_key(|one| one.stop.is_some()))
    }
}

/// Both hooks were told of the call with this key.
pub(crate) fn told_again(conn: &Connection, key: &str) -> rusqlite::Result<()> {
    conn.prepare_cached(TOLD_AGAIN)?.execute([key]).map(drop)
}

fn answer(row: &Row<'_>) -> rusqlite::Result<Answer> {
    Ok(Answer {
        stdout: row.get::<_, Option<String>>(0)?.unwrap_or_default(),
        stderr: row.get::<_, Option<String>>(1)?.unwrap_or_default(),
        exit: row.get::<_, Option<u8>>(2)?.unwrap_or_default(),
    })
}

/// The stored answer is given now, to whoever asks again.
pub(crate) fn delivered(conn: &Connection, key: &str) -> rusqlite::Result<()> {
    conn.prepare_cached(DELIVERED)?.execute([key]).map(drop)
}

/// The client was answered this and not what is stored: somebody else judged the same call, and too late.
pub(crate) fn answered_instead(conn: &Connection, event: &Event) -> rusqlite::Result<()> {
    conn.prepare_cached(ANSWERED_INSTEAD)?
        .execute(params![
            event.key,
            event.verdict.name(),
            rules(event),
            event.reason,
            Some(event.answer.exit).filter(|exit| *exit != 0),
            text(&event.answer.stdout),
            text(&event.answer.stderr),
        ])
        .map(drop)
}

fn rules(event: &Event) -> Option<String> {
    (!event.rules.is_empty()).then(|| serde_json::Value::from(event.rules.as_slice()).to_string())
}

fn text(part: &str) -> Option<&str> {
    Some(part).filter(|part| !part.is_empty())
}

/// Stores the event unless its key is there already: a call told twice is one
/// event. Whether it is new.
pub(crate) fn record(conn: &Connection, event: &Event) -> rusqlite::Result<bool> {
    conn.prepare_cached(RECORD)?
        .execute(params![
            event.id,
            event.key,
            event.at.0,
            event.agent,
            event.session,
            event.host_session,
            event.sub_agent,
            event.event,
            event.tool,
            event.verdict.name(),
            event.micros.cast_signed(),
            rules(event),
            Some(event.answer.exit).filter(|exit| *exit != 0),
            text(&event.answer.stdout),
            text(&event.answer.stderr),
            event.reason,
            (!event.detail.is_null()).then(|| event.detail.to_string()),
        ])
        .map(|rows| rows > 0)
}

/// Among those that were stored last: whoever types a code has just seen it.
const OF_CODE: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM (SELECT * FROM events ORDER BY seq DESC LIMIT 50000) WHERE detail LIKE ?1 OR detail \
     LIKE ?2 ORDER BY seq"
);

const LET_PASS: &str =
    concat!("SELECT ", columns!(), " FROM events WHERE at >= ?1 AND detail LIKE '%\"allowed\":[%' ORDER BY seq");

impl Store {
    /// The calls that were let through since then although a rule would have stopped them.
    pub fn let_pass_since(&self, since: Ms) -> Result<Vec<Event>, Error> {
        self.read(|conn| conn.prepare(LET_PASS)?.query_map([since.0], read)?.collect())
    }

    /// The events of calls whose code begins so: those that were stopped, and those that were let through by it.
    pub fn events_of_code(&self, code: &str) -> Result<Vec<Event>, Error> {
        let named = |event: &Event| {
            let allowed = event.detail["allowed"].as_array().into_iter().flatten().map(|one| &one["call"]);
            let mut codes = std::iter::once(&event.detail["stop"]["code"]).chain(allowed);
            codes.any(|one| one.as_str().is_some_and(|one| one.starts_with(code)))
        };
        let likes = ["code", "call"].map(|name| format!("%\"{name}\":\"{code}%"));
        let found: Vec<Event> = self.read(|conn| conn.prepare(OF_CODE)?.query_map(likes, read)?.collect())?;
        Ok(found.into_iter().filter(named).collect())
    }

    /// Notes that what was stored as answered reached nobody.
    pub fn undelivered(&mut self, keys: &[String]) -> Result<(), Error> {
        self.transact(Durability::Normal, |tx| {
            tx.verb(|conn| keys.iter().try_for_each(|key| conn.prepare_cached(NOT_DELIVERED)?.execute([key]).map(drop)))
        })
    }

    /// Events in the order they were stored.
    pub fn events(&self, filter: &EventFilter) -> Result<Vec<Event>, Error> {
        self.list(filter).map_err(|cause| self.error(cause))
    }

    /// How often each rule denied something since then, most often first. The
    /// proofs of `taut init` and `taut doctor` are not work and do not count.
    pub fn denied_since(&self, since: Ms) -> Result<Vec<(String, u64)>, Error> {
        self.read(|conn| {
            conn.prepare_cached(DENIED_SINCE)?
                .query_map([since.0], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned())))?
                .collect()
        })
    }

    fn list(&self, filter: &EventFilter) -> rusqlite::Result<Vec<Event>> {
        let seq = |key: &Option<String>| match key {
            Some(key) => self.conn.prepare_cached(SEQ_OF)?.query_row([key], |row| row.get::<_, i64>(0)).optional(),
            None => Ok(None),
        };
        let (after, before) = (seq(&filter.since_key)?, seq(&filter.before_key)?);
        let (sql, values) = list_query(filter, after, before);
        let mut found: Vec<Event> =
            self.conn.prepare(&sql)?.query_map(params_from_iter(values), read)?.collect::<Result<_, _>>()?;
        if after.is_none() {
            found.reverse();
        }
        Ok(found)
    }
}

/// Without a cursor the newest come first, so that a limit keeps them.
pub(crate) fn list_query(filter: &EventFilter, after: Option<i64>, before: Option<i64>) -> (String, Vec<Value>) {
    let mut sql = LIST.to_owned();
    let mut values: Vec<Value> = Vec::new();
    for (clause, seq) in [(" AND seq > ?", after), (" AND seq < ?", before)] {
        if let Some(seq) = seq {
            sql.push_str(clause);
            values.push(seq.into());
        }
    }
    narrow(filter, &mut sql, &mut values);
    sql.push_str(if after.is_some() { " ORDER BY seq" } else { " ORDER BY seq DESC" });
    if filter.limit > 0 {
        sql.push_str(" LIMIT ?");
        values.push(i64::try_from(filter.limit).unwrap_or(i64::MAX).into());
    }
    (sql, values)
}

/// What an event must be like, wherever it is looked for.
pub(crate) fn narrow(filter: &EventFilter, sql: &mut String, values: &mut Vec<Value>) {
    let mut also = |clause: &str, value: Value| {
        sql.push_str(clause);
        values.push(value);
    };
    if let Some(since) = filter.since {
        also(" AND at >= ?", since.0.into());
    }
    if let Some(until) = filter.until {
        also(" AND at < ?", until.0.into());
    }
    if let Some(tool) = &filter.tool {
        also(" AND tool = ?", tool.clone().into());
    }
    if let Some(rule) = &filter.rule {
        also(" AND EXISTS (SELECT 1 FROM json_each(events.rules) WHERE value = ?)", rule.clone().into());
    }
    if let Some(agent) = &filter.agent {
        also(" AND agent = ?", agent.clone().into());
    }
    if let Some(session) = &filter.session {
        also(" AND session = ?", session.clone().into());
    }
    if let Some(project) = &filter.project {
        also(" AND (session IN (SELECT id FROM sessions WHERE project = ?)", project.clone().into());
        // What was put by in bad times knows only what the client called its session.
        const PUT_BY: &str =
            " OR session IS NULL AND host_session IN (SELECT host_session FROM sessions WHERE project = ?))";
        also(PUT_BY, project.clone().into());
    }
    if filter.only_denied {
        sql.push_str(" AND verdict IN ('deny', 'ask')");
    }
    if filter.without_proofs {
        sql.push_str(" AND ifnull(host_session, '') NOT LIKE 'taut-proof-%'");
    }
}

pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Event> {
    let rules: Option<String> = row.get(11)?;
    let detail: Option<String> = row.get(16)?;
    Ok(Event {
        id: row.get(0)?,
        key: row.get(1)?,
        at: Ms(row.get(2)?),
        agent: row.get(3)?,
        session: row.get(4)?,
        host_session: row.get(5)?,
        sub_agent: row.get(6)?,
        event: row.get(7)?,
        tool: row.get(8)?,
        verdict: Level::parse(row.get_ref(9)?.as_str()?).unwrap_or_default(),
        micros: row.get::<_, i64>(10)?.cast_unsigned(),
        rules: rules.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default(),
        reason: row.get(15)?,
        detail: detail.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default(),
        answer: Answer {
            exit: row.get::<_, Option<u8>>(12)?.unwrap_or_default(),
            stdout: row.get::<_, Option<String>>(13)?.unwrap_or_default(),
            stderr: row.get::<_, Option<String>>(14)?.unwrap_or_default(),
        },
    })
}
