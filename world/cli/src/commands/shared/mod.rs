//! `taut shared`: a queue, a fleet and a record that several machines share on a PostgreSQL server. Nothing is connected to
//! until somebody asks for it here.

mod connect;
mod disconnect;
mod export;
mod import;
mod key;
mod migrate;
mod owner_wishes;
mod reach;
mod refused;
mod repository;
mod secret_file;
mod seen;
mod sends;
mod status;
mod sync;
mod trust;
mod wish;

pub use reach::{faults, helps, owed_words};
pub use status::waiting_line;

use crate::args::RunArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::{Printer, Text};
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum SharedVerb {
    /// Share queues on a server: tries it, shows what will be sent, and asks (people only)
    Connect(wish::ConnectArgs),
    /// Say how it stands with the server: versions, last contact, what waits, what was refused
    Status(status::SharedStatusArgs),
    /// Make the tables on a server or bring them forward, as their owner (people only)
    Migrate(migrate::MigrateArgs),
    /// Move this project's own unfinished tasks to the server (people only)
    Import(AgreeArgs),
    /// Write the server's tasks of this project as JSON Lines that `taut task plan-sync` reads
    Export(export::SharedExportArgs),
    /// Take part no more; what is owed is said first, and nothing is lost (people only)
    Disconnect(AgreeArgs),
    /// Show the key of this machine, by which its people's answers are known elsewhere (people only)
    Key,
    /// Let people on another machine answer what agents here ask, once its key was compared (people only)
    Trust(trust::TrustMachineArgs),
    /// List results that the server would not take any more
    Refused,
    /// Say to the server now what it is owed, and renew leases
    Sync(sync::SyncArgs),
    /// Say what is owed, for hooks without a daemon
    #[command(hide = true)]
    Deliver(RunArgs),
}

/// A change that is shown, and made once it was agreed to.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct AgreeArgs {
    /// Show what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

impl AgreeArgs {
    /// Refuses under an agent; and where a question is to be answered, without a person who answers it.
    fn person(self, command: &str) -> Result<(), CliError> {
        if self.yes || self.dry_run { person::outside_agents(command) } else { person::required(command) }
    }

    fn agrees(self, question: &str) -> Result<bool, CliError> {
        Ok(self.yes || person::agrees(question)?)
    }
}

pub fn run(verb: &SharedVerb, printer: &Printer) -> Result<Exit, CliError> {
    match verb {
        SharedVerb::Connect(args) => connect::run(args, printer),
        SharedVerb::Status(args) => status::run(args, printer),
        SharedVerb::Migrate(args) => migrate::run(args, printer),
        SharedVerb::Import(args) => import::run(*args, printer),
        SharedVerb::Export(args) => export::run(args, printer),
        SharedVerb::Disconnect(args) => disconnect::run(*args, printer),
        SharedVerb::Key => key::run(printer),
        SharedVerb::Trust(args) => trust::run(args, printer),
        SharedVerb::Refused => refused::run(printer),
        SharedVerb::Sync(args) => sync::run(args, printer),
        SharedVerb::Deliver(args) => sync::deliver(args),
    }
}

/// Read before a question is answered: beside the data, where that is for a program.
fn tell(printer: &Printer, text: impl Into<Text>) {
    if printer.json() { printer.note(text) } else { printer.line(text) }
}

fn tell_diff(printer: &Printer, diff: &str) {
    if printer.json() { printer.diff_note(diff) } else { printer.diff(diff) }
}

/// What helps where nothing is shared.
fn not_connected() -> CliError {
    CliError::failed("this machine shares nothing").hint("taut shared connect postgresql://role@host/database")
}
