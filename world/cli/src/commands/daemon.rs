//! `taut daemon`: start, stop, ask after, or run the background process.

use crate::args::{DaemonVerb, LogArgs, RunArgs};
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, text};
use daemon::log::{self, LogFollower, LogLine};
use daemon::{Client, RunError, Started, StopResult};
use host::paths::PathVariables;
use serde_json::json;
use std::error::Error;
use std::path::Path;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(5);

/// How soon a line that is added is shown.
const LOOK_EVERY: Duration = Duration::from_millis(200);

pub fn run(verb: DaemonVerb, printer: &Printer) -> Result<Exit, CliError> {
    let places = host::origin::places();
    match verb {
        DaemonVerb::Start => start(&places, printer),
        DaemonVerb::Stop => stop(&places, printer),
        DaemonVerb::Status => status(&places, printer),
        DaemonVerb::Log(args) => Ok(show_log(&args, &places.state(), printer)),
        DaemonVerb::Run(args) => serve(&args, &places, printer),
    }
}

fn serve(args: &RunArgs, places: &PathVariables, printer: &Printer) -> Result<Exit, CliError> {
    let setting = args.over(service::setting(places));
    let ended = match service::run(&setting) {
        Ok(ended) => ended,
        // Where the log is all that hears of it, it is said there once, and of several that start at once the late ones
        // have nothing to say.
        Err(error) if log::is_stderr(&setting.state) => {
            if !matches!(error, RunError::AlreadyRunning { .. }) {
                let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
                service::log::trouble(&setting.state, &format!("the daemon cannot run: {error}{cause}"));
            }
            return Ok(Exit::Failed);
        }
        Err(error) => return Err(CliError::failed("the daemon cannot run").because(&error)),
    };
    if !log::is_stderr(&setting.state) {
        printer.note(format!("the daemon ended: {ended:?}"));
    }
    if ended == daemon::DaemonEnd::Stuck {
        service::start_again();
    }
    Ok(Exit::Ok)
}

fn show_log(args: &LogArgs, state: &Path, printer: &Printer) -> Exit {
    // Begun before the lines are read, so that none falls between; one that comes meanwhile is shown twice.
    let mut follower = LogFollower::new(state);
    let lines = log::last_lines(state, args.limit);
    if lines.is_empty() && !printer.json() {
        let path = log::path(state);
        printer.note(format!("nothing is logged yet in {}; `taut daemon start` starts a daemon", path.display()));
    }
    lines.iter().for_each(|line| show_line(line, printer));
    if !args.follow {
        return Exit::Ok;
    }
    loop {
        std::thread::sleep(LOOK_EVERY);
        follower.next_lines().iter().for_each(|line| show_line(line, printer));
    }
}

fn show_line(line: &LogLine, printer: &Printer) {
    if printer.json() {
        return printer.object(&json!({"at": line.at, "level": line.level, "text": line.text}));
    }
    let (Some(at), Some(level)) = (&line.at, &line.level) else { return printer.line(&line.text) };
    let level = format!("{level:<5}");
    let level = match level.as_str() {
        "ERROR" => printer.red(level),
        "WARN " => printer.yellow(level),
        _ => printer.dim(level),
    };
    printer.line(text!("{} {} {}", printer.dim(at), level, line.text));
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
