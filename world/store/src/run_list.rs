//! Runs as people look for them: those of a project, those whose id begins with some letters, those of a coordinator.

use crate::{Error, Store, runs};
use model::run::{Iteration, Run, RunWish};
use rusqlite::{OptionalExtension, params};

/// Which runs.
#[derive(Debug, Clone, Default)]
pub struct RunFilter {
    /// Of every project where there is none.
    pub project: Option<String>,
    /// Also those that another run started.
    pub workers: bool,
    pub limit: usize,
}

/// More candidates than anybody reads.
const CANDIDATES: usize = 10;

const WISH: &str = "SELECT wish FROM runs WHERE id = ?1";

impl Store {
    /// The newest first.
    pub fn runs(&self, filter: &RunFilter) -> Result<Vec<Run>, Error> {
        let sql = format!(
            "SELECT {} FROM runs WHERE (?1 IS NULL OR project = ?1) AND (?2 OR parent IS NULL)
             ORDER BY started_at DESC, id DESC LIMIT ?3",
            runs::COLUMNS
        );
        let limit = i64::try_from(filter.limit).unwrap_or(i64::MAX);
        let wanted = params![filter.project, filter.workers, limit];
        self.read(|conn| conn.prepare_cached(&sql)?.query_map(wanted, runs::read)?.collect())
    }

    /// Those whose id, or its last eight letters that people see, begins so; the newest first.
    pub fn runs_called(&self, letters: &str) -> Result<Vec<Run>, Error> {
        let sql = format!(
            "SELECT {} FROM runs WHERE substr(id, 1, length(?1)) = ?1 OR substr(substr(id, -8), 1, length(?1)) = ?1
             ORDER BY started_at DESC, id DESC LIMIT {CANDIDATES}",
            runs::COLUMNS
        );
        let letters = letters.to_ascii_lowercase();
        self.read(|conn| conn.prepare_cached(&sql)?.query_map([letters], runs::read)?.collect())
    }

    /// The runs that this one started, in the order they began.
    pub fn workers_of(&self, run: &str) -> Result<Vec<Run>, Error> {
        let sql = format!("SELECT {} FROM runs WHERE parent = ?1 ORDER BY started_at, id", runs::COLUMNS);
        self.read(|conn| conn.prepare_cached(&sql)?.query_map([run], runs::read)?.collect())
    }

    /// The last iterations of a run, in order.
    pub fn last_iterations(&self, run: &str, most: usize) -> Result<Vec<Iteration>, Error> {
        let sql = format!(
            "SELECT {} FROM iterations WHERE run = ?1 ORDER BY number DESC, started_at DESC LIMIT ?2",
            runs::ITERATION
        );
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let mut found: Vec<Iteration> = self
            .read(|conn| conn.prepare_cached(&sql)?.query_map(params![run, most], runs::read_iteration)?.collect())?;
        found.reverse();
        Ok(found)
    }

    /// The slugs of the tasks that an agent ever claimed.
    pub fn tasks_tried_by(&self, agent: &str) -> Result<Vec<String>, Error> {
        const TRIED: &str = "SELECT DISTINCT slug FROM attempts JOIN tasks ON tasks.row = attempts.task
            WHERE attempts.agent = ?1 ORDER BY slug";
        self.read(|conn| conn.prepare_cached(TRIED)?.query_map([agent], |row| row.get(0))?.collect())
    }

    /// What a run was asked for and has not heard yet.
    pub fn unheard_wish(&self, run: &str) -> Result<Option<RunWish>, Error> {
        let found: Option<Option<String>> =
            self.read(|conn| conn.prepare_cached(WISH)?.query_row([run], |row| row.get(0)).optional())?;
        Ok(found.flatten().as_deref().and_then(RunWish::parse))
    }
}
