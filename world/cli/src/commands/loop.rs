//! `taut loop`: runs an agent on a plan until it is done. Every way to end has
//! its own exit status.

mod screen;

use crate::commands::trust;
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::{Printer, text};
use clap::{Args, Subcommand};
use engine::loops::{Flags, WorkSource, duration};
use host::paths::PathVariables;
use host::trust::{ProjectFiles, TrustState};
use model::run::RunMode;
use policy::config::CHANGED_SINCE_TRUSTED;
use runner::{Job, JobRequest, Resume, RunSummary, RunnerError, WorkerFleet};
use screen::LoopScreen;
use serde_json::json;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub enum LoopVerb {
    /// Let the agent write the plan
    Plan(LoopArgs),
    /// Let the agent work on the plan, or on the queue where it has tasks
    Build(LoopArgs),
    /// Write what comes in on stdin to a log, for hooks in the background
    #[command(hide = true)]
    Log { path: PathBuf },
}

#[derive(Debug, Args)]
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
    /// Stop after so many failed iterations in a row (1)
    #[arg(long)]
    pub max_failures: Option<u64>,
    /// Stop after so many iterations in a row that changed nothing (1); 0 never
    #[arg(long)]
    pub idle_iterations: Option<u64>,
    /// One more argument for the agent; may be given several times
    #[arg(long, allow_hyphen_values = true)]
    pub agent_arg: Vec<String>,
    /// Where the work is written down: auto, plan or queue
    #[arg(long, value_parser = source)]
    pub source: Option<WorkSource>,
    /// Let the agent do everything without asking
    #[arg(long)]
    pub danger: bool,
    /// Go on for longer than a day
    #[arg(long)]
    pub no_ceiling: bool,
    /// So many agents at once on the queue, each in a worktree and branch of its own
    #[arg(long, default_value_t = 1)]
    pub workers: usize,
    /// Go on with a loop that was killed
    #[arg(long)]
    pub resume: bool,
    /// Say what would be done and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Stop where the project is not trusted and you cannot be asked; it answers nothing
    #[arg(long, hide = true)]
    pub yes: bool,
    #[arg(long, hide = true)]
    pub config_from: Option<PathBuf>,
    #[arg(long, hide = true)]
    pub branch: Option<String>,
}

pub fn run(verb: &LoopVerb, printer: &Printer) -> Result<Exit, CliError> {
    let (mode, args) = match verb {
        LoopVerb::Plan(args) => (RunMode::Planning, args),
        LoopVerb::Build(args) => (RunMode::Building, args),
        LoopVerb::Log { path } => {
            runner::write_log(path, std::io::stdin().lock())?;
            return Ok(Exit::Ok);
        }
    };
    let places = PathVariables::from_process();
    let screen = LoopScreen::new(printer);
    let asked = asked(mode, args)?;
    let mut job = Job::new(&asked, &places, &screen)?;
    if args.workers > 1 {
        return fleet(mode, args, &places, printer);
    }
    if args.dry_run {
        return dry_run(&job, printer);
    }
    if job.lacks_trust() {
        if ask_trust(&job, args, printer)? {
            job = Job::new(&asked, &places, &screen)?;
        } else {
            printer.note(text!("{} {}", printer.yellow("warning:"), untrusted(&job)));
        }
    }
    let summary = runner::run(&job, &screen)?;
    show(&summary, printer);
    Ok(Exit::Loop(summary.finish.exit()))
}

fn untrusted(job: &Job) -> String {
    match ProjectFiles::of(&job.root).configuration_state(&job.state) {
        TrustState::Changed => {
            format!("this project's configuration {CHANGED_SINCE_TRUSTED}; until then its loop settings do nothing")
        }
        _ => {
            "this project is not trusted: its loop hooks and settings do nothing; `taut trust` changes that".to_string()
        }
    }
}

fn asked(mode: RunMode, args: &LoopArgs) -> Result<JobRequest, CliError> {
    Ok(JobRequest {
        mode,
        flags: Flags {
            agent: args.agent.clone(),
            model: args.model.clone(),
            max_iterations: args.max_iterations,
            max_ms: args.max_time,
            max_cost: args.max_cost,
            max_failures: args.max_failures,
            idle_iterations: args.idle_iterations,
            agent_args: args.agent_arg.clone(),
            source: args.source,
            danger: args.danger,
            no_ceiling: args.no_ceiling,
        },
        prompt: args.prompt.as_ref().map(std::path::absolute).transpose()?,
        resume: if args.resume { Resume::Last } else { Resume::Fresh },
        folder: std::env::current_dir()?,
        config_from: args.config_from.clone(),
        branch: args.branch.clone(),
    })
}

/// Asked once, of a person, who has seen what would run.
fn ask_trust(job: &Job, args: &LoopArgs, printer: &Printer) -> Result<bool, CliError> {
    let seen = ProjectFiles::of(&job.root);
    match person::required("trust") {
        Ok(()) => {}
        Err(error) if args.yes => return Err(error),
        Err(_) => return Ok(false),
    }
    trust::show_files(&seen, &job.state, &job.root, printer);
    if !person::agrees(&format!("Trust {} to run these?", job.root.display()))? {
        return Ok(false);
    }
    seen.grant(&job.state)?;
    Ok(true)
}

fn dry_run(job: &Job, printer: &Printer) -> Result<Exit, CliError> {
    let line = job.launch()?;
    let limits = &job.settings.limits;
    if printer.json() {
        printer.object(&json!({
            "mode": job.mode.name(), "program": line.program, "args": line.args, "prompt_from": job.prompt_from,
            "queue": job.queue, "trusted": job.trusted, "max_iterations": limits.max_iterations,
            "max_time_ms": limits.max_ms, "ceiling_ms": limits.ceiling_ms, "max_failures": limits.max_failures,
            "idle_iterations": limits.idle_iterations, "log_dir": job.terms.log_dir,
        }));
        return Ok(Exit::Ok);
    }
    let shown: Vec<String> =
        line.args.iter().map(|arg| arg.lines().next().unwrap_or_default().chars().take(60).collect()).collect();
    printer.line(format!("would run: {} {}", line.program, shown.join(" ")));
    printer.line(format!("mode: {}, prompt: {}", job.mode.name(), job.prompt_from));
    printer.line(format!("work: {}", if job.queue { "the queue" } else { &job.terms.plan_file }));
    let hooks = if job.lacks_trust() { " (not trusted: they would not run)" } else { "" };
    printer.line(format!("hooks: {}{hooks}", job.root.join(".taut/hooks").display()));
    printer.line(format!("logs: {}", job.terms.log_dir));
    Ok(Exit::Ok)
}

/// One screen: how it ended, what came of it, where to read on.
fn show(summary: &RunSummary, printer: &Printer) {
    let RunSummary { run, mode, finish, why, tally, ms, done, left, logs, branch } = summary;
    let cost = tally.cost_micros as f64 / 1e6;
    if printer.json() {
        printer.object(&json!({
            "run": run, "mode": mode.name(), "finish": finish.name(), "why": why, "exit": finish.exit(),
            "iterations": tally.iterations, "commits": tally.commits, "cost_usd": cost, "duration_ms": ms,
            "tasks_done": done, "tasks_left": left, "logs": logs, "branch": branch,
        }));
        return;
    }
    let word = match finish.exit() {
        0 => printer.green(finish.name()),
        20.. => printer.red(finish.name()),
        _ => printer.yellow(finish.name()),
    };
    printer.line(text!("{}: {}", word, why));
    printer.line(format!("  iterations  {}", tally.iterations));
    printer.line(format!("  commits     {}", tally.commits));
    if let (Some(done), Some(left)) = (done, left) {
        printer.line(format!("  tasks       {done} done, {left} left"));
    }
    printer.line(format!("  cost        ${cost:.2}"));
    printer.line(format!("  time        {}", super::ago(*ms)));
    if let Some(branch) = branch {
        printer.line(format!("  branch      {branch}"));
    }
    printer.line(format!("  logs        {}", logs.display()));
}

fn fleet(mode: RunMode, args: &LoopArgs, places: &PathVariables, printer: &Printer) -> Result<Exit, CliError> {
    if mode == RunMode::Planning {
        return Err(CliError::failed("several workers cannot write one plan").hint("taut loop build --workers N"));
    }
    let own: Vec<String> = std::env::args().skip_while(|word| word != "build").skip(1).collect();
    let mut line = vec!["loop".to_string(), "build".to_string()];
    let mut words = own.into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--workers" => drop(words.next()),
            word if word.starts_with("--workers=") => {}
            _ => line.push(word),
        }
    }
    if !line.iter().any(|word| word.starts_with("--source")) {
        line.extend(["--source".to_string(), "queue".to_string()]);
    }
    let project = host::probe::project(&std::env::current_dir()?, &places.home());
    let fleet = WorkerFleet {
        folder: PathBuf::from(project.work_tree),
        state: places.state(),
        workers: args.workers,
        program: std::env::current_exe()?,
        args: line,
    };
    if args.dry_run {
        printer.line(format!(
            "would start {} times, each in a worktree of its own: taut {}",
            args.workers,
            fleet.args.join(" ")
        ));
        return Ok(Exit::Ok);
    }
    let branches = runner::workers(&fleet)?;
    for branch in &branches {
        if printer.json() {
            printer.object(&json!({"branch": branch.name, "worktree": branch.folder, "commits": branch.commits, "exit": branch.exit}));
            continue;
        }
        printer.line(text!(
            "{} ({} commits) in {}",
            printer.bold(&branch.name),
            branch.commits.len(),
            branch.folder.display()
        ));
        branch.commits.iter().for_each(|commit| printer.line(format!("  {commit}")));
    }
    if !printer.json() {
        printer.line(
            "nothing was merged: `git merge <branch>` takes one in, `git worktree remove <folder>` clears it away",
        );
    }
    // What one of them could not do weighs more than what another did.
    let exit = branches.iter().map(|branch| branch.exit.unwrap_or(20)).max().unwrap_or_default();
    Ok(Exit::Loop(u8::try_from(exit).unwrap_or(20)))
}

fn length(text: &str) -> Result<i64, String> {
    duration(text).ok_or_else(|| format!("`{text}` is no length such as 90s, 10m, 8h"))
}

/// Not a number, or less than nothing, would be no limit.
fn dollars(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| format!("`{text}` is no number of dollars"))
}

fn source(text: &str) -> Result<WorkSource, String> {
    WorkSource::parse(text).ok_or_else(|| format!("`{text}` is none of auto, plan, queue"))
}

impl From<RunnerError> for CliError {
    fn from(error: RunnerError) -> Self {
        match error {
            RunnerError::Store(cause) => cause.into(),
            RunnerError::NothingToResume { .. } => Self::not_found(error.to_string()).hint("taut loop build"),
            RunnerError::Configuration { .. } => Self::failed(error.to_string()).hint("taut policy check"),
            other => Self::failed(other.to_string()),
        }
    }
}
