//! `taut doctor`: proves the whole path with a real event, and says what is
//! wrong and the command that fixes it.

mod record;
mod settings;
mod unknown_agents;

use crate::agent_settings;
use crate::error::CliError;
use crate::exit::Exit;
use crate::mcp_registration;
use crate::printer::{Printer, text};
use agents::settings::DENIED_COMMAND;
use daemon::Client;
use daemon::log::LogLine;
use host::install::checks::{self, Check, Health};
use host::paths::PathVariables;
use model::Ms;
use policy::Diagnostic;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::{EventFilter, Store};

const PATIENCE: Duration = Duration::from_secs(3);

/// A trouble that the log tells of is named for a day.
const RECENT_MS: i64 = 24 * 60 * 60 * 1000;

/// So many of them, the latest first.
const NAMED: usize = 3;
const LONGEST_TROUBLE: usize = 300;

pub fn run(printer: &Printer) -> Result<Exit, CliError> {
    let places = PathVariables::from_process();
    let mut checks = Vec::new();
    let client = agent_settings::client();
    checks.push(settings::client(client));
    let programs = settings::check(&places, client, &mut checks);
    checks.extend(programs.iter().map(|program| checks::program(program, env!("CARGO_PKG_VERSION"))));
    checks.extend(mcp_registration::check(&places));
    checks.push(configuration());
    checks.push(database(&places.state()));
    checks.push(daemon(&places.state()));
    let program = programs.into_iter().next().map_or_else(std::env::current_exe, Ok)?;
    checks.push(event(&program, &places.state()));
    checks.extend(record::check(&places));
    checks.extend(unknown_agents::check(&places));
    checks.extend(log(&places.state()));
    // Last: the event makes the folder where there was none.
    checks.push(checks::privacy(&places.state()));
    let worst = checks.iter().map(|check| check.health).max().unwrap_or(Health::Ok);
    for check in &checks {
        show(check, printer);
    }
    if !printer.json() {
        printer.line("");
        printer.line(match worst {
            Health::Ok => "Everything works.",
            Health::Warn => "Everything works; what is marked could be better.",
            Health::Bad => "Something does not work; the commands above help.",
        });
    }
    Ok(if worst == Health::Bad { Exit::Failed } else { Exit::Ok })
}

fn show(check: &Check, printer: &Printer) {
    if printer.json() {
        let mut value = json!({"name": check.name, "state": check.health.name(), "detail": check.detail});
        if let (Some(fields), Some(fix)) = (value.as_object_mut(), &check.fix) {
            fields.insert("fix".into(), Value::from(fix.as_str()));
        }
        printer.object(&value);
        return;
    }
    let mark = match check.health {
        Health::Ok => printer.green("ok  "),
        Health::Warn => printer.yellow("warn"),
        Health::Bad => printer.red("bad "),
    };
    printer.line(text!("{} {:<9} {}", mark, check.name, check.detail));
    if let Some(fix) = &check.fix {
        printer.line(text!("               {} {}", printer.dim("→"), fix));
    }
}

/// What is wrong in a configuration does not hold, and nobody would notice.
fn configuration() -> Check {
    let name = "config";
    let judge = match super::judge_here(None) {
        Ok(judge) => judge,
        Err(error) => return Check::warn(name, error.what(), "taut policy check"),
    };
    match judge.project_policy().diagnostics.as_slice() {
        [] => Check::ok(name, "nothing is wrong with what is configured here"),
        found => {
            let check = if found.iter().any(Diagnostic::is_mistake) { Check::bad } else { Check::warn };
            check(name, worst_first(found), "taut policy check")
        }
    }
}

/// What is wrong with the configuration in one line: a mistake before what is only ignored.
pub fn worst_first(found: &[Diagnostic]) -> String {
    let first = found.iter().find(|found| found.is_mistake()).or(found.first());
    let first = first.map(ToString::to_string).unwrap_or_default();
    match found.len() {
        0 | 1 => first,
        all => format!("{first}, and {} more", all - 1),
    }
}

fn database(state: &Path) -> Check {
    let name = "database";
    if !super::is_anything_kept(state) {
        return Check::ok(name, "not there yet; the first event makes it");
    }
    match Store::open_and_migrate(state, PATIENCE) {
        Ok(store) => Check::ok(name, format!("{} opens", store.path().display())),
        Err(error) => Check::bad(name, error.to_string(), "taut db check"),
    }
}

fn daemon(state: &Path) -> Check {
    let name = "daemon";
    match Client::new(state, PATIENCE).status() {
        Ok(status) if status.build == service::build() => {
            Check::ok(name, format!("runs, process {}, {} calls served", status.pid, status.served))
        }
        Ok(status) => Check::warn(
            name,
            format!("process {} is build {}, this is {}", status.pid, status.build, service::build()),
            "taut daemon stop && taut daemon start",
        ),
        Err(failure) if failure.is_absence() => Check::ok(name, "not running; hooks do the work themselves"),
        Err(failure) => Check::warn(
            name,
            format!("cannot tell whether it runs: {failure}; hooks do the work themselves"),
            "taut daemon status",
        ),
    }
}

/// The last things that went wrong, where that was not long ago.
fn log(state: &Path) -> Vec<Check> {
    let now = host::clock::now();
    let since = now.plus(-RECENT_MS).rfc3339();
    let is_recent = |line: &LogLine| line.is_trouble() && line.at.as_ref().is_some_and(|at| *at >= since);
    let lines = daemon::log::last_lines(state, usize::MAX);
    let troubles: Vec<&LogLine> = lines.iter().filter(|line| is_recent(line)).collect();
    if troubles.is_empty() {
        return vec![Check::ok("log", "nothing went wrong in the last day")];
    }
    let named = troubles.iter().rev().take(NAMED).map(|line| {
        let (at, text) = (line.at.as_deref().unwrap_or_default(), model::text::line(&line.text, LONGEST_TROUBLE));
        Check::warn("log", format!("{at} {text}"), "taut daemon log")
    });
    named.collect()
}

/// A real event by the installed line: denied, and found stored afterwards.
fn event(program: &Path, state: &Path) -> Check {
    let name = "event";
    let before = host::clock::now();
    let proof = match agent_settings::prove(program) {
        Ok(proof) => proof,
        Err(error) => return Check::bad(name, error.to_string(), "taut init"),
    };
    let denied = format!("`{}`, told to {} and never run,", DENIED_COMMAND, program.display());
    if proof.denial.is_none() {
        let said = proof.stderr.trim();
        return Check::bad(name, format!("{denied} was not denied; stderr: `{said}`"), "taut db check");
    }
    match is_stored(state, &proof.mark, before) {
        Ok(true) => Check::ok(name, format!("{denied} was denied and is stored")),
        Ok(false) => Check::bad(
            name,
            format!("{denied} was denied, but is not stored; stderr: `{}`", proof.stderr.trim()),
            "taut db check",
        ),
        Err(error) => {
            Check::bad(name, format!("{denied} was denied, but the database cannot be read: {error}"), "taut db check")
        }
    }
}

fn is_stored(state: &Path, mark: &str, since: Ms) -> Result<bool, store::Error> {
    let store = Store::open_and_migrate(state, PATIENCE)?;
    let events = store.events(&EventFilter { since: Some(since), ..EventFilter::default() })?;
    Ok(events.iter().any(|event| event.host_session.as_deref() == Some(mark)))
}

/// The settings files that matter in the working folder, the user's first.
fn levels(places: &PathVariables) -> Vec<(agent_settings::SettingsOwner, PathBuf)> {
    use agent_settings::SettingsOwner;
    [SettingsOwner::User, SettingsOwner::Project, SettingsOwner::Local]
        .into_iter()
        .filter_map(|whose| Some((whose, whose.level(places).ok()?.path(places, agents::DEFAULT)?)))
        .collect()
}
