//! `taut doctor`: proves the whole path with a real event, and says what is
//! wrong and the command that fixes it.

mod agent;
mod record;
mod repair;
mod settings;
mod shared;
mod unknown_agents;

use super::installed_hooks;
use crate::agent_choice;
use crate::agent_settings;
use crate::args::DoctorArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::{Printer, text};
use agent::AgentReport;
use agents::Dialect;
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

/// A check, and the agent it is about.
type Found = (Option<&'static str>, Check);

pub fn run(args: &DoctorArgs, printer: &Printer) -> Result<Exit, CliError> {
    if args.fix {
        if args.yes { person::outside_agents("doctor --fix")? } else { person::required("doctor --fix")? }
    }
    let (worst, checks) = look(args, printer)?;
    if !args.fix {
        return Ok(ended(worst));
    }
    let repairs = repair::found_in(&checks, &PathVariables::from_process());
    if repairs.is_empty() {
        if worst != Health::Ok {
            printer.note("nothing of this is safe to do unasked; the commands above help");
        }
        return Ok(ended(worst));
    }
    if !repair::do_all(&repairs, args.yes, printer)? {
        return Ok(ended(worst));
    }
    Ok(ended(look(args, printer)?.0))
}

fn ended(worst: Health) -> Exit {
    if worst == Health::Bad { Exit::Failed } else { Exit::Ok }
}

/// Every check, shown, and how bad the worst of them is.
fn look(args: &DoctorArgs, printer: &Printer) -> Result<(Health, Vec<Check>), CliError> {
    let places = PathVariables::from_process();
    let agents = if args.agent.is_empty() { looked_at(&places) } else { agent_choice::named(&args.agent)? };
    let reports = AgentReport::all(&agents, &places);
    let mut checks: Vec<Found> = Vec::new();
    for report in &reports {
        checks.extend(report.checks.iter().map(|check| (Some(report.dialect.id()), check.clone())));
    }
    checks.extend(elsewhere(&agents, &places));
    let mut programs: Vec<&PathBuf> = reports.iter().flat_map(|report| &report.programs).collect();
    programs.sort();
    programs.dedup();
    let mut general: Vec<Check> =
        programs.iter().map(|program| checks::program(program, &places.home(), env!("CARGO_PKG_VERSION"))).collect();
    general.push(configuration());
    general.push(database(&places.state()));
    general.push(daemon(&places.state()));
    checks.extend(general.drain(..).map(|check| (None, check)));
    checks.extend(events(&reports, &places.state())?);
    general.extend(record::check(&places));
    general.extend(shared::check(&places));
    general.extend(unknown_agents::check(&places));
    general.extend(log(&places.state()));
    // Last: the event makes the folder where there was none.
    general.push(checks::privacy(&places.state()));
    checks.extend(general.into_iter().map(|check| (None, check)));
    // What an agent cannot do is read after what does not work.
    checks.sort_by_key(|(_, check)| check.name == agent::LIMITS);
    let worst = checks.iter().map(|(_, check)| check.health).max().unwrap_or(Health::Ok);
    for found in &checks {
        show(found, printer);
    }
    if !printer.json() {
        printer.line("");
        printer.line(match worst {
            Health::Ok => "Everything works.",
            Health::Warn => "Everything works; what is marked could be better.",
            Health::Bad => "Something does not work; the commands above help.",
        });
    }
    Ok((worst, checks.into_iter().map(|(_, check)| check).collect()))
}

/// Those that are here, and those that have our hooks; without any the usual one.
fn looked_at(places: &PathVariables) -> Vec<&'static Dialect> {
    let here = agent_choice::here(places);
    let project = agent_settings::project(places).unwrap_or_default();
    let installed = installed_hooks::installed(places, &project);
    let elsewhere = agent_settings::elsewhere(places);
    let is_meant = |dialect: &&'static Dialect| {
        let same = |other: &Dialect| other.id() == dialect.id();
        here.iter().any(|other| same(other))
            || installed.iter().any(|at| same(at.dialect))
            || elsewhere.iter().any(|(other, _)| same(other))
    };
    let found: Vec<_> = agents::ALL.0.iter().copied().filter(is_meant).collect();
    if found.is_empty() { vec![agents::DEFAULT] } else { found }
}

/// Hooks that an agent runs only where its folder is moved as it was when they were put there.
fn elsewhere(agents: &[&'static Dialect], places: &PathVariables) -> Vec<Found> {
    let is_meant = |dialect: &Dialect| agents.iter().any(|meant| meant.id() == dialect.id());
    let found = agent_settings::elsewhere(places).into_iter().filter(|(dialect, _)| is_meant(dialect));
    let check = |(dialect, file): (&'static Dialect, PathBuf)| {
        let (name, shown) = (dialect.profile.name, file.display());
        let detail = format!("{shown} has hooks for {name} too: `taut init` was run where a variable moved its folder");
        (Some(dialect.id()), Check::ok("settings", detail))
    };
    found.map(check).collect()
}

/// A real event through each agent's installed line; where none is, through this program in the first one's words.
fn events(reports: &[AgentReport], state: &Path) -> Result<Vec<Found>, CliError> {
    let lines = reports.iter().filter_map(|report| Some((report.dialect, report.programs.first()?)));
    let mut found: Vec<Found> =
        lines.map(|(dialect, program)| (Some(dialect.id()), event(dialect, program, state))).collect();
    if let (true, Some(report)) = (found.is_empty(), reports.first()) {
        found.push((Some(report.dialect.id()), event(report.dialect, &std::env::current_exe()?, state)));
    }
    Ok(found)
}

fn show((agent, check): &Found, printer: &Printer) {
    if printer.json() {
        let mut value =
            json!({"name": check.name, "agent": agent, "state": check.health.name(), "detail": check.detail});
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
fn event(dialect: &Dialect, program: &Path, state: &Path) -> Check {
    let name = "event";
    let before = host::clock::now();
    let proof = match agent_settings::prove(dialect, program) {
        Ok(proof) => proof,
        Err(error) => return Check::bad(name, error.to_string(), "taut init"),
    };
    let (name_of, shown) = (dialect.profile.name, program.display());
    let denied = format!("`{DENIED_COMMAND}`, told to {shown} as {name_of} tells it and never run,");
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
