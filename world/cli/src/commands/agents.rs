//! `taut agents`: every worker and what its owner wants to know at a glance.

use super::{ago, nothing_yet, seen, stored};
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, Text, text};
use clap::Args;
use dash::view_model::{self, AgentRow, FAILED_TOOL};
use dash::{Feed, agent_place, remote_row};
use host::paths::PathVariables;
use model::row::AgentStatus;
use model::status_colour::TerminalColour;
use model::{Ms, WallClock};
use std::time::Duration;
use store::{Store, StoreHandle};

#[derive(Debug, Default, Args)]
pub struct AgentsArgs {
    /// Go on printing as statuses change
    #[arg(long, short)]
    pub watch: bool,
    /// Also those that ended more than a day before the fleet's last change
    #[arg(long, conflicts_with = "watch")]
    pub all: bool,
}

/// So long a watcher waits before it looks whether the database is still the same.
const LOOK_EVERY: Duration = Duration::from_secs(2);

pub fn run(args: &AgentsArgs, printer: &Printer) -> Result<Exit, CliError> {
    let look = if args.all { Store::whole_fleet } else { Store::fleet };
    let fleet = stored()?.map(|store| look(&seen(store))).transpose()?.unwrap_or_default();
    let mut rows = view_model::rows(&fleet, host::clock::now());
    agent_place::find_terminals(&mut rows);
    if args.watch {
        return watch(rows, printer);
    }
    if printer.json() {
        for row in &rows {
            printer.object(&row.object());
        }
        return Ok(Exit::Ok);
    }
    if rows.is_empty() {
        printer.note(nobody(args)?);
        return Ok(Exit::Ok);
    }
    let now = host::clock::now();
    let shows = Columns { client: view_model::is_mixed(&rows), machine: remote_row::is_over_machines(&rows) };
    let shown: Vec<Vec<Text>> = rows.iter().map(|row| line(row, shows, now, printer)).collect();
    let mut names = vec!["STATUS", "AGENT", "WHERE", "SINCE", "CONTEXT", "NOW", "TASK", "PROJECT"];
    if shows.client {
        names.insert(CLIENT_AT, "CLIENT");
    }
    if shows.machine {
        names.insert(0, "MACHINE");
    }
    printer.table(&names, &shown);
    Ok(Exit::Ok)
}

/// What is true where nobody is listed.
fn nobody(args: &AgentsArgs) -> Result<Text, CliError> {
    let past = stored()?.map(|store| store.had_sessions()).transpose()?.unwrap_or_default();
    Ok(match (past, args.all) {
        (true, false) => "no agent is running; `taut sessions --all` lists the sessions that ended".into(),
        (true, true) => "no agent with a name has run; `taut sessions --all` lists the sessions that ended".into(),
        (false, _) => nothing_yet("agents").into(),
    })
}

/// What is there, then every change of a status until it is interrupted.
fn watch(mut rows: Vec<AgentRow>, printer: &Printer) -> Result<Exit, CliError> {
    service::follow_clients(&PathVariables::from_process());
    changes(&[], &rows).iter().for_each(|change| print_change(change, printer));
    let mut feed = Feed::new(&PathVariables::from_process().state());
    let mut store = StoreHandle::default();
    loop {
        store.renew(stored)?;
        let Some(open) = store.current() else {
            std::thread::sleep(LOOK_EVERY);
            continue;
        };
        let now = view_model::rows(&open.fleet()?, host::clock::now());
        changes(&rows, &now).iter().for_each(|change| print_change(change, printer));
        rows = now;
        feed.wait(open, LOOK_EVERY);
    }
}

/// A status that is another than before.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Change<'r> {
    New(&'r AgentRow),
    Turned { from: AgentStatus, row: &'r AgentRow },
    Gone(&'r AgentRow),
}

/// What changed between two looks, in the order it happened.
fn changes<'r>(before: &'r [AgentRow], after: &'r [AgentRow]) -> Vec<Change<'r>> {
    let find = |rows: &'r [AgentRow], id: &str| rows.iter().find(|row| row.id == id);
    let gone = before.iter().filter(|row| find(after, &row.id).is_none()).map(Change::Gone);
    let mut turned: Vec<&AgentRow> = after.iter().collect();
    turned.sort_by_key(|row| row.since);
    let turned = turned.into_iter().filter_map(|row| match find(before, &row.id) {
        None => Some(Change::New(row)),
        Some(known) if known.status != row.status => Some(Change::Turned { from: known.status, row }),
        Some(_) => None,
    });
    gone.chain(turned).collect()
}

fn print_change(change: &Change<'_>, printer: &Printer) {
    let (row, from, to) = match *change {
        Change::New(row) => (row, None, Some(row.status)),
        Change::Turned { from, row } => (row, Some(from), Some(row.status)),
        Change::Gone(row) => (row, Some(row.status), None),
    };
    if printer.json() {
        let mut object = row.object();
        object["from"] = from.map(AgentStatus::name).into();
        object["status"] = to.map_or("gone", AgentStatus::name).into();
        printer.object(&object);
        return;
    }
    let to = to.map_or_else(|| printer.dim("gone"), |status| shown(status, printer));
    let from = from.map(|from| format!(" (was {})", from.name())).unwrap_or_default();
    printer.line(text!("{} {} {}{}", host::clock::shown(row.since), row.called(), to, from));
}

/// Which columns say anything in this fleet.
#[derive(Debug, Clone, Copy)]
struct Columns {
    client: bool,
    machine: bool,
}

/// Where the agents are that are not elsewhere.
const THIS_MACHINE: &str = "(here)";

/// Which agent it is stands beside its name, where there is more than one kind.
const CLIENT_AT: usize = 3;

fn line(row: &AgentRow, shows: Columns, now: Ms, printer: &Printer) -> Vec<Text> {
    let tool = row.tool.as_ref().map(|tool| format!("{} {}", tool.name, ago(now.since(tool.since))));
    let failed = row.failed_tool.as_ref().filter(|_| row.why.is_none());
    // Of one that does nothing, what it said last.
    let doing = row.why.clone().or(tool).or_else(|| row.doing.clone()).or_else(|| row.last_words.clone());
    let doing = doing.or_else(|| failed.cloned());
    let silence = row.remote.as_ref().and_then(|at| at.silence(WallClock(host::clock::utc_offset_s), now));
    let doing = silence.or(doing);
    let doing = doing.map(|text| if failed.is_some() { format!("{FAILED_TOOL}{text}") } else { text });
    let nothing = || "-".to_string();
    let mut cells = vec![
        shown(row.status, printer),
        short(&row.name, 40).into(),
        row.place.clone().unwrap_or_else(nothing).into(),
        ago(now.since(row.since)).into(),
        row.context_percent.map_or_else(|| "?".to_string(), |percent| format!("{percent:.0}%")).into(),
        doing.map_or_else(|| view_model::standing(row).to_owned(), |text| short(&text, 48)).into(),
        row.task.clone().or_else(|| row.effort.clone()).unwrap_or_else(nothing).into(),
        row.project.clone().into(),
    ];
    if shows.client {
        cells.insert(CLIENT_AT, row.client.clone().unwrap_or_else(nothing).into());
    }
    if shows.machine {
        let machine = row.remote.as_ref().map(|at| short(&at.machine, 24));
        cells.insert(0, machine.unwrap_or_else(|| THIS_MACHINE.to_string()).into());
    }
    cells
}

/// One long name must not make every row long.
fn short(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_string(),
    }
}

fn shown(status: AgentStatus, printer: &Printer) -> Text {
    let name = format!("{:<9}", status.name());
    match status.colour().terminal {
        TerminalColour::Red => printer.red(name),
        TerminalColour::Yellow => printer.yellow(name),
        TerminalColour::Green => printer.green(name),
        TerminalColour::Cyan => printer.cyan(name),
        TerminalColour::Plain => printer.dim(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::row::Agent;
    use store::{Fleet, FleetRow};

    fn rows(agents: &[(&str, AgentStatus, i64)]) -> Vec<AgentRow> {
        let member = |(id, status, since): &(&str, AgentStatus, i64)| FleetRow {
            agent: Agent {
                id: (*id).to_string(),
                named: true,
                status: *status,
                dialect: None,
                session: None,
                project: "/p".into(),
                since: Ms(*since),
            },
            name: (*id).to_string(),
            session: None,
            died_in: None,
            running: None,
            task: None,
            effort: None,
            cause: None,
            verdict: None,
            sub_agents: 0,
            messages: 0,
            cards: Vec::new(),
            facts: model::session_facts::SessionFacts::default(),
        };
        view_model::rows(&Fleet { members: agents.iter().map(member).collect(), ..Fleet::default() }, Ms(0))
    }

    #[test]
    fn f1_a_watcher_is_told_each_change_once_and_in_order() {
        let before =
            rows(&[("a", AgentStatus::Working, 1), ("b", AgentStatus::Working, 2), ("c", AgentStatus::Done, 3)]);
        let after = rows(&[
            ("d", AgentStatus::Done, 9),
            ("a", AgentStatus::Attention, 8),
            ("b", AgentStatus::Error, 7),
            ("x", AgentStatus::Done, 3),
        ]);
        let shown: Vec<String> = changes(&before, &after)
            .iter()
            .map(|change| match change {
                Change::New(row) => format!("{} is new", row.id),
                Change::Turned { from, row } => format!("{} {}>{}", row.id, from.name(), row.status.name()),
                Change::Gone(row) => format!("{} is gone", row.id),
            })
            .collect();
        assert_eq!(shown, ["c is gone", "x is new", "b working>error", "a working>attention", "d is new"]);
        assert!(changes(&after, &after).is_empty());
    }
}
