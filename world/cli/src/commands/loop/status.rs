//! What a run does now, and which there are.

use super::find::Runs;
use super::words::{bar, length, local, tokens};
use super::{ListArgs, RunArg};
use crate::commands::stored;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, Text, text};
use dash::run_view::{GONE, RunRow};
use model::Ms;
use model::row::AgentStatus;
use store::RunFilter;

pub(super) fn status(args: &RunArg, printer: &Printer) -> Result<Exit, CliError> {
    let seen = Runs::open()?.pick(args.run.as_deref())?;
    let now = host::clock::now();
    let row = RunRow::of(&seen, now);
    if printer.json() {
        printer.object(&object(&row));
        return Ok(Exit::Ok);
    }
    printer.line(text!("{} {} in {}", printer.bold(format!("run {}", row.short)), row.mode, row.folder));
    for (name, value) in lines(&row, now) {
        printer.line(text!("  {:<11} {}", name, value));
    }
    for worker in &row.workers {
        let task = worker.task.as_deref().unwrap_or("-");
        printer.line(text!("  {:<11} {} {}: {}", "worker", worker.short, task, standing(worker, now)));
        if let Some(said) = &worker.said {
            printer.line(text!("  {:<11}   {}", "", said));
        }
    }
    Ok(Exit::Ok)
}

pub(super) fn list(args: &ListArgs, printer: &Printer) -> Result<Exit, CliError> {
    let Some(store) = stored()? else {
        printer.note("no loop has run yet; `taut loop build` starts one");
        return Ok(Exit::Ok);
    };
    let places = host::paths::PathVariables::from_process();
    let project = host::probe::project(&std::env::current_dir()?, &places.home()).root;
    let filter = RunFilter { project: (!args.all).then_some(project), workers: false, limit: args.limit };
    let now = host::clock::now();
    let runs = store.runs(&filter)?.into_iter().map(|run| Ok(RunRow::of(&store.seen_run(run)?, now)));
    let rows: Vec<RunRow> = runs.collect::<Result<_, CliError>>()?;
    if printer.json() {
        rows.iter().for_each(|row| printer.object(&object(row)));
        return Ok(Exit::Ok);
    }
    if rows.is_empty() {
        printer.note("no loop has run in this project yet; `taut loop list --all` shows those of others");
        return Ok(Exit::Ok);
    }
    let mut shown = Vec::new();
    for row in &rows {
        shown.push(cells(row, "", now, printer));
        if args.all {
            shown.extend(row.workers.iter().map(|worker| cells(worker, "└ ", now, printer)));
        }
    }
    let mut names = vec!["RUN", "STATE", "STARTED", "TIME", "ITER", "DONE", "COMMITS", "COST", "NOW"];
    if args.all {
        names.push("FOLDER");
        shown.iter_mut().zip(folders(&rows)).for_each(|(cells, folder)| cells.push(folder.into()));
    }
    printer.table(&names, &shown);
    Ok(Exit::Ok)
}

fn folders(rows: &[RunRow]) -> impl Iterator<Item = &String> {
    rows.iter().flat_map(|row| std::iter::once(&row.folder).chain(row.workers.iter().map(|worker| &worker.folder)))
}

fn cells(row: &RunRow, mark: &str, now: Ms, printer: &Printer) -> Vec<Text> {
    let state = row.finish.unwrap_or(row.state);
    let state = match row.status {
        AgentStatus::Error => printer.red(state),
        AgentStatus::Attention => printer.yellow(state),
        AgentStatus::Working => printer.green(state),
        AgentStatus::Checked | AgentStatus::Done => printer.dim(state),
    };
    let mut doing = row.why.clone().or_else(|| row.waits_for.clone()).or_else(|| row.task.clone()).unwrap_or_default();
    if row.workers.len() > 1 && mark.is_empty() && row.finish.is_none() {
        doing = format!("{} workers", row.workers.len());
    }
    vec![
        format!("{mark}{}", row.short).into(),
        state,
        local(row.started_at, now).into(),
        length(row.elapsed_ms).into(),
        row.iteration.to_string().into(),
        row.progress().map_or_else(|| "-".to_string(), |(done, all)| format!("{done}/{all}")).into(),
        row.commits.to_string().into(),
        format!("${:.2}", row.cost_usd).into(),
        doing.into(),
    ]
}

/// The row, with its status in the words of the fleet.
pub(super) fn object(row: &RunRow) -> serde_json::Value {
    let mut object = serde_json::to_value(row).unwrap_or_default();
    object["status"] = row.status.name().into();
    object
}

/// How it stands, in plain words.
pub(super) fn standing(row: &RunRow, now: Ms) -> String {
    let iteration = format!("iteration {}", row.iteration);
    match row.state {
        GONE => {
            let at =
                if row.iteration == 0 { "before its first iteration".to_string() } else { format!("in {iteration}") };
            format!("its process is gone, {at}; `taut loop resume {}` goes on", row.short)
        }
        "over" => {
            let ended = row.finished_at.map(|at| format!(", {} ago", length(now.since(at)))).unwrap_or_default();
            let why = row.why.as_deref().map(|why| format!(" ({why})")).unwrap_or_default();
            format!("over: {}{why}{ended}", row.finish.unwrap_or("error"))
        }
        "starting" => "starting".to_string(),
        "running" => format!("the agent works, {iteration}"),
        "verifying" => format!("what {iteration} made is verified"),
        "merging" => "finished work is merged".to_string(),
        "waiting" => format!("waiting after {iteration}"),
        "paused" => format!("paused after {iteration}; `taut loop resume {}` goes on", row.short),
        other => other.to_string(),
    }
}

fn lines(row: &RunRow, now: Ms) -> Vec<(&'static str, String)> {
    let left = &row.limits_left;
    let also = |left: Option<String>| left.map(|left| format!(", {left} left")).unwrap_or_default();
    let mut lines = vec![("state", standing(row, now))];
    let mut add = |name: &'static str, value: Option<String>| lines.extend(value.map(|value| (name, value)));
    add(
        "waits for",
        row.waits_for.as_ref().map(|what| match row.until {
            Some(until) => {
                format!("{what}, until {} ({} left)", local(until, now), length(until.since(now)))
            }
            None => what.clone(),
        }),
    );
    add("task", row.task.clone());
    add("now", row.tool.clone());
    add("last words", row.said.clone());
    add("progress", row.progress().map(|(done, all)| bar(done, all)));
    add("iterations", Some(format!("{}{}", row.iteration, also(left.iterations.map(|left| left.to_string())))));
    add("time", Some(format!("{}{}", length(row.elapsed_ms), also(left.time_ms.map(length)))));
    add("cost", Some(format!("${:.2}{}", row.cost_usd, also(left.cost_usd.map(|left| format!("${left:.2}"))))));
    add("tokens", (row.tokens > 0).then(|| tokens(row.tokens)));
    add("commits", Some(row.commits.to_string()));
    let failures = format!("{} in a row{}", row.failures, also(left.failures.map(|left| left.to_string())));
    add("failures", (row.failures > 0 || left.failures.is_some_and(|left| left > 1)).then_some(failures));
    let workers = format!("{} at work, {} ended", row.workers.len(), row.workers_ended);
    add("workers", (row.workers_ended > 0).then_some(workers));
    add("denied", (!row.denied.is_empty()).then(|| row.denied.join(", ")));
    add("branch", row.branch.clone());
    add("logs", row.logs.clone());
    lines
}
