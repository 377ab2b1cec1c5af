//! Agents: the workers of the fleet.

use crate::{Durability, Error, Store};
use model::Ms;
use model::row::{Agent, AgentStatus};
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

    /// All agents, the one whose status changed last first.
    pub fn agents(&self) -> Result<Vec<Agent>, Error> {
        self.read(|conn| conn.prepare_cached(LIST)?.query_map([], read)?.collect())
    }
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
