//! Looking at tasks: `list`, `peek`, `show`, `deps`.

use super::args::{ListArgs, PeekArgs, ShowArgs};
use super::desk::Desk;
use super::shown;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, text};
use model::task::{Status, Task};
use serde_json::{Map, Value, json};
use store::TaskFilter;

pub fn list(args: &ListArgs, desk: &mut Desk, printer: &Printer) -> Result<Exit, CliError> {
    desk.reap();
    let statuses = match &args.status {
        Some(text) => parse_statuses(text)?,
        None if args.all => Vec::new(),
        None => vec![Status::Open, Status::Active, Status::Quarantined],
    };
    let filter = TaskFilter { statuses, agent: args.assignee.clone(), ..TaskFilter::default() };
    let tasks = desk.store().tasks(&desk.project(), &filter)?;
    if printer.json() {
        tasks.iter().for_each(|task| printer.object(&Value::Object(shown::object(task))));
    } else if args.markdown {
        tasks.iter().for_each(|task| printer.line(shown::markdown(&shown::object(task))));
    } else if tasks.is_empty() {
        printer.note("no tasks; `taut task create <id> <title>` makes one");
    } else {
        shown::table(&tasks, printer);
    }
    Ok(Exit::Ok)
}

/// The first that may be claimed, then all that are held.
pub fn peek(args: &PeekArgs, desk: &mut Desk, printer: &Printer) -> Result<Exit, CliError> {
    desk.reap();
    let project = desk.project();
    let now = host::clock::now();
    let claimable = TaskFilter { claimable_at: Some(now), limit: args.count.max(1), ..TaskFilter::default() };
    let active = TaskFilter { statuses: vec![Status::Active], ..TaskFilter::default() };
    let mut tasks = if args.count == 0 { Vec::new() } else { desk.store().tasks(&project, &claimable)? };
    tasks.extend(desk.store().tasks(&project, &active)?);
    if args.markdown {
        tasks.iter().for_each(|task| printer.line(shown::markdown(&shown::object(task))));
    } else if printer.json() || !Printer::has_reader() {
        tasks.iter().for_each(|task| printer.object(&Value::Object(shown::object(task))));
    } else if !tasks.is_empty() {
        shown::table(&tasks, printer);
    }
    Ok(Exit::Ok)
}

pub fn show(args: &ShowArgs, desk: &mut Desk, printer: &Printer) -> Result<Exit, CliError> {
    desk.reap();
    let task = desk.task(&args.id)?;
    let mut fields = shown::whole_object(&task);
    if args.with_deps {
        let results: Map<String, Value> = desk.store().blocker_results(&task)?.into_iter().collect();
        fields.insert("blocker_results".into(), Value::Object(results));
    }
    if printer.json() {
        printer.object(&Value::Object(fields));
    } else {
        printer.line(shown::markdown(&fields).trimmed());
    }
    Ok(Exit::Ok)
}

/// A tree on the terminal; as JSON one line per dependency.
pub fn deps(id: &str, desk: &mut Desk, printer: &Printer) -> Result<Exit, CliError> {
    let task = desk.task(id)?;
    if task.plan.deps.is_empty() && !printer.json() {
        printer.line("(no dependencies)");
        return Ok(Exit::Ok);
    }
    if !printer.json() {
        printer.line(text!("{} {}", id, shown::status(&task, printer)));
    }
    let mut seen = vec![id.to_string()];
    below(&task, 1, &mut seen, desk, printer)?;
    Ok(Exit::Ok)
}

/// What was shown already is not opened again.
fn below(task: &Task, depth: usize, seen: &mut Vec<String>, desk: &Desk, printer: &Printer) -> Result<(), CliError> {
    for slug in &task.plan.deps {
        let blocker = desk.task(slug)?;
        if printer.json() {
            printer.object(&json!({
                "id": task.plan.slug, "by": slug, "s": blocker.queued.status.name(), "depth": depth,
            }));
        } else {
            let indent = "  ".repeat(depth);
            printer.line(text!("{}{} {}", indent, slug, shown::status(&blocker, printer)));
        }
        if !seen.contains(slug) {
            seen.push(slug.clone());
            below(&blocker, depth + 1, seen, desk, printer)?;
        }
    }
    Ok(())
}

pub fn parse_statuses(text: &str) -> Result<Vec<Status>, CliError> {
    let parse = |word: &str| {
        Status::parse(word.trim()).ok_or_else(|| {
            let names = Status::ALL.map(Status::name).join(", ");
            CliError::failed(format!("--status must be some of {names} (value: \"{word}\")"))
                .hint("taut task list --status open,active")
        })
    };
    text.split(',').filter(|word| !word.trim().is_empty()).map(parse).collect()
}
