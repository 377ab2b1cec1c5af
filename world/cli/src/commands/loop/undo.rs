//! Going back to the tree before an iteration.

use super::UndoArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::Printer;

pub(super) fn run(_args: &UndoArgs, _printer: &Printer) -> Result<Exit, CliError> {
    Err(CliError::failed("not there yet"))
}
