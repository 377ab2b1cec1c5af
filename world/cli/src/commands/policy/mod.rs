//! `taut policy`: the rules, what they say, and how they are set.

mod allow;
mod allows;
mod check;
mod history;
mod log;

pub use self::history::HistoryArgs;
pub use self::log::PolicyLogArgs;
pub(super) use self::log::{entry, note};
use crate::args::PolicyVerb;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, Text, text};
use ::policy::rules;
use serde_json::json;

pub fn run(verb: PolicyVerb, printer: &Printer) -> Result<Exit, CliError> {
    match verb {
        PolicyVerb::List => list(printer),
        PolicyVerb::Show { rule } => show(&rule, printer),
        PolicyVerb::Test(args) if args.history => history::run(&args, printer),
        PolicyVerb::Test(_) => check::run_examples(printer),
        PolicyVerb::Log(args) => log::run(&args, printer),
        PolicyVerb::Check => check::configuration(printer),
        PolicyVerb::Allow(args) => allow::run(&args, printer),
        PolicyVerb::Allows => allows::list(printer),
        PolicyVerb::Forget(args) => allows::forget(&args, printer),
        PolicyVerb::Pack { name, switch } => allow::pack(&name, switch, printer),
    }
}

fn list(printer: &Printer) -> Result<Exit, CliError> {
    let judge = super::judge_here(None)?;
    let project_policy = &judge.project_policy().policy;
    let kind = |rule| project_policy.kind(rule).map_or("off", |kind| kind.name());
    let now = host::clock::now();
    let holds = |id: &'static str| {
        project_policy.allows().iter().filter(move |allow| allow.rule == id && !allow.is_expired(now))
    };
    if printer.json() {
        for rule in rules::ALL {
            let allows: Vec<_> = holds(rule.id).map(|allow| allows::object(allow, now)).collect();
            let (pack, kind) = (rule.pack.name(), kind(rule));
            printer.object(&json!({"id": rule.id, "pack": pack, "kind": kind, "title": rule.title, "allows": allows}));
        }
        return Ok(Exit::Ok);
    }
    let rows: Vec<Vec<Text>> = rules::ALL
        .iter()
        .map(|rule| vec![rule.id.into(), kind(rule).into(), rule.pack.name().into(), rule.title.into()])
        .collect();
    printer.table(&["RULE", "KIND", "PACK", "WHAT"], &rows);
    for allow in rules::ALL.iter().flat_map(|rule| holds(rule.id)) {
        printer.line(format!("{} is {}", allow.rule, allow.explained(now)));
    }
    Ok(Exit::Ok)
}

fn show(id: &str, printer: &Printer) -> Result<Exit, CliError> {
    let Some(rule) = rules::find(id) else { return Err(unknown_rule(id)) };
    if printer.json() {
        printer.object(&json!({
            "id": rule.id,
            "pack": rule.pack.name(),
            "kind": rule.kind.name(),
            "title": rule.title,
            "doc": rule.doc,
            "instead": rule.instead,
            "denies": rule.denies,
            "passes": rule.passes,
        }));
        return Ok(Exit::Ok);
    }
    printer.line(text!("{}  {} ({}, pack {})", printer.bold(rule.id), rule.title, rule.kind.name(), rule.pack.name()));
    printer.line(Text::lines(format!("\n{}", rule.doc)));
    if !rule.instead.is_empty() {
        printer.line(Text::lines(format!("\nInstead: {}", rule.instead)));
    }
    for (head, lines) in [("Stops", rule.denies), ("Leaves alone", rule.passes)] {
        printer.line("");
        printer.line(printer.bold(head));
        lines.iter().for_each(|line| printer.line(format!("  {line}")));
    }
    Ok(Exit::Ok)
}

fn unknown_rule(id: &str) -> CliError {
    let ids: Vec<&str> = rules::ALL.iter().map(|rule| rule.id).collect();
    let error = CliError::not_found(format!("there is no rule `{id}`"));
    match ::policy::config::nearest(id, &ids) {
        Some(near) => error.hint(format!("did you mean `{near}`? `taut policy list` names them all")),
        None => error.hint("taut policy list"),
    }
}
