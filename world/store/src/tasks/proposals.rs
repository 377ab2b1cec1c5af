//! Tasks that were said to be done and are still to be proven.

use super::{QUEUED, list, queued, read};
use crate::{Error, Store, Tx};
use model::task::{Queued, TaskProposal};
use rusqlite::{OptionalExtension, Row};

/// The newest run of a loop that this agent works for and that is not over.
pub(super) const RUN_OF: &str = "SELECT max(proves) FROM runs INDEXED BY runs_of_agent
    WHERE agent = ?1 AND finished_at IS NULL";

macro_rules! proposals {
    () => {
        concat!("SELECT ", queued!(), ", title, verify, proposed_result FROM tasks ")
    };
}

pub(super) const OF_AGENT: &str = concat!(
    proposals!(),
    "INDEXED BY tasks_of_agent WHERE status = 'active' AND agent = ?1 AND proposed_at IS NOT NULL"
);

const OF_PROJECT: &str = concat!(
    proposals!(),
    "WHERE project = ?1 AND status = 'active' AND proposed_at IS NOT NULL ORDER BY priority, created_at, row"
);

impl Tx<'_> {
    /// Whether the agent works for a run that is not over, and whether that proves.
    pub fn run_proves(&self, agent: &str) -> Result<Option<bool>, Error> {
        self.verb(|conn| conn.prepare_cached(RUN_OF)?.query_row([agent], |row| row.get(0)))
    }

    /// The command that proves this task.
    pub fn verify_of(&self, task: &Queued) -> Result<Option<String>, Error> {
        const VERIFY: &str = "SELECT verify FROM tasks WHERE row = ?1";
        self.verb(|conn| conn.prepare_cached(VERIFY)?.query_row([task.row], |row| row.get(0)).optional())
            .map(Option::flatten)
    }
}

impl Store {
    /// As that of a transaction.
    pub fn run_proves(&self, agent: &str) -> Result<Option<bool>, Error> {
        self.read(|conn| conn.prepare_cached(RUN_OF)?.query_row([agent], |row| row.get(0)))
    }

    /// What this agent said to be done, in whatever project.
    pub fn proposals(&self, agent: &str) -> Result<Vec<TaskProposal>, Error> {
        let mut found: Vec<TaskProposal> =
            self.read(|conn| conn.prepare_cached(OF_AGENT)?.query_map([agent], proposal)?.collect())?;
        found.sort_by(|one, other| (one.at, &one.slug).cmp(&(other.at, &other.slug)));
        Ok(found)
    }

    /// What anybody said to be done in this project, in the order of the queue.
    pub fn proposals_in(&self, project: &str) -> Result<Vec<TaskProposal>, Error> {
        self.read(|conn| conn.prepare_cached(OF_PROJECT)?.query_map([project], proposal)?.collect())
    }
}

fn proposal(row: &Row<'_>) -> rusqlite::Result<TaskProposal> {
    let task = read(row)?;
    let hold = task.hold.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    let proposed = hold.proposed.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    Ok(TaskProposal {
        project: task.project,
        slug: task.slug,
        title: row.get(QUEUED)?,
        agent: hold.agent,
        attempt: hold.attempt,
        at: proposed.at,
        verify: row.get(QUEUED + 1)?,
        result: list::json(row.get(QUEUED + 2)?),
        proven: proposed.proven,
    })
}
