//! Events of other machines, as lines and as objects. All of it was written elsewhere: it is shown as what its machine said.

use super::{FleetQuestion, moment};
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, Text, text};
use dash::view_model;
use model::row::Event;
use model::{Level, Ms};
use serde_json::{Value, json};
use shared_store::RecordedEvent;
use std::path::Path;

/// So many lines of a reason stand under an event.
const REASON_LINES: usize = 8;
const MOST_ABOUT: usize = 72;

/// What `taut events` was asked, where it is of the fleet.
#[derive(Debug, Clone, Copy, Default)]
pub struct FleetEvents<'a> {
    pub project: Option<&'a Path>,
    pub since: Option<&'a str>,
    pub until: Option<&'a str>,
    pub agent: Option<&'a str>,
    pub session: Option<&'a str>,
    pub tool: Option<&'a str>,
    pub rule: Option<&'a str>,
    pub denied: bool,
    pub proofs: bool,
    pub limit: usize,
}

pub fn list(wanted: &FleetEvents<'_>, printer: &Printer) -> Result<Exit, CliError> {
    let mut question = FleetQuestion::of("events --fleet", wanted.project, wanted.limit)?;
    question.since(wanted.since, wanted.until)?;
    let query = &mut question.query;
    let owned = |text: Option<&str>| text.map(str::to_owned);
    (query.agent, query.session) = (owned(wanted.agent), owned(wanted.session));
    (query.tool, query.rule) = (owned(wanted.tool), owned(wanted.rule));
    (query.only_denied, query.without_proofs) = (wanted.denied, !wanted.proofs);
    print(&question, printer)
}

/// `taut recall --fleet`: each of these words stands somewhere in it.
pub fn found_words(words: &[String], wanted: &FleetEvents<'_>, printer: &Printer) -> Result<Exit, CliError> {
    let mut question = FleetQuestion::of("recall --fleet", wanted.project, wanted.limit)?;
    question.since(wanted.since, None)?;
    question.query.words = words.iter().flat_map(|words| words.split_whitespace()).map(str::to_owned).collect();
    question.query.agent = wanted.agent.map(str::to_owned);
    question.query.without_proofs = true;
    print(&question, printer)
}

fn print(question: &FleetQuestion, printer: &Printer) -> Result<Exit, CliError> {
    let found = question.asked(|server, query| server.record(query))?;
    question.explain(&found.projects, found.events.is_empty(), printer)?;
    let now = host::clock::now();
    // As of one machine: the newest is the last.
    for one in found.events.iter().rev() {
        if printer.json() {
            printer.object(&object(one));
            continue;
        }
        let event = event(one);
        printer.line(line((one, &event), now, printer));
        if question.query.only_denied {
            let lines = one.reason.as_deref().unwrap_or_default().lines();
            let told = lines.filter(|line| !line.trim().is_empty() && !line.starts_with("(code ")).take(REASON_LINES);
            told.for_each(|line| printer.line(text!("    {}", printer.dim(line))));
        }
    }
    Ok(Exit::Ok)
}

fn line((one, event): (&RecordedEvent, &Event), now: Ms, printer: &Printer) -> Text {
    let about = model::text::line(&view_model::about(event), MOST_ABOUT);
    let about = one.tool.iter().cloned().chain(Some(about).filter(|about| !about.is_empty()));
    let rules = if one.rules.is_empty() { String::new() } else { format!("  [{}]", one.rules.join(", ")) };
    let verdict = format!("{:<4}", event.verdict.name());
    let verdict = match event.verdict {
        Level::Pass => printer.dim(verdict),
        Level::Warn | Level::Ask => printer.yellow(verdict),
        Level::Deny => printer.red(verdict),
    };
    let agent = one.agent_name.as_deref().unwrap_or(&one.agent);
    let row = text!(
        "{}  {}  {}  {}  {:<12}  {:<18}  {}{}",
        printer.dim(host::clock::shown_at(event.at, now)),
        verdict,
        printer.cyan(format!("{:<12}", model::text::line(&one.machine, 64))),
        printer.dim(format!("{:<12}", model::text::line(&one.project, 100))),
        model::text::line(agent, 60),
        model::text::line(&one.event, 40),
        model::text::line(&about.collect::<Vec<_>>().join("  "), 2 * MOST_ABOUT),
        model::text::line(&rules, 200)
    );
    row.trimmed()
}

/// As the one that a hook of this machine would have stored.
fn event(one: &RecordedEvent) -> Event {
    let mut event = Event::noted(&one.event, &one.agent, one.id.clone(), moment(one.at));
    event.verdict = Level::parse(&one.verdict).unwrap_or_default();
    event.tool.clone_from(&one.tool);
    event.detail = one.detail.clone();
    event
}

fn object(one: &RecordedEvent) -> Value {
    json!({
        "id": one.id,
        "at": moment(one.at).rfc3339(),
        "machine": one.machine,
        "project": one.project,
        "agent": one.agent,
        "agent_name": one.agent_name.as_deref().unwrap_or(&one.agent),
        "session": one.session,
        "host_session_id": one.host_session,
        "sub_agent": one.sub_agent,
        "event": one.event,
        "tool": one.tool,
        "verdict": one.verdict,
        "rules": one.rules,
        "reason": one.reason,
        "ms": one.micros as f64 / 1000.0,
        "detail": one.detail,
        "by": one.by,
    })
}
