//! `taut metrics`: the fleet in numbers, as Prometheus reads them.

use super::stored;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::Printer;
use dash::metrics::{MetricsClock, page};
use host::clock::day_number;
use host::paths::PathVariables;

pub fn run(printer: &Printer) -> Result<Exit, CliError> {
    let store = stored()?;
    let clock = MetricsClock { now: host::clock::now(), day_of: &day_number };
    printer.document(&page(store.as_ref(), &PathVariables::from_process().state(), clock)?);
    Ok(Exit::Ok)
}
