//! Runs of the loop: how each stands, so that one that was killed can go on.

use crate::{Durability, Error, Store, Tx};
use model::run::{Finish, Iteration, Run, RunLimits, RunMode, RunProgress, RunState, RunWish, Tally};
use model::{ClientProcess, Ms};
use rusqlite::{OptionalExtension, Row, params};
use serde_json::{Value, json};

pub(crate) const COLUMNS: &str =
    "id, project, folder, mode, agent, runner_pid, runner_started, leader_pid, leader_started, base,
    branch, started_at, iterations, failures, idle, skips, transients, commits, cost_micros, last_exit, last_ms,
    finish, finished_at, parent, task, asked, proves, why, logs, tokens, same_failure, last_failure, state, wait_until,
    waits_for, now_task, tool, said, limits, work_done, work_left";

pub(crate) const ITERATION: &str =
    "run, number, started_at, ended_at, exit, commits, cost_micros, outcome, log, tokens, task, said,
    denied, failure, before_commit, after_commit";

const ASKED: &str = "SELECT EXISTS (SELECT 1 FROM messages
    WHERE kind = 'restart_request' AND from_agent = ?1 AND at >= ?2)";

impl Tx<'_> {
    /// Inserts, or writes over all of it but the wish, which is another's.
    pub fn put_run(&self, run: &Run) -> Result<(), Error> {
        let sql = put_statement();
        let Tally { iterations, failures, idle, skips, transients, commits, cost_micros, tokens, .. } = &run.tally;
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
                    run.tally.last_exit,
                    run.tally.last_ms,
                    run.finish.map(Finish::name),
                    run.finished_at.map(|at| at.0),
                    run.parent,
                    run.task,
                    run.asked,
                    run.proves,
                    run.why,
                    run.logs,
                    count(tokens),
                    count(&run.tally.same_failure),
                    run.tally.last_failure,
                    run.live.state.name(),
                    run.live.until.map(|at| at.0),
                    run.live.waits_for,
                    run.live.task,
                    run.live.tool,
                    run.live.said,
                    run.limits.map(limits_text),
                    run.done.map(u64::cast_signed),
                    run.left.map(u64::cast_signed),
                ])
                .map(drop)
        })
    }

    pub fn put_iteration(&self, iteration: &Iteration) -> Result<(), Error> {
        let sql = format!(
            "INSERT INTO iterations ({ITERATION}) VALUES
            (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)"
        );
        let Iteration { run, number, started_at, ended_at, exit, commits, cost_micros, outcome, log, .. } = iteration;
        self.verb(|conn| {
            conn.prepare_cached(&sql)?
                .execute(params![
                    run,
                    number.cast_signed(),
                    started_at.0,
                    ended_at.0,
                    exit,
                    commits.cast_signed(),
                    cost_micros,
                    outcome,
                    log,
                    iteration.tokens.cast_signed(),
                    iteration.task,
                    iteration.said,
                    (!iteration.denied.is_empty()).then(|| iteration.denied.join("\n")),
                    iteration.failure,
                    iteration.before,
                    iteration.after,
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

    /// Runs that are not over and whose agent may be running, in whatever project: no more of each than who that is, which
    /// a database of an older version tells too. Whether its process is still the same is for the caller to see.
    pub fn led_runs(&self) -> Result<Vec<Run>, Error> {
        const LOOK: &str = "SELECT id, agent, leader_pid, coalesce(leader_started, 0) FROM runs
            WHERE finished_at IS NULL AND leader_pid IS NOT NULL";
        let led = |row: &Row<'_>| {
            let leader = ClientProcess { pid: row.get(2)?, started: row.get::<_, i64>(3)?.cast_unsigned() };
            Ok(Run { id: row.get(0)?, agent: row.get(1)?, leader: Some(leader), ..Run::default() })
        };
        self.read(|conn| conn.prepare_cached(LOOK)?.query_map([], led)?.collect())
    }

    /// The one task that an agent was started for, where another loop started it for one.
    pub fn task_of_worker(&self, agent: &str) -> Result<Option<String>, Error> {
        const LOOK: &str = "SELECT task FROM runs INDEXED BY runs_of_agent
            WHERE agent = ?1 AND finished_at IS NULL AND task IS NOT NULL LIMIT 1";
        self.read(|conn| conn.prepare_cached(LOOK)?.query_row([agent], |row| row.get(0)).optional())
    }

    /// Runs in this work tree, the newest first.
    pub fn runs_of_folder(&self, folder: &str) -> Result<Vec<Run>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM runs WHERE folder = ?1 ORDER BY started_at DESC, id DESC LIMIT 500");
        self.read(|conn| conn.prepare_cached(&sql)?.query_map([folder], read)?.collect())
    }

    /// The iterations of a run, in order.
    pub fn iterations(&self, run: &str) -> Result<Vec<Iteration>, Error> {
        let sql = format!("SELECT {ITERATION} FROM iterations WHERE run = ?1 ORDER BY number, started_at");
        self.read(|conn| conn.prepare_cached(&sql)?.query_map([run], read_iteration)?.collect())
    }

    /// Asks a run for something. `false` where there is none that could still do it.
    pub fn wish_of_run(&mut self, run: &str, wish: RunWish) -> Result<bool, Error> {
        const ASK: &str = "UPDATE runs SET wish = ?2 WHERE id = ?1 AND finished_at IS NULL";
        self.transact(Durability::Normal, |tx| {
            tx.verb(|conn| Ok(conn.prepare_cached(ASK)?.execute(params![run, wish.name()])? > 0))
        })
    }

    /// What a run is asked for, and that it was heard.
    pub fn take_wish(&mut self, run: &str) -> Result<Option<RunWish>, Error> {
        const LOOK: &str = "SELECT wish FROM runs WHERE id = ?1";
        const TAKE: &str = "UPDATE runs SET wish = NULL WHERE id = ?1 AND wish = ?2";
        let found: Option<Option<String>> =
            self.read(|conn| conn.prepare_cached(LOOK)?.query_row([run], |row| row.get(0)).optional())?;
        let Some(wish) = found.flatten() else { return Ok(None) };
        self.transact(Durability::Normal, |tx| {
            tx.verb(|conn| conn.prepare_cached(TAKE)?.execute(params![run, wish]).map(drop))
        })?;
        Ok(RunWish::parse(&wish))
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

pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Run> {
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
            tokens: count(29)?,
            last_exit: row.get(19)?,
            last_ms: row.get(20)?,
            same_failure: count(30)?,
            last_failure: row.get(31)?,
        },
        finish: row.get::<_, Option<String>>(21)?.and_then(|name| Finish::parse(&name)),
        finished_at: row.get::<_, Option<i64>>(22)?.map(Ms),
        parent: row.get(23)?,
        task: row.get(24)?,
        asked: row.get(25)?,
        proves: row.get(26)?,
        why: row.get(27)?,
        logs: row.get(28)?,
        limits: row.get::<_, Option<String>>(38)?.as_deref().and_then(limits_of),
        done: row.get::<_, Option<i64>>(39)?.map(i64::cast_unsigned),
        left: row.get::<_, Option<i64>>(40)?.map(i64::cast_unsigned),
        live: RunProgress {
            state: RunState::parse(&row.get::<_, String>(32)?).unwrap_or_default(),
            until: row.get::<_, Option<i64>>(33)?.map(Ms),
            waits_for: row.get(34)?,
            task: row.get(35)?,
            tool: row.get(36)?,
            said: row.get(37)?,
        },
    })
}

pub(crate) fn read_iteration(row: &Row<'_>) -> rusqlite::Result<Iteration> {
    let count = |at: usize| row.get::<_, i64>(at).map(i64::cast_unsigned);
    let denied: Option<String> = row.get(12)?;
    Ok(Iteration {
        run: row.get(0)?,
        number: count(1)?,
        started_at: Ms(row.get(2)?),
        ended_at: Ms(row.get(3)?),
        exit: row.get(4)?,
        commits: count(5)?,
        cost_micros: row.get(6)?,
        outcome: row.get(7)?,
        log: row.get(8)?,
        tokens: count(9)?,
        task: row.get(10)?,
        said: row.get(11)?,
        denied: denied.iter().flat_map(|lines| lines.lines()).map(String::from).collect(),
        failure: row.get(13)?,
        before: row.get(14)?,
        after: row.get(15)?,
    })
}

fn limits_text(limits: RunLimits) -> String {
    let RunLimits { iterations, ms, cost_micros, failures, idle } = limits;
    json!({"iterations": iterations, "ms": ms, "cost_micros": cost_micros, "failures": failures, "idle": idle})
        .to_string()
}

fn limits_of(text: &str) -> Option<RunLimits> {
    let value: Value = serde_json::from_str(text).ok()?;
    let count = |name: &str| value.get(name).and_then(Value::as_u64).unwrap_or_default();
    let number = |name: &str| value.get(name).and_then(Value::as_i64);
    Some(RunLimits {
        iterations: count("iterations"),
        ms: number("ms"),
        cost_micros: number("cost_micros"),
        failures: count("failures"),
        idle: count("idle"),
    })
}

/// An upsert: a replaced row would lose the wish that somebody wrote meanwhile.
fn put_statement() -> String {
    let names: Vec<&str> = COLUMNS.split(',').map(str::trim).collect();
    let marks: Vec<String> = (1..=names.len()).map(|at| format!("?{at}")).collect();
    let set: Vec<String> = names.iter().skip(1).map(|name| format!("{name} = excluded.{name}")).collect();
    format!(
        "INSERT INTO runs ({COLUMNS}) VALUES ({}) ON CONFLICT (id) DO UPDATE SET {}",
        marks.join(", "),
        set.join(", ")
    )
}
