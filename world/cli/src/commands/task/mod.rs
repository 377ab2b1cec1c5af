//! `taut task`: the queue. Exit codes: 0 done, 1 failed, 2 not found or not eligible.

mod agent;
mod args;
mod claim;
mod edit;
mod history;
mod list;
mod plan;
mod shown;
mod store_session;
mod watch;
mod why;

pub use args::TaskVerb;

use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::Printer;
use engine::queue::Refusal;
use pipeline::queue::QueueError;
use store_session::StoreSession;

pub fn run(verb: &TaskVerb, printer: &Printer) -> Result<Exit, CliError> {
    let mut desk = StoreSession::open()?;
    let exit = serve(verb, &mut desk, printer)?;
    desk.close();
    Ok(exit)
}

fn serve(verb: &TaskVerb, desk: &mut StoreSession, printer: &Printer) -> Result<Exit, CliError> {
    match verb {
        TaskVerb::PlanSync => plan::sync(desk, printer),
        TaskVerb::PlanStatus => plan::status(desk, printer),
        TaskVerb::Peek(args) => list::peek(args, desk, printer),
        TaskVerb::Claim(args) => claim::claim(args, desk, printer),
        TaskVerb::Renew(args) => claim::renew(args, desk, printer),
        TaskVerb::Done(args) => claim::done(args, desk, printer),
        TaskVerb::Fail(args) => claim::fail(args, desk, printer),
        TaskVerb::StepDone(args) => claim::step_done(args, desk, printer),
        TaskVerb::List(args) => list::list(args, desk, printer),
        TaskVerb::Show(args) => list::show(args, desk, printer),
        TaskVerb::Create(args) => edit::create(args, desk, printer),
        TaskVerb::Update(args) => edit::update(args, desk, printer),
        TaskVerb::Delete(args) => edit::delete(args, desk, printer),
        TaskVerb::Deps(args) => list::deps(&args.id, desk, printer),
        TaskVerb::Block(args) => edit::block(args, desk, printer),
        TaskVerb::Unblock(args) => edit::unblock(args, desk, printer),
        TaskVerb::Agent { verb } => agent::run(verb, desk, printer),
        TaskVerb::Why => why::run(desk, printer),
        TaskVerb::Requeue(args) => edit::requeue(&args.id, desk, printer),
        TaskVerb::History(args) => history::run(&args.id, desk, printer),
        TaskVerb::Watch(args) => watch::run(args, desk, printer),
    }
}

/// Prints what happened: one object, or one line.
fn told(printer: &Printer, word: &str, id: &str) -> Exit {
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
            QueueError::NotFound { slug } => {
                Self::not_found(format!("task '{slug}' not found")).hint("taut task list --all")
            }
            QueueError::Refused { slug, refusal } => {
                let words = refusal.sentence(&slug);
                let hint = format!("taut task history {slug}");
                match refusal {
                    Refusal::NotYours { .. } | Refusal::WrongToken => {
                        Self::not_found(words).hint("taut task list --status active")
                    }
                    Refusal::NotActive { .. } => Self::failed(words).hint(hint),
                    _ => Self::not_found(words).hint(hint),
                }
            }
            other => Self::failed(other.to_string()),
        }
    }
}
