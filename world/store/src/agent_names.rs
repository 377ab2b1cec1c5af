//! What agents are called: given once when one appears, kept while it is there, changed only by a person.

use crate::{Durability, Error, Store};
use model::Ms;
use model::agent_name::{self, AgentMatch, AgentNames, KnownAgent, MOST_NUMBERED, NameWish};
use rusqlite::{Connection, OptionalExtension, Row, params};

pub(crate) const OWN: &str = "SELECT name FROM agent_names WHERE agent = ?1";

pub(crate) const PUT: &str = "INSERT INTO agent_names (agent, name, key, chosen, at) VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT (agent) DO UPDATE SET name = excluded.name, key = excluded.key, chosen = excluded.chosen, at = excluded.at";

/// Another who is here and has this name.
pub(crate) const IS_TAKEN: &str = "SELECT 1 FROM agent_names JOIN agents ON agents.id = agent_names.agent
    WHERE agent_names.key = ?1 AND agent_names.agent <> ?2
      AND (agents.session IS NOT NULL OR agents.status = 'error') LIMIT 1";

/// Somebody's id: a name that is one would be taken for it.
pub(crate) const IS_ID: &str = "SELECT 1 FROM agents WHERE id = ?1 AND id <> ?2 LIMIT 1";

/// What a person chose stays free for whom they chose it, also while that one is away.
pub(crate) const IS_CHOSEN: &str = "SELECT 1 FROM agent_names WHERE key = ?1 AND agent <> ?2 AND chosen LIMIT 1";

/// Everybody who can be meant: those that have a row, and those whose name is remembered.
const KNOWN: &str = "SELECT agents.id, agent_names.name,
      agents.session IS NOT NULL OR agents.status = 'error' OR agents.named, agents.since
    FROM agents LEFT JOIN agent_names ON agent_names.agent = agents.id
    UNION ALL SELECT agent, name, 0, at FROM agent_names WHERE agent NOT IN (SELECT id FROM agents)";

/// What comes of a person naming an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Renamed {
    /// It is called this from now on.
    To(String),
    /// Another that is here is called so.
    Taken,
}

/// Gives an agent that appears its name. One that has been here keeps what it had, unless another has that meanwhile.
pub(crate) fn give(conn: &Connection, wish: &NameWish) -> rusqlite::Result<()> {
    let NameWish { agent, project, at } = wish;
    if let Some(own) = own(conn, agent)?
        && is_free(conn, agent, &own)?
    {
        return Ok(());
    }
    after_project(conn, agent, project, *at).map(drop)
}

fn after_project(conn: &Connection, agent: &str, project: &str, at: Ms) -> rusqlite::Result<String> {
    let folder = agent_name::of_project(project);
    for number in 1..=MOST_NUMBERED {
        let name = agent_name::numbered(&folder, number);
        if is_free(conn, agent, &name)? {
            put(conn, agent, &name, false, at)?;
            return Ok(name);
        }
    }
    // So many of one name are told apart by their ids.
    conn.prepare_cached("DELETE FROM agent_names WHERE agent = ?1")?.execute([agent])?;
    Ok(agent.to_string())
}

fn is_free(conn: &Connection, agent: &str, name: &str) -> rusqlite::Result<bool> {
    let key = agent_name::key(name);
    let chosen = conn.prepare_cached(IS_CHOSEN)?.exists([key.as_str(), agent])?;
    Ok(!chosen && !is_taken(conn, agent, name)?)
}

fn is_taken(conn: &Connection, agent: &str, name: &str) -> rusqlite::Result<bool> {
    let key = agent_name::key(name);
    Ok(conn.prepare_cached(IS_TAKEN)?.exists([key.as_str(), agent])?
        || conn.prepare_cached(IS_ID)?.exists([name, agent])?)
}

fn put(conn: &Connection, agent: &str, name: &str, chosen: bool, at: Ms) -> rusqlite::Result<()> {
    let key = agent_name::key(name);
    conn.prepare_cached(PUT)?.execute(params![agent, name, key, chosen, at.0]).map(drop)
}

pub(crate) fn own(conn: &Connection, agent: &str) -> rusqlite::Result<Option<String>> {
    conn.prepare_cached(OWN)?.query_row([agent], |row| row.get(0)).optional()
}

/// Those of these agents that have a name.
pub(crate) fn of<'a>(conn: &Connection, agents: impl Iterator<Item = &'a str>) -> rusqlite::Result<AgentNames> {
    let mut names = AgentNames::default();
    for agent in agents {
        if let Some(name) = own(conn, agent)? {
            names.0.insert(agent.to_string(), name);
        }
    }
    Ok(names)
}

/// The one way from what somebody typed to an agent.
pub(crate) fn resolve(conn: &Connection, typed: &str) -> rusqlite::Result<AgentMatch> {
    if crate::agents::load(conn, typed)?.is_some() {
        return Ok(AgentMatch::One(typed.to_string()));
    }
    Ok(agent_name::resolve(typed, &known(conn)?))
}

pub(crate) fn known(conn: &Connection) -> rusqlite::Result<Vec<KnownAgent>> {
    let read = |row: &Row<'_>| {
        Ok(KnownAgent { id: row.get(0)?, name: row.get(1)?, present: row.get(2)?, at: Ms(row.get(3)?) })
    };
    conn.prepare_cached(KNOWN)?.query_map([], read)?.collect()
}

impl Store {
    /// All names that are remembered.
    pub fn agent_names(&self) -> Result<AgentNames, Error> {
        const ALL: &str = "SELECT agent, name FROM agent_names";
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        self.read(|conn| conn.prepare_cached(ALL)?.query_map([], read)?.collect()).map(AgentNames)
    }

    /// What one agent is called.
    pub fn agent_name(&self, id: &str) -> Result<String, Error> {
        self.read(|conn| Ok(own(conn, id)?.unwrap_or_else(|| id.to_string())))
    }

    /// Whom somebody means who types a name, an id, or how one of them begins.
    pub fn resolve_agent(&self, typed: &str) -> Result<AgentMatch, Error> {
        self.read(|conn| resolve(conn, typed))
    }

    /// Everybody who can be meant by a name.
    pub fn known_agents(&self) -> Result<Vec<KnownAgent>, Error> {
        self.read(known)
    }

    /// A person calls an agent this.
    pub fn name_agent(&mut self, id: &str, name: &str, at: Ms) -> Result<Renamed, Error> {
        self.transact(Durability::Normal, |tx| {
            tx.verb(|conn| {
                if is_taken(conn, id, name)? {
                    return Ok(Renamed::Taken);
                }
                put(conn, id, name, true, at)?;
                Ok(Renamed::To(name.to_string()))
            })
        })
    }

    /// Takes back what a person called an agent: it is called after its project again, or by its id where it was so before.
    pub fn forget_agent_name(&mut self, id: &str, at: Ms) -> Result<String, Error> {
        self.transact(Durability::Normal, |tx| {
            tx.verb(|conn| {
                conn.prepare_cached("DELETE FROM agent_names WHERE agent = ?1 AND chosen")?.execute([id])?;
                match (own(conn, id)?, crate::agents::load(conn, id)?) {
                    (Some(name), _) => Ok(name),
                    (None, Some(agent)) if !agent.named => after_project(conn, id, &agent.project, at),
                    (None, _) => Ok(id.to_string()),
                }
            })
        })
    }
}
