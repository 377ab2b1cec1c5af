//! A unit that goes on with the loop after a reboot.

use super::LoopArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::Printer;

pub(super) fn run(_args: &LoopArgs, _printer: &Printer) -> Result<Exit, CliError> {
    Err(CliError::failed("not there yet"))
}
