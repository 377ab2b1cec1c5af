//! A run that is over: one screen, one JSON object, or a page of Markdown.

use super::RunArg;
use crate::commands::ago;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, text};
use runner::RunSummary;
use serde_json::json;

pub(super) fn report(_args: &RunArg, _printer: &Printer) -> Result<Exit, CliError> {
    Err(CliError::failed("no report yet"))
}

/// One screen: how it ended, what came of it, where to read on.
pub(super) fn show(summary: &RunSummary, printer: &Printer) {
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
    printer.line(format!("  time        {}", ago(*ms)));
    if let Some(branch) = branch {
        printer.line(format!("  branch      {branch}"));
    }
    printer.line(format!("  logs        {}", logs.display()));
}
