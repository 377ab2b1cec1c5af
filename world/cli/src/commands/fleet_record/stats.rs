//! `taut stats --fleet`: what each machine did in each project, who is busiest, and what stopped them.

use super::FleetQuestion;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, Text, text};
use dash::stats::{bar, short_number};
use serde_json::{Value, json};
use shared_store::{RecordSum, RecordSums};

/// So many rows of a kind stand in a terminal.
const ROWS: usize = 10;
const NAME: usize = 24;
const BAR: usize = 12;
/// So many of a kind are asked for.
const GROUPS: usize = 200;

pub fn show(since: Option<&str>, printer: &Printer) -> Result<Exit, CliError> {
    let mut question = FleetQuestion::of("stats --fleet", None, GROUPS)?;
    question.since(since, None)?;
    question.query.without_proofs = true;
    let sums = question.asked(|server, query| server.record_sums(query))?;
    question.explain(&sums.projects, sums.machines.is_empty(), printer)?;
    if printer.json() {
        printer.object(&object(&sums));
    } else if !sums.machines.is_empty() {
        tables(&sums, printer);
    }
    Ok(Exit::Ok)
}

fn tables(sums: &RecordSums, printer: &Printer) {
    let total = |count: fn(&RecordSum) -> u64| sums.machines.iter().map(count).fold(0, u64::saturating_add);
    let fact = |name: &'static str, value: String| {
        printer.line(text!("  {}  {}", printer.dim(format!("{name:<14}")), value));
    };
    fact("events", total(|one| one.events).to_string());
    fact("tool calls", format!("{} ({} failed)", total(|one| one.calls), total(|one| one.failed)));
    fact("stopped", format!("{} denied, {} asked about", total(|one| one.denied), total(|one| one.asked)));
    let numbers = |one: &RecordSum| {
        let stops = one.denied.saturating_add(one.asked);
        format!("{:>6}  {:>5}  {stops:>5}", short_number(one.calls), short_number(one.sessions))
    };
    let most = |rows: &[RecordSum]| rows.iter().map(|one| one.calls).max().unwrap_or_default();
    let rows = sums.machines.iter().take(ROWS).map(|one| {
        let calls = printer.cyan(format!("{:<BAR$}", bar(one.calls, most(&sums.machines), BAR)));
        text!("{:<NAME$}  {:<NAME$}  {}  {}", short(&one.machine), short(&one.project), calls, numbers(one))
    });
    let head = format!("{:<NAME$}  {:<NAME$}  {:<BAR$}   CALLS   SESS  STOPS", "MACHINE", "PROJECT", "");
    list(&head, rows.collect(), sums.machines.len(), printer);
    let rows = sums.agents.iter().take(ROWS).map(|one| {
        let name = one.agent_name.as_deref().unwrap_or(&one.agent);
        let calls = printer.cyan(format!("{:<BAR$}", bar(one.calls, most(&sums.agents), BAR)));
        text!("{:<NAME$}  {:<NAME$}  {}  {}", short(name), short(&one.machine), calls, numbers(one))
    });
    let head = format!("{:<NAME$}  {:<NAME$}  {:<BAR$}   CALLS   SESS  STOPS", "AGENT", "MACHINE", "");
    list(&head, rows.collect(), sums.agents.len(), printer);
    let rows =
        sums.rules.iter().take(ROWS).map(|one| {
            text!("{:<NAME$}  {:>6}  {:>6}", short(&one.rule), one.denied.to_string(), one.asked.to_string())
        });
    list(&format!("{:<NAME$}  DENIED   ASKED", "RULE"), rows.collect(), sums.rules.len(), printer);
}

fn list(head: &str, rows: Vec<Text>, all: usize, printer: &Printer) {
    if rows.is_empty() {
        return;
    }
    printer.line("");
    printer.line(printer.dim(head.to_string()));
    let more = all - rows.len();
    rows.into_iter().for_each(|row| printer.line(row.trimmed()));
    if more > 0 {
        printer.line(printer.dim(format!("and {more} more; `--json` has them")));
    }
}

fn short(name: &str) -> String {
    model::text::line(name, NAME)
}

fn object(sums: &RecordSums) -> Value {
    let numbers = |one: &RecordSum| {
        json!({
            "events": one.events, "sessions": one.sessions, "prompts": one.prompts, "calls": one.calls,
            "failed": one.failed, "denied": one.denied, "asked": one.asked,
        })
    };
    let with = |mut names: Value, one: &RecordSum| {
        if let (Some(names), Value::Object(numbers)) = (names.as_object_mut(), numbers(one)) {
            names.extend(numbers);
        }
        names
    };
    let machine = |one: &RecordSum| with(json!({"machine": one.machine, "project": one.project}), one);
    let agent = |one: &RecordSum| {
        let name = one.agent_name.as_deref().unwrap_or(&one.agent);
        with(json!({"machine": one.machine, "agent": one.agent, "agent_name": name}), one)
    };
    let rule = |one: &RecordSum| json!({"name": one.rule, "denied": one.denied, "asked": one.asked});
    json!({
        "machines": sums.machines.iter().map(machine).collect::<Vec<_>>(),
        "agents": sums.agents.iter().map(agent).collect::<Vec<_>>(),
        "rules": sums.rules.iter().map(rule).collect::<Vec<_>>(),
    })
}
