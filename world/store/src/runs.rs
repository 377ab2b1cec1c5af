//! Runs of the loop: how each stands, so that one that was killed can go on.

use crate::{Durability, Error, Store, Tx};
use model::run::{Finish, Iteration, Run, RunMode, Tally};
use model::{ClientProcess, Ms};
use rusqlite::{OptionalExtension, Row, params};

const COLUMNS: &str = "id, project, folder, mode, agent, runner_pid, runner_started, leader_pid, leader_started, base,
    branch, started_at, iterations, failures, idle, skips, transients, commits, cost_micros, last_exit, last_ms,
    finish, finished_at";

const ASKED: &str = "SELECT EXISTS (SELECT 1 FROM messages
    WHERE kind = 'restart_request' AND from_agent = ?1 AND at >= ?2)";

impl Tx<'_> {
    /// Inserts or replaces.
    pub fn put_run(&self, run: &Run) -> Result<(), Error> {
        let sql = format!(
            "INSERT OR REPLACE INTO runs ({COLUMNS}) VALUES
            (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23)"
        );
        let Tally { iterations, failures, idle, skips, transients, commits, cost_micros, last_exit, last_ms } =
            &run.tally;
        let count = |number: &u64| number.cast_signed();
        self.verb(|conn| {
            conn.prepare_cached(&sql)?
                .execute(params![
                    run.id,
                    run.project,
                    run.folder,
                    run.mode.name(),
                    run.agent,
                    run.runner.pid,
                    run.runner.started.cast_signed(),
                    run.leader.map(|leader| leader.pid),
                    run.leader.map(|leader| leader.started.cast_signed()),
                    run.base,
                    run.branch,
                    run.started_at.0,
                    count(iterations),
                    count(failures),
                    count(idle),
                    count(skips),
                    count(transients),
                    count(commits),
                    cost_micros,
                    last_exit,
                    last_ms,
                    run.finish.map(Finish::name),
                    run.finished_at.map(|at| at.0),
                ])
                .map(drop)
        })
    }

    pub fn put_iteration(&self, iteration: &Iteration) -> Result<(), Error> {
        const PUT: &str =
            "INSERT INTO iterations (run, number, started_at, ended_at, exit, commits, cost_micros, outcome, log)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let Iteration { run, number, started_at, ended_at, exit, commits, cost_micros, outcome, log } = iteration;
        self.verb(|conn| {
            conn.prepare_cached(PUT)?
                .execute(params![
                    run,
                    number.cast_signed(),
                    started_at.0,
                    ended_at.0,
                    exit,
                    commits.cast_signed(),
                    cost_micros,
                    outcome,
                    log
                ])
                .map(drop)
        })
    }
}

impl Store {
    /// One small transaction of its own.
    pub fn save_run(&mut self, run: &Run) -> Result<(), Error> {
        self.transact(Durability::Normal, |tx| tx.put_run(run))
    }

    pub fn save_iteration(&mut self, iteration: &Iteration) -> Result<(), Error> {
        self.transact(Durability::Normal, |tx| tx.put_iteration(iteration))
    }

    pub fn stored_run(&self, id: &str) -> Result<Option<Run>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM runs WHERE id = ?1");
        self.read(|conn| conn.prepare_cached(&sql)?.query_row([id], read).optional())
    }

    /// Runs in this work tree that have not ended, the newest first.
    pub fn unfinished_runs(&self, folder: &str) -> Result<Vec<Run>, Error> {
        let sql =
            format!("SELECT {COLUMNS} FROM runs WHERE folder = ?1 AND finished_at IS NULL ORDER BY started_at DESC");
        self.read(|conn| conn.prepare_cached(&sql)?.query_map([folder], read)?.collect())
    }

    /// The iterations of a run, in order.
    pub fn iterations(&self, run: &str) -> Result<Vec<Iteration>, Error> {
        const LIST: &str = "SELECT run, number, started_at, ended_at, exit, commits, cost_micros, outcome, log
            FROM iterations WHERE run = ?1 ORDER BY number, started_at";
        self.read(|conn| {
            conn.prepare_cached(LIST)?
                .query_map([run], |row| {
                    Ok(Iteration {
                        run: row.get(0)?,
                        number: row.get::<_, i64>(1)?.cast_unsigned(),
                        started_at: Ms(row.get(2)?),
                        ended_at: Ms(row.get(3)?),
                        exit: row.get(4)?,
                        commits: row.get::<_, i64>(5)?.cast_unsigned(),
                        cost_micros: row.get(6)?,
                        outcome: row.get(7)?,
                        log: row.get(8)?,
                    })
                })?
                .collect()
        })
    }

    /// Whether an attempt of this agent ended for this reason since then.
    pub fn released_for(&self, agent: &str, reason: &str, since: Ms) -> Result<bool, Error> {
        const LOOK: &str = "SELECT EXISTS (SELECT 1 FROM attempts WHERE agent = ?1 AND reason = ?2 AND ended_at >= ?3)";
        self.read(|conn| conn.prepare_cached(LOOK)?.query_row(params![agent, reason, since.0], |row| row.get(0)))
    }

    /// Whether this agent, and no other, asked to be started again since then.
    pub fn restart_asked(&self, agent: &str, since: Ms) -> Result<bool, Error> {
        self.read(|conn| conn.prepare_cached(ASKED)?.query_row(params![agent, since.0], |row| row.get(0)))
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Run> {
    let count = |at: usize| row.get::<_, i64>(at).map(i64::cast_unsigned);
    let leader: (Option<u32>, Option<i64>) = (row.get(7)?, row.get(8)?);
    Ok(Run {
        id: row.get(0)?,
        project: row.get(1)?,
        folder: row.get(2)?,
        mode: RunMode::parse(&row.get::<_, String>(3)?).unwrap_or(RunMode::Building),
        agent: row.get(4)?,
        runner: ClientProcess { pid: row.get(5)?, started: row.get::<_, i64>(6)?.cast_unsigned() },
        leader: leader.0.map(|pid| ClientProcess { pid, started: leader.1.unwrap_or_default().cast_unsigned() }),
        base: row.get(9)?,
        branch: row.get(10)?,
        started_at: Ms(row.get(11)?),
        tally: Tally {
            iterations: count(12)?,
            failures: count(13)?,
            idle: count(14)?,
            skips: count(15)?,
            transients: count(16)?,
            commits: count(17)?,
            cost_micros: row.get(18)?,
            last_exit: row.get(19)?,
            last_ms: row.get(20)?,
        },
        finish: row.get::<_, Option<String>>(21)?.and_then(|name| Finish::parse(&name)),
        finished_at: row.get::<_, Option<i64>>(22)?.map(Ms),
    })
}
