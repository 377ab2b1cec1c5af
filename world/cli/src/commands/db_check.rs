//! `taut db check`: whether the database is sound. A damaged one is moved aside
//! and what is readable of it brought back.

use super::PATIENCE;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, text};
use serde_json::json;
use std::path::Path;
use store::{Repair, Report, Store};

pub fn run(state: &Path, printer: &Printer) -> Result<Exit, CliError> {
    if !state.join(store::DATABASE).exists() {
        return Err(CliError::not_found("there is no database yet").hint("taut init"));
    }
    let report = match look(state) {
        Err(error) if error.is_corrupt() => None,
        other => Some(other?),
    };
    match report {
        Some(report) if report.problems.is_empty() => show(&report, printer),
        _ => mend(state, printer),
    }
}

fn look(state: &Path) -> Result<Report, store::Error> {
    let mut store = Store::open_and_migrate(state, PATIENCE)?;
    store.ingest_spool()?;
    store.check()
}

fn show(report: &Report, printer: &Printer) -> Result<Exit, CliError> {
    if printer.json() {
        printer.object(&json!({
            "path": report.path,
            "schema": report.schema,
            "sqlite": report.sqlite,
            "bytes": report.bytes,
            "sessions": report.sessions,
            "agents": report.agents,
            "events": report.events,
            "problems": report.problems,
        }));
    } else {
        printer.line(text!("{} {}", printer.green("sound:"), report.path.display()));
        printer.line(format!(
            "schema {}, SQLite {}, {:.1} MB, {} events of {} sessions",
            report.schema,
            report.sqlite,
            report.bytes as f64 / 1e6,
            report.events,
            report.sessions
        ));
        for problem in &report.problems {
            printer.line(text!("{} {}", printer.yellow("note:"), problem));
        }
    }
    Ok(if report.problems.is_empty() { Exit::Ok } else { Exit::Failed })
}

fn mend(state: &Path, printer: &Printer) -> Result<Exit, CliError> {
    match store::repair(state, host::clock::now(), PATIENCE)? {
        Repair::Sound => show(&look(state)?, printer),
        Repair::CannotTell => Err(CliError::failed("could not tell in time whether the database is damaged")
            .hint("taut daemon stop && taut db check")),
        Repair::MovedAside(aside) => {
            let mut fresh = Store::open_and_migrate(state, PATIENCE)?;
            let rows: usize = fresh.salvage()?.iter().map(|salvaged| salvaged.rows).sum();
            printer.note(format!("the database was damaged; it is kept as {}", aside.display()));
            printer.note(format!("{rows} rows were readable and are back"));
            show(&fresh.check()?, printer)
        }
    }
}
