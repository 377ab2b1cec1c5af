//! `taut task`: the queue. Exit codes: 0 done, 1 failed, 2 not found or not eligible.

mod agent;
mod args;
mod claim;
mod edit;
mod exchange;
mod history;
mod list;
mod plan;
mod shown;
pub(super) mod store_session;
mod watch;
mod why;

pub use args::TaskVerb;

use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::Printer;
use engine::queue::Refusal;
use host::paths::PathVariables;
use pipeline::queue::QueueError;
use store::ServerError;
use store_session::StoreSession;

pub fn run(verb: &TaskVerb, printer: &Printer) -> Result<Exit, CliError> {
    let mut store_session = StoreSession::open()?;
    let (project, places) = (store_session.project(), PathVariables::from_process());
    if let Some(note) = crate::shared_queue::left_out(&project, &places, store_session.store())? {
        printer.note(note);
    }
    let served = serve(verb, &mut store_session, printer);
    let exit = served.map_err(|error| store_session.with_nearest(error))?;
    store_session.close();
    Ok(exit)
}

fn serve(verb: &TaskVerb, store_session: &mut StoreSession, printer: &Printer) -> Result<Exit, CliError> {
    match verb {
        TaskVerb::PlanSync(args) => plan::sync(args, store_session, printer),
        TaskVerb::Import(args) => exchange::import(args, store_session, printer),
        TaskVerb::Export(args) => exchange::export(args, store_session, printer),
        TaskVerb::PlanStatus => plan::status(store_session, printer),
        TaskVerb::Peek(args) => list::peek(args, store_session, printer),
        TaskVerb::Claim(args) => claim::claim(args, store_session, printer),
        TaskVerb::Renew(args) => claim::renew(args, store_session, printer),
        TaskVerb::Done(args) => claim::done(args, store_session, printer),
        TaskVerb::Fail(args) => claim::fail(args, store_session, printer),
        TaskVerb::StepDone(args) => claim::step_done(args, store_session, printer),
        TaskVerb::List(args) => list::list(args, store_session, printer),
        TaskVerb::Show(args) => list::show(args, store_session, printer),
        TaskVerb::Create(args) => edit::create(args, store_session, printer),
        TaskVerb::Update(args) => edit::update(args, store_session, printer),
        TaskVerb::Delete(args) => edit::delete(args, store_session, printer),
        TaskVerb::Deps(args) => list::deps(&args.id, store_session, printer),
        TaskVerb::Block(args) => edit::block(args, store_session, printer),
        TaskVerb::Unblock(args) => edit::unblock(args, store_session, printer),
        TaskVerb::Agent { verb } => agent::run(verb, store_session, printer),
        TaskVerb::Why => why::run(store_session, printer),
        TaskVerb::Requeue(args) => edit::requeue(&args.id, store_session, printer),
        TaskVerb::History(args) => history::run(&args.id, store_session, printer),
        TaskVerb::Watch(args) => watch::run(args, store_session, printer),
    }
}

/// Prints what happened: one object, or one line.
fn print_done(printer: &Printer, word: &str, id: &str) -> Exit {
    if printer.json() {
        printer.object(&serde_json::json!({"id": id, "did": word}));
    } else {
        printer.line(format!("{word} {id}"));
    }
    Exit::Ok
}

impl From<QueueError> for CliError {
    fn from(error: QueueError) -> Self {
        match error {
            QueueError::Store(cause) => cause.into(),
            QueueError::NotFound { slug } => Self::no_task(&slug),
            QueueError::Refused { slug, refusal } => {
                let words = refusal.sentence_with(&slug, host::clock::shown);
                let hint = format!("taut task history {slug}");
                match refusal {
                    Refusal::NotYours { .. } | Refusal::WrongToken => {
                        Self::not_found(words).hint("taut task list --status active")
                    }
                    Refusal::NotActive { .. } => Self::failed(words).hint(hint),
                    _ => Self::not_found(words).hint(hint),
                }
            }
            QueueError::Server { queue, shown, error } => on_server(&queue, &shown, &error),
            other => Self::failed(other.to_string()),
        }
    }
}

/// Nothing is said of what was done: where the answer is missing, nobody knows.
fn on_server(queue: &str, shown: &str, error: &ServerError) -> CliError {
    let (how, why) = match error {
        ServerError::Away(why) => ("cannot be reached", why.strip_prefix(&format!("{shown} cannot be reached: "))),
        ServerError::Refused(why) => ("refuses", why.strip_prefix(&format!("{shown} refuses: "))),
        ServerError::Busy(_) => ("could not do it now", None),
    };
    let why = why.map_or_else(|| error.to_string(), str::to_string);
    let (why, _) = shared_store::what_helps(&why);
    CliError::failed(format!("the queue {queue} is on {shown}, which {how} ({why})")).hint(super::shared::helps(error))
}
