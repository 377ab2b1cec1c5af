//! `taut shared export`: the tasks of the server's queue as a plan, or copied back into this machine's own queue.

use super::import::Here;
use super::{AgreeArgs, not_connected, tell};
use crate::commands::counted;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, Text, text};
use clap::Args;
use engine::queue::{ExportedTask, PlanFormat};
use model::task::{Task, TaskStatus};
use pipeline::queue::{Queue, Synced};
use serde_json::json;
use store::{TaskFilter, TaskServer};

#[derive(Debug, Args)]
pub struct SharedExportArgs {
    /// Copy the unfinished ones into this machine's own queue instead (people only)
    #[arg(long)]
    pub local: bool,
    #[command(flatten)]
    pub agree: AgreeArgs,
}

pub fn run(args: &SharedExportArgs, printer: &Printer) -> Result<Exit, CliError> {
    if args.local {
        args.agree.person("shared export --local")?;
        return local(args.agree, printer);
    }
    let mut here = Here::shared()?;
    let Some(mut server) = here.server.take() else { return Err(not_connected()) };
    let project = here.project.clone();
    let queue: Queue<'_> = Queue::new(&mut here.store, host::clock_reading::moment);
    let tasks = queue.on(&mut server).tasks(&project, &TaskFilter::default())?;
    let tasks: Vec<ExportedTask> = tasks.iter().map(ExportedTask::of).collect();
    for line in engine::queue::export(PlanFormat::Jsonl, &tasks).lines() {
        printer.line(Text::lines(line));
    }
    Ok(Exit::Ok)
}

fn local(agree: AgreeArgs, printer: &Printer) -> Result<Exit, CliError> {
    let mut here = Here::shared()?;
    let Some(synced) = copied(&mut here, agree, printer)? else { return Ok(Exit::Failed) };
    if printer.json() {
        let Synced { inserted, updated, skipped, finished, .. } = synced;
        printer.object(&json!({
            "inserted": inserted, "updated": updated, "done": finished, "skipped": skipped, "dry_run": agree.dry_run,
        }));
    }
    Ok(Exit::Ok)
}

/// The tasks of the server's queue that are not over.
pub fn unfinished(here: &mut Here) -> Result<Vec<Task>, CliError> {
    let Some(mut server) = here.server.take() else { return Err(not_connected()) };
    let statuses = vec![TaskStatus::Open, TaskStatus::Active, TaskStatus::Quarantined];
    let filter = TaskFilter { statuses, ..TaskFilter::default() };
    let project = here.project.clone();
    let tasks = here.local().on(&mut server).tasks(&project, &filter);
    here.server = Some(server);
    Ok(tasks?)
}

/// Shown, asked, and done; `None` where it was not agreed to.
pub fn copied(here: &mut Here, agree: AgreeArgs, printer: &Printer) -> Result<Option<Synced>, CliError> {
    let tasks = unfinished(here)?;
    let Some(mut server) = here.server.take() else { return Err(not_connected()) };
    let (place, project) = (server.place(), here.project.clone());
    let many = counted(tasks.len() as u64, "unfinished task");
    tell(
        printer,
        text!("{} of the queue {} on {} would be copied into this machine's own queue", many, place.queue, place.shown),
    );
    let held = tasks.iter().filter(|task| task.queued.hold.is_some()).count() as u64;
    if held > 0 {
        tell(printer, format!("of them {} held by an agent, which goes on there", counted(held, "task")));
    }
    if tasks.is_empty() || agree.dry_run {
        return Ok(Some(Synced::default()));
    }
    tell(printer, "They stay on the server: who works on both sides does the same work twice.");
    if !agree.agrees("Copy them?")? {
        printer.note("nothing was copied");
        return Ok(None);
    }
    let synced = here.local().copy_back(&project, &mut server)?;
    tell(printer, format!("copied: {} new, {} changed", synced.inserted, synced.updated));
    Ok(Some(synced))
}
