//! `taut task`: the queue. Exit codes: 0 done, 1 failed, 2 not found or not eligible.

mod agent;
mod args;
mod claim;
mod desk;
mod edit;
mod history;
mod list;
mod plan;
mod shown;
mod watch;
mod why;

pub use args::Verb;

use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::Printer;
use desk::Desk;
use engine::queue::Refusal;
use pipeline::queue::QueueError;

pub fn run(verb: &Verb, printer: &Printer) -> Result<Exit, CliError> {
    let mut desk = Desk::open()?;
    let exit = serve(verb, &mut desk, printer)?;
    desk.close();
    Ok(exit)
}

fn serve(verb: &Verb, desk: &mut Desk, printer: &Printer) -> Result<Exit, CliError> {
    match verb {
        Verb::PlanSync => plan::sync(desk, printer),
        Verb::PlanStatus => plan::status(desk, printer),
        Verb::Peek(args) => list::peek(args, desk, printer),
        Verb::Claim(args) => claim::claim(args, desk, printer),
        Verb::Renew(args) => claim::renew(args, desk, printer),
        Verb::Done(args) => claim::done(args, desk, printer),
        Verb::Fail(args) => claim::fail(args, desk, printer),
        Verb::StepDone(args) => claim::step_done(args, desk, printer),
        Verb::List(args) => list::list(args, desk, printer),
        Verb::Show(args) => list::show(args, desk, printer),
        Verb::Create(args) => edit::create(args, desk, printer),
        Verb::Update(args) => edit::update(args, desk, printer),
        Verb::Delete(args) => edit::delete(args, desk, printer),
        Verb::Deps(args) => list::deps(&args.id, desk, printer),
        Verb::Block(args) => edit::block(args, desk, printer),
        Verb::Unblock(args) => edit::unblock(args, desk, printer),
        Verb::Agent { verb } => agent::run(verb, desk, printer),
        Verb::Why => why::run(desk, printer),
        Verb::Requeue(args) => edit::requeue(&args.id, desk, printer),
        Verb::History(args) => history::run(&args.id, desk, printer),
        Verb::Watch(args) => watch::run(args, desk, printer),
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
