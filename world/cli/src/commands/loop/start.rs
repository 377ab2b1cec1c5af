//! What happens before a run: what is asked for, whether the project is trusted, what the agent may do.

use super::permissions;
use super::screen::LoopScreen;
use super::{LoopArgs, dry_run, summary, workers};
use crate::commands::trust;
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::{Printer, text};
use engine::loops::{Flags, WorkSource};
use host::paths::PathVariables;
use model::run::{Permissions, Run, RunMode};
use runner::{Job, JobRequest, QueueServer, Resume, WorkerJob};
use std::path::{Path, PathBuf};

pub(super) fn run(mode: RunMode, args: &LoopArgs, printer: &Printer) -> Result<Exit, CliError> {
    let resume = if args.resume { Resume::Last } else { Resume::Fresh };
    begin(&asked(mode, args, resume, std::env::current_dir()?)?, args, printer)
}

/// Goes on with a run in its own folder, with everything that was asked of it.
pub(super) fn resume(run: &Run, printer: &Printer) -> Result<Exit, CliError> {
    let folder = PathBuf::from(&run.folder);
    if !folder.is_dir() {
        return Err(CliError::not_found(format!("the folder of run {} is gone: {}", run.short(), run.folder)));
    }
    let args = LoopArgs { resume: true, ..LoopArgs::default() };
    let asked = asked(run.mode, &args, Resume::Run(run.id.clone()), folder)?;
    begin(&asked, &args, printer)
}

fn begin(asked: &JobRequest, args: &LoopArgs, printer: &Printer) -> Result<Exit, CliError> {
    // A terminal that is closed is no reason to end, from the first word on.
    sys::signals::ignore(libc::SIGPIPE);
    let places = PathVariables::from_process();
    let screen = LoopScreen::new(printer).with_words(args.verbose);
    let mut job = Job::new(asked, &places, &screen)?;
    let parallel = workers::wanted(&job, args)?;
    if args.dry_run {
        return dry_run::show(&job, args, printer);
    }
    job.lock_tree()?;
    if job.lacks_trust() || job.changed_since_trusted() {
        match trust_first(&job, args, printer)? {
            TrustAnswer::Given => job = Job::new(asked, &places, &screen)?.with_lock_of(&job),
            TrustAnswer::Without => {}
            TrustAnswer::No => return Ok(nothing_started("this project is not trusted", printer)),
        }
    }
    has_work(&job)?;
    // A worker tells its own loop by how it ends.
    if !is_worker(args) {
        job.find_program()?;
    }
    // A worker is one of several, and what it may do was settled before them.
    if !is_worker(args) && !permissions::settle(&mut job, args, printer)? {
        return Ok(nothing_started("nothing was chosen", printer));
    }
    say_resumed(&job, printer);
    if job.prompt_from.contains("; ") {
        printer.note(format!("prompt: {}", job.prompt_from));
    }
    service::ensure_daemon(&places);
    let ended = if parallel { workers::run(&job, &screen, printer) } else { alone(&job, &screen, printer) };
    // A worker's words are said by the loop that started it.
    if !is_worker(args) {
        crate::shared_queue::say_what_is_owed(&places, printer);
    }
    ended
}

fn alone(job: &Job, screen: &LoopScreen<'_>, printer: &Printer) -> Result<Exit, CliError> {
    runner::refuse_while_branches_wait(job)?;
    let summary = runner::run(job, screen)?;
    summary::show(&summary, printer);
    Ok(Exit::Loop(summary.finish.exit()))
}

/// Where the queue of the project is on a server, the loop has a connection of its own.
fn queue_server(folder: &Path) -> Result<QueueServer, CliError> {
    let places = PathVariables::from_process();
    let project = host::probe::project(folder, &places.home()).root;
    let Some(shared) = crate::shared_queue::settings(&project, &places)? else { return Ok(QueueServer::default()) };
    let around = service::shared_target::around_command(&places);
    Ok(QueueServer::new(move |store| Ok(Box::new(service::ProjectQueue::new(&shared, &around, store)?))))
}

fn is_worker(args: &LoopArgs) -> bool {
    args.config_from.is_some()
}

fn nothing_started(why: &str, printer: &Printer) -> Exit {
    printer.note(format!("nothing was started: {why}"));
    Exit::Failed
}

fn asked(mode: RunMode, args: &LoopArgs, resume: Resume, folder: PathBuf) -> Result<JobRequest, CliError> {
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
            push: args.push.clone(),
            max_silence: args.max_silence,
            max_iteration_time: args.max_iteration_time,
            no_ceiling: args.no_ceiling,
        },
        prompt: args.prompt.as_ref().map(std::path::absolute).transpose()?,
        resume,
        queue_server: queue_server(&folder)?,
        folder,
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

/// What came of the question whether a project is trusted.
enum TrustAnswer {
    Given,
    /// Nobody is there, and it was never trusted: it runs without anything of the project's.
    Without,
    No,
}

/// Asked of a person, who has seen what would run. Where nobody can be asked, a project that was never trusted runs with
/// nothing of its own; one that was, and says something else now, does not: half of its limits would not hold.
fn trust_first(job: &Job, args: &LoopArgs, printer: &Printer) -> Result<TrustAnswer, CliError> {
    let changed = job.changed_since_trusted();
    let asked = if is_worker(args) { Err(CliError::failed("nobody is there")) } else { person::required("trust") };
    match asked {
        Ok(()) => {}
        Err(error) if args.yes && !is_worker(args) => return Err(error),
        Err(_) if changed => return Err(was_changed(job)),
        Err(_) => {
            printer.note(text!("{} {}", printer.yellow("warning:"), untrusted(job)));
            return Ok(TrustAnswer::Without);
        }
    }
    trust::show_files(job.files(), &job.state, &job.root, printer);
    if !person::agrees(&format!("Trust {} to run these?", job.root.display()))? {
        return Ok(TrustAnswer::No);
    }
    job.files().grant(&job.state)?;
    Ok(TrustAnswer::Given)
}

fn was_changed(job: &Job) -> CliError {
    let changes = job.files().changes(&job.state).unwrap_or_default();
    let files: Vec<&str> = changes.iter().map(|change| change.file.as_str()).collect();
    CliError::failed(format!(
        "nothing was started: {} changed since this project was trusted, and nobody is there to be asked; without it the \
         loop would run with half of its limits and hooks",
        files.join(", ")
    ))
    .hint("`taut trust` in a terminal shows the change and asks")
}

fn untrusted(job: &Job) -> String {
    let mut words =
        "this project is not trusted: its loop hooks and settings do nothing; `taut trust` changes that".to_string();
    if !job.unheld.is_empty() {
        words.push_str(&format!(". These do not hold: {}", job.unheld.join(", ")));
    }
    words
}

/// An agent that is started for nothing makes something up.
fn has_work(job: &Job) -> Result<(), CliError> {
    let empty = match (job.mode, job.settings.source) {
        (RunMode::Planning, _) => false,
        (RunMode::Building, WorkSource::Queue) => !job.has_tasks()?,
        (RunMode::Building, _) => !job.queue && !job.has_plan(),
    };
    if !empty {
        return Ok(());
    }
    let what = match job.settings.source {
        WorkSource::Queue => "the queue of this project has no tasks".to_string(),
        WorkSource::Plan => format!("there is no plan: {} is not there", job.terms.plan_file),
        WorkSource::Auto => format!("there is neither a plan ({}) nor a task in the queue", job.terms.plan_file),
    };
    let ways = "`taut loop plan` lets the agent write a plan, `taut task create <name> <title>` adds a task, \
                `taut task import <file>` takes a list over";
    Err(CliError::not_found(format!("nothing was started: {what}")).hint(ways))
}

fn say_resumed(job: &Job, printer: &Printer) {
    let Some(run) = &job.resumed else { return };
    let how = match (run.finish, &run.why) {
        (Some(finish), Some(why)) => format!("it ended with {}: {why}", finish.name()),
        (Some(finish), None) => format!("it ended with {}", finish.name()),
        (None, _) => "its process was killed".to_string(),
    };
    let iterations = run.tally.iterations;
    printer.note(format!("going on with run {} after {iterations} iterations; {how}", run.short()));
}
