//! Agents: the workers of the fleet.

use crate::{Durability, Error, Store, sessions};
use model::Ms;
use model::row::{Agent, AgentStatus};
use model::session::Session;
use rusqlite::{Connection, OptionalExtension, Row, params};

pub(crate) const LOAD: &str = "SELECT id, named, status, session, project, since, dialect FROM agents WHERE id = ?1";

pub(crate) const PUT: &str = "INSERT INTO agents (id, named, status, session, project, since, dialect)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
    ON CONFLICT (id) DO UPDATE SET named = excluded.named, status = excluded.status, session = excluded.session,
      project = excluded.project, since = excluded.since, dialect = excluded.dialect";

const REST: &str = "UPDATE agents SET session = NULL, status = 'done',
      since = CASE status WHEN 'done' THEN since ELSE ?3 END
    WHERE id = ?1 AND session = ?2";

const LIST: &str = "SELECT id, named, status, session, project, since, dialect FROM agents ORDER BY since DESC, id";

pub(crate) fn load(conn: &Connection, id: &str) -> rusqlite::Result<Option<Agent>> {
    conn.prepare_cached(LOAD)?.query_row([id], read).optional()
}

pub(crate) fn put(conn: &Connection, agent: &Agent) -> rusqlite::Result<()> {
    let Agent { id, named, status, dialect, session, project, since } = agent;
    conn.prepare_cached(PUT)?.execute(params![id, named, status.name(), session, project, since.0, dialect]).map(drop)
}

pub(crate) fn rest(conn: &Connection, agent: &str, session: &str, at: Ms) -> rusqlite::Result<()> {
    conn.prepare_cached(REST)?.execute(params![agent, session, at.0]).map(drop)
}

/// Agents whose client is at work or waits for its user, with the session that is theirs.
const UNRESTED: &str = "SELECT agents.id, agents.session FROM agents
    WHERE agents.status IN ('attention', 'checked', 'working') AND agents.session IS NOT NULL ORDER BY agents.id LIMIT ?1";

/// The others that have a session, which have nothing to do.
const RESTED: &str = "SELECT agents.id, agents.session FROM agents
    WHERE agents.status IN ('done', 'error') AND agents.session IS NOT NULL ORDER BY agents.id LIMIT ?1";

/// More than this at once are not followed.
const MOST_FOLLOWED: i64 = 1_000;

/// What came of somebody looking at an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focus {
    /// It had wanted attention, and has been looked at.
    Checked,
    /// It wanted none, and stays as it was.
    Untouched(AgentStatus),
}

const FOCUS: &str = "UPDATE agents SET status = 'checked', since = ?2 WHERE id = ?1 AND status = 'attention'";

const IN_PANE: &str = "SELECT DISTINCT agent FROM sessions WHERE pane = ?1 AND ended_at IS NULL";

impl Store {
    /// Somebody looks at an agent: attention becomes checked, and nothing else changes.
    pub fn focus(&mut self, id: &str, at: Ms) -> Result<Option<Focus>, Error> {
        // A look that finds nothing to change takes no lock: panes are focused all day.
        match self.read(|conn| load(conn, id))?.map(|agent| agent.status) {
            None => Ok(None),
            Some(AgentStatus::Attention) => self.transact(Durability::Normal, |tx| {
                tx.verb(|conn| {
                    let changed = conn.prepare_cached(FOCUS)?.execute(params![id, at.0])? > 0;
                    let status = load(conn, id)?.map(|agent| agent.status);
                    Ok(status.map(|status| if changed { Focus::Checked } else { Focus::Untouched(status) }))
                })
            }),
            Some(status) => Ok(Some(Focus::Untouched(status))),
        }
    }

    /// The agents with an open session in this pane (`/tmp/tmux-1000/default %3`).
    pub fn agents_in_pane(&self, pane: &str) -> Result<Vec<String>, Error> {
        self.read(|conn| conn.prepare_cached(IN_PANE)?.query_map([pane], |row| row.get(0))?.collect())
    }

    pub fn agent(&self, id: &str) -> Result<Option<Agent>, Error> {
        self.read(|conn| load(conn, id))
    }

    /// Agents that are not at rest, with their open sessions.
    pub fn unrested(&self) -> Result<Vec<(Agent, Session)>, Error> {
        self.read(|conn| pairs(conn, UNRESTED))
    }

    /// Agents that have nothing to do, with their open sessions.
    pub fn rested(&self) -> Result<Vec<(Agent, Session)>, Error> {
        self.read(|conn| pairs(conn, RESTED))
    }

    /// All agents, the one whose status changed last first.
    pub fn agents(&self) -> Result<Vec<Agent>, Error> {
        self.read(|conn| conn.prepare_cached(LIST)?.query_map([], read)?.collect())
    }
}

fn pairs(conn: &Connection, sql: &str) -> rusqlite::Result<Vec<(Agent, Session)>> {
    let read = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
    let found: Vec<(String, String)> =
        conn.prepare_cached(sql)?.query_map([MOST_FOLLOWED], read)?.collect::<Result<_, _>>()?;
    let pairs = found.iter().map(|(agent, session)| pair(conn, agent, session));
    pairs.filter_map(Result::transpose).collect()
}

/// An agent with the open session that its row names.
pub(crate) fn pair(conn: &Connection, agent: &str, session: &str) -> rusqlite::Result<Option<(Agent, Session)>> {
    let agent = load(conn, agent)?.filter(|agent| agent.session.as_deref() == Some(session));
    let session = sessions::by_id(conn, session)?.filter(Session::open);
    Ok(agent.zip(session))
}

fn read(row: &Row<'_>) -> rusqlite::Result<Agent> {
    Ok(Agent {
        id: row.get(0)?,
        named: row.get(1)?,
        status: AgentStatus::parse(row.get_ref(2)?.as_str()?).unwrap_or_default(),
        session: row.get(3)?,
        project: row.get(4)?,
        since: Ms(row.get(5)?),
        dialect: row.get(6)?,
    })
}
