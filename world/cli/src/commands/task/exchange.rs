//! `taut task import` and `export`: plans of other tools.

use super::args::{ExportArgs, ImportArgs};
use super::plan::{named, rehearsal, show_synced};
use super::store_session::StoreSession;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, text};
use crate::progress;
use engine::queue::{ExportedTask, ImportedPlan, LARGEST_IMPORT, PlanFormat, PlanText, TaskLineError};
use pipeline::queue::{MissingTasks, QueueError, SyncMode, Synced, UnknownDeps};
use serde_json::json;
use std::io::Read;
use std::path::Path;
use store::TaskFilter;
use sys::outside::{self, Rules, Unread};

pub fn import(args: &ImportArgs, store_session: &mut StoreSession, printer: &Printer) -> Result<Exit, CliError> {
    let name = Some(args.file.as_str()).filter(|file| *file != "-");
    let text = read(name)?;
    let format = PlanFormat::ALL.into_iter().find(|format| format.name() == args.from);
    let format = format.unwrap_or_else(|| PlanFormat::guess(&text));
    let imported =
        engine::queue::import(format, PlanText { text: &text, name }).map_err(|lines| refused(&lines, format))?;
    let ImportedPlan { tasks, stand, notes } = imported;
    let slugs: Vec<String> = tasks.iter().map(|(_, task)| task.slug.clone()).collect();
    let (project, proves) = (store_session.project(), tasks.iter().any(|(_, task)| task.verify.is_some()));
    let speaker = store_session.planner(proves);
    let mode = SyncMode {
        missing: MissingTasks::Kept,
        unknown: UnknownDeps::LeftOut,
        stand,
        rehearsal: rehearsal(args.dry_run),
    };
    let sync = || store_session.queue().sync(&project, tasks, &speaker, &mode);
    let synced = progress::during("taking the tasks over", printer, sync)?;
    notes.iter().for_each(|note| printer.note(text!("note: {}", note)));
    show_synced(&synced, &speaker, printer);
    let Synced { inserted, updated, skipped, finished, .. } = synced;
    if printer.json() {
        printer.object(&json!({
            "from": format.name(), "inserted": inserted, "updated": updated, "done": finished, "skipped": skipped,
            "dry_run": args.dry_run, "ids": slugs,
        }));
        return Ok(Exit::Ok);
    }
    if slugs.is_empty() {
        return Ok(Exit::Ok);
    }
    if args.dry_run {
        printer.note(text!("nothing is written; it would be: {}", named(&slugs)));
    }
    let from = format.name();
    printer.line(format!(
        "from {from}: inserted: {inserted}, updated: {updated}, done: {finished}, skipped (done): {skipped}"
    ));
    Ok(Exit::Ok)
}

pub fn export(args: &ExportArgs, store_session: &mut StoreSession, printer: &Printer) -> Result<Exit, CliError> {
    store_session.reap();
    let tasks = store_session.tasks(&TaskFilter::default())?;
    let tasks: Vec<ExportedTask> = tasks.iter().map(ExportedTask::of).collect();
    let format = PlanFormat::ALL.into_iter().find(|format| format.name() == args.to).unwrap_or(PlanFormat::Jsonl);
    let plan = engine::queue::export(format, &tasks);
    for line in plan.lines() {
        printer.line(crate::printer::Text::lines(line));
    }
    Ok(Exit::Ok)
}

/// Anybody's file: bounded, regular, and text.
fn read(name: Option<&str>) -> Result<String, CliError> {
    let most = u64::try_from(LARGEST_IMPORT).unwrap_or(u64::MAX);
    let hint = "taut task import plan.md";
    let Some(name) = name else {
        let mut bytes = Vec::new();
        std::io::stdin().lock().take(most + 1).read_to_end(&mut bytes)?;
        let text = String::from_utf8(bytes);
        return text
            .map_err(|cause| CliError::failed("the plan on stdin is not UTF-8 text").because(&cause).hint(hint));
    };
    outside::read_text(Path::new(name), &Rules::up_to(most)).map_err(|cause| match cause {
        Unread::Missing => CliError::not_found(format!("there is no file {name}")).hint(hint),
        Unread::TooLarge { .. } => {
            CliError::failed(format!("{name} is larger than 16 MiB, so it is no plan")).hint(hint)
        }
        other => CliError::failed(format!("{name} cannot be read as text: {other}")).hint(hint),
    })
}

/// Everything that is wrong with it, as far as somebody reads on.
fn refused(lines: &[TaskLineError], format: PlanFormat) -> CliError {
    const MOST: usize = 20;
    let more = lines.len().saturating_sub(MOST);
    let error = CliError::from(QueueError::Lines { lines: lines.iter().take(MOST).cloned().collect() });
    let more = if more == 0 { String::new() } else { format!("\nand {more} more") };
    CliError::failed(format!("{}{more}; nothing was written", error.what()))
        .hint(format!("taut task import --from {} --dry-run <file>", format.name()))
}
