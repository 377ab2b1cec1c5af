//! `taut agents`: every worker and what its owner wants to know at a glance.

use super::{ago, stored};
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::Printer;
use dash::view_model::{self, Row};
use model::Ms;
use model::row::Status;

pub fn run(printer: &Printer) -> Result<Exit, CliError> {
    let fleet = stored()?.map(|store| store.fleet()).transpose()?.unwrap_or_default();
    let rows = view_model::rows(&fleet);
    if printer.json() {
        for row in &rows {
            printer.object(&row.object());
        }
        return Ok(Exit::Ok);
    }
    if rows.is_empty() {
        printer.note("no agents yet; `taut init` installs the hooks that tell of them");
        return Ok(Exit::Ok);
    }
    let now = host::clock::now();
    let shown: Vec<Vec<String>> = rows.iter().map(|row| line(row, now, printer)).collect();
    printer.table(&["STATUS", "AGENT", "SINCE", "CONTEXT", "NOW", "TASK", "PROJECT"], &shown);
    Ok(Exit::Ok)
}

fn line(row: &Row, now: Ms, printer: &Printer) -> Vec<String> {
    let doing = row.tool.as_ref().map(|tool| format!("{} {}", tool.name, ago(now.since(tool.since))));
    let nothing = || "-".to_string();
    vec![
        shown(row.status, printer),
        row.id.clone(),
        ago(now.since(row.since)),
        row.context_percent.map_or_else(|| "?".to_string(), |percent| format!("{percent:.0}%")),
        doing.or_else(|| row.doing.clone()).unwrap_or_else(nothing),
        row.task.clone().or_else(|| row.effort.clone()).unwrap_or_else(nothing),
        row.project.clone(),
    ]
}

fn shown(status: Status, printer: &Printer) -> String {
    let name = format!("{:<9}", status.name());
    match status {
        Status::Error => printer.red(name),
        Status::Attention => printer.yellow(name),
        Status::Working => printer.green(name),
        Status::Checked | Status::Done => printer.dim(name),
    }
}
