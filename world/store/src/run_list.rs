//! Runs as people look for them: those of a project, those whose id begins with some letters, those of a coordinator.

use crate::{Error, Store, runs};
use model::Ms;
use model::run::{Iteration, Run, RunWish};
use model::session::Session;
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

    /// Those of them that are not over.
    pub fn unfinished_workers(&self, run: &str) -> Result<Vec<Run>, Error> {
        let sql = format!(
            "SELECT {} FROM runs WHERE parent = ?1 AND finished_at IS NULL ORDER BY started_at, id",
            runs::COLUMNS
        );
        self.read(|conn| conn.prepare_cached(&sql)?.query_map([run], runs::read)?.collect())
    }

    /// How many of them are over, and when the last one ended.
    pub(crate) fn workers_ended(&self, run: &str) -> Result<(u64, Option<Ms>), Error> {
        const LOOK: &str = "SELECT count(finished_at), max(finished_at) FROM runs WHERE parent = ?1";
        self.read(|conn| {
            conn.prepare_cached(LOOK)?.query_row([run], |row| {
                Ok((row.get::<_, i64>(0)?.cast_unsigned(), row.get::<_, Option<i64>>(1)?.map(Ms)))
            })
        })
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

    /// The run of the loop whose agent this session was: the one that began last before it ended.
    pub fn run_of_session(&self, session: &Session) -> Result<Option<Run>, Error> {
        let sql = format!(
            "SELECT {} FROM runs WHERE (agent = ?1 OR ?1 = 'loop-' || substr(id, -8)) AND started_at <= ?2
             AND coalesce(finished_at, ?2) >= ?3 ORDER BY started_at DESC LIMIT 1",
            runs::COLUMNS
        );
        let values = params![session.agent, session.last_seen_at.0, session.started_at.0];
        self.read(|conn| conn.prepare_cached(&sql)?.query_row(values, runs::read).optional())
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
