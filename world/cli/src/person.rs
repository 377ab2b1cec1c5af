//! Commands for people: they need a real terminal, and refuse under an agent. What makes the guard weaker is shown and
//! asked about at that terminal; no option answers it.

use crate::agent_settings::PROOF;
use crate::error::CliError;
use crate::printer::{Printer, Text};
use agents::Dialect;
use dash::web::ConnectionEnds;
use host::loopback_peer::{self, LoopbackPeer};
use host::paths::PathVariables;
use host::person::{AgentSpan, NotAPerson};
use host::run_terminal::RunSupervisor;
use model::ClientProcess;
use model::fact::Life;
use std::path::PathBuf;
use store::{ClientSpan, Store};

/// An agent whose session has ended may have left something running until then.
const STARTED_LATE_MS: i64 = 15 * 60_000;
/// Of sessions that ended longer ago than this nothing is asked any more.
const REMEMBERED_MS: i64 = 24 * 3_600_000;

/// Refuses unless a person sits at a terminal: no agent is above this process or above whoever holds its terminal, and
/// what is typed at the terminal comes here.
pub fn required(command: &str) -> Result<(), CliError> {
    no_agent(command)?;
    if sys::terminal::is_controlling() && sys::terminal::is_ours() { Ok(()) } else { Err(refusal(command)) }
}

/// The same where stdin is a text that the person hands over: they sit at the terminal that this process belongs to.
pub fn required_beside_stdin(command: &str) -> Result<(), CliError> {
    no_agent(command)?;
    sys::terminal::typed().map(drop).map_err(|_| refusal(command))
}

fn no_agent(command: &str) -> Result<(), CliError> {
    not_named(command)?;
    not_supervised(std::process::id()).map_err(|why| refused(command, &why))?;
    let recorded = recorded();
    host::person::check(&recorded).map_err(|why| refused(command, &why))?;
    host::person::check_loops(&in_loops()).map_err(|why| refused(command, &why))?;
    host::person::pane::check(std::process::id(), &recorded).map_err(|why| refused(command, &why))
}

/// Whether a person started the process with this number, which asks for something here.
pub fn started(pid: u32) -> Result<(), String> {
    not_supervised(pid).and_then(|()| host::person::check_other(pid, &recorded())).map_err(|why| why.to_string())
}

fn not_supervised(pid: u32) -> Result<(), NotAPerson> {
    let supervisors: Vec<ClientProcess> = supervisors().iter().map(|one| one.process).collect();
    host::person::check_supervisors(pid, &supervisors)
}

/// Refuses under an agent, but not in a script of a person's: for what makes nothing weaker.
pub fn outside_agents(command: &str) -> Result<(), CliError> {
    not_named(command)?;
    host::person::check_above(&recorded()).map_err(|why| refused(command, &why))?;
    host::person::check_loops(&in_loops()).map_err(|why| refused(command, &why))
}

/// Whether no agent is at the other end of a connection to the page. Who cannot be told (a login of `ssh -L`, another system)
/// is let through as far as token and code let them; who has hung up is not waited for by a person.
pub fn at_the_other_end(ends: ConnectionEnds) -> Result<(), String> {
    let pids = match loopback_peer::of(ends.peer, ends.own) {
        LoopbackPeer::Processes(pids) => pids,
        LoopbackPeer::Unknown => return Ok(()),
        LoopbackPeer::Closed => return Err("whoever asked has gone and cannot be looked at".to_owned()),
    };
    let (recorded, led) = (recorded(), in_loops());
    let check = |pid: u32| {
        host::person::check_other(pid, &recorded)?;
        host::person::check_other_loops(pid, &led)
    };
    pids.into_iter().try_for_each(check).map_err(|why| why.to_string())
}

/// Agents run their commands with these variables set. A repository can empty them and a command can drop them, so they
/// are not all that is looked at.
fn not_named(command: &str) -> Result<(), CliError> {
    if is_marked() || host::origin::is_under_client() {
        return Err(refusal(command));
    }
    Ok(())
}

/// Refuses an agent that says so itself: for what only our own processes start, which may have any other above them.
pub fn unmarked(command: &str) -> Result<(), CliError> {
    if is_marked() { Err(refusal(command)) } else { Ok(()) }
}

/// The variables say that an agent runs this.
pub fn is_marked() -> bool {
    ["TAUT_AGENT_ID", "RALPH_AGENT_ID"].into_iter().any(is_set) || agents::ALL.around(is_set).is_some()
}

/// The clients whose hooks are on record, where this process keeps things and where the account does: the place that a
/// variable names may have been made a moment ago.
fn recorded() -> Vec<AgentSpan> {
    let now = host::clock::now();
    let seen = on_record(|store| store.clients_since(now.plus(-REMEMBERED_MS)));
    let span = |seen: ClientSpan| AgentSpan {
        process: seen.process,
        from: seen.started,
        until: seen.ended.map(|_| seen.last_seen.plus(STARTED_LATE_MS)),
    };
    // Of what `taut run` supervises no hook may ever have been called.
    let supervised =
        supervisors().into_iter().map(|one| AgentSpan { process: one.process, from: one.from, until: None });
    seen.into_iter().filter(|seen| !is_proof(seen)).map(span).chain(supervised).collect()
}

fn supervisors() -> Vec<RunSupervisor> {
    folders().iter().flat_map(|folder| host::run_terminal::supervisors(folder)).collect()
}

/// The agents of loops that are not over: of a program that calls no hook nothing else is known.
fn in_loops() -> Vec<ClientProcess> {
    on_record(Store::led_runs).into_iter().filter_map(|run| run.leader).collect()
}

/// Without a record the processes alone have to tell.
fn on_record<T>(look: impl Fn(&Store) -> Result<Vec<T>, store::Error>) -> Vec<T> {
    let seen = |folder: &PathBuf| look(&Store::open_existing_read_only(folder).ok()?).ok();
    folders().iter().filter_map(seen).flatten().collect()
}

fn folders() -> Vec<PathBuf> {
    let mut folders = vec![PathVariables::from_process().state(), PathVariables::default().state()];
    folders.dedup();
    folders
}

/// What `taut init` and `taut doctor` told the hook was told by a person. Whoever runs on under such a name is an agent.
fn is_proof(seen: &ClientSpan) -> bool {
    let named = seen.host_session.as_deref().is_some_and(|name| name.starts_with(PROOF));
    named && (seen.ended.is_some() || host::probe::life(seen.process.pid) == Some(Life::Gone))
}

fn refused(command: &str, why: &NotAPerson) -> CliError {
    if *why == NotAPerson::Quiet {
        return CliError::failed(format!("`taut {command}` is for people: {why}"));
    }
    refusal(command).because(why).hint(way_out(command, why))
}

/// What somebody can do who is one.
fn way_out(command: &str, why: &NotAPerson) -> String {
    match why {
        NotAPerson::Detached { .. } => {
            format!("run `taut {command}` in a new terminal window or login, or end that agent first")
        }
        NotAPerson::Recorded { .. } => {
            format!("if you called `taut hook` there yourself, run `taut {command}` in a new terminal")
        }
        NotAPerson::Untold { pid } => format!(
            "run `taut {command}` in a terminal outside that tmux; if its socket was removed, `kill -USR1 {pid}` makes it anew"
        ),
        NotAPerson::Outside { .. } => format!("run `taut {command}` outside the sandbox, where the agent runs"),
        _ => in_your_terminal(command),
    }
}

/// The agent this process runs inside of, or the usual one.
pub fn agent_around() -> &'static Dialect {
    agents::ALL.around(is_set).unwrap_or(agents::DEFAULT)
}

/// The id that the agent gives to its own tools; empty where there is none.
pub fn host_session() -> String {
    let names = agent_around().profile.variables.tool_session;
    names.iter().find_map(|name| std::env::var(name).ok()).unwrap_or_default()
}

/// Who sits at the terminal, for the record: the account, since anybody can set a variable.
pub fn name() -> String {
    host::paths::account_name().unwrap_or_else(|| sys::outside::user().to_string())
}

pub fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

fn refusal(command: &str) -> CliError {
    CliError::failed(format!("`taut {command}` is for people: it needs a real terminal, and no agent above it"))
        .hint(in_your_terminal(command))
}

fn in_your_terminal(command: &str) -> String {
    format!("run `taut {command}` in your own terminal, outside any agent")
}

/// Asks a question that is answered with yes or no; anything else is no.
pub fn agrees(question: &str) -> Result<bool, CliError> {
    Ok(is_yes(&answer(format!("{question} [y/N] "))?))
}

/// What somebody agreed to who was asked about several things at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    All,
    /// Asked about one by one.
    Each,
    None,
}

pub fn agrees_to_all(question: &str) -> Result<Agreement, CliError> {
    let answer = answer(format!("{question} [y = all, e = ask for each, N = none] "))?;
    Ok(match answer.as_str() {
        "e" | "E" | "each" | "Each" => Agreement::Each,
        yes if is_yes(yes) => Agreement::All,
        _ => Agreement::None,
    })
}

/// Asks for a choice; `None` where the input ended without one.
pub fn choice(question: &str) -> Result<Option<String>, CliError> {
    Printer::ask(Text::lines(question))?;
    let mut answer = String::new();
    let read = std::io::stdin().read_line(&mut answer)?;
    Ok((read > 0).then(|| answer.trim().to_owned()))
}

pub fn is_yes(answer: &str) -> bool {
    matches!(answer, "y" | "Y" | "yes" | "Yes")
}

fn answer(question: String) -> Result<String, CliError> {
    Printer::ask(Text::lines(question))?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(answer.trim().to_owned())
}
