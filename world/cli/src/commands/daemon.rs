//! `taut daemon`: start, stop, ask after, or run the background process.

use crate::args::{DaemonVerb, RunArgs};
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::Printer;
use daemon::{Client, Started, StopResult};
use host::paths::PathVariables;
use serde_json::json;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(5);

pub fn run(verb: DaemonVerb, printer: &Printer) -> Result<Exit, CliError> {
    let places = host::origin::places();
    match verb {
        DaemonVerb::Start => start(&places, printer),
        DaemonVerb::Stop => stop(&places, printer),
        DaemonVerb::Status => status(&places, printer),
        DaemonVerb::Run(args) => serve(&args, &places, printer),
    }
}

fn serve(args: &RunArgs, places: &PathVariables, printer: &Printer) -> Result<Exit, CliError> {
    let ended = service::run(&args.over(service::setting(places)))
        .map_err(|error| CliError::failed("the daemon cannot run").because(&error))?;
    printer.note(format!("the daemon ended: {ended:?}"));
    if ended == daemon::DaemonEnd::Stuck {
        service::start_again();
    }
    Ok(Exit::Ok)
}

fn start(places: &PathVariables, printer: &Printer) -> Result<Exit, CliError> {
    let started = daemon::start(&service::launch(places)?)
        .map_err(|error| CliError::failed("the daemon could not be started").because(&error))?;
    let (word, status) = match started {
        Started::Fresh(status) => ("started", status),
        Started::Already(status) => ("already running", status),
        Started::Replaced { new, .. } => ("replaced an older one", new),
    };
    if printer.json() {
        printer.object(&json!({"state": word, "pid": status.pid}));
    } else {
        printer.line(format!("{word}, process {}; `taut daemon stop` ends it", status.pid));
    }
    Ok(Exit::Ok)
}

fn stop(places: &PathVariables, printer: &Printer) -> Result<Exit, CliError> {
    let stopped = daemon::stop(&places.state(), PATIENCE)
        .map_err(|error| CliError::failed("the daemon could not be stopped").because(&error))?;
    let word = match stopped {
        StopResult::Ended => "stopped",
        StopResult::WasNotRunning => "not running",
    };
    if printer.json() {
        printer.object(&json!({"state": word}));
    } else {
        printer.line(word);
    }
    Ok(Exit::Ok)
}

fn status(places: &PathVariables, printer: &Printer) -> Result<Exit, CliError> {
    match Client::new(&places.state(), PATIENCE).status() {
        Ok(status) => {
            if printer.json() {
                printer.object(&json!({
                    "running": true,
                    "pid": status.pid,
                    "build": status.build.to_string(),
                    "started_at": status.started.rfc3339(),
                    "served": status.served,
                }));
            } else {
                let since = super::ago(host::clock::now().since(status.started));
                printer.line(format!(
                    "running for {since}, process {}, build {}, {} calls served",
                    status.pid, status.build, status.served
                ));
            }
            Ok(Exit::Ok)
        }
        Err(failure) if failure.is_absence() => {
            if printer.json() {
                printer.object(&json!({"running": false}));
            } else {
                printer.line("not running; hooks work without it, `taut daemon start` makes them cheaper");
            }
            Ok(Exit::NotFound)
        }
        Err(failure) => Err(CliError::failed("cannot tell whether the daemon runs").because(&failure)),
    }
}
