//! Runs of the loop within the fleet: each is one row with its iterations and workers, and their agents stand under it.

use crate::fleet::{FleetRow, LISTED_MS};
use crate::{Error, Store, runs};
use model::Ms;
use model::run::{Iteration, Run};
use std::collections::BTreeSet;

/// A run with what belongs to it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FleetRun {
    pub run: Run,
    /// Its process is there.
    pub alive: bool,
    /// The last ones, in order.
    pub iterations: Vec<Iteration>,
    /// Those that are not over; all of them only in a whole run.
    pub workers: Vec<FleetRun>,
    pub workers_ended: u64,
    /// When the last of those ended.
    pub worker_ended_at: Option<Ms>,
    /// Its agent, as far as hooks told of it.
    pub member: Option<FleetRow>,
}

/// More iterations of one run than a view shows.
const ITERATIONS: usize = 30;
/// Agents of so many of the latest runs are known as such.
const REMEMBERED: usize = 500;

impl FleetRun {
    /// When it was last known to do something.
    pub fn touched(&self) -> Ms {
        let iterations = self.iterations.iter().map(|iteration| iteration.ended_at);
        let workers = self.workers.iter().map(FleetRun::touched);
        let ended = self.run.finished_at.into_iter().chain(self.worker_ended_at);
        ended.chain(iterations).chain(workers).max().unwrap_or(self.run.started_at)
    }
}

impl Store {
    /// A run as every view shows it: of its workers those that are not over, since a night has hundreds.
    pub fn seen_run(&self, run: Run) -> Result<FleetRun, Error> {
        let workers = self.unfinished_workers(&run.id)?;
        self.seen_with(run, workers)
    }

    /// A run with every worker it ever had, for whoever tells all of it.
    pub fn whole_run(&self, run: Run) -> Result<FleetRun, Error> {
        let workers = self.workers_of(&run.id)?;
        self.seen_with(run, workers)
    }

    fn seen_with(&self, run: Run, workers: Vec<Run>) -> Result<FleetRun, Error> {
        let (workers_ended, worker_ended_at) = self.workers_ended(&run.id)?;
        let workers = workers.into_iter().map(|worker| self.seen_alone(worker)).collect::<Result<_, _>>()?;
        Ok(FleetRun { workers, workers_ended, worker_ended_at, ..self.seen_alone(run)? })
    }

    fn seen_alone(&self, run: Run) -> Result<FleetRun, Error> {
        let alive = run.finished_at.is_none() && sys::process_stat::lives(run.runner.pid, run.runner.started);
        let iterations = self.last_iterations(&run.id, ITERATIONS)?;
        Ok(FleetRun { run, alive, iterations, ..FleetRun::default() })
    }

    /// The newest run of each work tree, while it lives and for a day after; over is over once another began there.
    pub fn fleet_runs(&self) -> Result<Vec<FleetRun>, Error> {
        let sql = format!(
            "SELECT {} FROM runs WHERE parent IS NULL AND (finished_at IS NULL OR id IN
               (SELECT id FROM runs ORDER BY id DESC LIMIT {REMEMBERED})) ORDER BY started_at DESC, id DESC",
            runs::COLUMNS
        );
        let found: Vec<Run> = self.read(|conn| conn.prepare_cached(&sql)?.query_map([], runs::read)?.collect())?;
        let mut folders = BTreeSet::new();
        let newest = found.into_iter().filter(|run| folders.insert(run.folder.clone()));
        let seen: Vec<FleetRun> = newest.map(|run| self.seen_run(run)).collect::<Result<_, _>>()?;
        let last = seen.iter().map(FleetRun::touched).max().unwrap_or_default();
        Ok(seen.into_iter().filter(|run| run.alive || last.since(run.touched()) <= LISTED_MS).collect())
    }

    /// The names that agents of runs go by.
    pub fn loop_agents(&self) -> Result<BTreeSet<String>, Error> {
        let sql = format!("SELECT id, agent FROM runs ORDER BY id DESC LIMIT {REMEMBERED}");
        let name = |row: &rusqlite::Row<'_>| {
            let run = Run { id: row.get(0)?, agent: row.get(1)?, ..Run::default() };
            Ok(run.agent_name())
        };
        self.read(|conn| conn.prepare_cached(&sql)?.query_map([], name)?.collect())
    }
}
