//! Looking at runs and speaking to them.

use super::{ListArgs, LogArgs, RunArg, StopArgs};
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::Printer;

pub(super) fn status(_args: &RunArg, _printer: &Printer) -> Result<Exit, CliError> {
    Err(CliError::failed("not there yet"))
}

pub(super) fn list(_args: &ListArgs, _printer: &Printer) -> Result<Exit, CliError> {
    Err(CliError::failed("not there yet"))
}

pub(super) fn log(_args: &LogArgs, _printer: &Printer) -> Result<Exit, CliError> {
    Err(CliError::failed("not there yet"))
}

pub(super) fn stop(_args: &StopArgs, _printer: &Printer) -> Result<Exit, CliError> {
    Err(CliError::failed("not there yet"))
}

pub(super) fn pause(_args: &RunArg, _printer: &Printer) -> Result<Exit, CliError> {
    Err(CliError::failed("not there yet"))
}

pub(super) fn resume(_args: &RunArg, _printer: &Printer) -> Result<Exit, CliError> {
    Err(CliError::failed("not there yet"))
}
