//! `taut events`: what happened, what was said to it, and why.

mod csv;
mod line;
mod show;

use super::allow::{code_of, digest};
use super::fleet_record::{self, FleetEvents};
use super::reach::CallerReach;
use super::recall::named_root;
use super::sessions::find;
use super::{agent_names, effort, nothing_yet, stored};
use crate::error::CliError;
use crate::exit::Exit;
use crate::past_time;
use crate::printer::{Printer, text};
use clap::{Args, Subcommand};
use host::paths::PathVariables;
use model::agent_name::{AgentMatch, AgentNames};
use model::row::Event;
use pipeline::queue::TaskCaller;
use std::path::PathBuf;
use std::time::Duration;
use store::{EventFilter, LookBack, Store, StoreHandle};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct EventsArgs {
    #[command(subcommand)]
    verb: Option<EventsVerb>,
    #[command(flatten)]
    wanted: WantedEvents,
}

#[derive(Debug, Subcommand)]
enum EventsVerb {
    /// Everything that is kept of one event
    Show(show::ShowEventArgs),
}

#[derive(Debug, Args)]
struct WantedEvents {
    /// Go on printing as events arrive
    #[arg(long, short)]
    follow: bool,
    /// How many of the latest
    #[arg(long, short = 'n', default_value_t = 20)]
    limit: usize,
    /// Only what was denied or asked about, each with its reason
    #[arg(long)]
    denied: bool,
    /// Only what this rule stopped, asked about, warned of or let pass
    #[arg(long)]
    rule: Option<String>,
    /// Only calls of this tool
    #[arg(long)]
    tool: Option<String>,
    /// Only this agent's: its name, its id, or how one of them begins
    #[arg(long)]
    agent: Option<String>,
    /// Only this session's: its id, ours or the one it is known by, or how that begins
    #[arg(long)]
    session: Option<String>,
    /// Only of the project of this folder
    #[arg(long, value_name = "PATH")]
    project: Option<PathBuf>,
    /// Only those of whoever runs this: its session, all its sessions, or its project's
    #[arg(long, value_name = "WHOSE", conflicts_with_all = ["agent", "session", "project"])]
    of: Option<EventsOf>,
    /// Only since then: 2h, 3d, 2026-11-01
    #[arg(long)]
    since: Option<String>,
    /// Only before then: 2h, 3d, 2026-11-01
    #[arg(long, conflicts_with = "follow")]
    until: Option<String>,
    /// Also the proofs by which `taut init` and `taut doctor` try the guard
    #[arg(long)]
    proofs: bool,
    /// As a table for a spreadsheet
    #[arg(long)]
    csv: bool,
    /// Of all machines that share a server: what they sent of their records to it, of the last seven days
    #[arg(long, conflicts_with_all = ["follow", "of", "csv"])]
    fleet: bool,
}

/// Whose events are meant, where the caller says whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum EventsOf {
    Session,
    Agent,
    Project,
}

/// How often a follower looks. The daemon is not needed for it.
const LOOK_EVERY: Duration = Duration::from_millis(150);

pub fn run(args: &EventsArgs, printer: &Printer) -> Result<Exit, CliError> {
    match &args.verb {
        Some(EventsVerb::Show(args)) => show::run(args, printer),
        None => list(&args.wanted, printer),
    }
}

fn list(args: &WantedEvents, printer: &Printer) -> Result<Exit, CliError> {
    if args.limit == 0 {
        return Err(CliError::usage("`-n` is 1 or more").hint("taut events -n 1 --follow"));
    }
    if args.csv && printer.json() {
        return Err(CliError::usage("`--csv` and `--json` are two forms of the same").hint("taut events --csv"));
    }
    if args.fleet {
        return fleet_record::list(&of_fleet(args), printer);
    }
    let mut store = StoreHandle::default();
    store.renew(stored)?;
    let mut filter = match store.current() {
        Some(store) => filter(args, store)?,
        None => EventFilter { limit: args.limit, ..EventFilter::default() },
    };
    let found = match store.current() {
        Some(store) => store.look_for_events(&filter)?,
        None => store::FoundEvents::default(),
    };
    if args.csv {
        printer.line(csv::HEAD);
    }
    if found.events.is_empty() && !args.follow && !printer.json() && !args.csv {
        nothing(args, &filter, store.current(), printer)?;
    }
    if let Some(LookBack { events, back_to: Some(back_to) }) = found.looked {
        let back_to = host::clock::shown(back_to);
        printer.note(text!("looked through {} events, back to {}; `--until` looks at those before", events, back_to));
    }
    let used = match store.current().zip(found.events.first()) {
        Some((store, (_, first))) => store.let_pass_since(first.at)?,
        None => Vec::new(),
    };
    let names = |store: &StoreHandle| -> Result<AgentNames, CliError> {
        Ok(store.current().map(Store::agent_names).transpose()?.unwrap_or_default())
    };
    let mut last = print(&found.events, &used, (args, &names(&store)?), printer);
    if !args.follow {
        return Ok(Exit::Ok);
    }
    filter.limit = 0;
    loop {
        std::thread::sleep(LOOK_EVERY);
        // What cannot be opened now may be in a moment.
        if store.renew(stored).is_err() {
            continue;
        }
        let Some(open) = store.current() else { continue };
        filter.since_key.clone_from(&last);
        let found = open.look_for_events(&filter)?.events;
        if !found.is_empty() {
            last = print(&found, &[], (args, &names(&store)?), printer).or(last);
        }
    }
}

fn of_fleet(args: &WantedEvents) -> FleetEvents<'_> {
    FleetEvents {
        project: args.project.as_deref(),
        since: args.since.as_deref(),
        until: args.until.as_deref(),
        agent: args.agent.as_deref(),
        session: args.session.as_deref(),
        tool: args.tool.as_deref(),
        rule: args.rule.as_deref(),
        denied: args.denied,
        proofs: args.proofs,
        limit: args.limit,
    }
}

fn filter(args: &WantedEvents, store: &Store) -> Result<EventFilter, CliError> {
    let read =
        |text: &Option<String>, option: &str| text.as_deref().map(|text| past_time::read(text, option)).transpose();
    let places = PathVariables::from_process();
    let mut filter = EventFilter {
        agent: agent_names::filter(store, args.agent.as_ref())?,
        project: args.project.as_deref().map(|folder| named_root(folder, store, &places)).transpose()?,
        only_denied: args.denied,
        rule: args.rule.clone(),
        tool: args.tool.clone(),
        since: read(&args.since, "--since")?,
        until: read(&args.until, "--until")?,
        without_proofs: !args.proofs,
        limit: args.limit,
        ..EventFilter::default()
    };
    let caller = effort::who(store, &places)?;
    if let Some(whose) = args.of {
        narrow(&mut filter, whose, &caller)?;
    }
    if let Some(called) = &args.session {
        filter.session = Some(find::one(store, called)?.id);
    }
    let (asked, own) = match CallerReach::of("events", store, caller)? {
        CallerReach::Everything => return Ok(filter),
        CallerReach::Project(own) => (&mut filter.project, own),
        CallerReach::Agent(own) => (&mut filter.agent, own),
    };
    *asked = Some(own);
    Ok(filter)
}

/// What is true where nothing is listed.
fn nothing(
    args: &WantedEvents,
    filter: &EventFilter,
    store: Option<&Store>,
    printer: &Printer,
) -> Result<(), CliError> {
    let any = EventFilter { limit: 1, ..EventFilter::default() };
    let Some(store) = store.filter(|store| store.events(&any).is_ok_and(|events| !events.is_empty())) else {
        printer.note(nothing_yet("events"));
        return Ok(());
    };
    if let Some(agent) = &args.agent
        && store.resolve_agent(agent)? == AgentMatch::Unknown
    {
        printer.note(text!("{}", agent_names::no_such(agent, &store.known_agents()?)));
    }
    if let Some(rule) = args.rule.as_ref().filter(|rule| policy::rules::find(rule).is_none()) {
        printer.note(text!("no rule of Taut's own is called {}; `taut policy list` names them", rule));
    }
    if let Some(session) = filter.session.as_ref().map(|id| store.session(id)).transpose()?.flatten() {
        let ended = session.ended_at.map(|at| format!(", which ended {}", host::clock::shown(at)));
        let ended = ended.unwrap_or_default();
        printer.note(text!(
            "no event of the session {} of {}{} is like that",
            session.id,
            store.agent_name(&session.agent)?,
            ended
        ));
        return Ok(());
    }
    let proofs = EventFilter { without_proofs: false, limit: 1, ..filter.clone() };
    if filter.without_proofs && !store.look_for_events(&proofs)?.events.is_empty() {
        printer.note("only the proofs of `taut init` and `taut doctor` are like that; `--proofs` shows them");
        return Ok(());
    }
    printer.note("no event is like that; `taut events` lists the latest of all");
    Ok(())
}

/// To whoever runs this, found as for any of its commands.
fn narrow(filter: &mut EventFilter, whose: EventsOf, caller: &TaskCaller) -> Result<(), CliError> {
    match (whose, &caller.session) {
        (EventsOf::Session, Some(session)) => filter.session = Some(session.clone()),
        (EventsOf::Session, None) => {
            return Err(
                CliError::not_found("this runs in no session that Taut knows of").hint("taut events --of project")
            );
        }
        (EventsOf::Agent, _) => filter.agent = Some(caller.agent.clone()),
        (EventsOf::Project, _) => filter.project = Some(caller.project.clone()),
    }
    Ok(())
}

/// Prints them in order and gives the key of the last. The code of a call that was let through since then is used up.
fn print(
    events: &[(i64, Event)],
    let_pass: &[Event],
    (args, names): (&WantedEvents, &AgentNames),
    printer: &Printer,
) -> Option<String> {
    let now = host::clock::now();
    for (number, event) in events {
        let passed = |later: &&Event| later.at > event.at && digest(later) == digest(event);
        let used = code_of(event).is_some() && let_pass.iter().any(|later| passed(&later));
        if printer.json() {
            printer.object(&line::object(*number, (event, names.of(&event.agent)), used));
        } else if args.csv {
            printer.line(csv::line(*number, event, names.of(&event.agent)));
        } else {
            printer.line(line::line(*number, (event, names.of(&event.agent)), used, now, printer));
            if args.denied {
                line::reason(event).for_each(|line| printer.line(text!("    {}", printer.dim(line))));
            }
        }
    }
    events.last().map(|(_, event)| event.key.clone())
}
