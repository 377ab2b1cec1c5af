//! Everything there is to tell of a run: what its summary, its JSON and its page of Markdown are made of.

use super::status;
use dash::run_view::{IterationRow, RunRow};
use model::Ms;
use model::run::{Finish, Run, RunMode};
use model::task::TaskStatus;
use runner::RunCommit;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use store::{FleetRun, Store, TaskFilter};

pub(super) struct RunReport {
    pub row: RunRow,
    pub finish: Option<Finish>,
    /// All of it; a row has its beginning.
    why: Option<String>,
    /// Of the run and its workers, in the order they began.
    pub iterations: Vec<IterationRow>,
    /// The newest first.
    pub commits: Vec<RunCommit>,
    pub tasks: Vec<TaskLine>,
    /// Those of the project that nobody may claim any more.
    pub quarantined: Vec<String>,
    /// Of the run and its workers.
    pub branches: Vec<String>,
}

/// A task that the run worked on.
pub(super) struct TaskLine {
    pub slug: String,
    pub title: String,
    pub status: &'static str,
}

/// The branch that holds what could not go onto the run's own.
fn aside(row: &RunRow) -> String {
    format!("taut/{}/_merged", row.short)
}

/// More commits than one reads in a report.
const COMMITS: usize = 500;
const ITERATIONS: usize = 10_000;

impl RunReport {
    pub fn load(store: &Store, seen: &FleetRun, now: Ms) -> Result<Self, store::Error> {
        let runs: Vec<&Run> = std::iter::once(&seen.run).chain(seen.workers.iter().map(|worker| &worker.run)).collect();
        let mut ended = Vec::new();
        for run in &runs {
            ended.extend(store.last_iterations(&run.id, ITERATIONS)?);
        }
        ended.sort_by_key(|iteration| (iteration.started_at, iteration.number));
        let mut slugs: BTreeSet<String> = ended.iter().filter_map(|iteration| iteration.task.clone()).collect();
        slugs.extend(runs.iter().filter_map(|run| run.task.clone()));
        for run in &runs {
            slugs.extend(store.tasks_tried_by(&run.agent_name())?);
        }
        let known = store.tasks(&seen.run.project, &TaskFilter::default())?;
        let known: BTreeMap<&str, (&str, TaskStatus)> = known
            .iter()
            .map(|task| (task.queued.slug.as_str(), (task.plan.title.as_str(), task.queued.status)))
            .collect();
        let line = |slug: &String| {
            let (title, status) = known.get(slug.as_str())?;
            Some(TaskLine { slug: slug.clone(), title: (*title).to_string(), status: status.name() })
        };
        let on_queue = seen.run.agent.is_some() || !slugs.is_empty();
        let stuck = known.iter().filter(|(_, (_, status))| on_queue && *status == TaskStatus::Quarantined);
        let mut row = RunRow::of(seen, now);
        let commits = if seen.workers.is_empty() {
            runner::run_commits(&seen.run, COMMITS)
        } else {
            let landed = runner::landed_commits(&seen.run, COMMITS);
            row.commits = landed.len() as u64;
            landed
        };
        let mut branches: BTreeSet<String> = runs.iter().filter_map(|run| run.branch.clone()).collect();
        branches.extend((!seen.workers.is_empty()).then(|| aside(&row)));
        Ok(Self {
            finish: seen.run.finish,
            why: seen.run.why.clone(),
            iterations: ended.iter().map(IterationRow::of).collect(),
            commits,
            tasks: slugs.iter().filter_map(line).collect(),
            quarantined: stuck.map(|(slug, _)| (*slug).to_string()).collect(),
            branches: runner::standing_branches(Path::new(&seen.run.folder), branches.into_iter().collect()),
            row,
        })
    }

    /// Where nothing more can be read than the run itself told.
    pub fn bare(seen: &FleetRun, now: Ms) -> Self {
        Self {
            row: RunRow::of(seen, now),
            finish: seen.run.finish,
            why: seen.run.why.clone(),
            iterations: Vec::new(),
            commits: Vec::new(),
            tasks: Vec::new(),
            quarantined: Vec::new(),
            branches: seen.run.branch.clone().into_iter().collect(),
        }
    }

    /// What did not go well: number of the iteration, its task, the end of what failed.
    pub fn failures(&self) -> impl Iterator<Item = (&IterationRow, String)> {
        self.iterations.iter().filter_map(|one| {
            let said = one.failure.clone().or_else(|| one.said.clone().filter(|_| one.outcome == "failed"));
            let exit = || one.exit.map_or("ended by a signal".to_string(), |code| format!("ended with {code}"));
            (one.failure.is_some() || one.outcome == "failed").then(|| (one, said.unwrap_or_else(exit)))
        })
    }

    /// The one command that helps now.
    pub fn next(&self) -> String {
        let row = &self.row;
        let again = if row.mode == RunMode::Planning.name() { "plan" } else { "build" };
        let more = |option: &str| format!("taut loop {again} --resume {option}");
        let why = self.why.as_deref().unwrap_or_default();
        // What follows are the words of an agent.
        let offered = why.split(" would allow ").next().unwrap_or_default();
        let last = self.iterations.last().map_or(String::new(), |one| format!(" -i {}", one.iteration));
        match self.finish {
            None if row.pid.is_some() => format!("taut loop log {} --follow", row.short),
            None | Some(Finish::Manual) => format!("taut loop resume {}", row.short),
            Some(Finish::Complete) if row.mode == RunMode::Planning.name() => "taut loop build".to_string(),
            Some(Finish::Complete) if self.branches.contains(&aside(row)) => format!("git merge {}", aside(row)),
            Some(Finish::Complete) => format!("taut loop report {}", row.short),
            Some(Finish::MaxIterations) => more(&format!("-n {}", row.iteration.max(1))),
            Some(Finish::Limit) => more("--max-time 8h"),
            Some(Finish::Budget) => more(&format!("--max-cost {:.0}", (row.cost_usd * 2.0).ceil().max(1.0))),
            Some(Finish::NoChanges) if !row.denied.is_empty() && offered.contains("`--permissions edits`") => {
                more("--permissions edits")
            }
            Some(Finish::NoChanges) if !row.denied.is_empty() && offered.contains("`--permissions all`") => {
                more("--permissions all")
            }
            Some(Finish::Error) if why.ends_with("then `taut loop resume`") => "taut loop resume".to_string(),
            Some(Finish::Stuck) => match self.quarantined.first() {
                Some(slug) => format!("taut task why {slug}"),
                None => "taut task list".to_string(),
            },
            Some(Finish::Error) if self.iterations.is_empty() => format!("taut loop log {}", row.short),
            Some(Finish::Error | Finish::NoChanges | Finish::HookAbort) => {
                format!("taut loop log {}{last}", row.short)
            }
        }
    }

    pub fn object(&self) -> Value {
        let row = &self.row;
        let mut object = status::object(row);
        let commits = self.commits.iter().map(|commit| json!({"commit": commit.hash, "subject": commit.subject}));
        let tasks = self.tasks.iter().map(|task| json!({"id": task.slug, "title": task.title, "status": task.status}));
        let failures =
            self.failures().map(|(one, what)| json!({"iteration": one.iteration, "task": one.task, "failure": what}));
        object["failed"] = failures.collect();
        object["commit_subjects"] = commits.collect();
        object["tasks"] = tasks.collect();
        object["quarantined"] = json!(self.quarantined);
        object["branches"] = json!(self.branches);
        object["denied"] = json!(row.denied);
        object["exit"] = json!(self.finish.map(Finish::exit));
        object["duration_ms"] = json!(row.elapsed_ms);
        object["next"] = json!(self.next());
        // How many there were: what each did is `by_iteration`.
        object["iterations"] = json!(row.iteration);
        object["by_iteration"] = json!(self.iterations);
        object
    }
}
