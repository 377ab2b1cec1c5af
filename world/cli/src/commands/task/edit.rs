//! Making and changing tasks by hand.

use super::args::{BlockArgs, CreateArgs, DeleteArgs, FieldArgs, UpdateArgs};
use super::list::parse_statuses;
use super::print_done;
use super::store_session::StoreSession;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::Printer;
use engine::queue::{self, Speaker};
use model::task::{Priority, TaskPlan, TaskStatus, TaskStep};
use pipeline::queue::TaskChange;
use serde_json::{Value, json};
use store::{TaskEdit, TaskFilter};

pub fn create(args: &CreateArgs, store_session: &mut StoreSession, printer: &Printer) -> Result<Exit, CliError> {
    if let Some(problem) = queue::slug_problem(&args.id) {
        return Err(wrong("id", problem, &args.id));
    }
    if args.title.trim().is_empty() {
        return Err(wrong("title", "must not be empty", &args.title));
    }
    let plan = TaskPlan {
        slug: args.id.clone(),
        title: args.title.clone(),
        description: args.fields.description.clone(),
        category: category(&args.fields)?,
        priority: priority(&args.fields)?.unwrap_or_default(),
        spec: args.fields.spec.clone(),
        reference: args.fields.reference.clone(),
        deps: deps(&args.fields).unwrap_or_default(),
        steps: steps(&args.fields)?.unwrap_or_default(),
        verify: verify(&args.fields)?.filter(|command| !command.is_empty()),
    };
    let (project, speaker) = (store_session.project(), store_session.planner(plan.verify.is_some()));
    store_session.queue().create(&project, &plan, &speaker)?;
    if printer.json() {
        return Ok(print_done(printer, "created", &args.id));
    }
    printer.line(&args.id);
    Ok(Exit::Ok)
}

pub fn update(args: &UpdateArgs, store_session: &mut StoreSession, printer: &Printer) -> Result<Exit, CliError> {
    let edit = TaskEdit {
        title: args.title.clone(),
        description: args.fields.description.clone(),
        category: category(&args.fields)?,
        priority: priority(&args.fields)?,
        spec: args.fields.spec.clone(),
        reference: args.fields.reference.clone(),
        steps: steps(&args.fields)?,
        verify: verify(&args.fields)?,
    };
    let status = args.status.as_deref().map(one_status).transpose()?;
    let change = TaskChange { edit, deps: deps(&args.fields), status };
    if change == TaskChange::default() {
        return Err(CliError::usage("no fields to update").hint("taut task update --help"));
    }
    let (project, speaker) = (store_session.project(), store_session.planner(change.edit.verify.is_some()));
    store_session.queue().update(&project, &args.id, &change, &speaker)?;
    Ok(print_done(printer, "updated", &args.id))
}

pub fn delete(args: &DeleteArgs, store_session: &mut StoreSession, printer: &Printer) -> Result<Exit, CliError> {
    let (project, speaker) = (store_session.project(), store_session.speaker());
    if let Some(id) = &args.id {
        store_session.queue().delete(&project, id, &speaker)?;
        return Ok(print_done(printer, "deleted", id));
    }
    let statuses = match &args.status {
        Some(text) => parse_statuses(text)?,
        None if args.all && args.confirm => vec![],
        None if args.all => {
            return Err(
                CliError::failed("this deletes every task of this project").hint("taut task delete --all --confirm")
            );
        }
        None => return Err(CliError::not_found("which task?").hint("taut task delete <id>")),
    };
    if speaker != Speaker::Person {
        let words = format!("this comes from {}; deleting many tasks at once is for people", speaker.shown());
        return Err(CliError::failed(words).hint("taut task delete <id>"));
    }
    let filter =
        TaskFilter { statuses, spec: args.spec.clone(), category: args.category.clone(), ..TaskFilter::default() };
    let deleted = store_session.queue().delete_by(&project, &filter, &speaker)?;
    if printer.json() {
        printer.object(&json!({"deleted": deleted}));
    } else {
        printer.line(format!("deleted {deleted} tasks"));
    }
    Ok(Exit::Ok)
}

pub fn block(args: &BlockArgs, store_session: &mut StoreSession, printer: &Printer) -> Result<Exit, CliError> {
    let project = store_session.project();
    store_session.queue().block(&project, &args.id, &args.by)?;
    Ok(print_done(printer, "blocked", &format!("{} by {}", args.id, args.by)))
}

pub fn unblock(args: &BlockArgs, store_session: &mut StoreSession, printer: &Printer) -> Result<Exit, CliError> {
    let (project, speaker) = (store_session.project(), store_session.speaker());
    store_session.queue().unblock(&project, &args.id, &args.by, &speaker)?;
    Ok(print_done(printer, "unblocked", &format!("{} from {}", args.id, args.by)))
}

pub fn requeue(id: &str, store_session: &mut StoreSession, printer: &Printer) -> Result<Exit, CliError> {
    let project = store_session.project();
    store_session.queue().requeue(&project, id)?;
    Ok(print_done(printer, "requeued", id))
}

fn priority(fields: &FieldArgs) -> Result<Option<Priority>, CliError> {
    let Some(text) = &fields.priority else { return Ok(None) };
    let parsed = queue::parse_priority(&Value::String(text.clone()));
    parsed.map(Some).ok_or_else(|| wrong("priority", "must be 0, 1, 2 or 3", text))
}

fn category(fields: &FieldArgs) -> Result<Option<String>, CliError> {
    match &fields.category {
        Some(text) => match queue::category_problem(text) {
            Some(problem) => Err(wrong("category", &problem, text)),
            None => Ok(Some(text.clone())),
        },
        None => Ok(None),
    }
}

fn steps(fields: &FieldArgs) -> Result<Option<Vec<TaskStep>>, CliError> {
    let Some(text) = &fields.steps else { return Ok(None) };
    let parsed = serde_json::from_str(text).ok().and_then(|value| queue::parse_steps(&value));
    parsed.map(Some).ok_or_else(|| wrong("steps", "must be a JSON list of texts", text))
}

/// An empty one takes away what there was.
fn verify(fields: &FieldArgs) -> Result<Option<String>, CliError> {
    let Some(command) = &fields.verify else { return Ok(None) };
    match queue::verify_problem(command) {
        // What may be a secret is not printed.
        Some(problem) => Err(wrong("verify", problem, "…")),
        None => Ok(Some(command.trim().to_string())),
    }
}

fn deps(fields: &FieldArgs) -> Option<Vec<String>> {
    let text = fields.deps.as_ref()?;
    Some(text.split(',').map(str::trim).filter(|word| !word.is_empty()).map(str::to_string).collect())
}

fn one_status(text: &str) -> Result<TaskStatus, CliError> {
    let parsed = parse_statuses(text)?;
    parsed.first().copied().ok_or_else(|| wrong("status", "must not be empty", text))
}

fn wrong(field: &str, why: &str, value: &str) -> CliError {
    CliError::usage(format!("field '{field}' {why} (value: \"{value}\"); nothing was written"))
        .hint("taut task create --help")
}
