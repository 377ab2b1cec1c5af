//! `taut answer`: answer what an agent waits for from elsewhere than its own terminal, and the switch that lets one.

mod bell;
pub mod give;
mod list;
pub mod switch;
pub mod wait;

use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::Printer;
use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct AnswerArgs {
    #[command(subcommand)]
    pub verb: Option<AnswerVerb>,
    #[command(flatten)]
    pub give: give::GiveArgs,
}

#[derive(Debug, Subcommand)]
pub enum AnswerVerb {
    /// Let agents be answered from here, the page and `taut top`: lines that wait, in your own settings (people only)
    On(switch::AnswerSwitchArgs),
    /// Take those lines out again (people only)
    Off(switch::AnswerSwitchArgs),
    /// Say whether agents can be answered from elsewhere, and whether that can work
    Status,
    /// Hold what the client waits for open (stdin: the hook's JSON); it is the client that starts this
    #[command(hide = true)]
    Wait(wait::WaitArgs),
}

pub fn run(args: &AnswerArgs, printer: &Printer) -> Result<Exit, CliError> {
    match &args.verb {
        Some(AnswerVerb::On(wanted)) => switch::on(wanted, printer),
        Some(AnswerVerb::Off(wanted)) => switch::off(wanted, printer),
        Some(AnswerVerb::Status) => switch::status(printer),
        // Told apart before the options are read, as a hook's line is.
        Some(AnswerVerb::Wait(_)) => Ok(Exit::Ok),
        None if args.give.is_bare() => list::run(printer),
        None => give::run(&args.give, printer),
    }
}
