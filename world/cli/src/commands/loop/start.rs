//! What happens before a run: what is asked for, whether the project is trusted, what the agent may do.

use super::screen::LoopScreen;
use super::{LoopArgs, summary, workers};
use crate::commands::trust;
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::{Printer, text};
use engine::loops::Flags;
use host::paths::PathVariables;
use host::trust::{ProjectFiles, TrustState};
use model::run::{Permissions, RunMode};
use policy::config::CHANGED_SINCE_TRUSTED;
use runner::{Job, JobRequest, Resume, WorkerJob};
use serde_json::json;

pub(super) fn run(mode: RunMode, args: &LoopArgs, printer: &Printer) -> Result<Exit, CliError> {
    let places = PathVariables::from_process();
    let screen = LoopScreen::new(printer);
    let asked = asked(mode, args)?;
    let mut job = Job::new(&asked, &places, &screen)?;
    let parallel = workers::wanted(&job, args)?;
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
    if parallel {
        return workers::run(&job, &asked, &screen, printer);
    }
    let summary = runner::run(&job, &screen)?;
    summary::show(&summary, printer);
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
            permissions: args.danger.then_some(Permissions::Skipped).or(args.permissions),
            verify: args.verify.clone(),
            workers: args.workers,
            max_silence: args.max_silence,
            max_iteration_time: args.max_iteration_time,
            no_ceiling: args.no_ceiling,
        },
        prompt: args.prompt.as_ref().map(std::path::absolute).transpose()?,
        resume: if args.resume { Resume::Last } else { Resume::Fresh },
        folder: std::env::current_dir()?,
        config_from: args.config_from.clone(),
        branch: args.branch.clone(),
        worker: worker_job(args),
    })
}

/// Whose worker this loop is, where another loop started it.
fn worker_job(args: &LoopArgs) -> Option<WorkerJob> {
    let (task, parent, agent) = (args.task.clone()?, args.parent.clone()?, args.worker.clone()?);
    Some(WorkerJob { task, parent, agent })
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
            "max_time_ms": limits.max_ms, "ceiling_ms": limits.ceiling_ms, "max_failures": limits.failures(job.queue),
            "idle_iterations": limits.idle(job.queue), "log_dir": job.terms.log_dir,
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
