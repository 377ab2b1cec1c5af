//! One event with everything that is kept of it.

use super::super::reach::CallerReach;
use super::super::{agent_names, effort, stored};
use super::line;
use crate::commands::allow::code_of;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, Text, text};
use clap::Args;
use host::paths::PathVariables;
use model::row::Event;
use serde_json::Value;
use store::Store;

#[derive(Debug, Args)]
pub(super) struct ShowEventArgs {
    /// Its number, as `taut events` shows it, or its id, or how that begins
    event: String,
}

pub(super) fn run(args: &ShowEventArgs, printer: &Printer) -> Result<Exit, CliError> {
    let store = stored()?.ok_or_else(|| not_found(&args.event))?;
    let (number, event) = one(&store, &args.event)?;
    let caller = effort::who(&store, &PathVariables::from_process())?;
    let session = event.session.as_ref().map(|id| store.session(id)).transpose()?.flatten();
    let is_seen = match CallerReach::of("events show", &store, caller)? {
        CallerReach::Everything => true,
        CallerReach::Agent(own) => event.agent == own,
        reach @ CallerReach::Project(_) => session.as_ref().is_some_and(|session| reach.includes(session)),
    };
    if !is_seen {
        return Err(CliError::failed("an agent is shown the events of its own project, and this is one of another")
            .hint("`taut events show` in your own terminal shows every event"));
    }
    let name = store.agent_name(&event.agent)?;
    if printer.json() {
        printer.object(&line::object(number, (&event, &name), false));
        return Ok(Exit::Ok);
    }
    print(
        number,
        (&event, &agent_names::with_id(&name, &event.agent)),
        session.map(|session| session.project),
        printer,
    );
    Ok(Exit::Ok)
}

fn one(store: &Store, called: &str) -> Result<(i64, Event), CliError> {
    let digits = called.strip_prefix('#').unwrap_or(called);
    if let Some(number) = digits.parse::<i64>().ok().filter(|_| digits.len() < 12)
        && let Some(event) = store.event_numbered(number)?
    {
        return Ok((number, event));
    }
    let mut found = store.events_called(called)?;
    match found.len() {
        0 => Err(not_found(called)),
        1 => Ok(found.swap_remove(0)),
        _ => {
            let lines: Vec<String> = found.iter().map(|(number, event)| format!("#{number}  {}", event.id)).collect();
            Err(CliError::not_found(format!("`{called}` may be any of several events:\n{}", lines.join("\n")))
                .hint("give its number"))
        }
    }
}

fn not_found(called: &str) -> CliError {
    CliError::not_found(format!("no event has the number or the id `{called}`"))
        .hint("`taut events` shows the number of each; old events are forgotten after a while")
}

fn print(number: i64, (event, agent): (&Event, &str), project: Option<String>, printer: &Printer) {
    let fact = |name: &str, value: Option<&str>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            printer.line(text!("{}  {}", printer.dim(format!("{name:<10}")), value));
        }
    };
    fact("event", Some(&format!("#{number} {}", event.event)));
    fact("id", Some(&event.id));
    fact("at", Some(&host::clock::HERE.whole(event.at)));
    printer.line(text!("{}  {}", printer.dim("verdict   "), line::verdict(event, printer)).trimmed());
    fact("rules", Some(&event.rules.join(", ")));
    fact("code", code_of(event));
    fact("agent", Some(agent));
    fact("session", event.session.as_deref());
    fact("sub-agent", event.sub_agent.as_deref());
    fact("project", project.as_deref());
    fact("tool", event.tool.as_deref());
    fact("took", Some(&format!("{:.1} ms", event.micros as f64 / 1000.0)));
    let block = |name: &str, text: &str| {
        if !text.trim().is_empty() {
            printer.line(printer.dim(name.to_string()));
            text.lines().for_each(|line| printer.line(text!("  {}", line)));
        }
    };
    block("reason", event.reason.as_deref().unwrap_or_default());
    block("answer", &event.answer.stdout);
    block("answer to people", &event.answer.stderr);
    let Some(fields) = event.detail.as_object() else { return };
    let nested = fields.get("input").and_then(Value::as_object);
    let named = nested.into_iter().flatten().chain(fields.iter().filter(|(name, _)| *name != "input"));
    for (name, value) in named {
        match value {
            Value::String(text) if text.contains('\n') => block(name, text),
            Value::String(text) => printer.line(text!("{}  {}", printer.dim(Text::line(format!("{name:<10}"))), text)),
            other => printer.line(text!("{}  {}", printer.dim(Text::line(format!("{name:<10}"))), other.to_string())),
        }
    }
}
