//! `taut db check`: whether the database is sound, and all that was answered is
//! in it. A damaged one is moved aside, what is readable of it brought back, and
//! what was put by taken in.

use super::PATIENCE;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, text};
use crate::progress;
use host::paths::PathVariables;
use pipeline::TakenIn;
use serde_json::{Value, json};
use std::path::Path;
use store::{CheckReport, Repair, Salvaged, Store, UNREADABLE, Unstored};

/// All there is to say.
struct Looked {
    report: CheckReport,
    taken: TakenIn,
    salvaged: Vec<Salvaged>,
    unstored: Unstored,
}

pub fn run(places: &PathVariables, printer: &Printer) -> Result<Exit, CliError> {
    let state = &places.state();
    if ![store::DATABASE, store::SPOOL].iter().any(|name| state.join(name).exists()) {
        return Err(CliError::not_found("there is no database yet").hint("taut init"));
    }
    let checked = progress::during("checking the database", printer, || look(places));
    match checked {
        Err(error) if !error.is_corrupt() => Err(error.into()),
        Ok(looked) if looked.report.problems.is_empty() => show(&looked, state, printer),
        _ => mend(places, printer),
    }
}

/// Brings in what is missing first, so that the report is of all there is.
fn look(places: &PathVariables) -> Result<Looked, store::Error> {
    let mut store = Store::open_and_migrate(&places.state(), PATIENCE)?;
    let taken = pipeline::take_in(&mut store, &service::setting(places))?;
    let salvaged = store.salvage()?;
    Ok(Looked { report: store.check()?, taken, salvaged, unstored: store::unstored(&places.state()) })
}

fn mend(places: &PathVariables, printer: &Printer) -> Result<Exit, CliError> {
    let state = &places.state();
    let repaired =
        progress::during("repairing the database", printer, || store::repair(state, host::clock::now(), PATIENCE));
    match repaired? {
        Repair::Sound => {}
        Repair::CannotTell => {
            return Err(CliError::failed("could not tell in time whether the database is damaged")
                .hint("taut daemon stop && taut db check"));
        }
        Repair::MovedAside(aside) => {
            printer.note(format!("the database was damaged; it is kept as {}", aside.display()));
        }
    }
    let looked = progress::during("checking what came back", printer, || look(places))?;
    show(&looked, state, printer)
}

fn show(looked: &Looked, state: &Path, printer: &Printer) -> Result<Exit, CliError> {
    let Looked { report, unstored, .. } = looked;
    if printer.json() {
        printer.object(&object(looked));
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
        for note in report.problems.iter().cloned().chain(notes(looked, state)) {
            printer.line(text!("{} {}", printer.yellow("note:"), note));
        }
    }
    // It has been said, to a person or to a script of one: it stands no longer.
    if !unstored.is_empty() {
        store::note_unstored(state, unstored)?;
    }
    Ok(if report.problems.is_empty() { Exit::Ok } else { Exit::Failed })
}

/// What was brought in, what came back, what is lost.
fn notes(looked: &Looked, state: &Path) -> Vec<String> {
    let Looked { report, taken, salvaged, unstored } = looked;
    let mut notes = Vec::new();
    if taken.ingested.events > 0 {
        notes.push(format!("{} events that were put by were taken in", taken.ingested.events));
    }
    notes.extend(taken.words.iter().cloned());
    let back = salvaged.iter().filter(|one| !report.notes.iter().any(|note| note.starts_with(&one.to_string())));
    notes.extend(back.map(Salvaged::to_string));
    notes.extend(report.notes.iter().cloned());
    if unstored.events > 0 {
        notes.push(format!("{unstored}; what is lost stays lost, and this is said no more"));
    } else if unstored.unreadable > 0 {
        notes.push(format!("{unstored}; this is said no more"));
    }
    if unstored.unreadable > 0 {
        notes.push(format!("what could not be read is kept in {}", state.join(UNREADABLE).display()));
    }
    notes
}

fn object(looked: &Looked) -> Value {
    let Looked { report, taken, salvaged, unstored } = looked;
    let salvaged = salvaged
        .iter()
        .map(|one| json!({"from": one.from, "rows": one.rows, "left_out": one.left_out, "cut_short": one.cut_short}));
    json!({
        "path": report.path,
        "schema": report.schema,
        "sqlite": report.sqlite,
        "bytes": report.bytes,
        "sessions": report.sessions,
        "agents": report.agents,
        "events": report.events,
        "problems": report.problems,
        "notes": report.notes,
        "taken_in": taken.ingested.events,
        "salvaged": salvaged.collect::<Vec<_>>(),
        "unstored": unstored.events,
        "unreadable": unstored.unreadable,
    })
}
