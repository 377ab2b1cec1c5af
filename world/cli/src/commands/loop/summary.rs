//! A run that is over: one screen, one JSON object, or a page of Markdown.

use super::RunArg;
use super::find::Runs;
use super::report::RunReport;
use super::words::{length, tokens};
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, text};
use model::run::Run;
use runner::RunSummary;
use store::FleetRun;

/// So many commits are named on a screen.
const SHOWN: usize = 10;

pub(super) fn report(args: &RunArg, printer: &Printer) -> Result<Exit, CliError> {
    let runs = Runs::open()?;
    let seen = runs.pick_whole(args.run.as_deref())?;
    let report = RunReport::load(&runs.store, &seen, host::clock::now())?;
    if printer.json() {
        printer.object(&report.object());
    } else {
        super::markdown::page(&report).into_iter().for_each(|line| printer.line(line));
    }
    Ok(Exit::Ok)
}

/// How it ended, what came of it, where to read on.
pub(super) fn show(summary: &RunSummary, printer: &Printer) {
    let report = kept(summary).unwrap_or_else(|| RunReport::bare(&told(summary), host::clock::now()));
    if printer.json() {
        printer.object(&report.object());
        return;
    }
    let word = match summary.finish.exit() {
        0 => printer.green(summary.finish.name()),
        20.. => printer.red(summary.finish.name()),
        _ => printer.yellow(summary.finish.name()),
    };
    printer.line(text!("{}: {}", word, summary.why));
    for (name, value) in lines(&report) {
        printer.line(text!("  {:<11} {}", name, value));
    }
}

/// The run as it was stored; none where it could not be.
fn kept(summary: &RunSummary) -> Option<RunReport> {
    let runs = Runs::open().ok()?;
    let seen = runs.store.whole_run(runs.store.stored_run(&summary.run).ok()??).ok()?;
    // What could not be saved at the end is known from the run itself.
    let run = Run { finish: Some(summary.finish), why: Some(summary.why.clone()), ..seen.run };
    let run = Run { finished_at: run.finished_at.or(Some(host::clock::now())), ..run };
    RunReport::load(&runs.store, &FleetRun { run, alive: false, ..seen }, host::clock::now()).ok()
}

fn told(summary: &RunSummary) -> FleetRun {
    let RunSummary { run, mode, finish, why, tally, ms, done, left, logs, branch } = summary;
    let now = host::clock::now();
    let run = Run {
        id: run.clone(),
        mode: *mode,
        finish: Some(*finish),
        why: Some(why.clone()),
        tally: tally.clone(),
        started_at: now.plus(-ms),
        finished_at: Some(now),
        done: *done,
        left: *left,
        logs: Some(logs.to_string_lossy().into_owned()),
        branch: branch.clone(),
        ..Run::default()
    };
    FleetRun { run, ..FleetRun::default() }
}

fn lines(report: &RunReport) -> Vec<(&'static str, String)> {
    let row = &report.row;
    let left = &row.limits_left;
    let also = |left: Option<String>| left.map(|left| format!(", {left} left")).unwrap_or_default();
    let mut lines = vec![
        ("iterations", format!("{}{}", row.iteration, also(left.iterations.map(|left| left.to_string())))),
        ("commits", row.commits.to_string()),
    ];
    lines.extend(report.commits.iter().take(SHOWN).map(|one| ("", format!("{} {}", one.hash, one.subject))));
    if report.commits.len() > SHOWN {
        lines.push(("", format!("and {} more", report.commits.len() - SHOWN)));
    }
    let mut add = |name: &'static str, value: Option<String>| lines.extend(value.map(|value| (name, value)));
    let stuck = match report.quarantined.as_slice() {
        [] => String::new(),
        slugs => format!(", {} quarantined ({})", slugs.len(), slugs.join(", ")),
    };
    add("tasks", row.progress().map(|(done, all)| format!("{done} done, {} left{stuck}", all - done)));
    for (one, what) in report.failures() {
        let task = one.task.as_deref().map(|task| format!(" ({task})")).unwrap_or_default();
        add("failed", Some(format!("iteration {}{task}: {what}", one.iteration)));
    }
    add("denied", (!row.denied.is_empty()).then(|| row.denied.join(", ")));
    add("cost", Some(format!("${:.2}{}", row.cost_usd, also(left.cost_usd.map(|left| format!("${left:.2}"))))));
    add("tokens", (row.tokens > 0).then(|| tokens(row.tokens)));
    add("time", Some(format!("{}{}", length(row.elapsed_ms), also(left.time_ms.map(length)))));
    add("branch", (!report.branches.is_empty()).then(|| report.branches.join(", ")));
    add("logs", row.logs.clone());
    add("next", Some(report.next()));
    lines
}
