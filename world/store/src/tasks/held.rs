//! The active tasks an event's agent may hold: by its sessions, or by its name
//! where no session was known at the claim. Two small indexes, whatever the backlog.

use super::{queued, read};
use crate::{Error, Store, Tx};
use model::session::Session;
use model::task::{Attempt, AttemptOutcome, Queued};
use model::{ClientProcess, Ms};
use rusqlite::{Connection, OptionalExtension, Row, params};

pub(crate) const OF_SESSION: &str =
    concat!("SELECT ", queued!(), " FROM tasks INDEXED BY tasks_of_session WHERE status = 'active' AND session = ?1");

pub(crate) const OF_AGENT_ALONE: &str = concat!(
    "SELECT ",
    queued!(),
    " FROM tasks INDEXED BY tasks_of_agent WHERE status = 'active' AND agent = ?1 AND session IS NULL"
);

const OF_AGENT: &str =
    concat!("SELECT ", queued!(), " FROM tasks INDEXED BY tasks_of_agent WHERE status = 'active' AND agent = ?1");

/// The newest attempt of each is this agent's, and ended by a release.
const RELEASED: &str = concat!(
    "SELECT ",
    queued!(),
    " FROM tasks WHERE status IN ('open', 'quarantined') AND EXISTS (SELECT 1 FROM attempts
      WHERE attempts.task = tasks.row AND attempts.number = tasks.attempt AND attempts.outcome = 'released'
      AND attempts.agent = ?1 AND attempts.ended_at >= ?2)
      AND tasks.row IN (SELECT task FROM attempts INDEXED BY attempts_of_agent WHERE agent = ?1 AND ended_at >= ?2)"
);

const ATTEMPTS: &str = "SELECT number, agent, session, group_pid, group_started, claimed_at, ended_at, outcome, reason,
      token FROM attempts WHERE task = ?1";

/// Enough for any real agent; a bound, so that an event cannot be made slow.
const MOST: usize = 64;

pub(crate) fn held<'s>(
    conn: &Connection,
    agents: &[String],
    sessions: impl Iterator<Item = &'s Session>,
) -> rusqlite::Result<Vec<Queued>> {
    let mut held = Vec::new();
    for agent in agents {
        for task in conn.prepare_cached(OF_AGENT_ALONE)?.query_map([agent], read)?.take(MOST) {
            held.push(task?);
        }
    }
    for session in sessions {
        for task in conn.prepare_cached(OF_SESSION)?.query_map([&session.id], read)?.take(MOST) {
            held.push(task?);
        }
    }
    Ok(held)
}

impl Tx<'_> {
    /// Everything an agent holds, whatever the session.
    pub fn held_by(&self, agent: &str) -> Result<Vec<Queued>, Error> {
        self.verb(|conn| conn.prepare_cached(OF_AGENT)?.query_map([agent], read)?.collect())
    }

    /// What this agent let go of since then and nobody took up.
    pub fn released_since(&self, agent: &str, since: Ms) -> Result<Vec<Queued>, Error> {
        self.verb(|conn| conn.prepare_cached(RELEASED)?.query_map(params![agent, since.0], read)?.collect())
    }

    /// The attempt with this number.
    pub fn attempt(&self, task: &Queued, number: i64) -> Result<Option<Attempt>, Error> {
        let sql = format!("{ATTEMPTS} AND number = ?2");
        self.verb(|conn| conn.prepare_cached(&sql)?.query_row(params![task.row, number], attempt).optional())
    }

    /// The attempt that was given this token.
    pub fn attempt_with(&self, task: &Queued, token: &str) -> Result<Option<Attempt>, Error> {
        let sql = format!("{ATTEMPTS} AND token = ?2");
        self.verb(|conn| conn.prepare_cached(&sql)?.query_row(params![task.row, token], attempt).optional())
    }

    /// The newest attempt of this agent.
    pub fn attempt_of(&self, task: &Queued, agent: &str) -> Result<Option<Attempt>, Error> {
        let sql = format!("{ATTEMPTS} AND agent = ?2 ORDER BY number DESC LIMIT 1");
        self.verb(|conn| conn.prepare_cached(&sql)?.query_row(params![task.row, agent], attempt).optional())
    }

    /// Notes which process group Taut started for a live attempt.
    pub fn attempt_runs(&self, task: &Queued, number: i64, leader: ClientProcess) -> Result<bool, Error> {
        const NOTE: &str = "UPDATE attempts SET group_pid = ?1, group_started = ?2
            WHERE task = ?3 AND number = ?4 AND outcome IS NULL";
        self.verb(|conn| {
            conn.execute(NOTE, params![leader.pid, leader.started.cast_signed(), task.row, number])
                .map(|rows| rows == 1)
        })
    }
}

impl Store {
    /// Who holds what: agent and slug.
    pub fn holders(&self) -> Result<Vec<(String, String)>, Error> {
        const HOLDERS: &str =
            "SELECT agent, slug FROM tasks INDEXED BY tasks_of_agent WHERE status = 'active' ORDER BY agent, slug";
        self.read(|conn| conn.prepare_cached(HOLDERS)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect())
    }

    /// Every attempt on a task, oldest first.
    pub fn attempts(&self, task: &Queued) -> Result<Vec<Attempt>, Error> {
        let sql = format!("{ATTEMPTS} ORDER BY number");
        self.read(|conn| conn.prepare_cached(&sql)?.query_map([task.row], attempt)?.collect())
    }
}

pub(super) fn attempt(row: &Row<'_>) -> rusqlite::Result<Attempt> {
    let (pid, started): (Option<u32>, Option<i64>) = (row.get(3)?, row.get(4)?);
    Ok(Attempt {
        number: row.get(0)?,
        agent: row.get(1)?,
        session: row.get(2)?,
        group: pid.map(|pid| ClientProcess { pid, started: started.unwrap_or_default().cast_unsigned() }),
        claimed_at: Ms(row.get(5)?),
        ended_at: row.get::<_, Option<i64>>(6)?.map(Ms),
        outcome: row.get::<_, Option<String>>(7)?.and_then(|name| AttemptOutcome::parse(&name)),
        reason: row.get(8)?,
        token: row.get(9)?,
    })
}
