//! A run of the loop as every view shows it. Pure: `taut loop status`, `top`, the page and `--json` all show this, so
//! none can tell another number.

use crate::view_model::{flat, moment, one_line, some_moment};
use engine::fleet::run_turn::{SeenRun, run_status};
use model::Ms;
use model::row::AgentStatus;
use model::run::{Finish, Iteration, Run, RunState};
use serde::Serialize;
use store::FleetRun;

/// One run. Its JSON is what `taut loop status --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunRow {
    pub run: String,
    /// The last letters of its id, which people call it by.
    pub short: String,
    pub project: String,
    pub folder: String,
    pub mode: &'static str,
    /// What it does: `starting`, `running`, `verifying`, `merging`, `waiting`, `paused`, `over`, or `gone` where its
    /// process was killed.
    pub state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    pub iteration: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The agent's last words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "some_moment")]
    pub until: Option<Ms>,
    #[serde(serialize_with = "moment")]
    pub started_at: Ms,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "some_moment")]
    pub finished_at: Option<Ms>,
    pub elapsed_ms: i64,
    pub cost_usd: f64,
    pub tokens: u64,
    pub commits: u64,
    /// In a row.
    pub failures: u64,
    /// Of the plan or the queue, as last seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks_done: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks_left: Option<u64>,
    /// What it was not let do, each once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
    pub limits_left: LimitsLeft,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logs: Option<String>,
    /// Of its process, while that is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The run that started this one as a worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub iterations: Vec<IterationRow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<RunRow>,
    /// So many of its workers are over.
    #[serde(skip_serializing_if = "is_none")]
    pub workers_ended: u64,
    /// When its status last changed.
    #[serde(skip)]
    pub since: Ms,
    #[serde(skip)]
    pub status: AgentStatus,
}

/// What of its limits is left; one that is not set is not there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct LimitsLeft {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures: Option<u64>,
}

/// One iteration that is over.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct IterationRow {
    pub iteration: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    pub outcome: String,
    /// Left out where a signal ended the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    #[serde(serialize_with = "moment")]
    pub started_at: Ms,
    pub duration_ms: i64,
    pub commits: u64,
    pub cost_usd: f64,
    pub tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl RunRow {
    pub fn of(seen: &FleetRun, now: Ms) -> Self {
        let FleetRun { run, alive, .. } = seen;
        let (alive, is_over) = (*alive, run.finished_at.is_some());
        let end = if alive { now } else { seen.touched() };
        let elapsed = end.since(run.started_at).max(0);
        let while_alive = |text: &Option<String>| text.as_deref().filter(|_| alive).map(one_line);
        let waits = alive && matches!(run.live.state, RunState::Waiting | RunState::Paused);
        let said = run.live.said.as_deref().or_else(|| seen.iterations.last()?.said.as_deref());
        let status = status(seen);
        Self {
            run: flat(&run.id),
            short: flat(run.short()),
            project: flat(&run.project),
            folder: flat(&run.folder),
            mode: run.mode.name(),
            state: match (is_over, alive) {
                (true, _) => RunState::Over.name(),
                (false, true) => run.live.state.name(),
                (false, false) => GONE,
            },
            finish: run.finish.filter(|_| is_over).map(Finish::name),
            why: why(seen),
            iteration: run.tally.iterations,
            task: run.task.as_ref().or(run.live.task.as_ref()).filter(|_| !is_over).map(|task| flat(task)),
            tool: while_alive(&run.live.tool),
            said: said.map(one_line).filter(|said| !said.is_empty()),
            waits_for: run.live.waits_for.as_deref().filter(|_| waits).map(one_line),
            until: run.live.until.filter(|_| waits),
            started_at: run.started_at,
            finished_at: run.finished_at,
            elapsed_ms: elapsed,
            cost_usd: dollars(run.tally.cost_micros),
            tokens: run.tally.tokens,
            commits: run.tally.commits,
            failures: run.tally.failures,
            tasks_done: run.done,
            tasks_left: run.left,
            denied: denied(&seen.iterations),
            limits_left: LimitsLeft::of(run, elapsed),
            branch: run.branch.as_deref().map(flat),
            logs: run.logs.as_deref().map(flat),
            pid: alive.then_some(run.runner.pid),
            parent: run.parent.as_deref().map(flat),
            iterations: seen.iterations.iter().map(IterationRow::of).collect(),
            workers: seen.workers.iter().map(|worker| Self::of(worker, now)).collect(),
            workers_ended: seen.workers_ended,
            since: since(seen, status),
            status,
        }
    }

    /// How much of the work is done, and how much there is.
    pub fn progress(&self) -> Option<(u64, u64)> {
        let (done, left) = (self.tasks_done?, self.tasks_left?);
        Some((done, done + left)).filter(|(_, all)| *all > 0)
    }

    /// What it does now, in a few words, as a table shows it.
    pub fn now(&self) -> String {
        let iteration = format!("iteration {}", self.iteration);
        let mut parts = vec![match self.state {
            "over" => self.finish.unwrap_or("over").replace('_', " "),
            "running" => iteration,
            state => format!("{state}, {iteration}"),
        }];
        parts.extend(self.progress().map(|(done, all)| format!("{done}/{all}")));
        parts.extend(self.waits_for.clone().or_else(|| self.tool.clone()));
        let at_work = self.workers.iter().filter(|worker| worker.pid.is_some()).count();
        if at_work > 0 {
            parts.push(format!("{at_work} at work"));
        }
        parts.join(" · ")
    }
}

impl IterationRow {
    pub fn of(iteration: &Iteration) -> Self {
        Self {
            iteration: iteration.number,
            task: iteration.task.as_deref().map(flat),
            outcome: flat(&iteration.outcome),
            exit: iteration.exit.filter(|code| *code >= 0),
            started_at: iteration.started_at,
            duration_ms: iteration.ended_at.since(iteration.started_at).max(0),
            commits: iteration.commits,
            cost_usd: dollars(iteration.cost_micros),
            tokens: iteration.tokens,
            said: iteration.said.as_deref().map(one_line).filter(|said| !said.is_empty()),
            denied: iteration.denied.iter().map(|what| one_line(what)).collect(),
            failure: iteration.failure.as_deref().map(one_line).filter(|what| !what.is_empty()),
        }
    }
}

impl LimitsLeft {
    fn of(run: &Run, elapsed: i64) -> Self {
        let Some(limits) = run.limits else { return Self::default() };
        let count = |most: u64, taken: u64| (most > 0).then(|| most.saturating_sub(taken));
        Self {
            iterations: count(limits.iterations, run.tally.iterations),
            time_ms: limits.ms.map(|ms| (ms - elapsed).max(0)),
            cost_usd: limits.cost_micros.map(|most| dollars((most - run.tally.cost_micros).max(0))),
            failures: count(limits.failures, run.tally.failures),
        }
    }
}

/// Its process was killed.
pub const GONE: &str = "gone";

fn seen_run(seen: &FleetRun) -> SeenRun<'_> {
    let denied = seen.iterations.last().is_some_and(|last| !last.denied.is_empty());
    SeenRun { run: &seen.run, alive: seen.alive, denied, touched: seen.touched() }
}

/// Its agent may ask for somebody as well.
fn status(seen: &FleetRun) -> AgentStatus {
    let asks = |member: &Option<store::FleetRow>| {
        member.as_ref().is_some_and(|member| member.agent.status == AgentStatus::Attention)
    };
    match run_status(&seen_run(seen)) {
        AgentStatus::Working if asks(&seen.member) || seen.workers.iter().any(|worker| asks(&worker.member)) => {
            AgentStatus::Attention
        }
        status => status,
    }
}

fn since(seen: &FleetRun, status: AgentStatus) -> Ms {
    match &seen.member {
        Some(member) if seen.alive && member.agent.status == status => member.agent.since.max(seen.run.started_at),
        _ if seen.alive => seen.run.started_at,
        _ => seen.touched(),
    }
}

fn why(seen: &FleetRun) -> Option<String> {
    let run = &seen.run;
    match run.finished_at {
        Some(_) => run.why.as_deref().map(one_line),
        None if !seen.alive => Some(format!("its process is gone; `taut loop resume {}` goes on", flat(run.short()))),
        None if run.live.state == RunState::Paused => {
            Some(format!("paused; `taut loop resume {}` goes on", flat(run.short())))
        }
        None => None,
    }
}

fn denied(iterations: &[Iteration]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for what in iterations.iter().flat_map(|iteration| &iteration.denied).map(|what| one_line(what)) {
        if !all.contains(&what) {
            all.push(what);
        }
    }
    all
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

fn dollars(micros: i64) -> f64 {
    micros as f64 / 1e6
}
