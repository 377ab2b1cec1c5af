//! The list: what runs, and what has ended.

use super::super::reach::CallerReach;
use super::super::{agent_names, ago, counted, stored};
use super::{ListArgs, query};
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, Text, text};
use dash::session_view::SessionRow;
use dash::view_model::one_line;
use model::Ms;
use model::agent_name::AgentMatch;
use model::effort::{Effort, SubSession};
use model::row::AgentStatus;
use model::session_facts::SessionFacts;
use serde_json::Value;
use store::{EffortFilter, ListedSession, SessionPage, SessionQuery, Store};

const HEAD: [&str; 9] = ["STATE", "AGENT", "SESSION", "CONTEXT", "EFFORT", "PROJECT", "SEEN", "AGE", "LAST WORDS"];
/// More of an agent's words than stand in a column.
const WORDS: usize = 48;

pub fn run(args: &ListArgs, printer: &Printer) -> Result<Exit, CliError> {
    // What was typed wrongly is wrong before there is anything to list, too.
    let asked = query::typed(args)?;
    let Some(store) = stored()? else {
        none_yet(printer);
        return Ok(Exit::Ok);
    };
    let (query, reach) = query::read(args, asked, &store)?;
    let page = store.session_page(&query)?;
    let efforts = store.efforts(&EffortFilter { only_active: true, ..EffortFilter::default() })?;
    let names = store.agent_names()?;
    let mut shown = Vec::new();
    for listed in &page.sessions {
        let effort = efforts.iter().find(|effort| effort.session.as_ref() == Some(&listed.session.id));
        let helpers = store.sub_sessions(&listed.session.id)?;
        let name = names.of(&listed.session.agent);
        shown.push(Shown { name, effort, helpers, facts: facts(listed, &reach), listed });
    }
    if printer.json() {
        shown.iter().for_each(|one| printer.object(&one.object()));
    } else if shown.is_empty() {
        nothing(args, &store, printer)?;
    } else {
        tables(&shown, &query, printer);
    }
    after(&page, &query, printer);
    Ok(Exit::Ok)
}

/// A session with what belongs to it.
struct Shown<'s> {
    listed: &'s ListedSession,
    /// What people call its agent.
    name: &'s str,
    effort: Option<&'s Effort>,
    helpers: Vec<SubSession>,
    facts: SessionFacts,
}

/// What was said in another project is nothing for an agent.
fn facts(listed: &ListedSession, reach: &CallerReach) -> SessionFacts {
    if reach.includes(&listed.session) { listed.facts.clone() } else { SessionFacts::default() }
}

fn none_yet(printer: &Printer) {
    if !printer.json() {
        printer.note(super::super::nothing_yet("sessions"));
    }
}

/// What is true where nothing is listed.
fn nothing(args: &ListArgs, store: &Store, printer: &Printer) -> Result<(), CliError> {
    let all = store.session_page(&SessionQuery { limit: 1, ..SessionQuery::default() })?;
    if all.total == 0 {
        none_yet(printer);
        return Ok(());
    }
    if let Some(agent) = &args.agent
        && store.resolve_agent(agent)? == AgentMatch::Unknown
    {
        printer.note(text!("{}", agent_names::no_such(agent, &store.known_agents()?)));
    }
    let others = counted(all.total, "session");
    if query::looks_back(args) || args.all || args.agent.is_some() || args.project.is_some() {
        printer.note(text!("no session is like that; `taut sessions --all` lists all {}", others));
    } else {
        printer.note(text!("no session is running; {} ended: `taut sessions --all` lists them", others));
    }
    Ok(())
}

fn tables(shown: &[Shown<'_>], query: &SessionQuery, printer: &Printer) {
    let now = host::clock::now();
    if !query.by_project {
        printer.table(&HEAD, &shown.iter().map(|one| row(one, now)).collect::<Vec<_>>());
        return;
    }
    for (nth, group) in shown.chunk_by(|a, b| a.project() == b.project()).enumerate() {
        if nth > 0 {
            printer.line("");
        }
        let project = group.first().map(Shown::project).filter(|project| !project.is_empty());
        printer.line(printer.bold(project.unwrap_or("no project")));
        printer.table(&HEAD, &group.iter().map(|one| row(one, now)).collect::<Vec<_>>());
    }
}

/// What is not on this page, and what was not looked at.
fn after(page: &SessionPage, query: &SessionQuery, printer: &Printer) {
    if let Some(next) = &page.next {
        printer.note(text!("{} in all; the next page: the same with --after {}", counted(page.total, "session"), next));
    }
    if let Some(back_to) = page.looked.and_then(|looked| looked.back_to) {
        let events = page.looked.map(|looked| looked.events).unwrap_or_default();
        printer.note(text!(
            "looked through {} events, back to {}; `--day` and `--until` look at those before",
            events,
            host::clock::shown(back_to)
        ));
    }
    let ended = page.total - page.open;
    if !printer.json() && query.standing.is_none() && page.next.is_none() && page.total > 1 && ended > 0 {
        printer.note(text!("{}, {} of them ended", counted(page.total, "session"), ended));
    }
}

fn row(shown: &Shown<'_>, now: Ms) -> Vec<Text> {
    let session = &shown.listed.session;
    let effort =
        shown.effort.map(|effort| format!("{} {}", effort.skill, effort.phase.as_deref().unwrap_or("loading")));
    let words = shown.facts.last_words.as_deref().map(|words| cut(&one_line(words)));
    let nothing = || "-".to_string();
    vec![
        state(shown.listed).into(),
        shown.name.into(),
        session.logical_id.chars().take(8).collect::<String>().into(),
        session.context_percent().map_or_else(|| "?".to_string(), |percent| format!("{percent:.0}%")).into(),
        effort.or_else(|| session.status_text.clone()).unwrap_or_else(nothing).into(),
        session.project.as_str().into(),
        ago(now.since(session.last_seen_at)).into(),
        ago(now.since(session.started_at)).into(),
        words.unwrap_or_else(nothing).into(),
    ]
}

/// How a client does; of one that died, that it needs somebody.
fn state(listed: &ListedSession) -> &'static str {
    listed.status.map_or(listed.session.state.name(), AgentStatus::name)
}

fn cut(words: &str) -> String {
    let mut short: String = words.chars().take(WORDS).collect();
    if short.len() < words.len() {
        short.push('…');
    }
    short
}

impl Shown<'_> {
    fn project(&self) -> &str {
        &self.listed.session.project
    }

    fn object(&self) -> Value {
        SessionRow {
            session: &self.listed.session,
            name: self.name,
            effort: self.effort,
            sub_agents: &self.helpers,
            facts: &self.facts,
            status: self.listed.status,
        }
        .object()
    }
}
