//! One session: what it is, and what happened in it.

use super::super::{agent_names, ago};
use super::{ShowArgs, find};
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, Text, text};
use dash::card_view::DiffRow;
use dash::session_view::SessionRow;
use dash::timeline::TimelineEntry;
use dash::timeline_page::{self, PAGE, TimelinePage, TimelinePart};
use model::Ms;
use model::session::Session;
use model::session_facts::SessionFacts;
use serde_json::json;
use store::{CardFilter, Store};

pub fn run(args: &ShowArgs, printer: &Printer) -> Result<Exit, CliError> {
    if args.limit == 0 || args.limit > PAGE {
        return Err(CliError::usage(format!("`-n` is from 1 to {PAGE}")).hint("taut sessions export <id> prints all"));
    }
    let (store, session) = find::seen("sessions show", &args.session)?;
    let part = TimelinePart {
        before: args.before.clone(),
        limit: Some(args.limit),
        kind: args.kind.clone(),
        tool: args.tool.clone(),
        verdict: args.verdict.clone(),
        rule: args.rule.clone(),
        text: args.text.clone(),
        ..TimelinePart::default()
    };
    let page = timeline_page::read(&store, &session, &part)?;
    let facts = store.session_facts(&session.id)?;
    if printer.json() {
        let sub_agents = store.sub_sessions(&session.id)?;
        let name = &store.agent_name(&session.agent)?;
        let (session, sub_agents, facts) = (&session, &sub_agents, &facts);
        let row = SessionRow { session, name, effort: None, sub_agents, facts, status: None };
        printer.object(&json!({
            "session": row.object(),
            "entries": page.entries,
            "before": page.before,
            "looked": page.looked,
        }));
        return Ok(Exit::Ok);
    }
    if args.before.is_none() {
        head(&store, &session, &facts, printer)?;
    }
    timeline(&page, &session, printer);
    Ok(Exit::Ok)
}

fn head(store: &Store, session: &Session, facts: &SessionFacts, printer: &Printer) -> Result<(), CliError> {
    let now = host::clock::now();
    let fact = |name: &'static str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            printer.line(text!("{}  {}", printer.dim(format!("{name:<10}")), value));
        }
    };
    let moment = |at: Ms| format!("{} ({} ago)", host::clock::shown_at(at, now), ago(now.since(at)));
    fact("session", Some(session.id.clone()));
    fact("known as", Some(session.logical_id.clone()).filter(|id| *id != session.id));
    let names = store.agent_names()?;
    fact("agent", Some(agent_names::with_id(names.of(&session.agent), &session.agent)));
    fact("client", session.memo.dialect.clone());
    fact("project", Some(session.project.clone()));
    let why = session.end_reason.as_deref().map(|why| format!(" ({why})"));
    fact("state", Some(format!("{}{}", session.state.name(), why.unwrap_or_default())));
    fact("started", Some(moment(session.started_at)));
    fact("last seen", Some(moment(session.last_seen_at)));
    fact("branch", facts.branch.clone());
    fact("model", facts.model.clone().or_else(|| session.memo.model.clone()));
    fact("cost", facts.cost_words());
    fact("tokens", facts.tokens_in.zip(facts.tokens_out).map(|(told, said)| format!("{told} in, {said} out")));
    fact("changed", facts.diff.map(|size| DiffRow::of(size).words()));
    for (project, slug, outcome) in store.tasks_of_session(&session.id)? {
        let where_ = if project == session.project { String::new() } else { format!(" in {project}") };
        fact("task", Some(format!("{slug}{where_} ({})", outcome.as_deref().unwrap_or("held"))));
    }
    fact("loop", store.run_of_session(session)?.map(|run| run.short().to_owned()));
    fact("before", session.prev.clone());
    fact("within", session.parent.clone());
    for other in store.related_sessions(&session.id)? {
        fact(
            if other.follows { "next" } else { "started" },
            Some(format!("{} of {}", other.id, names.of(&other.agent))),
        );
    }
    let wanted = CardFilter { session: Some(session.id.clone()), over: true, limit: 20, ..CardFilter::default() };
    for card in store.cards(&wanted)? {
        let by = card.answered.as_ref().map(|by| format!(" by {} ({})", by.user, by.place.name()));
        let state = card.state.name().replace('_', " ");
        fact("card", Some(format!("{} for {}: {state}{}", card.kind.name(), card.tool, by.unwrap_or_default())));
    }
    if let Some(words) = facts.last_words.as_deref().filter(|words| !words.trim().is_empty()) {
        printer.line(printer.dim("last words"));
        words.trim().lines().for_each(|line| printer.line(text!("  {}", line)));
    }
    printer.line("");
    Ok(())
}

/// The oldest first, as a terminal is read.
fn timeline(page: &TimelinePage, session: &Session, printer: &Printer) {
    if let Some(before) = &page.before {
        printer.note(text!("earlier: taut sessions show {} --before {}", session.id, before));
    }
    if page.entries.is_empty() {
        printer.note(text!("nothing of this kind among {} events", page.looked));
    }
    let now = host::clock::now();
    page.entries.iter().rev().for_each(|entry| printer.line(line(entry, now, printer)));
}

fn line(entry: &TimelineEntry, now: Ms, printer: &Printer) -> Text {
    let time = host::clock::shown_at(entry.at, now);
    let how = format!("{:<7}", if entry.verdict == "pass" { entry.outcome.unwrap_or("") } else { entry.verdict });
    let how = match entry.verdict {
        "deny" => printer.red(how),
        "ask" | "warn" => printer.yellow(how),
        _ if entry.outcome == Some("failed") => printer.red(how),
        _ => printer.dim(how),
    };
    let rules = if entry.rules.is_empty() { String::new() } else { format!("  [{}]", entry.rules.join(", ")) };
    let took = entry.duration_ms.map(|took| format!("  {took} ms")).unwrap_or_default();
    text!("{}  {}  {:<18}  {}{}{}", printer.dim(time), how, entry.what(), entry.about, rules, took).trimmed()
}
