//! Sessions: found by logical id, pane or agent, written whole.

use crate::{Error, Store, projects};
use model::session::{ContextMemo, Once, Session, SessionState};
use model::{ClientProcess, Ms, Who};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, named_params, params_from_iter};

/// Which sessions to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFilter {
    pub agent: Option<String>,
    pub project: Option<String>,
    /// Leave the ended ones out.
    pub only_open: bool,
    /// At most so many, the newest; zero means all.
    pub limit: usize,
}

macro_rules! columns {
    () => {
        "id, logical_id, agent, pane, ended_at, state, started_at, last_seen_at, context_tokens, in_flight, \
         host_session, conversation, project, role, mode, cwd, transcript, client_pid, client_started, mission, \
         prev, parent, source, end_reason, context_window, context_limit, status_text, memo"
    };
}

/// Sessions are found by their row first and then fetched by one statement:
/// preparing many columns several times costs a hook more than all it reads.
pub(crate) const FETCH: &str = concat!("SELECT ", columns!(), " FROM sessions WHERE row = ?1");

pub(crate) const OPEN_OF_ID: &str =
    "SELECT row FROM sessions WHERE logical_id = ?1 AND ended_at IS NULL ORDER BY row DESC LIMIT 64";

pub(crate) const OPEN_OF_AGENT: &str =
    "SELECT row FROM sessions WHERE agent = ?1 AND ended_at IS NULL ORDER BY row DESC LIMIT 64";

pub(crate) const OPEN_OF_PANE: &str =
    "SELECT row FROM sessions WHERE pane = ?1 AND ended_at IS NULL ORDER BY row DESC LIMIT 64";

pub(crate) const OPEN_OF_CLIENT: &str = "SELECT row FROM sessions INDEXED BY sessions_open_by_client
    WHERE client_pid = ?1 AND ended_at IS NULL ORDER BY row DESC LIMIT 16";

pub(crate) const OPEN_OF_CONVERSATION: &str =
    "SELECT row FROM sessions WHERE conversation = ?1 AND ended_at IS NULL ORDER BY row DESC LIMIT 16";

pub(crate) const LAST_ENDED_OF_ID: &str = "SELECT row FROM sessions
    WHERE logical_id = ?1 AND ended_at IS NOT NULL ORDER BY ended_at DESC, row DESC LIMIT 16";

pub(crate) const LAST_ENDED_OF_AGENT: &str = "SELECT row FROM sessions
    WHERE agent = ?1 AND ended_at IS NOT NULL ORDER BY ended_at DESC, row DESC LIMIT 16";

pub(crate) const LAST_ENDED_OF_CLIENT: &str = "SELECT row FROM sessions INDEXED BY sessions_ended_by_client
    WHERE client_pid = ?1 AND ended_at IS NOT NULL ORDER BY ended_at DESC, row DESC LIMIT 1";

pub(crate) const LAST_ENDED_OF_CONVERSATION: &str = "SELECT row FROM sessions
    WHERE conversation = ?1 AND ended_at IS NOT NULL ORDER BY row DESC LIMIT 16";

/// What most events change. Columns that an index holds are compared instead
/// of set: setting one rewrites its index even where the value stays.
pub(crate) const TOUCH: &str = "UPDATE sessions SET state = :state, started_at = :started_at,
      last_seen_at = :last_seen_at, context_tokens = :context_tokens, in_flight = :in_flight,
      host_session = :host_session, role = :role, mode = :mode, cwd = :cwd,
      transcript = :transcript, client_started = :client_started, mission = :mission,
      prev = :prev, parent = :parent, source = :source,
      context_window = :context_window, context_limit = :context_limit, status_text = :status_text,
      memo = :memo
    WHERE id = :id AND logical_id = :logical_id AND agent = :agent AND pane IS :pane AND ended_at IS :ended_at
      AND end_reason IS :end_reason AND project IS :project AND conversation = :conversation AND client_pid IS :client_pid";

pub(crate) const PUT: &str = "INSERT INTO sessions (id, logical_id, agent, pane, ended_at, state, started_at,
      last_seen_at, context_tokens, in_flight, host_session, conversation, project, role, mode, cwd, transcript,
      client_pid, client_started, mission, prev, parent, source, end_reason, context_window, context_limit,
      status_text, memo)
    VALUES (:id, :logical_id, :agent, :pane, :ended_at, :state, :started_at, :last_seen_at, :context_tokens,
      :in_flight, :host_session, :conversation, :project, :role, :mode, :cwd, :transcript, :client_pid,
      :client_started, :mission, :prev, :parent, :source, :end_reason, :context_window, :context_limit,
      :status_text, :memo)
    ON CONFLICT (id) DO UPDATE SET logical_id = excluded.logical_id, agent = excluded.agent, pane = excluded.pane,
      ended_at = excluded.ended_at, state = excluded.state, started_at = excluded.started_at,
      last_seen_at = excluded.last_seen_at, context_tokens = excluded.context_tokens,
      in_flight = excluded.in_flight, host_session = excluded.host_session, conversation = excluded.conversation,
      project = excluded.project, role = excluded.role, mode = excluded.mode, cwd = excluded.cwd,
      transcript = excluded.transcript, client_pid = excluded.client_pid, client_started = excluded.client_started,
      mission = excluded.mission, prev = excluded.prev, parent = excluded.parent, source = excluded.source,
      end_reason = excluded.end_reason, context_window = excluded.context_window,
      context_limit = excluded.context_limit, status_text = excluded.status_text,
      memo = excluded.memo";

/// The sessions that say whom an event is about.
pub(crate) struct Around {
    /// The newest first.
    pub open: Vec<Session>,
    pub last_ended: Option<Session>,
    /// Open ones of the conversations of these, where a session begins.
    pub sharing: Vec<Session>,
    /// The agents that the event may be of.
    pub agents: Vec<String>,
}

/// At most 64 each way: enough for any real worker, and a bound, so that
/// sessions which were never ended cannot make an event slow. Whoever is not
/// found by its id and client begins or follows: only then more is looked at.
pub(crate) fn around(conn: &Connection, who: &Who) -> rusqlite::Result<Around> {
    let mut found = Found::default();
    found.add(conn, rows(conn, OPEN_OF_ID, &who.logical_id)?)?;
    // Sessions under other ids that the event itself speaks of.
    for id in who.previous.iter().chain(&who.helper) {
        found.add(conn, rows(conn, OPEN_OF_ID, id)?)?;
    }
    let carried = found.0.iter().find(|(_, session)| who.carries(session)).map(|(_, session)| session.agent.clone());
    let mut agents = vec![carried.clone().unwrap_or_else(|| who.agent.clone())];
    if let Some(pane) = &who.pane {
        found.add(conn, rows(conn, OPEN_OF_PANE, pane)?)?;
    }
    let mut sharing = Found::default();
    let last_ended = match &carried {
        Some(agent) => last_ended(conn, who, agent)?,
        None => {
            // A name says who it is; without one its process and its conversation do.
            if !who.named {
                found.add(conn, rows(conn, OPEN_OF_CLIENT, who.client.map(|client| client.pid))?)?;
                found.add(conn, rows(conn, OPEN_OF_CONVERSATION, &who.conversation)?)?;
            }
            let last_ended = followed(conn, who)?;
            // An unnamed one may be the agent of what it follows.
            let whose = found.0.iter().map(|(_, session)| session).chain(&last_ended).map(|session| &session.agent);
            agents.extend(whose.filter(|agent| **agent != who.agent).take(4).cloned());
            for session in found.0.iter().map(|(_, session)| session).chain(&last_ended).take(MOST_FOLLOWED) {
                sharing.add(conn, rows(conn, OPEN_OF_CONVERSATION, &session.conversation)?)?;
            }
            last_ended
        }
    };
    agents.dedup();
    for agent in &agents {
        found.add(conn, rows(conn, OPEN_OF_AGENT, agent)?)?;
    }
    Ok(Around { open: found.newest_first(), last_ended, sharing: sharing.newest_first(), agents })
}

/// Of so many that may be followed it is asked who has their conversation in hand.
const MOST_FOLLOWED: usize = 8;

/// Open sessions by their rows, each fetched once.
#[derive(Default)]
struct Found(Vec<(i64, Session)>);

impl Found {
    fn add(&mut self, conn: &Connection, rows: Vec<i64>) -> rusqlite::Result<()> {
        for row in rows {
            if !self.0.iter().any(|(known, _)| *known == row) {
                self.0.push((row, fetch(conn, row)?));
            }
        }
        Ok(())
    }

    fn newest_first(mut self) -> Vec<Session> {
        self.0.sort_unstable_by_key(|(row, session)| std::cmp::Reverse((session.started_at, *row)));
        self.0.into_iter().map(|(_, session)| session).collect()
    }
}

/// The client of an open session of this conversation in a project, where there is one.
pub(crate) fn open_in(
    conn: &Connection,
    conversation: &str,
    project: &str,
) -> rusqlite::Result<Option<Option<ClientProcess>>> {
    let open = of_rows(conn, OPEN_OF_CONVERSATION, conversation)?;
    Ok(open.into_iter().find(|session| session.project == project).map(|session| session.client))
}

/// The session goes on with what another left.
pub(crate) fn follow(conn: &Connection, id: &str, prev: &str, conversation: &str) -> rusqlite::Result<()> {
    let Some(session) = by_id(conn, id)? else { return Ok(()) };
    put(conn, &Session { prev: Some(prev.to_string()), conversation: conversation.to_string(), ..session })
}

/// The sessions whose rows this finds.
pub(crate) fn of_rows(conn: &Connection, sql: &str, value: &str) -> rusqlite::Result<Vec<Session>> {
    rows(conn, sql, value)?.into_iter().map(|row| fetch(conn, row)).collect()
}

pub(crate) fn open_of_id(conn: &Connection, logical_id: &str) -> rusqlite::Result<Vec<Session>> {
    rows(conn, OPEN_OF_ID, logical_id)?.into_iter().map(|row| fetch(conn, row)).collect()
}

/// Whether any session has carried this conversation.
pub(crate) const CONVERSATION: &str = "SELECT 1 FROM sessions WHERE conversation = ?1 LIMIT 1";

/// The conversation of the session with this id, ours or the one it is known by.
pub(crate) const CONVERSATION_OF: &str = "SELECT conversation FROM
    (SELECT conversation, row FROM sessions WHERE id = ?1
     UNION ALL SELECT conversation, row FROM sessions WHERE logical_id = ?1)
    ORDER BY row DESC LIMIT 1";

/// The session with our own id.
pub(crate) fn by_id(conn: &Connection, id: &str) -> rusqlite::Result<Option<Session>> {
    const BY_ID: &str = concat!("SELECT ", columns!(), " FROM sessions WHERE id = ?1");
    conn.prepare_cached(BY_ID)?.query_row([id], read).optional()
}

/// Whether what a session left is another agent's than one that speaks this dialect. Empty: nobody asks.
pub(crate) fn is_of_another(conn: &Connection, session: Option<&str>, dialect: &str) -> rusqlite::Result<bool> {
    const DIALECT: &str = "SELECT memo ->> '$.dialect' FROM sessions WHERE id = ?1";
    let Some(session) = session.filter(|_| !dialect.is_empty()) else { return Ok(false) };
    let theirs: Option<Option<String>> =
        conn.prepare_cached(DIALECT)?.query_row([session], |row| row.get(0)).optional()?;
    Ok(theirs.flatten().is_some_and(|theirs| theirs != dialect))
}

/// Something happened in a session that nobody else writes at the moment.
pub(crate) fn mark(conn: &Connection, id: &str, once: Once) -> rusqlite::Result<()> {
    let Some(mut session) = by_id(conn, id)?.filter(|session| !session.memo.has(once)) else { return Ok(()) };
    session.memo.once.push(once);
    put(conn, &session)
}

fn last_ended(conn: &Connection, who: &Who, agent: &str) -> rusqlite::Result<Option<Session>> {
    for (sql, of) in [(LAST_ENDED_OF_ID, who.logical_id.as_str()), (LAST_ENDED_OF_AGENT, agent)] {
        for row in rows(conn, sql, of)? {
            let session = fetch(conn, row)?;
            if who.speaks_as(&session) {
                return Ok(Some(session));
            }
        }
    }
    Ok(None)
}

/// The ended session that one which begins may follow: of the same id, else of the same agent. One
/// without a name is known by its conversation before that, and by its process after it. What is of
/// this project or of this very process goes before what only bears the same name, and nothing is followed of
/// another agent.
fn followed(conn: &Connection, who: &Who) -> rusqlite::Result<Option<Session>> {
    let here = |session: &Session| {
        session.project == who.project || (session.client.is_some() && session.client == who.client)
    };
    let pid = who.client.map(|client| client.pid);
    let ways: [(&str, &dyn ToSql, bool); 5] = [
        (LAST_ENDED_OF_ID, &who.previous, who.previous.is_some()),
        (LAST_ENDED_OF_ID, &who.logical_id, true),
        (LAST_ENDED_OF_CONVERSATION, &who.conversation, !who.named),
        (LAST_ENDED_OF_AGENT, &who.agent, true),
        (LAST_ENDED_OF_CLIENT, &pid, !who.named),
    ];
    let mut elsewhere = None;
    for (sql, of, _) in ways.into_iter().filter(|(_, _, asked)| *asked) {
        for row in rows(conn, sql, of)? {
            let session = fetch(conn, row)?;
            if !who.speaks_as(&session) {
                continue;
            }
            if here(&session) {
                return Ok(Some(session));
            }
            elsewhere = elsewhere.or(Some(session));
        }
    }
    Ok(elsewhere)
}

fn rows(conn: &Connection, sql: &str, of: impl ToSql) -> rusqlite::Result<Vec<i64>> {
    conn.prepare_cached(sql)?.query_map([of], |row| row.get(0))?.collect()
}

pub(crate) fn fetch(conn: &Connection, row: i64) -> rusqlite::Result<Session> {
    conn.prepare_cached(FETCH)?.query_row([row], read)
}

pub(crate) fn put(conn: &Connection, session: &Session) -> rusqlite::Result<()> {
    if write(conn, TOUCH, session)? == 0 {
        if !session.project.is_empty() {
            projects::see(conn, &session.project, session.started_at)?;
        }
        write(conn, PUT, session)?;
    }
    Ok(())
}

fn write(conn: &Connection, sql: &str, session: &Session) -> rusqlite::Result<usize> {
    conn.prepare_cached(sql)?.execute(named_params! {
        ":id": session.id,
        ":logical_id": session.logical_id,
        ":agent": session.agent,
        ":pane": session.pane,
        ":ended_at": session.ended_at.map(|at| at.0),
        ":state": session.state.name(),
        ":started_at": session.started_at.0,
        ":last_seen_at": session.last_seen_at.0,
        ":context_tokens": session.context_tokens.map(u64::cast_signed),
        ":in_flight": in_flight_text(&session.in_flight),
        ":host_session": session.host_session,
        ":conversation": session.conversation,
        ":project": Some(&session.project).filter(|path| !path.is_empty()),
        ":role": session.role,
        ":mode": session.mode,
        ":cwd": session.cwd,
        ":transcript": session.transcript,
        ":client_pid": session.client.map(|client| client.pid),
        ":client_started": session.client.map(|client| client.started.cast_signed()),
        ":mission": session.mission,
        ":prev": session.prev,
        ":parent": session.parent,
        ":source": session.source,
        ":end_reason": session.end_reason,
        ":context_window": session.context_window.map(u64::cast_signed),
        ":context_limit": session.context_limit.map(u64::cast_signed),
        ":status_text": session.status_text,
        ":memo": memo_text(&session.memo),
    })
}

const HAD: &str = "SELECT EXISTS (SELECT 1 FROM sessions WHERE ifnull(host_session, '') NOT LIKE 'taut-proof-%')";

impl Store {
    /// Whether an agent ever had a session here. The proofs of `taut init` and `taut doctor` are none.
    pub fn had_sessions(&self) -> Result<bool, Error> {
        self.read(|conn| conn.prepare_cached(HAD)?.query_row([], |row| row.get(0)))
    }

    /// Sessions, the newest first.
    pub fn sessions(&self, filter: &SessionFilter) -> Result<Vec<Session>, Error> {
        let mut sql = concat!("SELECT ", columns!(), " FROM sessions WHERE 1").to_owned();
        let mut values: Vec<Value> = Vec::new();
        if let Some(agent) = &filter.agent {
            sql.push_str(" AND agent = ?");
            values.push(agent.clone().into());
        }
        if let Some(project) = &filter.project {
            sql.push_str(" AND project = ?");
            values.push(project.clone().into());
        }
        if filter.only_open {
            sql.push_str(" AND ended_at IS NULL");
        }
        sql.push_str(" ORDER BY row DESC");
        if filter.limit > 0 {
            sql.push_str(" LIMIT ?");
            values.push(i64::try_from(filter.limit).unwrap_or(i64::MAX).into());
        }
        self.read(|conn| conn.prepare(&sql)?.query_map(params_from_iter(values), read)?.collect())
    }

    /// The session with this id, or the newest with this logical id.
    pub fn session(&self, id: &str) -> Result<Option<Session>, Error> {
        const FIND: &str = concat!(
            "SELECT ",
            columns!(),
            " FROM sessions WHERE id = ?1 OR logical_id = ?1 ORDER BY id = ?1 DESC, row DESC LIMIT 1"
        );
        self.read(|conn| conn.prepare_cached(FIND)?.query_row([id], read).optional())
    }
}

fn memo_text(memo: &ContextMemo) -> Option<String> {
    if *memo == ContextMemo::default() { None } else { serde_json::to_string(memo).ok() }
}

fn in_flight_text(in_flight: &[String]) -> Option<String> {
    (!in_flight.is_empty()).then(|| serde_json::Value::from(in_flight).to_string())
}

fn read(row: &Row<'_>) -> rusqlite::Result<Session> {
    let in_flight: Option<String> = row.get(9)?;
    let memo: Option<String> = row.get(27)?;
    let pid: Option<u32> = row.get(17)?;
    let started: Option<i64> = row.get(18)?;
    Ok(Session {
        id: row.get(0)?,
        logical_id: row.get(1)?,
        agent: row.get(2)?,
        pane: row.get(3)?,
        ended_at: row.get::<_, Option<i64>>(4)?.map(Ms),
        state: SessionState::parse(row.get_ref(5)?.as_str()?).unwrap_or_default(),
        started_at: Ms(row.get(6)?),
        last_seen_at: Ms(row.get(7)?),
        context_tokens: row.get::<_, Option<i64>>(8)?.map(i64::cast_unsigned),
        in_flight: in_flight.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default(),
        host_session: row.get(10)?,
        conversation: row.get(11)?,
        project: row.get::<_, Option<String>>(12)?.unwrap_or_default(),
        role: row.get(13)?,
        mode: row.get(14)?,
        cwd: row.get(15)?,
        transcript: row.get(16)?,
        client: pid.map(|pid| ClientProcess { pid, started: started.map(i64::cast_unsigned).unwrap_or_default() }),
        mission: row.get(19)?,
        prev: row.get(20)?,
        parent: row.get(21)?,
        source: row.get(22)?,
        end_reason: row.get(23)?,
        context_window: row.get::<_, Option<i64>>(24)?.map(i64::cast_unsigned),
        context_limit: row.get::<_, Option<i64>>(25)?.map(i64::cast_unsigned),
        status_text: row.get(26)?,
        memo: memo.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default(),
    })
}
