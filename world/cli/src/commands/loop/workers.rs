//! Several agents at once, and what they left.

use super::{LoopArgs, summary};
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, text};
use model::run::RunMode;
use runner::{Job, ParallelSummary, TaskOutcome, Tell};
use serde_json::json;

/// Whether several are to work at once, or one as part of several: what is pushed comes from work trees of Taut's own, and
/// never from a person's. Configured workers wait for a queue; typed ones need it.
pub(super) fn wanted(job: &Job, args: &LoopArgs) -> Result<bool, CliError> {
    let alone = job.settings.workers < 2 && job.settings.push.is_none();
    if alone || job.worker.is_some() {
        return Ok(false);
    }
    let typed = args.workers.is_some() || args.push.is_some();
    match (job.mode, job.queue) {
        (RunMode::Planning, _) if typed => {
            Err(CliError::usage("several workers cannot write one plan").hint("taut loop build --workers N"))
        }
        (RunMode::Building, false) if typed => {
            let words = "several workers share a queue, and this project has no tasks: one plan cannot be shared out";
            Err(CliError::usage(words).hint("taut task import IMPLEMENTATION_PLAN.md"))
        }
        (RunMode::Building, queue) => Ok(queue),
        (RunMode::Planning, _) => Ok(false),
    }
}

pub(super) fn run(job: &Job, tell: &dyn Tell, printer: &Printer) -> Result<Exit, CliError> {
    let summary = runner::coordinate(job, tell)?;
    show(&summary, printer);
    Ok(Exit::Loop(summary.run.finish.exit()))
}

fn show(summary: &ParallelSummary, printer: &Printer) {
    if printer.json() {
        for task in &summary.tasks {
            printer.object(&json!({
                "message": "task_ended", "task": task.slug, "merged": task.merged, "nothing_to_merge": task.nothing, "branch": task.branch, "why": task.why,
                "cost_usd": task.cost_micros as f64 / 1e6, "tries": task.tries, "conflicts": task.conflicts,
            }));
        }
        if let Some((branch, why)) = &summary.aside {
            printer.object(&json!({"message": "aside", "branch": branch, "why": why}));
        }
    }
    summary::show(&summary.run, printer);
    if printer.json() {
        return;
    }
    for task in &summary.tasks {
        line(task, printer);
    }
    if let Some((branch, why)) = &summary.aside {
        printer.line(text!("{} holds what is merged and not on your branch: {}", printer.bold(branch), why));
        printer.line(format!("  `git merge {branch}` takes it in once that is settled"));
    }
}

fn line(task: &TaskOutcome, printer: &Printer) {
    let cost = task.cost_micros as f64 / 1e6;
    let tries = if task.tries == 1 { "1 try".to_string() } else { format!("{} tries", task.tries) };
    let conflicts = match task.conflicts {
        0 => String::new(),
        1 => ", 1 conflict".to_string(),
        many => format!(", {many} conflicts"),
    };
    let about = format!("${cost:.2}, {tries}{conflicts}");
    match &task.merged {
        Some(commit) => {
            let short: String = commit.chars().take(9).collect();
            printer.line(text!("  {} {}: merged {}, {}", printer.green("✓"), task.slug, short, about));
        }
        None => {
            let (sign, what) = match task.nothing {
                true => (printer.green("✓"), "done, nothing to merge"),
                false => (printer.yellow("–"), "not merged"),
            };
            printer.line(text!("  {} {}: {}, {}", sign, task.slug, what, about));
            if let Some(why) = &task.why {
                printer.line(text!("      {}", model::text::line(why, 200)));
            }
            if let Some(branch) = &task.branch {
                printer.line(format!("      its work is kept on branch {branch}"));
            }
        }
    }
}
