//! `taut loop`: runs an agent on a plan until it is done. Every way to end has
//! its own exit status.

mod control;
mod dry_run;
mod find;
mod log;
mod markdown;
mod permissions;
mod report;
mod screen;
mod service;
mod start;
mod status;
mod summary;
mod undo;
mod words;
mod workers;

pub(in crate::commands) use undo::show as show_undo;

use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::Printer;
use clap::{Args, Subcommand};
use engine::loops::{WorkSource, duration};
use model::run::{Permissions, RunMode};
use runner::RunnerError;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// More agents at once no machine and no account carries.
const MOST_WORKERS: usize = 64;

#[derive(Debug, Subcommand)]
pub enum LoopVerb {
    /// Let the agent write the plan
    Plan(LoopArgs),
    /// Let the agent work on the plan, or on the queue where it has tasks
    Build(LoopArgs),
    /// What a run does now: iteration, task, cost, limits left, last words
    Status(RunArg),
    /// The runs of this project, the newest first
    List(ListArgs),
    /// What a run and its agents said
    Log(RunLogArgs),
    /// The summary of a run as Markdown: commits, tasks, cost, failures
    Report(RunArg),
    /// Stop a run after its iteration
    Stop(StopArgs),
    /// Let a run finish its iteration and wait
    Pause(RunArg),
    /// Let a paused run go on, or take up one that ended or was killed
    Resume(RunArg),
    /// Bring files and branch back to what they were before an iteration
    Undo(UndoArgs),
    /// Print a unit that goes on with the loop after a reboot
    Service(ServiceArgs),
    /// Run a hook in the background, no longer than its time, and write what it says to a log
    #[command(hide = true)]
    WriteLog {
        path: PathBuf,
        #[arg(long)]
        timeout_ms: u64,
        #[arg(last = true)]
        line: Vec<OsString>,
    },
    /// End the group that stdin named last when nobody writes there any more, for a loop that was killed
    #[command(hide = true)]
    GuardGroup,
}

#[derive(Debug, Args)]
pub struct RunArg {
    /// The run, by the letters that are shown of it, or the beginning of its whole id; without it the newest of this project
    pub run: Option<String>,
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// Of every project, and with their workers
    #[arg(long)]
    pub all: bool,
    /// At most so many
    #[arg(long, default_value_t = 20)]
    pub limit: usize,
}

#[derive(Debug, Args)]
pub struct RunLogArgs {
    /// The run, by the letters that are shown of it, or the beginning of its whole id; without it the newest of this project
    pub run: Option<String>,
    /// Of this iteration alone
    #[arg(long, short)]
    pub iteration: Option<u64>,
    /// Go on with what is written until the run is over
    #[arg(long, short)]
    pub follow: bool,
}

#[derive(Debug, Args)]
pub struct ServiceArgs {
    #[command(flatten)]
    pub of_loop: LoopArgs,
    /// For launchd, as on macOS
    #[arg(long)]
    pub launchd: bool,
}

#[derive(Debug, Args)]
pub struct StopArgs {
    /// The run, by the letters that are shown of it, or the beginning of its whole id; without it the newest of this project
    pub run: Option<String>,
    /// Not after its iteration but at once, with everything it started
    #[arg(long)]
    pub now: bool,
}

#[derive(Debug, Args)]
pub struct UndoArgs {
    /// The iteration whose work is taken back, with all after it; without it the last
    pub iteration: Option<u64>,
    /// Take the last undo back
    #[arg(long, conflicts_with_all = ["iteration", "run"])]
    pub back: bool,
    /// The run, by the letters that are shown of it, or the beginning of its whole id; without it the newest of this work tree
    #[arg(long)]
    pub run: Option<String>,
    /// Say what would be done and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

#[derive(Debug, Default, Args)]
pub struct LoopArgs {
    /// The agent to run
    #[arg(long)]
    pub agent: Option<String>,
    /// The model the agent is to use
    #[arg(long)]
    pub model: Option<String>,
    /// The file with the prompt, instead of PROMPT.planning.md or PROMPT.building.md
    #[arg(long)]
    pub prompt: Option<PathBuf>,
    /// Stop after so many iterations; 0 is unlimited
    #[arg(long, short = 'n', short_alias = 'm')]
    pub max_iterations: Option<u64>,
    /// Stop after so long: 90s, 10m, 8h
    #[arg(long, value_parser = length)]
    pub max_time: Option<i64>,
    /// Stop when it has cost so many dollars
    #[arg(long, value_parser = dollars)]
    pub max_cost: Option<f64>,
    /// Stop after so many failed iterations in a row (1 on a plan, 5 on the queue)
    #[arg(long)]
    pub max_failures: Option<u64>,
    /// Stop after so many iterations in a row that changed nothing (1 on a plan, 3 on the queue); 0 never
    #[arg(long)]
    pub idle_iterations: Option<u64>,
    /// One more argument for the agent; may be given several times
    #[arg(long, allow_hyphen_values = true)]
    pub agent_arg: Vec<String>,
    /// Where the work is written down: auto, plan or queue
    #[arg(long, value_parser = source)]
    pub source: Option<WorkSource>,
    /// What the agent may do without asking: ask, edits or all
    #[arg(long, value_parser = permissions)]
    pub permissions: Option<Permissions>,
    /// Let the agent do everything without asking, as --permissions all
    #[arg(long)]
    pub danger: bool,
    /// The command that must pass before a task counts as done
    #[arg(long, value_parser = command_line)]
    pub verify: Option<String>,
    /// End an iteration whose agent says nothing for so long: 90s, 10m
    #[arg(long, value_parser = length)]
    pub max_silence: Option<i64>,
    /// End an iteration after so long
    #[arg(long, value_parser = length)]
    pub max_iteration_time: Option<i64>,
    /// Go on for longer than a day
    #[arg(long)]
    pub no_ceiling: bool,
    /// So many agents at once on the queue, each in a worktree and branch of its own; 64 at most
    #[arg(long, value_parser = workers)]
    pub workers: Option<usize>,
    /// Push finished work to this remote before a task counts as done, and take in what others pushed: for a queue that
    /// several machines share
    #[arg(long, value_name = "REMOTE", num_args = 0..=1, require_equals = true, default_missing_value = "origin",
        value_parser = remote_name)]
    pub push: Option<String>,
    /// Go on with the last loop of this work tree, with everything that was asked of it
    #[arg(long)]
    pub resume: bool,
    /// Print what the agent says as it says it
    #[arg(long, short)]
    pub verbose: bool,
    /// Say what would be done and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Start nothing where the project is not trusted and you cannot be asked; it answers nothing
    #[arg(long, hide = true)]
    pub yes: bool,
    #[arg(long, hide = true)]
    pub config_from: Option<PathBuf>,
    #[arg(long, hide = true)]
    pub branch: Option<String>,
    /// The one task of a worker, the run that started it and the name its task was claimed for
    #[arg(long, hide = true, requires_all = ["parent", "worker"])]
    pub task: Option<String>,
    #[arg(long, hide = true)]
    pub parent: Option<String>,
    #[arg(long, hide = true)]
    pub worker: Option<String>,
}

pub fn run(verb: &LoopVerb, printer: &Printer) -> Result<Exit, CliError> {
    match verb {
        LoopVerb::Plan(args) => start::run(RunMode::Planning, args, printer),
        LoopVerb::Build(args) => start::run(RunMode::Building, args, printer),
        LoopVerb::Status(args) => status::status(args, printer),
        LoopVerb::List(args) => status::list(args, printer),
        LoopVerb::Log(args) => log::log(args, printer),
        LoopVerb::Report(args) => summary::report(args, printer),
        LoopVerb::Stop(args) => control::stop(args, printer),
        LoopVerb::Pause(args) => control::pause(args, printer),
        LoopVerb::Resume(args) => control::resume(args, printer),
        LoopVerb::Undo(args) => undo::run(args, printer),
        LoopVerb::Service(args) => service::run(args, printer),
        LoopVerb::WriteLog { path, timeout_ms, line } => {
            runner::run_in_background(path, Duration::from_millis(*timeout_ms), line)?;
            Ok(Exit::Ok)
        }
        LoopVerb::GuardGroup => {
            runner::guard_group(std::io::stdin().lock());
            Ok(Exit::Ok)
        }
    }
}

fn length(text: &str) -> Result<i64, String> {
    duration(text).ok_or_else(|| format!("`{text}` is no length such as 90s, 10m, 8h"))
}

/// Not a number, or less than nothing, would be no limit.
fn dollars(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| format!("`{text}` is no number of dollars"))
}

/// One that says nothing would switch off what the configuration says.
fn command_line(text: &str) -> Result<String, String> {
    let said = Some(text.to_string()).filter(|line| !line.trim().is_empty());
    said.ok_or_else(|| "an empty command proves nothing; leave the option out for the one of the configuration".into())
}

fn workers(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=MOST_WORKERS).contains(number));
    number.ok_or_else(|| format!("`{text}` is no number from 1 to {MOST_WORKERS}"))
}

fn remote_name(text: &str) -> Result<String, String> {
    let known = Some(text.to_string()).filter(|text| policy::config::sections::RemoteName::accepts(text));
    known.ok_or_else(|| format!("`{text}` is no name of a remote; `git remote` lists them"))
}

fn permissions(text: &str) -> Result<Permissions, String> {
    match text {
        "ask" => Ok(Permissions::Asked),
        "edits" => Ok(Permissions::Edits),
        "all" => Ok(Permissions::Skipped),
        _ => Err(format!("`{text}` is none of ask, edits, all")),
    }
}

fn source(text: &str) -> Result<WorkSource, String> {
    WorkSource::parse(text).ok_or_else(|| format!("`{text}` is none of auto, plan, queue"))
}

impl From<RunnerError> for CliError {
    fn from(error: RunnerError) -> Self {
        match error {
            RunnerError::Store(cause) => cause.into(),
            RunnerError::NothingToResume { .. } => Self::not_found(error.to_string()).hint("taut loop build"),
            RunnerError::UndoWhileRunning { .. } => Self::failed(error.to_string()).hint("taut loop stop"),
            RunnerError::NothingToUndo { .. } | RunnerError::NoCheckpoint { .. } | RunnerError::NoUndo => {
                Self::not_found(error.to_string()).hint("git for-each-ref refs/taut")
            }
            RunnerError::NoKeptTree { .. } => Self::not_found(error.to_string()).hint("taut undo list"),
            RunnerError::SeveralKeptTrees { .. } => Self::usage(error.to_string()).hint("taut undo list"),
            RunnerError::NoProgram { ref program, ref here, .. } => {
                let here = if here.is_empty() { "<another>".to_string() } else { here.join("|") };
                let hint = format!("install it (`command -v {program}` says where it is), or `--agent {here}`");
                Self::failed(error.to_string()).hint(hint)
            }
            RunnerError::Configuration { .. } => Self::failed(error.to_string()).hint("taut policy check"),
            other => Self::failed(other.to_string()),
        }
    }
}
