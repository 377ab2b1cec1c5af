//! Bare `taut`: what is on here, what was stopped today, the next useful command.

use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::Printer;

pub fn run(printer: &Printer) -> Result<Exit, CliError> {
    printer.line("taut");
    Ok(Exit::Ok)
}
