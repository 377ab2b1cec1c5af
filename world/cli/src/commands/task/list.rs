//! Looking at tasks: `list`, `peek`, `show`, `deps`.

use super::args::{PeekArgs, ShowArgs, TaskListArgs};
use super::shown;
use super::store_session::StoreSession;
use crate::commands::agent_names;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, text};
use model::task::TaskStatus;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use store::{Dependency, TaskFilter};

/// No line of a tree begins further to the right.
const MOST_INDENTED: usize = 32;

pub fn list(args: &TaskListArgs, store_session: &mut StoreSession, printer: &Printer) -> Result<Exit, CliError> {
    store_session.reap();
    let statuses = match &args.status {
        Some(text) => parse_statuses(text)?,
        None if args.all => Vec::new(),
        None => vec![TaskStatus::Open, TaskStatus::Active, TaskStatus::Quarantined],
    };
    let agent = agent_names::filter(store_session.store(), args.assignee.as_ref())?;
    let filter = TaskFilter { statuses, agent, ..TaskFilter::default() };
    let tasks = store_session.tasks(&filter)?;
    if printer.json() {
        tasks.iter().for_each(|task| printer.object(&Value::Object(shown::object(task))));
    } else if args.markdown {
        tasks.iter().for_each(|task| printer.line(shown::markdown(&shown::object(task))));
    } else if tasks.is_empty() {
        printer.note("no tasks; `taut task create <id> <title>` makes one");
    } else {
        shown::table(&tasks, &store_session.store().agent_names()?, printer);
    }
    Ok(Exit::Ok)
}

/// The first that may be claimed, then all that are held.
pub fn peek(args: &PeekArgs, store_session: &mut StoreSession, printer: &Printer) -> Result<Exit, CliError> {
    store_session.reap();
    let project = store_session.project();
    let now = host::clock::now();
    let claimable = TaskFilter { claimable_at: Some(now), limit: args.count.max(1), ..TaskFilter::default() };
    let active = TaskFilter { statuses: vec![TaskStatus::Active], ..TaskFilter::default() };
    let mut tasks = if args.count == 0 { Vec::new() } else { store_session.queue().tasks(&project, &claimable)? };
    tasks.extend(store_session.queue().tasks(&project, &active)?);
    if args.markdown {
        tasks.iter().for_each(|task| printer.line(shown::markdown(&shown::object(task))));
    } else if printer.json() || !Printer::has_reader() {
        tasks.iter().for_each(|task| printer.object(&Value::Object(shown::object(task))));
    } else if !tasks.is_empty() {
        shown::table(&tasks, &store_session.store().agent_names()?, printer);
    }
    Ok(Exit::Ok)
}

pub fn show(args: &ShowArgs, store_session: &mut StoreSession, printer: &Printer) -> Result<Exit, CliError> {
    store_session.reap();
    let task = store_session.task(&args.id)?;
    let mut fields = shown::whole_object(&task);
    if args.with_deps {
        let results: Map<String, Value> = store_session.queue().blocker_results(&task)?.into_iter().collect();
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
pub fn deps(id: &str, store_session: &mut StoreSession, printer: &Printer) -> Result<Exit, CliError> {
    let task = store_session.task(id)?;
    if task.plan.deps.is_empty() && !printer.json() {
        printer.line("(no dependencies)");
        return Ok(Exit::Ok);
    }
    if !printer.json() {
        let status = shown::status(task.queued.status, task.queued.open_blockers, printer);
        printer.line(text!("{} {}", id, status));
    }
    let dependencies = store_session.queue().dependencies_below(&task.queued)?;
    walk(id, &dependencies, |dependency, depth| show_dependency(dependency, depth, printer));
    Ok(Exit::Ok)
}

/// Each dependency once, below the task that waits; a task that was opened
/// already is not opened again. On a stack of its own: a chain may be as long
/// as a plan.
fn walk<'d>(top: &'d str, dependencies: &'d [Dependency], mut show: impl FnMut(&'d Dependency, usize)) {
    let mut of: HashMap<&str, Vec<&Dependency>> = HashMap::new();
    for dependency in dependencies {
        of.entry(&dependency.task).or_default().push(dependency);
    }
    let mut open = vec![of.remove(top).unwrap_or_default().into_iter()];
    while let Some(siblings) = open.last_mut() {
        match siblings.next() {
            Some(dependency) => {
                show(dependency, open.len());
                open.extend(of.remove(dependency.blocker.as_str()).map(Vec::into_iter));
            }
            None => drop(open.pop()),
        }
    }
}

fn show_dependency(dependency: &Dependency, depth: usize, printer: &Printer) {
    let Dependency { task, blocker, status, open_blockers } = dependency;
    if printer.json() {
        printer.object(&json!({"id": task, "by": blocker, "s": status.name(), "depth": depth}));
        return;
    }
    // Deeper ones are told by number: indented, a long chain would be quadratic.
    let deep = if depth > MOST_INDENTED { format!("({depth}) ") } else { String::new() };
    let indent = "  ".repeat(depth.min(MOST_INDENTED));
    printer.line(text!("{}{}{} {}", indent, deep, blocker, shown::status(*status, *open_blockers, printer)));
}

pub fn parse_statuses(text: &str) -> Result<Vec<TaskStatus>, CliError> {
    let parse = |word: &str| {
        TaskStatus::parse(word.trim()).ok_or_else(|| {
            let names = TaskStatus::ALL.map(TaskStatus::name).join(", ");
            CliError::usage(format!("--status must be some of {names} (value: \"{word}\")"))
                .hint("taut task list --status open,active")
        })
    };
    text.split(',').filter(|word| !word.trim().is_empty()).map(parse).collect()
}
